"""`triattn import`: trace the attention of a Hugging Face model."""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Any

from triattn_core.errors import ConfigError, InputError
from triattn_core.text.atomic_write import require_room, require_trace_name


def arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of the command."""
    text = "a folder with config.json, tokenizer.json and weights; or the hub name of a model downloaded before"
    parser.add_argument("model", metavar="MODEL", help=text)
    text = 'one text or two; or a .json file with {"text"} or {"text_a", "text_b"}'
    parser.add_argument("input", nargs="*", metavar="INPUT", help=text)
    parser.add_argument(
        "--image", type=Path, metavar="FILE", help="a picture, for a vision transformer, in place of text"
    )
    parser.add_argument("--offline", action="store_true", help="never download, even if TRIATTN_HUB is set")
    text = "record only this layer, or this module, and of it these heads: 3, 3:0,2, encoder.* (counted from 0)"
    parser.add_argument("--select", nargs="+", metavar="LAYER[:HEADS]", help=text)
    text = "what the decoder of an encoder-decoder reads"
    parser.add_argument("--target", metavar="TEXT", help=text)
    text = "write N tokens; the map has a row for each, over all tokens before it"
    parser.add_argument("--generate", type=int, default=0, metavar="N", help=text)
    parser.add_argument("--out", type=Path, metavar="FILE", help="where to save the trace (NetCDF)")


def run(options: argparse.Namespace) -> None:
    """Print the model's prediction, layers and heads; save the trace if requested."""
    if options.out:
        require_trace_name(options.out)
        require_room(options.out, "save the trace")
    from triattn_core.importers.prediction import prediction_of
    from triattn_core.recording.head_selection import Selection
    from triattn_core.trace.from_array import notes_of

    selection = Selection.of(options.select)
    trace = selection.keep(_picture(options, selection) if options.image else _text(options, selection))
    if options.out:
        trace.save(options.out)
    layers, heads = int(trace.meta["layers"]), int(trace.meta["heads"])
    sizes = dict.fromkeys(" x ".join(map(str, array.shape[1:])) for array in trace.sites.values())
    tokens = max(array.sizes["key"] for array in trace.sites.values())
    if options.json:
        facts: dict[str, Any] = {"model": trace.meta["checkpoint"], "layers": layers, "heads": heads, "tokens": tokens}
        facts |= {"sites": list(map(str, trace.sites)), "rebuilt": trace.meta["rebuilt"]}
        print(json.dumps(facts | {"prediction": prediction_of(trace), "notes": notes_of(trace)}))
        return
    for label, value in prediction_of(trace):
        print(f"{value:.4f}  {label}")
    maps = f"{tokens} tokens" if len(sizes) == 1 and not options.generate else f"maps of {', '.join(sizes)}"
    print(f"{trace.meta['model_type']}, {layers} layer{'s' * (layers > 1)} x {heads} heads, {maps}")
    for note in notes_of(trace):
        print(note)


def _text(options: argparse.Namespace, selection: Any) -> Any:
    """The trace of a text or two.  Raises TriattnError."""
    texts = input_texts(options.input)
    from triattn_core.sources.transformer import load_transformer
    from triattn_core.sources.transformer_trace import trace_transformer

    if options.generate < 0:
        raise ConfigError(f"--generate {options.generate}: expected a number of tokens")
    model = load_transformer(options.model, options.device, options.offline or None)
    read = {"target": options.target, "generate": options.generate, "select": selection.select}
    return trace_transformer(model, *texts, **read)


def _picture(options: argparse.Namespace, selection: Any) -> Any:
    """The trace of a picture.  Raises TriattnError."""
    if options.input or options.target is not None or options.generate:
        raise InputError("--image: the model reads a picture alone, without a text, --target or --generate")
    from triattn_core.sources.vision import load_vision_model, trace_picture

    vision = load_vision_model(options.model, options.device, options.offline or None)
    return trace_picture(vision, options.image, selection.select)


def input_texts(texts: list[str]) -> tuple[str, ...]:
    """One text or two, from the command line or a JSON file.  Raises InputError or DataError."""
    if not texts:
        raise InputError("no text given: put one after the model, or name a picture with --image")
    if len(texts) > 2:
        raise InputError(f"expected a text or a pair, got {len(texts)}: put each in quotes")
    if len(texts) == 2 or not texts[0].endswith(".json"):
        return tuple(texts)
    from triattn_core.importers.text_rows import row_texts
    from triattn_core.text.rows import read_json

    return row_texts(read_json(Path(texts[0])), texts[0])
