"""Models by a seed, each against an oracle of its own: attention of one text to another of any size, rows that are
written over, generations with any cache against one pass over their text, and settings of wrappers beside a model."""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from pathlib import Path

import numpy as np
import torch
from torch import nn


class Attends(nn.Module):
    """Attention written out or fused, whose rows may be moved, written over or dropped on their way to the output."""

    def __init__(self, heads: int, fused: bool, place: int | None):
        super().__init__()
        self.heads, self.fused, self.place = heads, fused, place
        self.query, self.key, self.value = (nn.Linear(12, 12) for _ in range(3))

    def forward(self, states: torch.Tensor, others: torch.Tensor) -> torch.Tensor:
        query, key, value = (
            project(x).unflatten(-1, (self.heads, -1)).transpose(1, 2)
            for project, x in ((self.query, states), (self.key, others), (self.value, others))
        )
        weights = (query @ key.mT * query.shape[-1] ** -0.5).softmax(-1)
        made = nn.functional.scaled_dot_product_attention(query, key, value) if self.fused else weights @ value
        self.expected = weights.detach().clone()
        if self.place is not None:
            row = self.place % made.shape[2]
            made = made.clone()
            made[:, :, row] = value.mean(2)
            self.expected[:, :, row] = 0
        return made.transpose(1, 2).flatten(2)


def any_sizes(draw: random.Random, folder: Path) -> Callable[[], object]:
    """One text that attends to another; a row of it may be written over."""
    from triattn_core.recording.tape import record

    torch.manual_seed(draw.randrange(1 << 30))
    batch, queries, keys = draw.choice([1, 1, 2, 3]), draw.randrange(1, 8), draw.randrange(1, 28)
    example, place = draw.randrange(batch), draw.choice([None, None, draw.randrange(8)])
    model = Attends(draw.choice([1, 2, 3, 4, 6]), draw.random() < 0.5, None if queries == 1 else place).eval()

    def read() -> object:
        with torch.no_grad(), record(model, example=example) as tape:
            model(torch.randn(batch, queries, 12), torch.randn(batch, keys, 12))
        (array,) = tape.trace().sites.values()
        assert array.dims == ("head", "query", "key"), (array.dims, batch, queries, keys)
        np.testing.assert_allclose(array.values, model.expected[example].numpy(), atol=1e-5)
        return array

    return read


def generations(draw: random.Random, folder: Path) -> Callable[[], object]:
    """What a model wrote, with any cache and search: as one pass over its text has it, or refused."""
    from tests.unit.test_recorded_generation import make, rows_of_whole_text_from
    from triattn_core.recording.tape import record

    kind = draw.choice(["Llama", "Mistral", "Qwen2"])
    model = make(kind, draw.choice([2, 4, 9]) if kind == "Mistral" else None, seed=draw.randrange(1 << 30))
    model.set_attn_implementation(draw.choice(["sdpa", "sdpa", "eager"]))
    prompt = torch.tensor([[draw.randrange(3, 50) for _ in range(draw.randrange(1, 9))]])
    count = draw.randrange(2, 6)
    options = draw.choice(
        [{}, {"cache_implementation": "static"}, {"use_cache": False}, {"num_beams": 2}, {"do_sample": True},
         {"prompt_lookup_num_tokens": 2}, {"prefill_chunk_size": draw.randrange(1, 5)}]
    )  # fmt: skip

    def read() -> object:
        with torch.no_grad(), record(model) as tape:
            written = model.generate(prompt, max_new_tokens=count, **{"do_sample": False} | options)
        trace = tape.generation(generated=list("abcdef"[: written.shape[1] - prompt.shape[1]]))
        if "in a beam search" in trace.meta["notes"]:
            return trace
        expected = rows_of_whole_text_from(model, written, prompt.shape[1])
        for array, rows in zip(trace.sites.values(), expected, strict=True):
            np.testing.assert_allclose(array.values, rows, atol=1e-4, err_msg=f"{kind} {options} {prompt.shape}")
        return trace

    return read


def wrapper_settings(draw: random.Random, folder: Path) -> Callable[[], object]:
    """A model with files of sentence-transformers and SetFit beside it, right or nearly right."""
    from tests.fuzz.inputs import value
    from tests.support.tiny_transformers import make
    from triattn_core.sources.transformer import load_transformer
    from triattn_core.sources.transformer_trace import trace_transformer

    path = folder / "wrapped"
    if not path.is_dir():
        make("bert", path)
    longest = draw.choice([3, 8, 64, 0, -1, None, "8", 1.5, True])
    files = {
        "sentence_bert_config": {"max_seq_length": longest, "do_lower_case": draw.choice([True, False, None, 1])},
        "modules": draw.choice([[], {}, [{"type": "sentence_transformers.models.Pooling"}], [{"type": 3}, None]]),
        "config_sentence_transformers": {"prompts": value(draw), "default_prompt_name": draw.choice(["a", None, 3])},
        "config_setfit": value(draw),
    }
    kept = {name: content for name, content in files.items() if draw.random() < 0.6}
    for name in files:
        (path / f"{name}.json").unlink(missing_ok=True)
    for name, content in kept.items():
        (path / f"{name}.json").write_text(json.dumps(content), "utf-8", errors="replace")

    def read() -> object:
        trace = trace_transformer(load_transformer(str(path)), "Which Browser can play MOVIES on mats ?")
        size = trace.sites["layer.0/attention/weight"].sizes["key"]
        if "sentence_bert_config" in kept and type(longest) is int and longest > 2:
            assert size == min(longest, 13) or size <= longest, (size, longest)
        return trace

    return read


KINDS = (any_sizes, any_sizes, generations, wrapper_settings)
