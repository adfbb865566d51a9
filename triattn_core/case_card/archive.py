"""The zip of a case card: each figure as SVG, PNG and an offline page, the data, the trace, the manifest.

No file in it has a date: the same numbers make the same tables, pictures and pages, byte for byte.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from io import BytesIO
from pathlib import Path
from tempfile import TemporaryDirectory
from zipfile import ZIP_DEFLATED, ZipFile, ZipInfo

from triattn_core.case_card.manifest import FILE, TRACE, manifest
from triattn_core.scenes.figures import Figure
from triattn_core.scenes.scene import RequestedScene
from triattn_core.trace import AttentionTrace

README = """A case card of triattn.

{figures}
data.csv, data.parquet             every cell that is drawn, as a row
trace.nc                           all that was recorded of the example, or opened (NetCDF-4; xarray reads it)
{file}                      texts, settings, checkpoints or trace with their digests, versions

The pages need no network. This makes the card again, with the same numbers:

    {command}
"""


def pack(scene: RequestedScene, figures: Mapping[str, Figure]) -> bytes:
    """The bytes of the zip."""
    return zip_files(files(scene, figures))


def zip_files(contents: Iterable[tuple[str, bytes]]) -> bytes:
    """A zip of names and contents, without dates."""
    file = BytesIO()
    with ZipFile(file, "w", ZIP_DEFLATED) as archive:
        for name, content in contents:
            info = ZipInfo(name)
            info.compress_type, info.external_attr = ZIP_DEFLATED, 0o644 << 16
            archive.writestr(info, content)
    return file.getvalue()


def files(scene: RequestedScene, figures: Mapping[str, Figure]) -> Iterator[tuple[str, bytes]]:
    """Name and content of each."""
    about = manifest(scene)
    titles = "\n".join(
        f"{f'{name}.html, .svg, .png':<34} {about_figure['title']}" for name, about_figure in about.figures.items()
    )
    yield "README.txt", README.format(figures=titles, file=FILE, command=about.command).encode()
    yield FILE, (about.model_dump_json(indent=1) + "\n").encode()
    for name, figure in figures.items():
        yield f"{name}.html", figure.html().encode()
        yield f"{name}.svg", figure.svg()
        yield f"{name}.png", figure.png()
    yield "data.csv", scene.table.to_csv(index=False).encode("utf-8-sig")
    yield "data.parquet", scene.table.to_parquet(index=False)
    yield TRACE, trace_file(scene.trace)


def trace_file(trace: AttentionTrace) -> bytes:
    """A trace as it is saved."""
    with TemporaryDirectory() as folder:
        path = Path(folder) / "trace.nc"
        trace.save(path)
        return path.read_bytes()
