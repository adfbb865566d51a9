"""Files of nested tensors and of batches: steps that are joined, parts that are named, one example that is selected."""

from __future__ import annotations

import numpy as np
import torch

from tests.unit.test_open_file import HEADS, refused
from triattn_core.__main__ import main
from triattn_core.importers.open_file import open_file
from triattn_core.trace import AttentionTrace
from triattn_core.trace.from_array import notes_of


def steps(prompt: int, count: int, layers: int = 3, batch: int = 1) -> list[list[torch.Tensor]]:
    """The attentions of a generated text: of the prompt, then of one token after the other."""
    sizes = [(prompt, prompt), *((1, prompt + i) for i in range(1, count))]
    draw = lambda size: torch.softmax(torch.randn(batch, HEADS, *size), -1)  # noqa: E731
    return [[draw(size) for _ in range(layers)] for size in sizes]


NESTED = "layer batch head query key".split()


def test_the_steps_of_a_generated_text_are_joined(tmp_path):
    for number, (prompt, count) in enumerate(((4, 5), (1, 3), (6, 1))):
        saved, path = steps(prompt, count), tmp_path / f"{number}.pt"
        torch.save({"attentions": tuple(map(tuple, saved)), "sequences": torch.arange(9)}, path)
        trace = open_file(path, "attentions")
        each = f"{prompt} each" if count == 1 or prompt == 1 else f"{prompt} in the first, 1 in each of the others"
        assert notes_of(trace)[0].endswith(f"queries one below the other: {each}.")
        site = trace.site("layer.2/attention/weight").values
        assert site.shape == (HEADS, prompt + count - 1, prompt + count - 1)
        np.testing.assert_array_equal(site[:, :prompt, :prompt], saved[0][2][0].numpy())
        if count > 1:
            np.testing.assert_array_equal(site[:, -1], saved[-1][2][0, :, 0].numpy())
    crossed = [[torch.softmax(torch.randn(1, HEADS, 1, 7), -1)] * 2 for _ in range(4)]  # of an encoder-decoder
    torch.save(crossed, tmp_path / "cross.pt")
    assert open_file(tmp_path / "cross.pt").site("layer.1/attention/weight").shape == (HEADS, 4, 7)


def test_joined_steps_keep_the_tolerance_of_their_type(tmp_path):
    torch.save([[step[0].bfloat16()] for step in steps(60, 3, 1)], tmp_path / "a.pt")
    assert notes_of(open_file(tmp_path / "a.pt"))[1].startswith("All rows sum to one")


def test_nested_tensors_that_do_not_fit_are_named_by_their_place(tmp_path, capsys):
    torch.save(steps(3, 2, batch=4), tmp_path / "beams.pt")  # row i of a step may not go on row i of the one before
    line = refused(capsys, tmp_path / "beams.pt")
    assert "beams.0 (3 × 4 × 2 × 3 × 3), beams.1 (3 × 4 × 2 × 1 × 4)" in line
    assert (
        main(["open", str(tmp_path / "beams.pt"), "--name", "beams.1", "--axes", *NESTED, "--select", "batch=3"]) == 0
    )
    capsys.readouterr()
    odd = [None, torch.rand(2, 3), {"a": [torch.rand(3, 4), torch.rand(4, 3)]}, "text", 3]
    torch.save({"x": odd}, tmp_path / "odd.pt")
    line = refused(capsys, tmp_path / "odd.pt")
    assert "x.1 (2 × 3), a.0 (3 × 4), a.1 (4 × 3)" in line
    sliding = [[torch.rand(1, HEADS, 6, 6)], [torch.rand(1, HEADS, 1, 4)]]
    torch.save(sliding, tmp_path / "sliding.pt")
    assert "sliding.0 (1 × 1 × 2 × 6 × 6)" in refused(capsys, tmp_path / "sliding.pt")


def test_one_text_of_a_batch_is_selected(tmp_path, capsys):
    maps = torch.softmax(torch.randn(16, HEADS, 6, 6), -1)
    torch.save(maps, tmp_path / "a.pt")
    path, axes = tmp_path / "a.pt", ["--axes", "batch", "head", "query", "key"]
    assert "as of layer head query key or batch head query key" in refused(capsys, path)
    assert "batch has 16 examples: choose one, from batch=0 to batch=15" in refused(capsys, path, *axes)
    for option in (["--select", "batch=3"], ["--crop", "batch=3:4"]):
        assert main(["open", str(path), *axes, *option, "--out", str(tmp_path / "t.nc")]) == 0
        stored = AttentionTrace.load(tmp_path / "t.nc").site("attention/weight").values
        np.testing.assert_array_equal(stored, maps[3].numpy())
    capsys.readouterr()
    for option, reason in (
        ("batch=16", "not within 0:16"),
        ("batch=x", "expected an axis and one position"),
        ("a", "--select a"),
    ):
        assert reason in refused(capsys, path, *axes, "--select", option)
