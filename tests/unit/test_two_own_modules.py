"""Two modules of one's own at once: files of one name, of one code with other weights, with imports beside them."""

from __future__ import annotations

import sys

import pytest

from tests.unit.test_own_module_source import DECODER, TEXT
from triattn_core.checkpoint import own_modules
from triattn_core.errors import TriattnError
from triattn_core.recording.own_module import OwnModule
from triattn_core.sources import find_entries
from triattn_core.sources.models import Models
from triattn_core.sources.own_text import probe
from triattn_core.tasks.sentences import Example

READS_SEED = DECODER.replace("torch.manual_seed(5)", "torch.manual_seed(int(open(__file__ + '.seed').read()))")
SECOND = "\n\ndef again():\n    return build()\n"


@pytest.fixture
def builds(tmp_path, monkeypatch) -> list[str]:
    """first/mine.py and second/mine.py, alike to the letter: their weights are in other files."""
    monkeypatch.setenv(own_modules.VARIABLE, "[]")
    builds = []
    for folder, seed in (("first", 5), ("second", 25)):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "mine.py").write_text(READS_SEED + SECOND)
        (tmp_path / folder / "mine.py.seed").write_text(str(seed))
        builds.append(f"{tmp_path / folder / 'mine.py'}:build")
    return builds


def offer(builds: list[str]) -> list:
    own_modules.offer(builds, [probe(OwnModule.of(build), TEXT) for build in builds])
    return list(own_modules.list_modules())


def test_files_of_one_name_are_told_apart(builds) -> None:
    entries = offer(builds)
    assert [entry.name for entry in entries] == ["first/mine", "second/mine"]
    assert entries[0].digest != entries[1].digest
    models = Models("cpu")
    answers = [models.explain(entry, Example(TEXT)).prediction for entry in entries]
    assert answers[0].probabilities != answers[1].probabilities
    one, two = (builds[0], builds[0].replace(":build", ":again"))
    assert [entry.name for entry in offer([one, two])] == ["mine:build", "mine:again"]
    with pytest.raises(TriattnError):  # two have this name
        find_entries(["mine"])
    assert find_entries(["mine:again"])[0].name == "mine:again"
    (alone,) = offer([one])
    assert alone.name == "mine"
    assert all(find_entries([name]) == [alone] for name in ("mine", "first/mine", "mine:build", one))


def test_files_beside_them_are_each_ones_own(tmp_path) -> None:
    for folder, size in (("first", 3), ("second", 5)):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "sizes.py").write_text(f"WIDTH = {size}\n")
        (tmp_path / folder / "mine.py").write_text(
            "import torch\nfrom sizes import WIDTH\n\n\ndef build():\n    return torch.nn.Linear(WIDTH, 1)\n"
        )
    loaded = [OwnModule.of(f"{tmp_path / folder}/mine.py:build").module for folder in ("first", "second", "first")]
    assert [module.in_features for module in loaded] == [3, 5, 3]


def test_a_file_may_define_dataclasses(tmp_path) -> None:
    """Which look their module up, by its name, where annotations are strings."""
    file = tmp_path / "net.py"
    file.write_text(
        "from __future__ import annotations\n\nfrom dataclasses import dataclass\n\nimport torch\n\n\n@dataclass\n"
        "class Sizes:\n    width: int = 4\n\n\ndef build():\n    return torch.nn.Linear(Sizes().width, 1)\n"
    )
    assert OwnModule.of(f"{file}:build").module.in_features == 4
    assert "net" not in sys.modules  # another's import of that name is not this file
