"""Trace the attention of a Hugging Face model on a text or a pair: all layers and heads, recorded while it runs."""

from __future__ import annotations

import json
import time
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import torch
import xarray as xr

from triattn_core.errors import InputError
from triattn_core.importers.token_coords import Tokens, name_ids, texts_of, token_columns
from triattn_core.recording.refusal import explain_layer_types
from triattn_core.recording.selection import Select
from triattn_core.recording.tape import record
from triattn_core.sources.languages import tell_languages
from triattn_core.sources.transformer import NEXT_TOKEN, Transformer, start_token
from triattn_core.sources.transformer_errors import one_line
from triattn_core.sources.transformer_inputs import as_input, read_target, read_text
from triattn_core.sources.transformer_outputs import predict
from triattn_core.sources.written import DECODERS_OWN, generation_options, with_start
from triattn_core.text.token_names import START
from triattn_core.trace import AttentionTrace
from triattn_core.trace.array_rows import empty_unknown_rows
from triattn_core.trace.axes import GENERATED
from triattn_core.trace.from_array import LONGEST

# Keys beside the tokens, by the type of a model: what they are, and whether they come first.
EXTRA_KEYS = {"deepseek_v4": ("block", False), "cpmant": ("prompt", True)}
START_ALONE = (
    "The decoder read its start token alone: this is its first word; `triattn import --target` or `--generate` goes on."
)


@dataclass(frozen=True)
class Reading:
    """What a model reads: its inputs, the tokens of the text, and those of its decoder, where it has one.

    generated: tokens that it wrote itself, where it did.
    """

    inputs: Any = field(repr=False)
    tokens: Tokens
    decoder: Tokens | None = None
    generated: Tokens | None = None
    notes: tuple[str, ...] = ()


@torch.inference_mode()
def trace_transformer(
    transformer: Transformer,
    text: str,
    pair: str | None = None,
    *,
    target: str | None = None,
    generate: int = 0,
    written: int | None = None,
    select: Select = None,
) -> AttentionTrace:
    """Returns the trace of a text or a pair: a site `layer.0/attention/weight` [head, query, key] for each attention.

    Layers have the model's own numbers, from 0; those without attention have no site.  The attentions of a model with
    a decoder that reads an encoder are of the roles `encoder`, `decoder` and `cross`; target: what its decoder reads;
    written: it reads so many tokens that it wrote itself, the prediction is then the one after them.
    generate: write so many tokens, the most likely ones: queries are then these tokens, see `Tape.generation`.
    select: layers or modules, see `recording.selection.selector`.

    `prediction_of(trace)` is the prediction.  A text with more tokens than the model reads, or than 256, is cut, with a
    note.  Raises InputError in one line, whatever the model raises.
    """
    start = time.perf_counter()
    config = transformer.model.config
    in_a_line = one_line(transformer.name, transformer.model, unattending=explain_layer_types(config))
    with in_a_line:
        reading = _read(transformer, text, pair, target, written)
        with record(transformer.model, select) as tape:
            outputs, reading = _run(transformer, reading, generate)
        arrays = tape.generation_arrays() if generate else tape.arrays(len(reading.tokens.tokens))
    arrays, nan_notes = empty_unknown_rows(arrays)
    roles = {site: tape.role(attention) for site, attention in tape.sites(0 if generate else None).items()}
    extra, first = EXTRA_KEYS.get(transformer.model.config.model_type, ("", False))
    sites = {site: _with_tokens(array, roles[site], reading, extra, first) for site, array in arrays.items()}
    prediction, unknown = predict(
        transformer.head, transformer.model.config, transformer.tokenizer, outputs, reading.inputs["input_ids"]
    )
    meta = tape.meta(tape.attentions, arrays, transformer.name)
    loaded = (*transformer.notes, *tell_languages(transformer))
    notes = [*loaded, *reading.tokens.notes, *reading.notes, *nan_notes, *unknown, str(meta["notes"])]
    if reading.generated is not None:
        meta[GENERATED] = len(reading.generated)
    meta |= {
        "device": str(transformer.model.device),
        "prediction": json.dumps(prediction, ensure_ascii=False),
        "seconds": time.perf_counter() - start,
        "notes": "\n".join(notes),
    }
    return AttentionTrace(sites, texts_of(text, pair), meta)


def _read(transformer: Transformer, text: str, pair: str | None, target: str | None, written: int | None) -> Reading:
    """The inputs of a text.  Raises InputError: none, or a target for a model without a decoder of its own."""
    inputs, tokens = read_text(transformer, text, pair)
    if (target is not None or written) and not transformer.writes:
        raise InputError(f"{transformer.name} reads no target: its decoder does not read an encoder")
    if not transformer.writes:
        return Reading(inputs, tokens)
    if written is not None:
        return Reading(with_start(transformer, inputs, written), tokens)
    given, ids = read_target(transformer, target)
    inputs[DECODERS_OWN] = as_input(given)
    return Reading(inputs, tokens, notes=() if ids else (START_ALONE,))


def _run(transformer: Transformer, reading: Reading, generate: int) -> tuple[Any, Reading]:
    """What the model returns, of a generation its last step, and the reading with what its decoder read."""
    model, tokenizer = transformer.model, transformer.tokenizer
    inputs = reading.inputs.to(model.device)
    if generate:
        if transformer.head != NEXT_TOKEN:
            raise InputError(f"{transformer.name} cannot generate: it predicts no next token")
        most = min(generate, LONGEST, transformer.longest - len(reading.tokens.tokens) * (not transformer.has_decoder))
        if most < 1:
            raise InputError(f"{transformer.name} has no room for a token after this text: shorten it")
        made = model.generate(**inputs, **generation_options(transformer, inputs, most), output_logits=True)
        given = len(inputs[DECODERS_OWN if transformer.has_decoder else "input_ids"][0])
        ids = made.sequences[0].tolist()
        outputs = _Outputs(made.logits[-1][:, None])
        decoder = _decoder_tokens(transformer, ids[:-1]) if transformer.has_decoder else None
        return outputs, Reading(inputs, reading.tokens, decoder, name_ids(tokenizer, ids[given:]))
    seen: list[torch.Tensor] = []
    decoder = model.get_decoder() if transformer.has_decoder else None

    def keep(module: Any, args: tuple, kwargs: Mapping[str, Any]) -> None:
        ids = kwargs.get("input_ids", args[0] if args else None)
        if ids is not None:
            seen.append(ids)

    hook = decoder.register_forward_pre_hook(keep, with_kwargs=True) if decoder is not None else None
    try:
        outputs = model(**inputs)
    finally:
        if hook is not None:
            hook.remove()
    tokens = _decoder_tokens(transformer, seen[0][0].tolist()) if seen else None
    return outputs, Reading(inputs, reading.tokens, tokens, notes=reading.notes)


def _decoder_tokens(transformer: Transformer, ids: list[int]) -> Tokens:
    """The tokens that a decoder reads.  Where it starts with the id of padding, as MarianMT and T5 do, that one is
    named by what it is there."""
    named = name_ids(transformer.tokenizer, ids)
    starts = ids[:1] == [transformer.tokenizer.pad_token_id] == [start_token(transformer.model)]
    return replace(named, tokens=[START, *named.tokens[1:]]) if starts else named


@dataclass(frozen=True)
class _Outputs:
    logits: torch.Tensor


def _with_tokens(array: xr.DataArray, role: str, reading: Reading, extra: str, first: bool) -> xr.DataArray:
    """The weights with the tokens of both axes; see `Tokens.fitted` for an axis of another length than its tokens."""
    own = reading.decoder if role in ("decoder", "cross") and reading.decoder else reading.tokens
    sides = {"query": own, "key": reading.tokens if role == "cross" else own}
    if reading.generated is not None and array.sizes["query"] == len(reading.generated.tokens) and role != "encoder":
        if role == "attention":
            sides["key"] = reading.tokens.followed_by(reading.generated)
        sides["query"] = reading.generated
    coords: dict[str, Any] = {}
    for axis in filter(array.dims.__contains__, ("query", "key", "context")):
        tokens = sides.get(str(axis), own)
        coords |= token_columns(tokens.fitted(array.sizes[axis], extra, first), str(axis))
    return array.assign_coords(coords)
