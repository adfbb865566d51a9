"""Runs a notebook's cells in order, as a notebook would, and keeps what they show.

python -m tests.support.notebook triattn_core/example.ipynb     runs it and writes its outputs anew
"""

from __future__ import annotations

import ast
import base64
import json
import sys
from collections.abc import Iterator
from contextlib import redirect_stdout
from io import StringIO
from pathlib import Path
from typing import Any

SHOWS = {"text/html": "_repr_html_", "image/png": "_repr_png_"}


def ran(notebook: dict) -> Iterator[tuple[dict, list[dict]]]:
    """Each code cell with what it shows now."""
    names: dict[str, Any] = {"__name__": "__main__"}
    number = 0
    for cell in notebook["cells"]:
        if cell["cell_type"] == "code":
            number += 1
            yield cell, outputs("".join(cell["source"]), names, number)


def outputs(source: str, names: dict[str, Any], number: int) -> list[dict]:
    """The outputs of a cell: printed text, and its last expression."""
    body = ast.parse(source).body
    last = ast.Expression(body.pop().value) if body and isinstance(body[-1], ast.Expr) else None
    with redirect_stdout(StringIO()) as stream:
        exec(compile(ast.Module(body, []), f"cell {number}", "exec"), names)
        value = eval(compile(last, f"cell {number}", "eval"), names) if last else None
    text = stream.getvalue()
    streams = [{"output_type": "stream", "name": "stdout", "text": text.splitlines(keepends=True)}] if text else []
    if value is None:
        return streams
    data: dict[str, Any] = {"text/plain": repr(value).splitlines(keepends=True)}
    for kind, name in SHOWS.items():
        if hasattr(value, name):
            content = getattr(value, name)()
            as_bytes = isinstance(content, bytes)
            data[kind] = base64.b64encode(content).decode() if as_bytes else content.splitlines(keepends=True)
    return [*streams, {"output_type": "execute_result", "execution_count": number, "data": data, "metadata": {}}]


def main(path: Path) -> None:
    """Writes the outputs into the notebook."""
    notebook = json.loads(path.read_text("utf-8"))
    for number, (cell, cell_outputs) in enumerate(ran(notebook), 1):
        cell["outputs"], cell["execution_count"] = cell_outputs, number
    path.write_text(json.dumps(notebook, ensure_ascii=False, indent=1) + "\n", "utf-8")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
