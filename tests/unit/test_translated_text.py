"""Which source tokens drive the first word of an encoder-decoder: against hooks and gradients written by hand."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import pytest
import torch

from tests.support.tiny_transformers import make_type
from triattn_core.__main__ import main
from triattn_core.analysis.catalogue import JOINT_METHODS
from triattn_core.checkpoint.registry import add_roots, find_encoder
from triattn_core.scenes.weights import own_sites
from triattn_core.scenes.weights_text import describe_moved, describe_written
from triattn_core.sources import find_entries, open_source
from triattn_core.sources.models import Models
from triattn_core.sources.source import Ability
from triattn_core.sources.transformer import start_token
from triattn_core.sources.transformer_trace import trace_transformer
from triattn_core.tasks.sentences import Example as Sentence

TEXT = "unhappy cats sat on mats"
SIZES = {"marian": {"scale_embedding": True}, "bart": {"scale_embedding": True}}
KINDS = {"marian": "MarianMTModel", "bart": "BartForConditionalGeneration", "t5": "T5ForConditionalGeneration"}


@pytest.fixture(scope="module")
def folders(tmp_path_factory):
    root = tmp_path_factory.mktemp("translators")
    for family, kind in KINDS.items():
        folder = make_type(
            family, root / f"small-{family}", kind, **{"scale_embedding": True} if family != "t5" else {}
        )
        config = json.loads((folder / "config.json").read_text())
        assert config["architectures"] == [kind]
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("TRIATTN_CHECKPOINTS", str(find_encoder("minilm-en").parents[1]))
        add_roots([root])
        yield root


@pytest.fixture(params=KINDS)
def asked(request, folders):
    """The entry, its model, and the inputs that its tokenizer makes, with the start token of the decoder."""
    entry = find_entries([f"small-{request.param}"])[0]
    loaded = Models("cpu").load(entry)
    draw = torch.Generator().manual_seed(2)
    for name, weight in loaded.model.named_parameters():  # maps that are not even
        if weight.ndim > 1:
            torch.nn.init.normal_(weight, std=0.35, generator=draw)
        elif name.endswith("weight"):
            torch.nn.init.ones_(weight)
    inputs = loaded.tokenizer(TEXT, return_tensors="pt")
    start = torch.tensor([[getattr(loaded.model.config, "decoder_start_token_id", loaded.model.config.pad_token_id)]])
    wanted = {"input_ids": inputs["input_ids"], "attention_mask": inputs["attention_mask"], "decoder_input_ids": start}
    return entry, loaded, wanted


def log_odds(logits, answer):
    logits = logits[0, -1].double()
    return logits[answer] - torch.cat([logits[:answer], logits[answer + 1 :]]).logsumexp(0)


def test_every_method_is_offered_and_finite(asked):
    entry, loaded, inputs = asked
    source = open_source(entry, "cpu")
    assert {Ability.GRADIENTS, Ability.REPLACE} <= source.abilities
    found, odds = source.attribute(Sentence(TEXT), model=loaded)
    assert found.table[list(JOINT_METHODS)].notna().all().all() and len(found.table) == inputs["input_ids"].shape[1]
    with torch.no_grad():
        logits = loaded.model(**inputs).logits
    np.testing.assert_allclose(odds, float(log_odds(logits, int(logits[0, -1].argmax()))), atol=1e-4)
    for name in ("attention", "rollout", "norms"):
        np.testing.assert_allclose(found.table[name].sum(), 1, atol=1e-5)


def test_gradients_are_those_of_the_sources_own_vectors(asked):
    entry, loaded, inputs = asked
    model = loaded.model
    found, _ = open_source(entry, "cpu").attribute(Sentence(TEXT), ["gradient × input", "occlusion"], model=loaded)
    table = model.get_input_embeddings().weight.detach()
    scale = float(getattr(model.get_encoder(), "embed_scale", 1.0) or 1.0)
    scale = scale if scale != 1.0 else float(getattr(model.get_input_embeddings(), "embed_scale", 1.0))
    vectors = (table[inputs["input_ids"][0]] * scale).requires_grad_()
    rest = {name: value for name, value in inputs.items() if name != "input_ids"}
    with torch.no_grad():
        answer = int(model(**inputs).logits[0, -1].argmax())
    value = log_odds(model(inputs_embeds=vectors[None], **rest).logits, answer)
    (slope,) = torch.autograd.grad(value, vectors)
    by_hand = (slope * vectors).sum(-1).detach()
    np.testing.assert_allclose(found.table["gradient × input"], by_hand, atol=2e-3, rtol=2e-3)
    assert by_hand.abs().max() > 0.05
    blank = loaded.tokenizer.pad_token_id
    for place in range(len(vectors)):
        if not found.table["special"][place]:
            blanked = vectors.detach().clone()
            blanked[place] = table[blank] * scale
            lost = value - log_odds(model(inputs_embeds=blanked[None], **rest).logits, answer)
            np.testing.assert_allclose(found.table["occlusion"][place], lost.item(), atol=2e-3)


def test_attention_is_the_cross_attention_that_the_library_returns(asked):
    entry, loaded, inputs = asked
    found, _ = open_source(entry, "cpu").attribute(Sentence(TEXT), ["attention", "rollout"], model=loaded)
    loaded.model.set_attn_implementation("eager")
    with torch.no_grad():
        outputs = loaded.model(**inputs, output_attentions=True)
    cross = np.mean([layer[0].mean(0)[-1].numpy() for layer in outputs.cross_attentions], 0)
    np.testing.assert_allclose(found.table["attention"], cross, atol=1e-5)
    mass, n = cross.astype(float), len(cross)
    for layer in reversed(outputs.encoder_attentions):
        mass = mass @ (layer[0].mean(0).double().numpy() + np.eye(n)) / 2
    np.testing.assert_allclose(found.table["rollout"], mass, atol=1e-5)
    assert np.ptp(cross) > 1e-4


def test_deleted_tokens_are_not_read(asked):
    entry, loaded, inputs = asked
    source = open_source(entry, "cpu")
    found, _ = source.attribute(Sentence(TEXT), ["attention"], model=loaded)
    curves = source.deletion_curves(Sentence(TEXT), found, 2, 0, model=loaded)
    row = curves[(curves["method"] == "attention") & (curves["share"] == 0.5)].iloc[0]
    words = [i for i, special in enumerate(found.table["special"]) if not special]
    ranked = sorted(words, key=lambda i: -found.table["attention"][i])
    kept = [i for i in range(len(found.table)) if i not in ranked[: row["tokens"]]]

    def shares(places):
        parts = {name: value[:, places] for name, value in inputs.items() if name != "decoder_input_ids"}
        with torch.no_grad():
            return (
                loaded.model(**parts, decoder_input_ids=inputs["decoder_input_ids"]).logits[0, -1].double().softmax(-1)
            )

    whole = shares(list(range(len(found.table))))
    answer = int(whole.argmax())
    np.testing.assert_allclose(row["comprehensiveness"], whole[answer] - shares(kept)[answer], atol=1e-5)


def test_the_token_that_a_decoder_starts_with_is_not_called_padding(asked):
    entry, loaded, _ = asked
    piece = loaded.tokenizer.convert_ids_to_tokens(start_token(loaded.model))
    for pad, name in (("[MASK]", piece), (piece, "[START]")):
        loaded.tokenizer.pad_token = pad
        query = trace_transformer(loaded, TEXT).sites["layer.0/cross/weight"]["query_token"]
        assert query.values.tolist() == [name]


def test_sides_of_a_layer_stand_in_the_order_in_which_they_run_and_are_named(asked):
    entry, loaded, _ = asked
    own = own_sites(trace_transformer(loaded, TEXT))
    assert [site.role for site in own] == ["encoder", "decoder", "cross"] * (len(own) // 3)
    sites = ["layer.0/encoder/weight", "layer.0/cross/weight", "layer.1/decoder/weight"]
    moved = pd.DataFrame({"site": sites, "layer": [1, 1, 2], "head": 3, "bits": [0.1, 0.4, 0.2], "changed": False})
    assert "layer 1 cross head 3 moves" in describe_moved(moved)
    assert "most in layer 1 cross head 3" in describe_moved(moved.assign(changed=True))


def test_a_row_of_a_translation_is_asked_by_command(folders, tmp_path, capsys):
    """With its target, which is the model's to write; its source alone is the same."""
    shown = []
    for number, row in enumerate(({"source": TEXT, "target": "any"}, {"source": TEXT}, {"text": TEXT})):
        (tmp_path / "row.json").write_text(json.dumps(row))
        command = ["card", "weights", "small-marian", str(tmp_path / "row.json"), "--set", "becomes=off", "random=2"]
        assert main([*command, "--out", str(tmp_path / f"{number}.zip")]) == 0
        shown.append(capsys.readouterr().out.partition(": ")[2])
    assert "Switched off in all" in shown[0] and "It writes" in shown[0] and shown[0] == shown[1] == shown[2]


def test_what_it_writes_ends_with_one_full_stop():
    assert describe_written(("Es ist gut.", "Es ist.")).endswith("“Es ist.”")
    assert describe_written(("Es", "Es")).endswith("“Es”.") and describe_written(()) == ""
