"""A job goes on, and a node takes part, only with the same code, also where its version is the same."""

import shutil

from triattn_core.scale import code_version
from triattn_core.scale.worker import code_versions


def test_another_checkout_of_the_same_version_is_other_code(tmp_path, monkeypatch):
    here = code_version.code_version()
    assert dict(code_versions())["triattn"] == here
    copy = tmp_path / "triattn_core"
    shutil.copytree(code_version.PACKAGE, copy, ignore=shutil.ignore_patterns("*.json*", "records", "__pycache__"))
    monkeypatch.setattr(code_version, "PACKAGE", copy)
    read = code_version.code_version.__wrapped__
    assert read() == here
    with open(copy / "attention" / "dropout.py", "a") as file:
        file.write("# another line\n")
    other = read()
    assert other != here and other.partition(", code ")[0] == here.partition(", code ")[0]
