"""Shapes in annotations are checked while the tests run: in every module that has some, and only there.

The check wraps each function of a room, which costs where there is nothing to check.
"""

from __future__ import annotations

import tomllib
from pathlib import Path

import jaxtyping
import pytest
import torch

from triattn_core.attention.tri_similarity.dot import dp

ROOT = Path(__file__).resolve().parents[2]
OPTIONS = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["tool"]["pytest"]["ini_options"]["addopts"]
OPTION = "--jaxtyping-packages="
PACKAGES = next(word for word in OPTIONS.split() if word.startswith(OPTION)).removeprefix(OPTION).split(",")[:-1]
WITH_SHAPES = [
    ".".join(path.relative_to(ROOT).with_suffix("").parts)
    for path in sorted((ROOT / "triattn_core").rglob("*.py"))
    if "from jaxtyping import" in path.read_text("utf-8")
]


def test_every_module_with_shapes_is_in_a_package_that_is_checked() -> None:
    assert "triattn_core.attention.coin" in WITH_SHAPES
    assert [module for module in WITH_SHAPES if not any(module.startswith(f"{name}.") for name in PACKAGES)] == []


@pytest.mark.parametrize("package", PACKAGES)
def test_every_package_that_is_checked_has_shapes(package: str) -> None:
    assert any(module.startswith(f"{package}.") for module in WITH_SHAPES)


def test_a_tensor_of_another_shape_is_refused() -> None:
    """Twin: query and key differ in their features, and the check says so before the product does."""
    with pytest.raises(jaxtyping.TypeCheckError):
        dp(torch.zeros(2, 3), torch.zeros(5, 7))
