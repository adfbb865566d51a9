"""Inputs by a seed: files that are nearly right, commands that are nearly right, links that are nearly right."""

from __future__ import annotations

import gzip
import io
import json
import random
from collections.abc import Callable
from pathlib import Path
from urllib.parse import quote

import numpy as np

from pages.shared.navigation import PLACES
from tests.fuzz import stored

ODD = (
    "", " ", "\0", "a" * 5000, "../../etc/passwd", "🙂👨‍👩‍👧", "\u202e\u200b",
    "<script>alert(1)</script>", "'; DROP TABLE x;--",
    "%s%n{}", "-1", "0", "1e999", "nan", "99999999999999999999", "[" * 3000, "true",
    "null", "电影", "é" * 300, "\ud7ff", "a\nb",
)  # fmt: skip
NAMES = ("pairs-tri", "pairs-bi", "dialogue-tri", "reading-cbi", "nobody")
PAGES = tuple(name for pages in PLACES.values() for name in pages)
PARAMETERS = (
    "task", "language", "checkpoint", "checkpoints", "a", "b", "a2", "b2", "layer", "head", "direction", "by", "at",
    "steps", "fold", "ranks", "method", "rows", "count", "option", "other", "context", "compare", "null", "along",
    "draws", "unit",
    "units", "paper", "similarity", "query", "key", "off", "trace", "case", "study", "turns", "candidates",
    "passage", "question", "options",
    "between", "which", "page", "sort", "site", "cell", "third-order-task", "false-friends-scores", "problem", "asked",
    "predicate", "model", "becomes", "x" * 200,
)  # fmt: skip
ROW = {"text_a": "who play the red car ?", "text_b": "what movie is not big", "label": 0}


def value(draw: random.Random) -> object:
    """Some JSON value."""
    kind = draw.randrange(9)
    if kind < 3:
        return draw.choice(ODD)
    if kind == 3:
        return draw.choice([True, None, -1, 0, 1 << 70, 1e308, float("nan"), float("inf")])
    if kind == 4:
        return [value(draw) for _ in range(draw.randrange(3))]
    if kind == 5:
        return {draw.choice(["text_a", "model", "x"]): value(draw)}
    return draw.choice(["pairs", "tri", 2, "who is red ?"])


def mutate(draw: random.Random, content: bytes) -> bytes:
    """Bytes with some taken out, changed or doubled; now and then as they are."""
    data = bytearray(content)
    for _ in range(draw.choice([0, 1, 1, 3, 20])):
        at = draw.randrange(len(data) + 1)
        how = draw.randrange(4)
        if how == 0:
            del data[at : at + draw.randrange(1, 40)]
        elif how == 1:
            data[at:at] = bytes(draw.randrange(256) for _ in range(draw.randrange(1, 9)))
        elif how == 2:
            data[at:at] = data[max(0, at - 30) : at] * draw.choice([1, 50])
        elif data:
            data[min(at, len(data) - 1)] ^= 1 << draw.randrange(8)
    return bytes(data[: draw.choice([len(data), len(data), draw.randrange(len(data) + 1)])])


def changed(draw: random.Random, given: object) -> object:
    """A JSON value with some of its parts replaced."""
    if draw.random() < 0.12:
        return value(draw)
    if isinstance(given, dict):
        fields = {name: changed(draw, one) for name, one in given.items() if draw.random() > 0.04}
        return fields | ({draw.choice(ODD)[:40]: value(draw)} if draw.random() < 0.1 else {})
    return [changed(draw, one) for one in given] if isinstance(given, list) else given


def arrays(draw: random.Random, suffix: str) -> bytes:
    """The bytes of a file of an array, nearly right."""
    shape = tuple(draw.choice([0, 1, 2, 5, 7]) for _ in range(draw.randrange(1, 5)))
    array = (
        np.random.default_rng(draw.randrange(1 << 30)).random(shape).astype(draw.choice(["f4", "f8", "i2", "U3", "c8"]))
    )
    file = io.BytesIO()
    if suffix == ".npy":
        np.save(file, array)
    elif suffix == ".npz":
        np.savez_compressed(file, a=array, b=array)
    elif suffix == ".safetensors":
        from safetensors.numpy import save

        file.write(save({"a": np.ascontiguousarray(array)}) if array.dtype.kind in "fi" else b"\x08\0\0\0\0\0\0\0{}")
    else:
        file.write(draw.choice([b"PK\x03\x04", b"\x89HDF\r\n\x1a\n", b"CDF\x01", b"\x80\x02."]) + draw.randbytes(200))
    return mutate(draw, file.getvalue())


def reader(draw: random.Random, folder: Path) -> Callable[[], object]:
    """A file reader and its file."""
    from triattn_core.analysis.mining import case_table
    from triattn_core.checkpoint.config import read_config
    from triattn_core.checkpoint.registry import list_checkpoints
    from triattn_core.importers.open_file import open_file
    from triattn_core.importers.token_files import read_tokens
    from triattn_core.tasks import TASKS
    from triattn_core.text import rows

    kind = draw.choice(["array", "rows", "json", "config", "checkpoints", "table", "tokens", "stored", "stored"])
    path = folder / f"f{draw.choice(['.jsonl', '.json', '.gz', '.csv', '.tsv', '.txt'])}"
    if kind == "array":
        path = folder / f"f{draw.choice(['.npy', '.npz', '.safetensors', '.nc', '.pt'])}"
        path.write_bytes(arrays(draw, path.suffix))
        return lambda: open_file(path)
    if kind == "stored":
        path = folder / draw.choice(stored.KINDS)
        path.write_bytes(stored.damaged(draw, path.name))
        return lambda: (case_table.load if path.suffix == ".parquet" else open_file)(path)
    if kind == "table":
        path.write_bytes(b"PAR1" + draw.randbytes(draw.randrange(300)) + b"PAR1")
        return lambda: case_table.load(path)
    config = json.loads((folder.parent / "checkpoints" / "pairs-tri" / "config.json").read_text("utf-8"))
    text = json.dumps(changed(draw, ROW if kind in ("rows", "json", "tokens") else config))
    content = mutate(draw, (text + "\n").encode(errors="replace") * draw.choice([1, 3, 200]))
    content = gzip.compress(content) if draw.random() < 0.2 else content
    if kind == "checkpoints":
        (folder / "bad").mkdir(exist_ok=True)
        (folder / "bad" / "config.json").write_bytes(text.encode(errors="replace") if draw.random() < 0.7 else content)
        return lambda: [entry.problem for entry in list_checkpoints(folder)]
    path.write_bytes(content)
    if kind == "rows":
        task = TASKS[draw.choice(sorted(TASKS))]
        return lambda: list(task.read(path))
    return {"json": lambda: rows.read_json(path), "tokens": lambda: read_tokens(path)}.get(
        kind, lambda: read_config(path)
    )


def command(draw: random.Random, folder: Path) -> list[str]:
    """The arguments of a command, nearly right."""
    row, data, out = folder / "row.json", folder / "rows.jsonl", str(folder / draw.choice(["out", "no/out", "o" * 300]))
    row.write_text(json.dumps(changed(draw, ROW)), "utf-8", errors="replace")
    lines = "".join(json.dumps(changed(draw, ROW)) + "\n" for _ in range(3))
    data.write_text(lines, "utf-8", errors="replace")
    name = draw.choice(NAMES)
    known = [
        ["list", "--json"], ["verify", name], ["explain", name, str(row)], ["explain", name, str(row), "--out", out],
        ["explain", name, str(row), "--cell", "layer.0/a_over_b/weight", draw.choice(["0,1,1,0", "mean,9,9", "x"])],
        ["evaluate", name, str(data)], ["context", name, str(data), "--out", out], ["open", str(data)],
        ["cases", name, "pairs-tri", str(data), "--out", out], ["card", "cube", name, str(row), "--out", out],
        ["book", "list"], ["card", str(row), "--out", out], ["import", name, "a text"], ["train", str(row)],
        ["faithful", name, str(data), "--draws", "1", "--steps", "2", "--out", out],
    ]  # fmt: skip
    words = draw.choice(known)
    for _ in range(draw.choice([0, 0, 1, 2])):
        at = draw.randrange(1, len(words) + 1)
        odd = draw.choice(ODD).replace("\0", "0")
        words = [
            *words[:at],
            draw.choice([odd, "--json", "--limit", "--ablate", "--set"]),
            *words[at + draw.randrange(2) :],
        ]
    return words


def link(draw: random.Random) -> tuple[str, dict[str, str | list[str]]]:
    """A page and what its link says."""
    good = {
        "task": ["Sentence pairs", "Dialogue"],
        "a": ["the red car"],
        "layer": ["1", "2"],
        "checkpoint": list(NAMES),
    }
    query = {}
    for _ in range(draw.randrange(1, 5)):
        name = draw.choice(PARAMETERS)
        text = draw.choice([*good.get(name, ()), *ODD]) if draw.random() < 0.7 else quote(str(value(draw)))[:300]
        query[name] = draw.choice([text, [text, text]])
    return draw.choice(PAGES), query


def upload(draw: random.Random) -> tuple[str, dict[str, str | list[str]], str, bytes]:
    """A page that takes a file, its link, and the file's name and content, nearly right."""
    page = draw.choice(["open", "cases", "case_book"])
    text = json.dumps(changed(draw, ROW)) + "\n"
    content = mutate(draw, text.encode(errors="replace") * draw.choice([1, 3, 200]))
    if page == "open":  # other endings are refused in the browser
        if draw.random() < 0.4:
            name = draw.choice([kind for kind in stored.KINDS if not kind.endswith(".parquet")])
            return page, {}, name, stored.damaged(draw, name)
        suffix = draw.choice([".npy", ".npz", ".safetensors", ".nc", ".pt"])
        return page, {}, f"f{suffix}", arrays(draw, suffix) if draw.random() < 0.8 else content
    if page == "cases" and draw.random() < 0.3:
        return page, {"rows": "a file of yours"}, "f.parquet", stored.damaged(draw, "cases.parquet")
    suffix = draw.choice([".jsonl", ".json", ".jsonl.gz", ".parquet"])
    content = gzip.compress(content) if suffix.endswith("gz") and draw.random() < 0.8 else content
    return page, {"rows": "a file of yours"} if page == "cases" else {}, f"f{suffix}", content
