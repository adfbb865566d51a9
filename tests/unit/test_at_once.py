"""Who waits for one example does not wait for a compiler, however many options it has."""

from __future__ import annotations

import json

import pytest

from tests.support.choices_checkpoints import make_checkpoints
from triattn_core.analysis.mining import sources
from triattn_core.analysis.mining.runs import Run
from triattn_core.attention.tri_similarity import exponential
from triattn_core.checkpoint.bundle import load
from triattn_core.inference.explain import explain
from triattn_core.tasks import dialogue


class Compiled(BaseException):
    """A compiled form was asked for; no error of a row, which would be set aside."""


@pytest.fixture
def bundles(tmp_path, monkeypatch):
    monkeypatch.setenv("TRIATTN_CHECKPOINTS", str(make_checkpoints(tmp_path / "checkpoints", ("dialogue",))))
    monkeypatch.setattr(exponential, "WORTH_COMPILING", 1)
    monkeypatch.setattr(exponential, "has_compiler", lambda: True)

    def compiled():
        raise Compiled

    monkeypatch.setattr(exponential, "compiled_kernel", compiled)
    return [load(f"ubuntu_irc-{name}-additive", "cpu") for name in ("bi", "cbi", "tri")]


def test_explain_does_not_compile(bundles):
    example = dialogue.examples()[0]
    assert len(example.candidates) == 10
    prediction, _ = explain(bundles[2], example)
    assert sum(prediction.probabilities) == pytest.approx(1)


def test_few_rows_are_mined_without_compiling_and_many_with(bundles, tmp_path):
    for count, raises in ((2, False), (200, True)):
        place = tmp_path / f"{count}.jsonl"
        place.write_text("\n".join([json.dumps(dialogue.row(dialogue.examples()[0]))] * count), "utf-8")
        run = Run(bundles, sources.file_source(place))
        if raises:
            with pytest.raises(Compiled):
                run.step()
        else:
            while run.step():
                pass
            assert run.is_complete and run.rows == 2
