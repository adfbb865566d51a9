"""Case cards: what is in the zip, and that it is made again with the same numbers."""

from __future__ import annotations

import io
import json
import re
import struct
import zipfile
from collections.abc import Callable
from functools import cache
from xml.etree import ElementTree

import numpy as np
import pandas as pd
import pytest

from tests.support.card_checkpoints import cases, dump_manifest, rendered_card, use_checkpoints, write_card
from triattn_core.__main__ import main
from triattn_core.case_card import draw
from triattn_core.case_card.manifest import read
from triattn_core.case_card.remake import remake as made_again
from triattn_core.case_card.rendered import RenderedView
from triattn_core.scenes.charts import Chart
from triattn_core.scenes.printing.from_canvas import GREY, sheet_from_canvas
from triattn_core.tasks import pairs
from triattn_core.trace import AttentionTrace
from triattn_core.views.lib.canvas import Canvas
from triattn_core.views.lib.palette import SEQUENTIAL, LogScale, ramp, rgb

pytestmark = pytest.mark.slow

SVG = "{http://www.w3.org/2000/svg}"


@pytest.fixture(scope="module")
def there(tmp_path_factory):
    with use_checkpoints(tmp_path_factory.mktemp("cards")) as folder:
        yield folder


@pytest.fixture(scope="module")
def drawn(there) -> Callable[[str], RenderedView]:
    """Each card is drawn once, and made again by those that compare."""
    return cache(rendered_card)


@pytest.fixture(scope="module")
def packed(drawn) -> Callable[[str], dict[str, bytes]]:
    """The files of a card by their names."""
    return cache(lambda name: unpacked(drawn(name).case_card()))


def unpacked(content: bytes) -> dict[str, bytes]:
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        assert archive.testzip() is None
        return {name: archive.read(name) for name in archive.namelist()}


@pytest.mark.parametrize("name", cases())
def test_a_manifest_makes_the_same_numbers_again(drawn, tmp_path, name):
    view = drawn(name)
    again = made_again(read(write_card(view, tmp_path)))
    assert again.settings == view.settings and None not in getattr(again.settings, "cell", ())
    pd.testing.assert_frame_equal(again.table, view.table)
    assert again.figures == view.figures and [figure.alt for figure in view.figures.values()]
    assert again.trace.sites.keys() == view.trace.sites.keys() and again.trace.texts == view.trace.texts
    assert all(np.array_equal(again.trace.sites[at], site, True) for at, site in view.trace.sites.items())
    for canvas in (figure for figure in view.figures.values() if isinstance(figure, Canvas)):
        sheet = sheet_from_canvas(canvas)
        assert (
            all(plate.colours.shape == (len(plate.rows), len(plate.columns), 3) for plate in sheet.plates)
            and sheet.bars
        )


@pytest.mark.parametrize("name", ["cube", "a null"])
def test_the_command_makes_the_same_card_again(drawn, packed, tmp_path, capsys, name):
    """A drawing, and a chart of what is drawn at random; the numbers of all are made again above."""
    view, first = drawn(name), packed(name)
    figures = {f"{figure}.{kind}" for figure in view.figures for kind in ("html", "svg", "png")}
    tables = {"README.txt", "manifest.json", "data.csv", "data.parquet", "trace.nc"}
    assert set(first) == figures | tables
    again = tmp_path / "again.zip"
    assert main(["card", str(write_card(view, tmp_path)), "--out", str(again), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["furthest"] == {"probabilities": 0, "data": 0}
    second = unpacked(again.read_bytes())
    assert {name for name in first if first[name] != second.get(name)} <= {"trace.nc"}  # which has its seconds
    for side in (first, second):
        (tmp_path / "one.nc").write_bytes(side["trace.nc"])
        trace = AttentionTrace.load(tmp_path / "one.nc")
        assert trace.sites.keys() == view.trace.sites.keys() and trace.texts == view.trace.texts
        assert all(np.array_equal(trace.sites[at], site, True) for at, site in view.trace.sites.items())


@pytest.mark.parametrize("name", ["mechanisms", "mtsa", "coin", "similarity", "context", "intervene", "attribute"])
def test_tables_pages_and_pictures_are_sound(drawn, packed, name):
    view, content = drawn(name), packed(name)
    csv = pd.read_csv(io.BytesIO(content["data.csv"]), keep_default_na=False)
    table = pd.read_parquet(io.BytesIO(content["data.parquet"]))
    assert list(csv) == list(table) == list(view.table) and len(csv) == len(table) > 10
    pd.testing.assert_frame_equal(table, view.table.reset_index(drop=True), check_dtype=False)
    for column in (one for one in table if table[one].dtype.kind == "f"):
        np.testing.assert_allclose(pd.to_numeric(csv[column]), table[column], rtol=1e-6)
    about = json.loads(content["manifest.json"])
    assert about["figures"].keys() == view.figures.keys() and about["versions"].keys() >= {"python", "torch", "numpy"}
    for figure, canvas in view.figures.items():
        page = content[f"{figure}.html"].decode()
        assert "default-src 'none'" in page and canvas.title[:40] in page
        known = "" if isinstance(canvas, Chart) else " id"  # the library that draws charts names addresses
        drawing = re.sub(rf"<script{known}.*?</script>", "", page, flags=re.DOTALL)
        assert not re.search(r"""(?:src|href)\s*=|@import|url\(\s*["']?http""", drawing)
        assert content[f"{figure}.png"].startswith(b"\x89PNG")
        width, height = struct.unpack(">II", content[f"{figure}.png"][16:24])
        assert width > 900 and height > 400
        drawing = ElementTree.fromstring(content[f"{figure}.svg"])
        words = ["".join(element.itertext()) for element in drawing.iter(f"{SVG}text")]
        assert b"Noto Sans CJK SC" in content[f"{figure}.svg"]
        if isinstance(canvas, Chart):
            assert canvas.title in words and canvas.alt.split()[-1] in " ".join(words)
            continue
        written = " ".join(" ".join(words).split())  # a title may go on in another line
        for plate in sheet_from_canvas(canvas).plates:
            assert (
                plate.title in written and plate.answer in written and plate.rows.texts[plate.cell[0]][:10] in written
            )


def test_the_manifest_has_no_setting_open_and_what_was_said(there, drawn):
    view = drawn("dialogue")
    about = dump_manifest(view)
    assert about["settings"]["option"] == 1 and len(about["settings"]["cell"]) == 3
    assert about["said"][0]["probabilities"] == pytest.approx(view.explanations[0].prediction.probabilities)
    (checkpoint,) = about["checkpoints"]
    config = json.loads((there / "dialogue-tri" / "config.json").read_text("utf-8"))
    assert (
        checkpoint["digest"] == config["digest"]
        and checkpoint["encoder"] == "tiny"
        and checkpoint["seed"] == config["training"]["seed"]
    )
    assert about["row"]["history"] == list(cases()["dialogue"][2].history)
    assert about["command"] == "triattn card manifest.json --out card.zip"


def test_the_cells_of_the_cube_against_loops(drawn):
    view = drawn("cube")
    weights = view.explanations[0].trace.site("layer.1/a_over_b/weight").values[1].astype(float)
    rows = {(row.query_at, row.key_at, row.context_at): row.weight for row in view.table.itertuples()}
    assert rows.keys() == set(np.ndindex(weights.shape))
    assert all(rows[at] == pytest.approx(weights[at], rel=1e-6) for at in np.ndindex(weights.shape))


def test_the_difference_against_loops_over_heads_and_context(drawn):
    view = drawn("mechanisms")
    two = [
        explanation.trace.site("layer.0/b_over_a/relevance").values.astype(float) for explanation in view.explanations
    ]
    (bi, _, tri), shape = two, two[0].shape
    rows = view.table.set_index(["query_at", "key_at"])
    for query in range(shape[1]):
        centred = []
        for scores in (bi, tri):
            joint = np.zeros(shape[2])
            for head in range(shape[0]):
                line = [np.log(sum(np.exp(scores[head, query, k].ravel()))) for k in range(shape[2])]
                joint += np.array([one - sum(line) / len(line) for one in line]) / shape[0]
            centred.append(joint)
        for key in range(shape[2]):
            assert rows.loc[(query, key), "Bi − Tri"] == pytest.approx(centred[0][key] - centred[1][key], abs=1e-5)


def test_a_picture_has_the_colours_of_the_numbers(drawn):
    view = drawn("cube")
    weights = view.explanations[0].trace.site("layer.1/a_over_b/weight").values[1]
    first, second, third = sheet_from_canvas(view.figures["cube"]).plates
    scale, table = LogScale.fit(weights, weights[0].size), ramp(SEQUENTIAL["light"])
    q, k, c = view.settings.cell
    for plate, slice in ((first, weights[:, :, c]), (second, weights[:, k, :]), (third, weights[q])):
        np.testing.assert_array_equal(plate.colours, table[scale.levels(slice)])
    assert (first.cell, second.cell, third.cell) == ((q, k), (q, c), (k, c))
    drawing = ElementTree.fromstring(view.picture().svg())
    styles = [element.get("style", "") for element in drawing.iter(f"{SVG}path")]
    fills = {part for style in styles for part in re.findall(r"fill: (#\w+)", style)}
    assert {"#" + bytes(colour).hex() for colour in first.colours.reshape(-1, 3)} <= fills


def test_what_is_below_zero_has_a_dash_and_the_sentence_stands_below(drawn):
    view = drawn("mechanisms")
    sheet = sheet_from_canvas(view.figures["side-by-side"])
    below = sheet.plates[-1].below
    gap = view.table["Bi − Tri"].to_numpy().reshape(below.shape)
    assert below[gap < -abs(gap).max() / 100].all() and below.any() and not below[gap >= 0].any()
    words = [element.text or "" for element in ElementTree.fromstring(view.picture().svg()).iter(f"{SVG}text")]
    assert sheet.sentence and sheet.sentence.split()[0] in {word for line in words for word in line.split()}
    assert sheet.sentence[-20:].split()[-1] in {line.split()[-1] for line in words if line.split()}


def test_seeds_are_named_and_what_they_explain_is_grey(there):
    _, _, example, _ = cases()["mechanisms"]
    from tests.support.tiny import make_checkpoint

    config = json.loads((there / "pairs-bi" / "config.json").read_text("utf-8"))
    other = config["training"] | {"seed": 2}
    folder = make_checkpoint(there.parent, "pairs-bi-2", "bi", 77, training=other)
    view = draw("side_by_side", ["pairs-bi", "pairs-tri"], example)
    assert view.settings.seeds == (("pairs-tri",), ("pairs-bi", "pairs-bi-2"))
    about = dump_manifest(view)
    assert [checkpoint["name"] for checkpoint in about["checkpoints"]] == ["pairs-bi", "pairs-tri", "pairs-bi-2"]
    assert [checkpoint["seed"] for checkpoint in about["checkpoints"]] == [1, 1, 2] and about["drawn"] == 2
    grey = (255 * rgb(GREY)).round()
    last = sheet_from_canvas(view.figures["side-by-side"]).plates[-1]
    noise = view.table["between seeds"].to_numpy().reshape(last.colours.shape[:2])
    gap = view.table["Tri − Bi"].to_numpy().reshape(noise.shape)
    np.testing.assert_array_equal((last.colours == grey).all(-1), abs(gap) <= noise)
    for file in folder.iterdir():
        file.unlink()
    folder.rmdir()


def test_texts_are_only_text(there):
    odd = pairs.Example("who <b>play</b> $x^2$ & the red", "what _{i} ]]> \\frac is")
    view = draw("cube", ["pairs-tri"], odd)
    assert "<b>play" not in view.figures["cube"].html()
    words = " ".join(element.text or "" for element in ElementTree.fromstring(view.picture().svg()).iter(f"{SVG}text"))
    assert "<b>play</b> $x^2$ & the red" in words and "\\frac" in words


def test_a_text_of_100_000_characters(there, tmp_path, capsys):
    view = draw("cube", ["pairs-tri"], pairs.Example("who " * 25_000, "what is the film"))
    assert main(["card", str(write_card(view, tmp_path)), "--out", str(tmp_path / "again.zip"), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["furthest"]["data"] == 0
    assert "characters are left out" in view.explanations[0].prediction.notes[0]
