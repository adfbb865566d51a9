"""The baseline reader against slow loops, its spans, and what a config may say of it."""

from __future__ import annotations

import json

import numpy as np
import pytest
import torch
from torch import nn
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence

from tests.oracles import questions as oracle
from tests.support.config_errors import check_config_error
from tests.support.reader_world import READER
from triattn_core.attention.qa import OUTPUTS
from triattn_core.attention.states import States
from triattn_core.attention.tap import recording
from triattn_core.checkpoint.config import read_config
from triattn_core.configs.reader import ReaderConfig
from triattn_core.models.fusion.recurrent import Recurrent
from triattn_core.models.reader import Reader

WORDS, M, N = 13, 7, 5
LENGTHS = (7, 5), (3, 1), (1, 4)  # words of passage and question
CONFIG = {
    **READER,
    "model": {"similarity": "t_trilinear"},
    "data": {"train": ["a/train"], "test": "a/dev"},
    "training": {"epochs": 1, "rate": 0.5, "batch": 8},
}


def build(seed: int = 1, similarity: str = "t_trilinear", **settings) -> Reader:
    torch.manual_seed(seed)
    sizes = {"width": 11, "hidden": 6, "dropout": 0.0} | settings
    return Reader(ReaderConfig(similarity=similarity, **sizes), WORDS).eval()


def texts(dtype: torch.dtype = torch.float32, before: bool = False) -> tuple[States, States]:
    draw = torch.Generator().manual_seed(2)
    states = []
    for side, size in ((0, M), (1, N)):
        vectors, keep = torch.full((3, size, WORDS), 1e3, dtype=dtype), torch.zeros(3, size, dtype=torch.bool)
        for row, lengths in enumerate(LENGTHS):
            at = slice(size - lengths[side], size) if before else slice(0, lengths[side])
            keep[row, at] = True
            vectors[row, at] = torch.randn(lengths[side], WORDS, generator=draw, dtype=torch.float64).to(dtype)
        states.append(States(vectors, keep))
    return tuple(states)


@pytest.mark.parametrize("output", OUTPUTS)
@torch.no_grad()
def test_the_whole_reader_is_that_of_the_paper(output):
    module, given = build(output=output).double(), texts(torch.float64)
    scores = module(given)
    weights = {name: tensor.numpy() for name, tensor in module.state_dict().items()}
    for row, (m, n) in enumerate(LENGTHS):
        passage, question = given[0].vectors[row, :m].numpy(), given[1].vectors[row, :n].numpy()
        start, end = oracle.reader(passage, question, weights, output)
        expected = torch.tensor(np.stack([start, end], -1))
        torch.testing.assert_close(scores[row, :m].double(), expected, rtol=1e-5, atol=1e-5)
        assert (scores[row, m:] < -1e30).all()


@torch.no_grad()
def test_padding_changes_nothing():
    module = build()
    after, before = texts(), texts(before=True)
    left, right = module(after), module(before)
    torch.testing.assert_close(left[after[0].keep], right[before[0].keep], rtol=0, atol=1e-5)


def test_every_weight_learns():
    module = build(dropout=0.2).train()
    torch.manual_seed(1)
    output = module(texts())[texts()[0].keep]
    (output * torch.randn(output.shape)).sum().backward()
    for name, parameter in module.named_parameters():
        assert parameter.grad is not None and parameter.grad.isfinite().all(), name
        assert name == "attention.similarity.trilinear.w_p" or parameter.grad.abs().max() > 1e-9, name


@torch.no_grad()
def test_recording_changes_nothing_and_dropout_is_of_training():
    module, given = build(dropout=0.5), texts()
    plain = module(given)
    with recording() as record:
        assert torch.equal(module(given), plain)
    assert set(map(str, record.sites)) == {
        f"{part}/{what}" for part in ("attention", "start", "end") for what in ("relevance", "weight")
    }
    for part, column in (("start", 0), ("end", 1)):
        tapped = record.sites[f"{part}/weight"]
        assert tapped.axes == tapped.sums_over == ("query",)
        torch.testing.assert_close(tapped.tensor, plain[..., column].softmax(-1))
    assert not torch.equal(module.train()(given), plain)


@torch.no_grad()
def test_the_input_of_every_layer_but_the_answers_drops_out():
    module, given, zeros = build(dropout=0.5).train(), texts(), {}
    keeps = {"start": given[0].keep, "end": given[0].keep, "model": given[0].keep, "second": given[0].keep}

    def see(name: str, keep: torch.Tensor | None):
        def hook(_, inputs: tuple) -> None:
            rows = inputs[0] if keep is None else inputs[0][keep]
            zeros[name] = (rows == 0).float().mean().item()

        return hook

    for name in ("project", "encode", "model", "second", "start", "end"):
        getattr(module, name).register_forward_pre_hook(see(name, keeps.get(name)))
    torch.manual_seed(4)
    module(given)
    assert {name for name, share in zeros.items() if 0.3 < share < 0.7} == {"project", "encode", "model", "second"}
    assert zeros["start"] == zeros["end"] == 0


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_lstms_without_packing_are_those_with(dtype):
    torch.manual_seed(1)
    module = Recurrent(nn.LSTM, WORDS, 6).to(dtype)
    given = texts(dtype)[0]
    x = torch.where(given.keep[..., None], given.vectors, 0.0).requires_grad_()
    packed = pack_padded_sequence(x, given.keep.sum(1), batch_first=True, enforce_sorted=False)
    expected = pad_packed_sequence(module.rnn(packed)[0], batch_first=True)[0]
    output = module(x, given.keep)
    torch.testing.assert_close(output, expected)
    leaves, onto = [x, *module.parameters()], torch.randn(expected.shape, dtype=dtype)
    for ours, theirs in zip(*(torch.autograd.grad((one * onto).sum(), leaves) for one in (output, expected))):
        torch.testing.assert_close(ours, theirs)


# --- its config ---


@pytest.mark.parametrize(
    ("part", "settings", "message"),
    [
        ("model", {"similarity": "trilinea"}, "similarity"),
        ("model", {"output": "O_3"}, "output"),
        ("model", {"hidden": 7}, "multiple of 2"),
        ("model", {"vectors": "layer:0"}, 'expected "embedding", or "layer:k"'),
        ("model", {"heads": 2}, "unknown key 'model.heads'"),
        ("data", {"folds": 5, "test": "a/train"}, "folds apply only to sentence data sets"),
        ("data", {"test": "a/train"}, "different sets"),
        ("training", {"average": 1.0}, "average"),
        (None, {"task": "pairs"}, "task"),
        (None, {"kind": "readers"}, "unknown kind 'readers'; did you mean 'reader'?"),
        (None, {"max_tokens": 3}, "max_tokens"),
    ],
)
def test_a_config_says_what_is_wrong_in_one_line(tmp_path, part, settings, message):
    check_config_error(tmp_path, CONFIG, part, settings, message)


def test_a_config_has_the_papers_sizes_and_reads_what_it_wrote(tmp_path):
    path = tmp_path / "config.json"
    path.write_text(json.dumps(CONFIG), "utf-8")
    config = read_config(path)
    assert (config.model.width, config.model.hidden, config.model.dropout) == (100, 200, 0.2)
    assert (config.training.optimizer, config.training.average) == ("adadelta", 0.999)
    path.write_text(config.model_dump_json(exclude_none=True), "utf-8")
    assert read_config(path) == config
