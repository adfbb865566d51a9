"""A module of one's own among the sources: only where the command line names it, with its answers and other weights."""

from __future__ import annotations

import json
import sys

import numpy as np
import pytest
import torch

from triattn_core.__main__ import main
from triattn_core.checkpoint import own_modules
from triattn_core.errors import CheckpointError, ConfigError, InputError
from triattn_core.recording.own_module import OwnModule
from triattn_core.sources import find_entries, open_source
from triattn_core.sources.models import Models
from triattn_core.sources.own_text import probe
from triattn_core.sources.source import Ability, lacks
from triattn_core.sources.weight_change import WeightChange
from triattn_core.tasks.pairs import Example
from triattn_core.tasks.sentences import Example as Sentence

DECODER = '''
import torch

WORDS = "the old cat sat on a mat today".split()


class Layer(torch.nn.Module):
    """Two heads of causal attention."""

    def __init__(self):
        super().__init__()
        self.mix = torch.nn.Linear(8, 24)

    def forward(self, x):
        n = x.shape[1]
        hidden = torch.ones(n, n, dtype=torch.bool).triu(1)
        query, key, value = self.mix(x).unflatten(-1, (2, 12)).transpose(1, 2).split(4, -1)
        scores = (query @ key.mT / 2).masked_fill(hidden, -torch.inf)
        return x + (scores.softmax(-1) @ value).transpose(1, 2).flatten(2)


class Decoder(torch.nn.Module):
    """Two layers, and a score for each word."""

    def __init__(self):
        super().__init__()
        self.embed = torch.nn.Embedding(len(WORDS), 8)
        self.layers = torch.nn.ModuleList(Layer() for _ in range(2))

    def forward(self, ids):
        x = self.embed(ids)
        for layer in self.layers:
            x = layer(x)
        return x @ self.embed.weight.T


def encode(text):
    words = [word for word in text.split() if word in WORDS]
    return torch.tensor([[WORDS.index(word) for word in words]]), words


def build():
    torch.manual_seed(5)
    return Decoder(), encode, WORDS


def bare():
    return build()[:2]


def wrong():
    return *build()[:2], WORDS[:3]
'''
TEXT = "the old cat sat on a"


@pytest.fixture
def file(tmp_path, monkeypatch):
    path = tmp_path / "mine.py"
    path.write_text(DECODER)
    monkeypatch.setenv(own_modules.VARIABLE, "[]")  # so that what a test offers is taken back
    return path


@pytest.fixture
def entry(file):
    build = f"{file}:build"
    own_modules.offer([build], [probe(OwnModule.of(build), TEXT)])
    return find_entries(["mine"])[0]


def weights_by_hand(module, ids, even=None):
    """The log-odds of the best word, and each layer's weights; even: (layer, head) whose weights become even."""
    x, kept, n = module.embed(ids)[0].double(), [], ids.shape[1]
    for number, layer in enumerate(module.layers):
        mixed = x @ layer.mix.weight.double().T + layer.mix.bias.double()
        added, maps = [], np.zeros((2, n, n))
        for head in range(2):
            query, key, value = mixed[:, 12 * head : 12 * head + 12].split(4, -1)
            for i in range(n):
                row = ((key[: i + 1] @ query[i]) / 2).softmax(0)
                maps[head, i, : i + 1] = 1 / (i + 1) if even == (number, head) else row.detach()
            added.append(torch.tensor(maps[head]) @ value)
        x = x + torch.cat(added, -1)
        kept.append(maps)
    return (x @ module.embed.weight.double().T)[-1].detach(), kept


def log_odds(scores, best):
    rest = torch.cat([scores[:best], scores[best + 1 :]])
    return float(scores[best] - rest.logsumexp(0))


def test_its_weights_and_next_word_are_those_by_hand(entry):
    prediction, trace = (
        Models("cpu").explain(entry, Sentence(TEXT)).prediction,
        Models("cpu").explain(entry, Sentence(TEXT)).trace,
    )
    own = OwnModule.of(entry.config["build"])
    scores, maps = weights_by_hand(own.module, own.inputs(TEXT)[0])
    for layer in range(2):
        np.testing.assert_allclose(trace.site(f"layer.{layer}/attention/weight").values, maps[layer], atol=1e-6)
    best = int(scores.argmax())
    assert prediction.labels[prediction.best] == own.names[best]
    np.testing.assert_allclose(prediction.probabilities[prediction.best], float(scores.softmax(0)[best]), atol=1e-6)
    assert trace.site("layer.0/attention/weight")["query_token"].values.tolist() == TEXT.split()


def test_a_head_with_even_weights_changes_the_word_as_by_hand(entry):
    own = OwnModule.of(entry.config["build"])
    ids = own.inputs(TEXT)[0]
    whole, _ = weights_by_hand(own.module, ids)
    even, _ = weights_by_hand(own.module, ids, (0, 1))
    best = int(whole.argmax())
    change = WeightChange("even", (("layer.0/attention/weight", 1),))
    found = Models("cpu").replace(entry, Sentence(TEXT), [change])
    np.testing.assert_allclose(found.log_odds, [log_odds(whole, best), log_odds(even, best)], atol=1e-5)
    assert abs(found.changes[0]) > 1e-4


def test_what_it_can_do_is_known_before_it_runs(file, entry):
    source = open_source(entry)
    assert source.axes == {"head", "query", "key"} and source.abilities == {
        *(Ability.RUN, Ability.ROWS, Ability.REPLACE, Ability.LABELS, Ability.SCORED, Ability.GRADIENTS)
    }
    assert lacks(source, (), [Ability.PAIRS]) == "mine cannot show how one text attends to another"
    assert (entry.config["model"]["layers"], entry.config["model"]["heads"]) == (2, 2)
    bare = f"{file}:bare"
    own_modules.offer([bare], [probe(OwnModule.of(bare), TEXT)])
    assert open_source(find_entries(["mine"])[0]).abilities == {Ability.RUN, Ability.ROWS}
    wrong = f"{file}:wrong"
    own_modules.offer([wrong], [probe(OwnModule.of(wrong), "unknown words")])  # which it cannot read
    with pytest.raises(InputError, match="mine: its output has 8 scores, and 3 names of answers"):
        Models("cpu").explain(find_entries(["mine"])[0], Sentence(TEXT))


def test_a_function_of_one_text_reads_the_first_of_two(entry):
    models = Models("cpu")
    pair, alone = (models.explain(entry, example).trace for example in (Example(TEXT, "a mat"), Sentence(TEXT)))
    np.testing.assert_array_equal(pair.site("layer.1/attention/weight"), alone.site("layer.1/attention/weight"))


def test_its_words_are_attributed_as_by_hand(entry):
    own = OwnModule.of(entry.config["build"])
    source, ids = open_source(entry), own.inputs(TEXT)[0]
    found, odds = source.attribute(Sentence(TEXT), model=own)
    scores, maps = weights_by_hand(own.module, ids)
    best, n = int(scores.argmax()), ids.shape[1]
    np.testing.assert_allclose(odds, log_odds(scores, best), atol=1e-5)
    np.testing.assert_allclose(found.table["attention"], np.mean([m.mean(0)[-1] for m in maps], 0), atol=1e-6)
    vectors = own.module.embed.weight[ids[0]].detach()

    def odds_of(rows):
        x = rows[None]
        for layer in own.module.layers:
            x = layer(x)
        return log_odds_of((x @ own.module.embed.weight.T)[0, -1].double(), best)

    leaf = vectors.clone().requires_grad_()
    (slope,) = torch.autograd.grad(odds_of(leaf), leaf)
    np.testing.assert_allclose(found.table["gradient × input"], (slope * vectors).sum(-1), atol=1e-4)
    for place in range(n):
        blanked = vectors.clone()
        blanked[place] = 0
        np.testing.assert_allclose(found.table["occlusion"][place], odds - odds_of(blanked).item(), atol=1e-4)
    lost = odds - odds_of(torch.zeros_like(vectors)).item()
    np.testing.assert_allclose(found.table["integrated gradients"].sum() - found.gap, lost, atol=1e-4)
    assert found.table["start"].tolist() == [0, 4, 8, 12, 16, 19] and np.ptp(found.table["occlusion"]) > 0.01


def log_odds_of(scores, best):
    return scores[best] - torch.cat([scores[:best], scores[best + 1 :]]).logsumexp(0)


def test_the_words_that_are_deleted_are_not_read(entry):
    own = OwnModule.of(entry.config["build"])
    source = open_source(entry)
    found, _ = source.attribute(Sentence(TEXT), ["occlusion"], model=own)
    curves = source.deletion_curves(Sentence(TEXT), found, 2, 0, model=own)
    row = curves[(curves["method"] == "occlusion") & (curves["share"] == 0.5)].iloc[0]
    ranked = sorted(range(6), key=lambda i: -found.table["occlusion"][i])
    kept = [i for i in range(6) if i not in ranked[: row["tokens"]]]
    ids = own.inputs(TEXT)[0]
    whole, rest = (weights_by_hand(own.module, part)[0].softmax(0) for part in (ids, ids[:, kept]))
    best = int(whole.argmax())
    np.testing.assert_allclose(row["comprehensiveness"], float(whole[best] - rest[best]), atol=1e-5)


def test_only_the_command_line_names_modules(file, tmp_path, capsys, monkeypatch):
    marker = tmp_path / "ran"
    (tmp_path / "evil.py").write_text(f"open({str(marker)!r}, 'w')\ndef build(): pass\n")
    with pytest.raises((CheckpointError, ConfigError)):
        find_entries([f"{tmp_path / 'evil.py'}:build"])
    with pytest.raises((CheckpointError, ConfigError)):
        open_source(str(tmp_path / "evil.py"))
    assert not marker.exists()
    row = tmp_path / "row.json"
    row.write_text(json.dumps({"text": TEXT}))
    out = tmp_path / "card.zip"
    monkeypatch.setattr(sys, "argv", ["triattn"])
    command = ["card", "weights", "mine", str(row), "--set", "becomes=off", "random=2", "--out", str(out)]
    assert main([*command, "--model", f"{file}:build"]) == 0 and out.is_file()
    assert "Switched off in all 4 heads" in capsys.readouterr().out
