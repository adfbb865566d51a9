"""Compare with two models of others, asked for next words: which has more right, and the words of a row."""

from __future__ import annotations

import json

import numpy as np
import pytest

from tests.app.test_own_module_pages import WORDS
from tests.app.test_pages import opened, sound, texts
from tests.unit.test_own_module_source import TEXT
from triattn_core.__main__ import main
from triattn_core.checkpoint import own_modules
from triattn_core.recording.own_module import OwnModule
from triattn_core.sources.own_text import probe

ROWS = ("a cat sat on the mat", "on a cat a mat sat", "word3 cat on word7 word7")


@pytest.fixture
def builds(tmp_path, monkeypatch) -> list[str]:
    builds = []
    for name, seed in (("one", 5), ("two", 25)):
        (tmp_path / f"{name}.py").write_text(WORDS.replace("manual_seed(5)", f"manual_seed({seed})"))
        builds.append(f"{tmp_path / name}.py:build")
    monkeypatch.setenv(own_modules.VARIABLE, "[]")
    own_modules.offer(builds, [probe(OwnModule.of(build), TEXT) for build in builds])
    return builds


def test_two_decoders_over_rows(builds, tmp_path, capsys) -> None:
    file = tmp_path / "rows.jsonl"
    file.write_text("".join(json.dumps({"text": text}) + "\n" for text in ROWS))
    assert main(["evaluate", *builds, str(file), "--json"]) == 0
    printed = json.loads(capsys.readouterr().out)
    (difference,), (one, two) = printed["differences"], (model["rows"] for model in printed["models"])
    app = sound(opened("compare", task="Other models", first="one", second="two", rows="a file of yours"))
    app = sound(app.file_uploader(key="file").upload("rows.jsonl", file.read_bytes()).run())
    page_text = texts(app)
    assert f"{abs(difference['points']):.1f} points more right than" in page_text
    assert f"p {difference['p']:.2g}" in page_text
    assert f"{np.mean(list(one.values())) * 100:.1f}" in page_text
    far = max(one, key=lambda line: abs(two[line] - one[line]))
    assert list(app.dataframe[0].value.columns) == ["row", "one", "two", "text"]  # a narrow screen cuts the last
    assert f"Row {far}" in page_text and page_text.count('class="t-judged"') == 2
    first_word = ROWS[int(far) - 1].split()[1]
    assert f">{first_word}<small>" in page_text
    assert f"triattn evaluate {builds[0]}" in app.code[0].value
    assert "given those before it, for the first where a token stands before it" in page_text


def test_a_model_is_never_beside_itself_as_pickers_run_again(builds) -> None:
    app = sound(opened("compare", task="Other models", first="one", rows="a file of yours"))
    for _ in range(2):
        assert list(app.selectbox(key="second").options) == ["two"]
        app = sound(app.run())


def test_the_page_of_one_names_it_as_the_pickers_do(tmp_path, monkeypatch) -> None:
    monkeypatch.setenv(own_modules.VARIABLE, "[]")
    builds = []
    for folder in ("first", "second"):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "mine.py").write_text(WORDS)
        builds.append(f"{tmp_path / folder / 'mine.py'}:build")
    own_modules.offer(builds, [probe(OwnModule.of(build), TEXT) for build in builds])
    for name in ("first/mine", "second/mine"):  # of equal weights
        query = {"from": "From a model", "model": name, "text": TEXT}
        assert f"<b>{name}</b>" in texts(sound(opened("open", **query)))
