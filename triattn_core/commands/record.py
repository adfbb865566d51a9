"""`triattn record`: record the attention of a PyTorch module of your own."""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path
from typing import Any

from triattn_core.text.atomic_write import require_room, require_trace_name


def arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of the command."""
    text = "a Python file and its function, model.py:build; both are run; it returns the module, or (module, encode)"
    parser.add_argument("module", metavar="FILE.py:FUNCTION", help=text)
    text = "a text or a picture, of which encode makes (inputs, tokens); or a .npy, .npz or .safetensors file"
    parser.add_argument("input", metavar="INPUT", help=text)
    text = "the tokens, where the input is a file: a .json file with a list, or a text file with one token per line"
    parser.add_argument("--tokens", type=Path, metavar="FILE", help=text)
    text = "record only this layer, or this module, and of it these heads: 3, 3:0,2, encoder.* (counted from 0)"
    parser.add_argument("--select", nargs="+", metavar="LAYER[:HEADS]", help=text)
    text = "let a decoder that names its words write so many tokens after the text, and record what it looked at"
    parser.add_argument("--generate", type=int, default=0, metavar="N", help=text)
    parser.add_argument("--out", type=Path, metavar="FILE", help="where to save the trace (NetCDF)")


def run(options: argparse.Namespace) -> None:
    """Run the file; print what was recorded, and how far it is proved; save the trace if requested."""
    if options.out:
        require_trace_name(options.out)
        require_room(options.out, "save the trace")
    from triattn_core.commands.open_trace import print_sites, sites
    from triattn_core.importers.pictures import read_picture
    from triattn_core.importers.token_files import read_tokens
    from triattn_core.recording.head_selection import Selection
    from triattn_core.recording.own_module import OwnModule
    from triattn_core.sources.own_picture import ENDINGS, over_picture
    from triattn_core.sources.own_written import trace_written
    from triattn_core.trace.from_array import notes_of

    tokens: dict[str, Any] = read_tokens(options.tokens) if options.tokens else {}
    tokens.pop("special", None)
    selection = Selection.of(options.select)
    print(f"Running {options.module}", file=sys.stderr)
    own = OwnModule.of(options.module)
    if options.generate:
        trace = selection.keep(trace_written(own, options.input, options.generate, selection.select, options.device))
    else:
        image = read_picture(Path(options.input)) if options.input.lower().endswith(ENDINGS) else None
        inputs, words = own.inputs(options.input if image is None else image)
        tape = own.record(inputs, selection.select, options.device)
        trace = selection.keep(tape.trace(**{"tokens": words, **tokens}, source=own.name))
        if image is not None and not words and not tokens:
            trace = over_picture(trace, image, inputs)
    if options.out:
        trace.save(options.out)
    if options.json:
        print(json.dumps({"sites": sites(trace), "rebuilt": trace.meta["rebuilt"], "notes": notes_of(trace)}))
        return
    print_sites(trace)
    if options.out:
        print(f"triattn app --open {options.out} shows it")
