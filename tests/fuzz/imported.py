"""Valid inputs of odd kinds, by a seed: arrays with rows that hold no number, nested containers of tensors, tokens with
overlapping offsets, special tokens of any name, texts for tokenizers with wrong maximum lengths, and hybrids, of whose
layers some have no attention."""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

LETTERS = "ab 1-.é🙂猫ไ\n\t\u2028\u200b\u202e\u0301\ue000"
SPECIAL = ("[SEP]", "<|im_start|>", "<s>", "[MASK]", "</s>", "<｜end｜>", "[UNK]", "^")


def array_of_rows(draw: random.Random, folder: Path) -> Callable[[], object]:
    """Weights, rounded and with some rows of no number; measured as the page does."""
    from triattn_core.analysis.maps.head_measures import head_table
    from triattn_core.trace.from_array import trace_of

    numbers = np.random.default_rng(draw.randrange(1 << 30))
    shape = [draw.choice([1, 2, 3, 7]) for _ in range(draw.randrange(2, 6))]
    values = numbers.random(shape)
    values /= values.sum(tuple(range(-draw.choice([1, 2]), 0)), keepdims=True)
    values = (values * draw.choice([1, 1, 0.9])).astype(draw.choice(["f2", "f4", "f8"]))
    values[numbers.random(shape) < draw.choice([0, 0.05, 0.5])] = np.nan
    names = ["layer", "batch", "head", "query", "key", "context"]
    axes = draw.choice([None, draw.sample(names, len(shape))])
    options: dict[str, Any] = {"quantity": draw.choice([None, "weight", "relevance"]), "axes": axes}
    options["select"] = draw.choice([{}, {"batch": draw.randrange(3)}])

    def read() -> object:
        trace = trace_of(values, **options)
        for array in trace.sites.values():
            assert not np.isnan(array.values).any()
        return head_table(trace)

    return read


def nested_file(draw: random.Random, folder: Path) -> Callable[[], object]:
    """A .pt of tensors in lists and mappings."""
    import torch

    from triattn_core.importers.open_file import open_file

    def part(depth: int) -> object:
        kind = draw.randrange(6)
        if depth > 3 or kind < 2:
            return torch.rand([draw.choice([1, 2, 3]) for _ in range(draw.randrange(0, 6))])
        if kind == 2:
            return draw.choice([None, 3, "text"])
        if kind == 3:
            return {draw.choice(["a", "b", 1]): part(depth + 1) for _ in range(draw.randrange(3))}
        items = [part(depth + 1) for _ in range(draw.randrange(4))]
        return tuple(items * draw.choice([1, 2])) if kind == 4 else items

    path = folder / "nested.pt"
    torch.save(part(0), path)
    return lambda: open_file(path, draw.choice([None, "nested.0", "a"]), quantity="contribution")


def token_lists(draw: random.Random, folder: Path) -> Callable[[], object]:
    """Tokens of a list, some of them special, empty or alike."""
    from triattn_core.trace.from_array import trace_of

    count = draw.randrange(1, 9)
    tokens = [draw.choice([*SPECIAL, "", "a", "##b", "##", " "]) for _ in range(count)]
    special = draw.sample(SPECIAL, draw.randrange(3))
    return lambda: trace_of(np.full((count, count), 1 / count), tokens=tokens, special=special)


def names_by_offsets(draw: random.Random, folder: Path) -> Callable[[], object]:
    """Offsets that overlap, repeat or are empty."""
    from triattn_core.text.token_names import name_tokens

    text = "".join(draw.choice(LETTERS) for _ in range(draw.randrange(12)))
    ends = [sorted((draw.randrange(len(text) + 1), draw.randrange(len(text) + 1))) for _ in range(draw.randrange(9))]
    offsets = [(start, end) for start, end in (draw.choice([sorted, list])(ends))]
    pieces = [draw.choice(["▁", "Ġ", "a", "", "<0xF0>"]) for _ in offsets]

    def read() -> object:
        named = name_tokens(text, pieces, offsets)
        assert all(named.names) and len(named.names) == len(named.words) == len(offsets)
        return named

    return read


def texts_for_tokenizers(draw: random.Random, folder: Path) -> Callable[[], object]:
    """A text with special tokens typed into it, cut at some length."""
    from triattn_core.importers.token_coords import encode, token_coords

    tokenizer = _tokenizer(draw.choice(["llama", "t5", "gpt2"]))
    text = "".join(draw.choice([*LETTERS, *SPECIAL]) for _ in range(draw.randrange(30)))
    longest = draw.choice([1, 2, 3, 64])
    return lambda: token_coords(encode(tokenizer, text, draw.choice([None, text[::-1]]), longest)[1])


def hybrids(draw: random.Random, folder: Path) -> Callable[[], object]:
    """A model of whose layers some attend, with weights of no number now and then and any maximum length."""
    import torch

    from tests.support.tiny_transformers import make_type
    from triattn_core.errors import InputError
    from triattn_core.sources.transformer import load_transformer
    from triattn_core.sources.transformer_trace import trace_transformer

    layers = [draw.choice(["conv", "full_attention"]) for _ in range(4)]
    path = make_type("lfm2", folder / f"hybrid-{draw.randrange(1 << 60)}", layer_types=layers)
    settings = path / "tokenizer_config.json"
    longest = draw.choice([-1, 0, 1, 5, 64, 10**30, 1.5, "64", None])
    settings.write_text(json.dumps(json.loads(settings.read_text("utf-8")) | {"model_max_length": longest}), "utf-8")
    text = "".join(draw.choice([*LETTERS, *SPECIAL]) for _ in range(draw.choice([1, 8, 30])))
    bad = draw.random() < 0.2

    def read() -> object:
        model = load_transformer(str(path))
        if bad:
            with torch.no_grad():
                next(model.model.parameters())[:] = torch.nan
        attending = [number for number, kind in enumerate(layers) if kind == "full_attention"]
        try:
            trace = trace_transformer(model, text)
        except InputError as error:
            told = any(part in str(error) for part in ("all of them conv", "none is left for text"))
            assert attending or not text.strip() or told, error
            raise
        assert [site.layer for site in trace.sites] == attending, (layers, list(trace.sites))
        return trace

    return read


@cache
def _tokenizer(kind: str) -> Any:
    from tests.support import small_tokenizers

    return getattr(small_tokenizers, kind)()


KINDS = (array_of_rows, nested_file, token_lists, names_by_offsets, texts_for_tokenizers, hybrids)
