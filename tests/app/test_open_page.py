"""The page Open: its worked example, a file by its path, what it says of bad ones, a link to a kept trace, a model."""

from __future__ import annotations

import json

import numpy as np
import pytest
import xarray as xr

from tests.app.test_pages import opened, payloads, sound, visible_text
from tests.support.figure_arrays import is_comparison, sent_array
from tests.support.tiny_transformers import make
from triattn_core.case_book import CaseBook
from triattn_core.checkpoint.registry import VARIABLE, roots
from triattn_core.importers.pictures import patch_columns, patch_tokens
from triattn_core.importers.token_coords import token_columns
from triattn_core.trace import AttentionTrace
from triattn_core.trace.axes import AXES

DRAW = np.random.default_rng(4)


@pytest.fixture(autouse=True)
def traces(tmp_path, monkeypatch):
    monkeypatch.setenv("TRIATTN_TRACES", str(tmp_path / "traces"))
    return tmp_path


def test_it_opens_on_a_cube_whose_truth_is_known():
    app = sound(opened("open"))
    assert "<h1>Your model</h1>" in visible_text(app) and "worked example: triangles on a helix" in visible_text(app)
    assert list(payloads(app)[0]["axes"]) == ["query", "key", "context"]
    strips = [
        json.loads(component.proto.json)["payload"]
        for component in app.get("bidi_component")
        if "strip" in component.proto.json
    ]
    assert [strip["coordinates"] for strip in strips if strip.get("strip")] == [[["layer", 1], ["head", 2]]]


def test_a_file_by_its_path_and_the_link_to_it(tmp_path):
    cube = DRAW.dirichlet(np.ones(12), 5).reshape(5, 3, 4)
    np.save(tmp_path / "mine.npy", cube)
    app = opened("open")
    app.text_input(key="path").set_value(str(tmp_path / "mine.npy"))
    app.text_input(key="file-axes").set_value("query key context=ligand").run()
    sound(app)
    assert (
        "mine.npy" in visible_text(app)
        and "5 queries × 3 keys × 4 contexts" in visible_text(app)
        and "context is ligand" in visible_text(app)
    )
    name = app.query_params["trace"]
    again = sound(opened("open", trace=name if isinstance(name, str) else name[0]))
    assert "mine.npy" in visible_text(again) and payloads(again)[0]["panels"] == payloads(app)[0]["panels"]


def test_an_opened_file_is_kept_in_the_case_book_which_opens_it_again(tmp_path, monkeypatch):
    monkeypatch.setenv("TRIATTN_CASES", str(tmp_path / "cases.sqlite"))
    np.save(tmp_path / "mine.npy", DRAW.dirichlet(np.ones(6), 5))
    app = opened("open")
    app.text_input(key="path").set_value(str(tmp_path / "mine.npy")).run()
    note = next(area for area in app.text_area if area.key.startswith("note-"))
    note.set_value("the fifth row is odd")
    next(button for button in app.button if button.key.startswith("keep-")).click().run()
    (case,) = CaseBook(tmp_path / "cases.sqlite").search("odd")
    trace = app.query_params["trace"][0] if isinstance(app.query_params["trace"], list) else app.query_params["trace"]
    assert case.page == "open" and case.row["trace"] == trace and f"trace={trace}" in case.query
    book = sound(opened("case_book"))
    assert any("mine.npy" in one.value for one in book.text)
    assert "No page can open" not in visible_text(book)
    links = [link.proto for link in book.get("page_link")]
    assert any(link.label == "Open it again" and trace in str(link) for link in links)


def test_what_cannot_be_opened_is_said_in_one_line(tmp_path):
    (tmp_path / "broken.npz").write_bytes(b"PK\x03\x04")
    np.save(tmp_path / "three.npy", DRAW.random((2, 3, 4)))
    for path, line in (
        (tmp_path / "broken.npz", "not a NumPy archive"),
        (tmp_path / "none.npy", "no such file"),
    ):
        app = opened("open")
        app.text_input(key="path").set_value(str(path)).run()
        assert not app.exception and len(app.error) == 1
        assert line in app.error[0].value.replace("\\", "") and "\n" not in app.error[0].value
    app = opened("open")
    app.text_input(key="path").set_value(str(tmp_path / "three.npy")).run()
    assert "can be read in more than one way" in "".join(info.value for info in sound(app).info)
    missing_page = sound(opened("open", trace="../../etc/passwd"))
    assert "is kept on this machine: open its file again" in visible_text(
        missing_page
    ) and "worked example" in visible_text(missing_page)


def choice(app, label: str):
    """The buttons of this label."""
    return next(group for group in app.button_group if group.label == label)


def test_what_the_system_says_of_a_path_is_said_in_one_line():
    app = opened("open")
    for path in ("a word " * 60, "电影" * 200, "/" + "x" * 300 + "/a.npy"):
        app.text_input(key="path").set_value(path).run()
        assert not app.exception and [error.value.endswith("File name too long") for error in app.error] == [True]
    app.text_input(key="path").set_value("   ").run()
    assert not app.exception and len(app.error) == 1


def test_what_a_file_does_not_say_is_asked_with_buttons(tmp_path):
    scores, other = DRAW.normal(size=(2, 3, 4)), DRAW.dirichlet(np.ones(4), 3)
    np.savez(tmp_path / "both.npz", scores=scores, other=other)
    app = opened("open")
    app.text_input(key="path").set_value(str(tmp_path / "both.npz")).run()
    for question, label, answer in (
        ("both.npz has several arrays: choose one.", "The array is", "scores"),
        ("can be read in more than one way", "Its axes are", "head query key"),
        ("name the quantity", "The numbers are", "relevance"),
    ):
        said = "".join(info.value for info in sound(app).info).replace("\\", "")
        assert question in said and "--name" not in said and len(app.info) == 1, said
        assert not payloads(app)  # the worked example could be taken for the file
        choice(app, label).set_value(answer).run()
    assert not sound(app).info  # every question is answered
    assert "2 heads × 3 queries × 4 keys" in visible_text(app)
    assert choice(app, "The array is").options[0] == "scores (2 × 3 × 4)"


def test_rows_that_do_not_sum_to_one_are_said(tmp_path):
    np.save(tmp_path / "half.npy", DRAW.dirichlet(np.ones(4), 3) / 2)
    app = opened("open")
    app.selectbox(key="file-quantity").set_value("weight")
    app.text_input(key="path").set_value(str(tmp_path / "half.npy")).run()
    sound(app)
    assert "3 of 3 rows do not sum to one over key" in "".join(info.value for info in app.info).replace("\\", "")


@pytest.mark.parametrize("view", ["maps", "side by side"])
def test_other_views_of_it(view):
    app = sound(opened("open", view=view))
    assert any("panels" in payload for payload in payloads(app))


def test_a_model_on_a_pair(tmp_path):
    folder = make("bert", tmp_path / "mine")
    text, pair = "Which browsers can play movies?", "unhappy cats"
    app = sound(opened("open", **{"from": "From a model"}, model=str(folder), text=text, **{"pair-text": pair}))
    app = app if payloads(app) else app.run()
    assert any(payload.get("coordinates") == [["layer", 3], ["head", 4]] for payload in payloads(app)), visible_text(
        app
    )
    missing = opened("open", **{"from": "From a model"}, model=str(tmp_path / "none"), text=text)
    assert "no such folder" in missing.error[0].value.replace("\\", "")


def test_a_model_by_the_name_that_other_pages_have_for_it(tmp_path, monkeypatch):
    for name in ("named", "other", "third"):
        make("bert", tmp_path / name)
    monkeypatch.setenv(VARIABLE, f"{roots()[0]}:{tmp_path}")
    app = sound(opened("open", **{"from": "From a model"}, model="named", text="unhappy cats"))
    app = app if payloads(app) else app.run()
    assert any(payload.get("coordinates") == [["layer", 3], ["head", 4]] for payload in payloads(app))
    assert "or named, other …" in app.text_input(key="model").label


def test_tokens_that_a_model_writes_are_the_rows_of_its_map(tmp_path):
    folder = make("gpt2", tmp_path / "writer")
    app = sound(opened("open", **{"from": "From a model"}, model=str(folder), text="Which browsers can", write="5"))
    app = app if payloads(app) else app.run()
    found = [dict(payload["coordinates"]) for payload in payloads(app)]
    assert any(sizes.get("query") == 5 < sizes.get("key", 0) for sizes in found), found


def test_two_files_open_on_the_same_layer_and_head(tmp_path):
    layers = DRAW.dirichlet(np.ones(4), (2, 3, 4)).astype(np.float32)
    np.save(tmp_path / "all.npy", layers)
    np.save(tmp_path / "one.npy", layers[0, 2])
    app = opened("open", view="side by side", **{"with": "another file"})
    for key, name in (("", "all.npy"), ("second-", "one.npy")):
        app.text_input(key=f"{key}file-axes").set_value("layer head query key" if not key else "query key")
        app.text_input(key=f"{key}path").set_value(str(tmp_path / name)).run()
    app.selectbox(key="left-head").set_value(3).run()
    (pair,) = [payload for payload in payloads(sound(app)) if is_comparison(payload)]
    assert [panel["title"] for panel in pair["panels"][:-1]] == ["all, layer 1, head 3", "one.npy"]
    assert sent_array(pair, -1, "divergence").max() < 1e-6
    app.text_input(key="second-file-axes").set_value("layer head query key")
    app.text_input(key="second-path").set_value(str(tmp_path / "all.npy")).run()
    (pair,) = [payload for payload in payloads(sound(app)) if is_comparison(payload)]
    assert pair["panels"][1]["title"] == "all.npy, layer 1, head 3" and sent_array(pair, -1, "divergence").max() < 1e-6


@pytest.mark.parametrize(("view", "cell"), [("cube", [17, 1, 2]), ("maps", [7, 9, 0, 0]), ("side by side", [7, 15])])
def test_a_link_chooses_the_cell_of_each_view(view, cell):
    app = sound(opened("open", view=view, cell=".".join(map(str, cell[: 3 if view == "cube" else 2]))))
    data = [json.loads(one.proto.json) for one in app.get("bidi_component") if one.proto.json]
    answers = [message["cell"] for message in data if "payload" not in message and "cell" in message]
    assert cell in answers, answers  # a strip of heads has one too


def test_what_context_adds_is_decomposed_when_it_is_opened():
    app = sound(opened("open", context="true"))
    assert "Context redirects" in visible_text(app) or "context redirects" in visible_text(app)
    (heads,) = (table.value for table in app.dataframe if "redirected" in table.value)
    assert heads["head"].tolist() == [1, 2]


def test_weights_of_four_axes_open_as_slices(tmp_path, monkeypatch):
    monkeypatch.setitem(AXES, "witness", "A fourth token, which a toy mechanism scores with the other three.")
    values, axes = DRAW.dirichlet(np.ones(24), 5).reshape(5, 2, 4, 3), ("query", "key", "context", "witness")
    array = xr.DataArray(values, dims=axes, attrs={"quantity": "weight", "sums_over": "key,context,witness"})
    AttentionTrace({"attention/weight": array}, {}).save(tmp_path / "four.nc")
    app = opened("open")
    app.text_input(key="path").set_value(str(tmp_path / "four.nc")).run()
    sound(app)
    picker = next(box for box in app.selectbox if box.label == "Witness")
    assert len(picker.options) == 3
    drawn = payloads(app)[0]
    assert list(drawn["axes"]) == ["query", "key", "context"] and drawn["mark"].startswith("mean ")
    most = int(values.sum((0, 1, 2)).argmax())
    assert f"witness {most + 1}" in drawn["caption"]
    other = (most + 1) % 3
    sound(picker.select_index(other).run())
    assert payloads(app)[0]["panels"] != drawn["panels"] and f"witness {other + 1}" in payloads(app)[0]["caption"]


def test_a_signed_map_is_drawn_before_its_parts(tmp_path):
    """As DiffLlama's: the difference of two maps has half of their heads, and a scale with a middle."""
    parts = DRAW.dirichlet(np.ones(5), (2, 4, 5)).astype(np.float32)
    facts = {"kind": "difference", "factor": 0.4, "rebuilt": 2e-7}
    attrs = [{"quantity": "contribution", **facts}, *[{"quantity": "weight", "sums_over": "key", "kind": "sdpa"}] * 2]
    values = [parts[0, :2] - 0.4 * parts[0, 2:], *parts]
    names = ["attention/contribution", "attention/weight", "attention/2/weight"]
    sites = {
        f"layer.0/{name}": xr.DataArray(array, dims=("head", "query", "key"), attrs=own)
        for name, array, own in zip(names, values, attrs)
    }
    AttentionTrace(sites, {}, {"checkpoint": "differential"}).save(tmp_path / "T.nc")
    app = opened("open")
    app.text_input(key="path").set_value(str(tmp_path / "T.nc")).run()
    grid, drawn = payloads(sound(app))[:2]
    assert grid["panels"][0]["cells"]["scales"] == ["signed", "main", "main"]
    assert drawn["scales"]["main"]["kind"] == "signed"
    assert drawn["panels"][0]["note"] == "signed: A[h] − 0.4 · A[h + 2], rebuilt to 2e-07"
    app.query_params["at-head"] = "2.4"
    assert payloads(sound(app.run()))[1]["scales"]["main"]["kind"] == "log"
    app.query_params["at-head"] = "1.4"  # which has two heads
    assert payloads(sound(app.run()))[1]["caption"].endswith("head 2")
    app.query_params["view"] = "side by side"
    sound(app.run())


def test_contributions_of_an_array_are_drawn(tmp_path):
    np.save(tmp_path / "signed.npy", DRAW.normal(size=(4, 4)))
    app = opened("open")
    app.text_input(key="path").set_value(str(tmp_path / "signed.npy")).run()
    choice(app, "The numbers are").set_value("contribution").run()
    assert payloads(sound(app))[0]["scales"]["main"]["kind"] == "signed"
    assert app.segmented_control(key="view").options == ["maps"]


def test_patches_are_drawn_over_their_picture(tmp_path):
    tokens, coords = patch_tokens(2, 3, ("[CLS]",)), {}
    for axis in ("query", "key"):
        coords |= token_columns(tokens, axis) | patch_columns(tokens, 1, 2, 3, axis)
    attrs = {"quantity": "weight", "sums_over": "key"}
    weights = xr.DataArray(DRAW.dirichlet(np.ones(7), (2, 7)), coords, ("head", "query", "key"), attrs=attrs)
    pixel = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg=="
    meta = {"checkpoint": "flag", "picture": f"data:image/png;base64,{pixel}"}
    AttentionTrace({"layer.0/attention/weight": weights}, {}, meta).save(tmp_path / "T.nc")
    app = opened("open")
    app.text_input(key="path").set_value(str(tmp_path / "T.nc")).run()
    assert "[CLS] has" in visible_text(sound(app)) and "Click a patch to let it ask" in visible_text(app)
    app.selectbox(key="asks").set_value("2.1").run()
    text = visible_text(sound(app))
    share = 100 * float(weights[0, 4, 1:].sum())
    assert f"2.1 has {share:.3g} % of its weight on patches of the picture" in text


def test_the_opening_sentence_lists_the_sizes_of_the_maps(tmp_path):
    """Whatever the order of a trace's sites: a kept trace of CANINE lists its second layer, of one block, first."""
    attrs = {"quantity": "weight", "sums_over": "key", "kind": "sdpa"}
    sizes = {"layer.1": 1, "initial/layer.0": 4, "final/layer.0": 4}
    sites = {
        f"{place}/attention/weight": xr.DataArray(np.full((2, n, n), 1 / n), dims=("head", "query", "key"), attrs=attrs)
        for place, n in sizes.items()
    }
    AttentionTrace(sites, {}, {"checkpoint": "characters"}).save(tmp_path / "T.nc")
    app = opened("open")
    app.text_input(key="path").set_value(str(tmp_path / "T.nc")).run()
    assert "3 maps in 2 layers: 2 heads × 4 queries × 4 keys; 2 heads × 1 query × 1 key." in visible_text(sound(app))


def test_the_sentence_above_a_cube_is_of_the_cubes_and_not_of_the_maps_beside_them(tmp_path):
    """As a module has that attends to tokens in one layer and to pairs of them in the next."""
    shapes = {"layer.0": (2, 4, 4), "layer.1": (3, 4, 5, 6), "layer.2": (3, 4, 5, 6)}
    sites = {
        f"{layer}/attention/weight": xr.DataArray(
            np.full(shape, 1 / np.prod(shape[2:])),
            dims=("head", "query", "key", "context")[: len(shape)],
            attrs={"quantity": "weight", "sums_over": "key,context" if len(shape) > 3 else "key"},
        )
        for layer, shape in shapes.items()
    }
    AttentionTrace(sites, {}, {"checkpoint": "mixed"}).save(tmp_path / "T.nc")
    app = opened("open")
    app.text_input(key="path").set_value(str(tmp_path / "T.nc")).run()
    cube = "3 heads × 4 queries × 5 keys × 6 contexts"
    assert f"2 cubes in 2 layers: {cube}." in visible_text(sound(app))
    name = app.query_params["trace"]
    app = opened("open", trace=name if isinstance(name, str) else name[0], view="maps")
    assert f"3 maps in 3 layers: 2 heads × 4 queries × 4 keys; {cube}." in visible_text(sound(app))
