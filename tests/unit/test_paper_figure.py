"""Figures for papers: type measured in the PDF, width, ground, panels, and what stands beside the picture."""

from __future__ import annotations

import io
import json
import re
import shlex
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from matplotlib.image import imread
from pypdf import PdfReader

from tests.support.card_checkpoints import cases, use_checkpoints
from tests.support.tiny_transformers import make
from triattn_core.__main__ import main
from triattn_core.case_card import draw
from triattn_core.case_card.paper_figure import PaperFigure
from triattn_core.errors import ConfigError
from triattn_core.scenes.charts import Chart
from triattn_core.scenes.printing import lines, paper
from triattn_core.scenes.printing.chart import fit_width, label_note
from triattn_core.scenes.printing.plate import label_way
from triattn_core.scenes.printing.settings import print_settings
from triattn_core.scenes.printing.sheet import Plate
from triattn_core.tasks import TASKS
from triattn_core.trace.from_array import trace_of
from triattn_core.views.charts.intervention import unit_bars
from triattn_core.views.lib.labels import labels_of
from triattn_core.views.lib.palette import THEMES

LEAST = 7.0  # points
DRAW = np.random.default_rng(11)


@pytest.fixture(scope="module")
def there(tmp_path_factory):
    with use_checkpoints(tmp_path_factory.mktemp("cards")) as folder:
        yield folder


def figure(name: str) -> PaperFigure:
    """The figure for a paper of one of `cases`."""
    view, checkpoints, example, settings = cases()[name]
    return PaperFigure.of_view(draw(view, checkpoints, example, **settings), "triattn card …")


def opened(view: str, *sizes: int, **settings) -> PaperFigure:
    """Of an array of random weights, with long tokens."""
    axes = {2: ("query", "key"), 3: ("head", "query", "key"), 4: ("head", "query", "key", "context")}[len(sizes)]
    over = tuple(range(axes.index("key"), len(sizes)))
    weights = DRAW.random(sizes) ** 8
    tokens = [f"residue {i + 1}" for i in range(sizes[-1])]
    trace = trace_of(weights / weights.sum(over, keepdims=True), axes=axes, tokens=tokens, source="mine.npy")
    return PaperFigure.of_view(draw(view, trace, **settings), "triattn card …")


def texts(pdf: bytes) -> list[tuple[str, float]]:
    """Every piece of text of a one-page PDF, and its type in points as it is printed."""
    text_sizes: list[tuple[str, float]] = []

    def visit(text, cm, tm, font, size):
        if text.strip():
            a, b = tm[0] * cm[0] + tm[1] * cm[2], tm[0] * cm[1] + tm[1] * cm[3]
            text_sizes.append((text.strip(), size * float(np.hypot(a, b))))

    PdfReader(io.BytesIO(pdf)).pages[0].extract_text(visitor_text=visit)
    return text_sizes


def letters(pdf: bytes) -> list[tuple[str, float, float, float]]:
    """Every letter of a chart's PDF: x and y in points, and its size.  What is hidden is not turned to the page."""
    positions: list[tuple[str, float, float, float]] = []

    def visit(text, cm, tm, font, size):
        if text.strip() and cm[0] * cm[3] - cm[1] * cm[2] < 0:
            x, y = (tm[4] * cm[i] + tm[5] * cm[i + 2] + cm[i + 4] for i in (0, 1))
            positions.append((text.strip(), x, y, size))

    PdfReader(io.BytesIO(pdf)).pages[0].extract_text(visitor_text=visit)
    return positions


def faults(pdf: bytes) -> list[str]:
    """Letters that stand beyond the page, or on another letter."""
    box, glyphs = PdfReader(io.BytesIO(pdf)).pages[0].mediabox, letters(pdf)
    wrong = [
        f"{letter} beyond the page"
        for letter, x, y, size in glyphs
        if not (0 <= x <= float(box.width) - 0.2 * size and 0 <= y <= float(box.height) - 0.5 * size)
    ]
    places = np.array([(x, y) for _, x, y, _ in glyphs])
    apart = np.hypot(*(places[:, None] - places[None]).transpose(2, 0, 1)) + 99 * np.tri(len(places))
    return wrong + [f"{glyphs[i][0]} on {glyphs[j][0]}" for i, j in np.argwhere(apart < 0.2 * LEAST)]


def sizes_of(pdf: bytes) -> list[float]:
    return [size for _, size in texts(pdf)]


def inches(pdf: bytes) -> float:
    return float(PdfReader(io.BytesIO(pdf)).pages[0].mediabox.width) / 72


def height(pdf: bytes) -> float:
    return float(PdfReader(io.BytesIO(pdf)).pages[0].mediabox.height) / 72


@pytest.mark.parametrize("name", ["cube", "mechanisms", "mtsa", "coin", "similarity"])
def test_no_type_is_below_seven_points_at_the_stated_width(there, name):
    whole = figure(name)
    for width in (2.0, 3.3, 7.0):
        pdf = whole.file("pdf", print_settings({"width": width}))
        assert inches(pdf) == pytest.approx(width, abs=0.01)
        assert len(texts(pdf)) > 8 and min(sizes_of(pdf)) >= LEAST - 0.01, texts(pdf)


@pytest.mark.parametrize("name", ["coin", "similarity", "mechanisms"])
def test_maps_of_one_column_are_no_higher_than_a_page(there, name, monkeypatch):
    """Maps are shared out over lines, and rows are lower; a limit of less shows that it is kept."""
    whole, chosen = figure(name), print_settings({"width": 3.3})
    assert height(whole.file("pdf", chosen)) <= 6.1
    for highest in (5.0, 4.0):
        monkeypatch.setattr(lines, "HIGHEST", (highest, highest))
        assert height(whole.file("pdf", chosen)) <= highest + 1.5  # the colour bars are below


@pytest.mark.parametrize("maps", [4, 5])
@pytest.mark.parametrize(("rows", "columns"), [(9, 4), (13, 11)])
def test_maps_of_one_column_stand_in_a_full_grid(maps, rows, columns):
    """Names across stand once above each column of maps, all maps have cells of one size, and rows keep their names."""
    plates = [plate(i, rows, columns, maps) for i in range(maps)]
    drawn = lines.arrange(plates, print_settings({"width": 3.3}), THEMES["light"])
    blocks = [block for line in drawn for block in line]
    assert [block.plate.title for block in blocks] == [plate.title for plate in plates]
    assert len(drawn) * len(drawn[0]) - maps <= 1 and len({block.pitch for block in blocks}) == 1
    assert all(block.named[1] == (i == 0) for i, line in enumerate(drawn) for block in line)
    most = 2 if (maps, rows) == (5, 13) else 1  # three lines of thirteen rows have no room for all names
    assert all(label_way(block.plate.rows, False, block.pitch[0], lines.SMALL).step <= most for block in blocks)
    assert sum(max(block.top + block.map_size[1] for block in line) for line in drawn) <= 5.2


def plate(number: int, rows: int, columns: int, maps: int) -> Plate:
    """A map of words, the last of them on a row of its own, as a difference is."""
    shape, names = (rows, columns), [labels_of([f"word {i}" for i in range(length)]) for length in (rows, columns)]
    place = (1, 0) if number == maps - 1 else (0, number)
    nowhere = np.zeros(shape, bool)
    return Plate(
        f"Map {number}", ("query", "key"), *names, np.zeros((*shape, 3), np.uint8), nowhere, (0, 0), place, nowhere
    )


@pytest.mark.parametrize(
    ("name", "figure_name", "widths"),
    [
        ("context", "parts", (3.3, 7.0)),
        ("context", "redirected", (3.3, 7.0)),
        ("context", "residual", (3.3, 7.0)),
        ("attribute", "comprehensiveness", (3.3, 7.0)),
        ("attribute", "sufficiency", (3.3, 7.0)),
        ("attribute", "agreement", (3.3, 7.0)),
        ("intervene", "alone", (3.3, 7.0)),
        ("intervene", "moved", (3.3, 7.0)),
    ],
)
def test_charts_are_printed_at_the_stated_width_with_the_same_type(there, name, figure_name, widths):
    view, checkpoints, example, settings = cases()[name]
    whole = PaperFigure.of_view(draw(view, checkpoints, example, **settings), "triattn card …", figure_name)
    for width in widths:
        chosen = print_settings({"width": width})
        pdf, svg = whole.file("pdf", chosen), whole.file("svg", chosen).decode()
        assert inches(pdf) == pytest.approx(width, abs=0.01) and min(sizes_of(pdf)) >= LEAST - 0.01, texts(pdf)
        assert not faults(pdf)
        assert f'width="{width:g}in"' in svg
        assert imread(io.BytesIO(whole.file("png", chosen))).shape[1] == pytest.approx(300 * width, abs=1)
        assert "".join(whole.figure.title.split()) in "".join("".join(text for text, _ in texts(pdf)).split())
        bare = texts(whole.file("pdf", print_settings({"width": width, "show": ()})))
        assert len(bare) < len(texts(pdf))
    for wrong, line in (({"width": 2.0}, "has no room at 2 in"), ({"ground": "dark"}, "white or none")):
        if line != "has no room at 2 in" or figure_name == "parts":
            with pytest.raises(ConfigError, match=line):
                whole.file("pdf", print_settings(wrong))
    assert "Made by: triattn card" in whole.caption(print_settings({"width": 7.0}))


@pytest.mark.parametrize("sizes", [(12, 60, 60), (2, 40, 40, 40), (128, 128)])
def test_of_a_large_file_too(sizes):
    for view in ("heads", "map"):
        pdf = opened(view, *sizes).file("pdf", print_settings({"width": 3.3}))
        assert inches(pdf) == pytest.approx(3.3, abs=0.01) and min(sizes_of(pdf)) >= LEAST - 0.01


def test_all_is_on_the_page():
    """What is drawn ends within the page: nothing but ground along its edges."""
    for view, sizes in (("cube", (2, 9, 14, 14)), ("map", (3, 20, 20)), ("heads", (12, 20, 20))):
        picture = imread(io.BytesIO(opened(view, *sizes).file("png", print_settings({"width": 3.3}))))
        assert picture.shape[1] == 990
        assert (picture[[0, -1]] == 1).all() and (picture[:, [0, -1]] == 1).all(), view


@pytest.mark.parametrize("ground", ["white", "none", "dark"])
def test_the_ground(ground):
    picture = imread(io.BytesIO(opened("map", 5, 5).file("png", print_settings({"ground": ground}))))
    red, green, blue, alpha = picture[-3, 2]
    assert alpha == (0 if ground == "none" else 1)
    assert ground == "none" or (red + green + blue == 3) == (ground == "white")


def test_parts_and_panels_can_be_left_out(there):
    whole = figure("mechanisms")
    titles = [plate.title for plate in whole.sheet().plates]

    def text(**settings):
        """All that is written, without spaces: a title may go on in another line."""
        written = texts(whole.file("pdf", print_settings(settings)))
        return "".join("".join(piece for piece, _ in written).split())

    titles = ["".join(title.split()) for title in titles]
    assert all(title in text() for title in titles)
    assert titles[1] not in text(panels=(1,)) and titles[1] in text(panels=(2,))
    assert "difference" in text(panels=(4,)) and "difference" not in text(panels=(2,))  # its colour bar alone
    assert not any(title in text(show=()) for title in titles) and "logscale" not in text(show=())
    assert "0." in text(show=("predictions",))
    with pytest.raises(ConfigError, match="there is no panel 9"):
        whole.file("pdf", print_settings({"panels": (9,)}))
    for wrong in ({"width": 0.5}, {"ground": "red"}, {"show": ("colours",)}, {"widht": 3}):
        with pytest.raises(ConfigError, match="figure for a paper"):
            print_settings(wrong)


def test_the_command_writes_figure_caption_and_data(there, tmp_path, monkeypatch, capsys):
    view, checkpoints, example, settings = cases()["cube"]
    monkeypatch.chdir(tmp_path)
    Path("row.json").write_text(json.dumps(TASKS["pairs"].row(example)), "utf-8")
    chosen = [
        "--set",
        *[f"{name}={','.join(map(str, v)) if isinstance(v, list) else v}" for name, v in settings.items()],
    ]
    base = ["card", view, *checkpoints, "row.json", *chosen]
    assert main([*base, "--width", "3.3", "--panels", "1", "--out", "figure.pdf"]) == 0
    assert capsys.readouterr().out.split() == ["figure.pdf", "figure.caption.txt", "figure.csv"]
    drawn = draw(view, checkpoints, example, **settings)
    assert len(pd.read_csv("figure.csv")) == len(drawn.table)
    caption = Path("figure.caption.txt").read_text("utf-8")
    assert (
        drawn.explanations[0].entry.digest[:12] in caption and checkpoints[0] in caption and example.text_a in caption
    )
    command = caption.split("Made by: ")[1].split()
    first = Path("figure.pdf").read_bytes()
    Path("figure.pdf").unlink()
    assert main(command[1:]) == 0  # the command of the caption makes the same file
    assert Path("figure.pdf").read_bytes() == first
    for more, line in (
        (["--width", "3.3", "--out", "card.zip"], "--width is for a picture"),
        (["--panels", "7", "--out", "a.svg"], "there is no panel 7"),
    ):
        capsys.readouterr()
        assert main([*base, *more]) != 0
        assert line in capsys.readouterr().err


def test_a_saved_trace_has_figures_and_a_card(tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    trace_of(DRAW.dirichlet(np.ones(20), 3).reshape(3, 4, 5), axes=("query", "key", "context")).save(Path("trace.nc"))
    Path("other.nc").write_bytes(Path("trace.nc").read_bytes())
    assert main(["card", "cube", "other.nc", "--out", "a.svg"]) == 0
    caption = Path("a.caption.txt").read_text("utf-8")
    assert "SHA-256" in caption and "Made by: triattn card cube other.nc --set " in caption
    assert main(["card", "map", "trace.nc", "--set", "head=mean", "layer=2", "--out", "b.svg"]) != 0
    assert "there is no layer 2" in capsys.readouterr().err
    assert main(["card", "heads", "trace.nc", "--out", "heads.zip"]) == 0
    assert "heads of array" in capsys.readouterr().out
    assert main(["card", "intervene", "trace.nc", "--out", "b.zip"]) != 0
    assert "no view 'intervene' of a trace alone" in capsys.readouterr().err


def test_the_command_of_a_caption_names_the_folder_of_a_model_of_others(tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    folder = make("bert", tmp_path / "mine" / "small-bert")
    Path("my row.json").write_text(json.dumps({"text": "Which browsers can play movies?"}), "utf-8")
    asked = ["--checkpoints", str(folder), "--set", "becomes=off", "random=0", "--out", "a.svg", "--figure", "moved"]
    assert main(["card", "weights", "small-bert", "my row.json", *asked]) == 0
    command = shlex.split(Path("a.caption.txt").read_text("utf-8").split("Made by: ")[1])
    numbers = Path("a.csv").read_text("utf-8")
    Path("a.csv").unlink()
    assert main(command[1:]) == 0 and Path("a.csv").read_text("utf-8") == numbers


@pytest.mark.parametrize(("name", "figure_name", "panels"), [("intervene", "maps", 3), ("attribute", "attribute", 3)])
def test_maps_of_a_report_are_lettered_whole_and_no_higher_than_a_page(there, name, figure_name, panels):
    view, checkpoints, example, settings = cases()[name]
    printed = PaperFigure.of_view(draw(view, checkpoints, example, **settings), "triattn card …", figure_name)
    chosen = print_settings({"width": 3.3})
    pdf, caption = printed.file("pdf", chosen), printed.caption(chosen)
    drawn = " ".join(text for text, _ in texts(pdf))
    titles = [plate.title for plate in printed.sheet().plates]
    assert len(titles) == panels and height(pdf) <= 7.0 and inches(pdf) == pytest.approx(3.3, abs=0.01)
    for letter, title in zip("abc", titles):
        assert f"({letter})" in drawn and f"({letter}) {title}" in caption
    for plate in printed.sheet().plates:
        assert plate.cell is None and all(label in drawn for label in (*plate.rows.texts, *plate.columns.texts))
    assert "Labels:" not in caption
    assert inches(printed.file("pdf", print_settings({"width": 7.0, "ground": "dark"}))) == pytest.approx(7.0, abs=0.01)


def test_the_caption_counts_the_labels_of_maps_as_they_are_drawn(there, monkeypatch):
    """Letters before the titles can change how the maps are arranged."""
    printed, chosen = figure("coin"), print_settings({"width": 3.3})
    arranged, arrange = [], paper.arrange

    def watch(plates, *rest, **more):
        arranged.append("".join(plate.letter for plate in plates))
        return arrange(plates, *rest, **more)

    monkeypatch.setattr(paper, "arrange", watch)
    printed.file("pdf", chosen)
    drawn = len(arranged)
    printed.caption(chosen)
    assert len(arranged) > drawn > 0 and len(set(arranged)) == 1 and arranged[0].startswith("abc")


@pytest.mark.parametrize(("count", "angle", "every"), [(5, -35, 1), (17, -60, 1), (22, -90, 1), (60, -90, 3)])
def test_tokens_below_bars_lean_as_far_as_they_must_and_the_caption_says_which_are_left_out(count, angle, every):
    words = ["unbelievably-long-word", *(f"word {i}" for i in range(1, count))]
    table = pd.DataFrame({"unit": words, "change": np.linspace(-2, 1, count), "flips": False})
    drawn = unit_bars(table, words, [], width=max(640, 22 * count))
    chart = Chart.of(drawn, "Each unit alone, change of the log-odds", "")
    chosen = print_settings({"width": 3.3})
    spec = json.dumps(fit_width(chart, chosen))
    assert f'"labelAngle": {angle}' in spec and (f"datum.value % {every} ?" in spec) == (every > 1)
    left_out = "every 3rd token is named; " if every > 1 else ""
    assert label_note(chart, chosen) == f"{left_out}labels of more than 16 letters end in …"
    assert "unbelievably-l" in spec and "unbelievably-long-word" not in spec.split('"datasets"')[0]


def test_a_long_title_takes_no_width_from_the_bars():
    table = pd.DataFrame({"unit": list("abcdefgh"), "change": np.linspace(-2, 1, 8), "flips": False})
    chart = Chart.of(unit_bars(table, list("abcdefgh"), [], width=640), "Each unit alone, change of the log-odds", "")
    plots = re.findall(r'"width": ([\d.]+)', json.dumps(fit_width(chart, print_settings({"width": 3.3}))))
    assert max(map(float, plots)) > 0.75 * 3.3 * 72
