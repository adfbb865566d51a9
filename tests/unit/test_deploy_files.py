"""The files of docs/deploy fit each other: what the app is given, and what their settings are called."""

from __future__ import annotations

import re
from pathlib import Path

import yaml

FOLDER = Path(__file__).parents[2] / "docs" / "deploy"
COMPOSE = (FOLDER / "compose.yaml").read_text("utf-8")


def test_the_app_is_given_tables_which_it_cannot_change():
    app = yaml.safe_load(COMPOSE)["services"]["app"]
    mounts = {source: (target, *mode) for source, target, *mode in (mount.split(":") for mount in app["volumes"])}
    assert mounts["./tables"] == (app["environment"]["TRIATTN_TABLES"], "ro")
    root = FOLDER.parents[1]
    for name in (".gitignore", ".dockerignore"):
        assert "docs/deploy/tables" in (root / name).read_text().replace("\n/", "\n").splitlines(), name
    text = (FOLDER.parent / "deploy.md").read_text("utf-8")
    assert "docs/deploy/tables" in text and "read-only" in text


def test_each_setting_has_a_line_in_the_example():
    named = set(re.findall(r"\$\{(\w+)", COMPOSE)) | {"TEAM_NAME", "TEAM_PASSWORD_HASH"}
    example = (FOLDER / "env.example").read_text("utf-8")
    assert named == set(re.findall(r"^(\w+)=", example, re.MULTILINE))


def test_all_volumes_are_declared():
    services = yaml.safe_load(COMPOSE)
    used = {mount.partition(":")[0] for service in services["services"].values() for mount in service["volumes"]}
    assert {name for name in used if not name.startswith("./")} == set(services["volumes"])
