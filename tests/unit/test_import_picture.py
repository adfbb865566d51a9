"""Vision transformers: patches as tokens, of small models made on the spot."""

from __future__ import annotations

import base64
import io

import numpy as np
import pytest
import torch
import transformers
from PIL import Image
from safetensors.torch import load_file, save_file

from triattn_core.__main__ import main
from triattn_core.errors import TraceError
from triattn_core.importers.pictures import read_picture
from triattn_core.importers.prediction import prediction_of
from triattn_core.sources.vision import load_vision_model, trace_picture
from triattn_core.trace import AttentionTrace
from triattn_core.trace.from_array import notes_of
from triattn_core.views.charts import picture as view

ROWS, COLUMNS, PATCH = 3, 5, 8  # different primes: rows and columns cannot be exchanged
SIZES = {"hidden_size": 32, "num_hidden_layers": 2, "num_attention_heads": 4, "intermediate_size": 24}
SIZES |= {"patch_size": PATCH, "num_channels": 3}
AREA = {"image_size": [ROWS * PATCH, COLUMNS * PATCH]}
SQUARE = {"image_size": 4 * PATCH}
KINDS = {  # config, the model's name, size of the picture, names before the patches, after them
    "vit": (transformers.ViTConfig(**SIZES, **AREA, num_labels=3), "ViTForImageClassification",
            ["[CLS]"], []),
    "deit": (transformers.DeiTConfig(**SIZES, **SQUARE), "DeiTModel", ["[CLS]", "special 1"], []),
    "dinov2_with_registers": (
        transformers.Dinov2WithRegistersConfig(**SIZES, **SQUARE, num_register_tokens=2),
        "Dinov2WithRegistersModel",
        ["[CLS]", "register 1", "register 2"],
        [],
    ),
    "siglip_vision_model": (transformers.SiglipVisionConfig(**SIZES, **SQUARE), "SiglipVisionModel", [], []),
    "yolos": (
        transformers.YolosConfig(**SIZES, **AREA, num_detection_tokens=2),
        "YolosModel",
        ["[CLS]"],
        ["detection 1", "detection 2"],
    ),
}  # fmt: skip


@pytest.fixture(scope="module")
def picture(tmp_path_factory):
    pixels = np.zeros((30, 50, 3), np.uint8)
    pixels[:, :20, 0], pixels[10:20, 30:, 1] = 255, 200
    path = tmp_path_factory.mktemp("picture") / "flag.png"
    Image.fromarray(pixels).save(path)
    return path


def saved(folder, kind: str):
    config, model, *_ = KINDS[kind]
    torch.manual_seed(0)
    built = getattr(transformers, model)(config).eval()
    built.save_pretrained(folder)
    size = config.image_size
    height, width = (size, size) if isinstance(size, int) else size
    transformers.ViTImageProcessorPil(size={"height": height, "width": width}).save_pretrained(folder)
    return built, (height // PATCH, width // PATCH)


@pytest.mark.parametrize("kind", KINDS)
def test_patches_are_tokens_and_weights_those_of_the_library(kind, tmp_path, picture):
    _, (rows, columns) = saved(tmp_path, kind)
    vision = load_vision_model(str(tmp_path))
    trace = trace_picture(vision, picture)
    before, after = KINDS[kind][2:]
    array = trace.site("layer.1/attention/weight")
    names = [f"{r + 1}.{c + 1}" for r in range(rows) for c in range(columns)]
    assert array["key_token"].values.tolist() == [*before, *names, *after]
    assert array["key_special"].values.tolist() == [1] * len(before) + [0] * len(names) + [1] * len(after)
    place = [*before, *names].index("2.3")
    assert (int(array["query_patch_row"][place]), int(array["query_patch_column"][place])) == (1, 2)
    assert array["query_patch_row"].values[: len(before)].tolist() == [-1] * len(before)
    assert trace.meta["rebuilt"] < 1e-5
    vision.model.set_attn_implementation("eager")
    pixels = vision.processor(read_picture(picture), return_tensors="pt")["pixel_values"]
    with torch.no_grad():
        theirs = vision.model(pixel_values=pixels, output_attentions=True).attentions[1][0]
    np.testing.assert_allclose(array.values, theirs.numpy(), atol=1e-6)


def test_the_picture_is_the_one_that_the_model_saw_and_files_keep_it(tmp_path, picture):
    saved(tmp_path, "vit")
    trace = trace_picture(load_vision_model(str(tmp_path)), picture)
    trace.save(tmp_path / "T.nc")
    opened = AttentionTrace.load(tmp_path / "T.nc")
    pixels = np.asarray(Image.open(io.BytesIO(base64.b64decode(opened.meta["picture"].split(",")[1]))))
    assert pixels.shape == (ROWS * PATCH, COLUMNS * PATCH, 3)
    resized = np.asarray(read_picture(picture).resize((COLUMNS * PATCH, ROWS * PATCH), Image.Resampling.BILINEAR))
    assert np.abs(pixels.astype(int) - resized).max() <= 1
    assert opened.site("layer.0/attention/weight")["key_patch_column"].values[-1] == COLUMNS - 1


def test_the_command_and_its_refusals(tmp_path, picture, capsys):
    saved(tmp_path, "vit")
    assert main(["import", str(tmp_path), "--image", str(picture), "--select", "1:0,2", "--json"]) == 0
    assert '"tokens": 16' in capsys.readouterr().out
    notes = tmp_path / "notes.txt"
    notes.write_text("no picture")
    for arguments, reason in (
        ([str(picture), "--generate", "2"], "reads a picture alone"),
        (["a text", "--image", str(picture)], "reads a picture alone"),
        (["--image", str(notes)], "cannot be read as a picture"),
        (["--image", str(tmp_path / "none.png")], "no such file"),
        ([], "no text given"),
    ):
        if "--image" not in arguments and arguments:
            arguments = ["--image", *arguments]
        assert main(["import", str(tmp_path), *arguments]) == 1
        assert reason in capsys.readouterr().err
    assert main(["import", str(tmp_path), "a text"]) == 1
    assert "reads pictures, not text" in capsys.readouterr().err


def test_weights_are_drawn_over_the_picture_with_their_numbers(tmp_path, picture):
    saved(tmp_path, "vit")
    trace = trace_picture(load_vision_model(str(tmp_path)), picture)
    array = trace.site("layer.1/attention/weight")
    query = array["query_token"].values.tolist().index("2.3")
    row = array[2, query].copy(data=np.linspace(0, 0.1, array.sizes["key"]))
    rows = view.patches(row)
    assert len(rows) == ROWS * COLUMNS and rows["name"].tolist()[COLUMNS] == "2.1"
    assert rows["weight"].tolist() == row.values[1:].tolist()
    chart = view.figure(row, str(trace.meta["picture"]), query).to_dict()
    cells = next(rows for rows in chart["datasets"].values() if "outlined" in rows[0] and len(rows) > 1)
    assert [cell["name"] for cell in cells if cell["outlined"]] == ["2.3"]
    assert len({cell["colour"] for cell in cells}) > 5 and cells[0]["colour"] != cells[-1]["colour"]
    assert [cell["row"] * COLUMNS + cell["column"] for cell in cells] == list(range(ROWS * COLUMNS))
    share = 100 * rows["weight"].sum() / row.values.sum()
    assert view.describe(row, "2.3").startswith(f"2.3 has {share:.3g} % of its weight on patches") and "3.5 (0.1)" in (
        view.describe(row, "2.3")
    )
    with pytest.raises(TraceError, match="no patches"):
        view.patches(row.drop_vars(["key_patch_row", "key_patch_column"]))


WEIGHTS = "model.safetensors"
CHANGES = {  # of the weights of a folder: what is then said, and whether it predicts
    "more of them": (lambda weights: weights | {"other.head.weight": torch.ones(2)},
                     "Weights of its files that the model does not use: 1, such as other.head.weight", True),
    "no head": (lambda weights: {name: weights[name] for name in weights if "classifier" not in name},
                "The weights of its head (classifier.bias, …) are not in the file: nothing is predicted.", False),
    "none": (lambda weights: weights, "", True),
}  # fmt: skip


@pytest.mark.parametrize("change", CHANGES)
def test_unused_weights_and_a_head_without_any_are_said(change, tmp_path, picture):
    saved(tmp_path, "vit")
    changed, said, predicts = CHANGES[change]
    save_file(changed(load_file(tmp_path / WEIGHTS)), tmp_path / WEIGHTS, {"format": "pt"})
    trace = trace_picture(load_vision_model(str(tmp_path)), picture)
    notes = "".join(notes_of(trace))
    assert said in notes and ("not use" in notes or "head" in notes) is bool(said)
    assert bool(prediction_of(trace)) is predicts
