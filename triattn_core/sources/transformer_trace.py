"""Trace the attention of a Hugging Face model on a text or a pair: all layers and heads, recorded while it runs."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import torch
import xarray as xr

from triattn_core.checkpoint.transformer_folder import LAYERS
from triattn_core.errors import InputError, TraceError, TriattnError, cause
from triattn_core.importers.token_coords import Tokens, encode, name_ids, texts_of, token_columns
from triattn_core.inference.device import memory_guard
from triattn_core.recording.arrays import empty_unknown_rows
from triattn_core.recording.names import layer_of_path
from triattn_core.recording.selection import Select
from triattn_core.recording.tape import Tape, record
from triattn_core.sources.transformer import NEXT_TOKEN, Transformer
from triattn_core.sources.transformer_outputs import predict
from triattn_core.trace import AttentionTrace
from triattn_core.trace.from_array import LONGEST

START_ALONE = "The decoder read its start token alone: give it a text (target), or let it generate."


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
    select: Select = None,
) -> AttentionTrace:
    """Returns the trace of a text or a pair: a site `layer.0/attention/weight` [head, query, key] for each attention.

    Layers have the model's own numbers, from 0; those without attention have no site.  The attentions of a model with
    a decoder that reads an encoder are of the roles `encoder`, `decoder` and `cross`; target: what its decoder reads.
    generate: write so many tokens, the most likely ones: queries are then these tokens, see `Tape.generation`.
    select: layers or modules, see `recording.selection.selector`.

    `prediction_of(trace)` is the prediction.  A text with more tokens than the model reads, or than 256, is cut, with a
    note.  Raises InputError in one line, whatever the model raises.
    """
    start = time.perf_counter()
    with _one_line(transformer), memory_guard("this text"):
        reading = _read(transformer, text, pair, target)
        with record(transformer.model, select) as tape:
            outputs, reading = _run(transformer, reading, generate)
        arrays = tape.generation_arrays() if generate else tape.arrays(len(reading.tokens.tokens))
    arrays, nan_notes = empty_unknown_rows(arrays)
    roles = {site: tape.role(attention) for site, attention in tape.sites(0 if generate else None).items()}
    sites = {site: _with_tokens(array, roles[site], reading) for site, array in arrays.items()}
    prediction, unknown = predict(transformer.head, transformer.model.config, transformer.tokenizer, outputs)
    meta = tape.meta(tape.attentions, arrays, transformer.name)
    notes = [*transformer.notes, *reading.tokens.notes, *reading.notes, *nan_notes, *unknown, str(meta["notes"])]
    notes += _gaps(transformer.model.config, tape, select)
    meta |= {
        "device": str(transformer.model.device),
        "prediction": json.dumps(prediction, ensure_ascii=False),
        "seconds": time.perf_counter() - start,
        "notes": "\n".join(notes),
    }
    return AttentionTrace(sites, texts_of(text, pair), meta)


def _read(transformer: Transformer, text: str, pair: str | None, target: str | None) -> Reading:
    """The inputs of a text.  Raises InputError: none, or a target for a model without a decoder of its own."""
    inputs, tokens = encode(transformer.tokenizer, text, pair, transformer.longest)
    if target is not None and (not transformer.has_decoder or transformer.head == "labels"):
        raise InputError(f"{transformer.name} reads no target: its decoder does not read an encoder")
    if not transformer.has_decoder or transformer.head == "labels":  # a classifier makes its decoder's inputs itself
        return Reading(inputs, tokens)
    model = transformer.model
    config = model.config
    names = ("decoder_start_token_id", "bos_token_id", "pad_token_id")
    parts = (config, getattr(model, "generation_config", None))
    numbers = (getattr(part, name, None) for name in names for part in parts)
    start = next((number for number in numbers if number is not None), 0)
    ids = transformer.tokenizer(text_target=target)["input_ids"] if target is not None else []
    inputs["decoder_input_ids"] = torch.tensor([[start, *ids[:-1]][: transformer.longest]])
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
        options = {"max_new_tokens": most, "do_sample": False, "num_beams": 1, "return_dict_in_generate": True}
        if transformer.has_decoder:
            options["decoder_start_token_id"] = int(inputs["decoder_input_ids"][0, 0])
        made = model.generate(**inputs, **options, output_logits=True)
        given = len(inputs["decoder_input_ids" if transformer.has_decoder else "input_ids"][0])
        ids = made.sequences[0].tolist()
        outputs = _Outputs(made.logits[-1][:, None])
        decoder = name_ids(tokenizer, ids[:-1]) if transformer.has_decoder else None
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
    tokens = name_ids(tokenizer, seen[0][0].tolist()) if seen else None
    return outputs, Reading(inputs, reading.tokens, tokens, notes=reading.notes)


@dataclass(frozen=True)
class _Outputs:
    logits: torch.Tensor


def _with_tokens(array: xr.DataArray, role: str, reading: Reading) -> xr.DataArray:
    """The weights with the tokens of both axes; an axis of another length than its tokens gets numbers."""
    own = reading.decoder if role in ("decoder", "cross") and reading.decoder else reading.tokens
    sides = {"query": own, "key": reading.tokens if role == "cross" else own}
    if reading.generated is not None and array.sizes["query"] == len(reading.generated.tokens) and role != "encoder":
        if role == "attention":
            sides["key"] = reading.tokens.followed_by(reading.generated)
        sides["query"] = reading.generated
    coords: dict[str, Any] = {}
    for axis in filter(array.dims.__contains__, ("query", "key", "context")):
        tokens = sides.get(str(axis), own)
        coords |= token_columns(tokens.fitted(array.sizes[axis]), str(axis))
    return array.assign_coords(coords)


def _gaps(config: Any, tape: Tape, select: Select) -> list[str]:
    """A note on the layers that have no attention, by the number of layers in the config."""
    sizes = (getattr(config.get_text_config(), name, None) for name in LAYERS)
    count = next((size for size in sizes if isinstance(size, int)), 0)
    layers = (layer_of_path(attention.running.path) for attention in tape.attentions)
    found = {layer for layer in layers if layer is not None}
    missing = [layer + 1 for layer in range(count) if layer not in found]
    if select is not None or not missing or not found or max(found) >= count:
        return []
    few = ", ".join(map(str, missing[:8])) + (" …" if len(missing) > 8 else "")
    return [f"{len(missing)} of {count} layers have no attention: {few}."]


@contextmanager
def _one_line(transformer: Transformer) -> Iterator[None]:
    """Turn any exception of a model into an InputError of one line."""
    try:
        yield
    except TraceError as error:
        raise InputError(f"{transformer.name}: {error}") from None
    except TriattnError:
        raise
    except Exception as error:  # each model has its own
        first = (str(error).strip().splitlines() or [""])[0]
        reason = cause(error) or f"{type(error).__name__}: {first}"
        kind = transformer.model.config.model_type
        raise InputError(f"{transformer.name}: this {kind} model does not run on text alone: {reason[:200]}") from None
