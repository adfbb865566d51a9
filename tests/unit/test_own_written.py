"""What a decoder of one's own writes: against a pass by hand over the whole text, and where its file ends it."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import torch

from tests.app.test_own_module_pages import WORDS
from tests.unit.test_own_module_source import DECODER, TEXT
from triattn_core.__main__ import main
from triattn_core.errors import InputError
from triattn_core.recording.own_module import OwnModule
from triattn_core.sources.own_written import trace_written
from triattn_core.trace import AttentionTrace
from triattn_core.trace.axes import GENERATED

WRITTEN = 5


@pytest.fixture
def own(tmp_path) -> OwnModule:
    (tmp_path / "mine.py").write_text(WORDS)
    return OwnModule.of(f"{tmp_path / 'mine.py'}:build")


def test_each_token_has_a_row_over_all_before_it(own) -> None:
    trace = trace_written(own, TEXT, WRITTEN)
    ids, tokens = own.encode(TEXT)
    words = []
    with torch.no_grad():
        for _ in range(WRITTEN):
            words.append(own.names[int(own.module(ids)[0, -1].argmax())])
            ids = own.encode(" ".join([TEXT, *words]))[0]
        states = own.module.embed(ids[:, :-1])
        for number, layer in enumerate(own.module.layers):
            parts = layer.mix(states).unflatten(-1, (2, 12)).transpose(1, 2).split(4, -1)
            scores = (parts[0] @ parts[1].mT / 2).masked_fill(torch.ones(states.shape[1:2] * 2).triu(1).bool(), -1e30)
            site = trace.sites[f"layer.{number}/attention/weight"]
            np.testing.assert_allclose(site.values, scores.softmax(-1)[0, :, len(tokens) - 1 :].numpy(), atol=1e-6)
            states = layer(states)
    assert site["query_token"].values.tolist() == words
    assert site["key_token"].values.tolist() == [*tokens, *words][:-1]
    assert trace.meta[GENERATED] == WRITTEN


def test_writing_ends_where_the_file_reads_something_else(own) -> None:
    longest = len(own.encode(TEXT)[1]) + 2

    def encode(text: str) -> tuple:
        ids, tokens = own.encode(text)
        return [ids[:, :longest]], tokens[:longest]  # a list: nothing says that these are ids

    trace = trace_written(replace(own, encode=encode), TEXT, WRITTEN)
    assert trace.meta[GENERATED] == 3 and "Writing ends at" in trace.meta["notes"]
    whole = trace_written(own, TEXT, 3)
    for site, array in trace.sites.items():
        np.testing.assert_array_equal(array.values, whole.sites[site].values)


def test_writing_ends_at_the_word_for_it(own) -> None:
    words = trace_written(own, TEXT, WRITTEN).sites["layer.0/attention/weight"]["query_token"].values.tolist()
    names = tuple("<end>" if name == words[-1] else name for name in own.names)
    trace = trace_written(replace(own, names=names), TEXT, WRITTEN)
    assert trace.meta[GENERATED] == words.index(words[-1]) + 1


def test_labels_are_no_text(tmp_path) -> None:
    (tmp_path / "few.py").write_text(DECODER)
    with pytest.raises(InputError, match="few writes no text"):
        trace_written(OwnModule.of(f"{tmp_path / 'few.py'}:build"), TEXT, 2)


def test_the_command_writes_it_too(own, tmp_path, capsys) -> None:
    out = tmp_path / "T.nc"
    assert main(["record", f"{own.path}:build", TEXT, "--generate", str(WRITTEN), "--out", str(out)]) == 0
    assert AttentionTrace.load(out).meta[GENERATED] == WRITTEN
