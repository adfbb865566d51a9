"""Sentence models that train the last layers of their encoder: they begin as the encoder's, and learn at their rate."""

from __future__ import annotations

import pytest
import torch

from tests.unit import test_sentence_training as base
from tests.unit.test_sentence_training import ASK, MODEL, make, train
from triattn_core.__main__ import main
from triattn_core.attention.states import States
from triattn_core.checkpoint.bundle import load
from triattn_core.checkpoint.config import read_config
from triattn_core.configs.vectors import FineTuned
from triattn_core.inference.batch import collate
from triattn_core.inference.evaluate import evaluate
from triattn_core.models.encoder_layers import EncoderLayers
from triattn_core.models.encoders import load_encoder
from triattn_core.tasks import sentences
from triattn_core.text.roles import Limits
from triattn_core.training.sentence.splits import splits

world = base.world


def test_fine_tuned_layers_start_as_the_encoders_and_learn(world):
    encoder, tokenizer = load_encoder("tiny", "cpu")
    network = encoder.joint.config
    sizes = {"layers": 1, "heads": network.num_attention_heads, "feed_forward": network.intermediate_size}
    model = MODEL | {"vectors": "layer:1", "fine_tuned": sizes}
    folder = make(world, "ask-fine-tuned", "sentences", ASK, {"rate": 0.01}, model=model)

    examples = list(sentences.read(world / "data" / "ask" / "test.jsonl"))
    rows = [row for (row,) in sentences.roles(examples, tokenizer, Limits(12))]
    (text,) = collate(rows, tokenizer).texts
    real = torch.ones_like(text.alone)
    real[:, 2:] = text.keep.long()
    whole = encoder.joint(text.alone, real, output_hidden_states=True).hidden_states
    layers = EncoderLayers(encoder.hidden, FineTuned(**sizes)).eval()
    layers.copy_from(encoder.joint, 1)
    after = layers(States(whole[1], real.bool())).vectors
    assert (after - whole[2])[real.bool()].abs().max() < 1e-5

    metrics = train(world, folder)
    bundle, (dev,) = load(folder), [splits(read_config(folder / "config.json"), world / "data").examples("dev")]
    (result,) = evaluate([bundle], dev)
    assert result["metrics"]["accuracy"] == metrics["dev"]["accuracy"]
    tuned = bundle.model.encoder_layers[0].self_attn.out_proj.weight
    moved = (tuned - encoder.joint.encoder.layer[1].attention.output.dense.weight).abs().max()
    assert 1e-5 < moved < 0.05  # learnt, at a twentieth of the rate
    assert "its last 1 layer, which were trained" in (folder / "README.md").read_text("utf-8")


@pytest.mark.parametrize(
    "vectors, sizes, message",
    [
        ("embedding", {"layers": 1}, "let vectors be layer:k"),
        ("layer:1", {"layers": 2, "heads": 2, "feed_forward": 32}, "has 1 layers after layer:1"),
        ("layer:1", {"layers": 1, "heads": 1, "feed_forward": 32}, "the encoder has 2 heads"),
    ],
)
def test_fine_tuned_layers_that_the_encoder_lacks(world, vectors, sizes, message, capsys, tmp_path):
    name = tmp_path.name
    folder = make(world, name, "sentences", ASK, model=MODEL | {"vectors": vectors, "fine_tuned": sizes})
    where = ["--data", str(world / "data"), "--runs", str(world / "runs")]
    assert main(["train", str(folder / "config.json"), *where]) == 1
    assert message in capsys.readouterr().err
