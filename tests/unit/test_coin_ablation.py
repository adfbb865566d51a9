"""Parts of a COIN ablated in one call, and a number of a trace, from Python and from the command line."""

from __future__ import annotations

import json

import numpy as np
import pytest
import torch

from tests.oracles import coin as oracle
from tests.support.coin_checkpoints import MODEL, make_checkpoints
from triattn_core.__main__ import main
from triattn_core.analysis.intervention.coin_ablation import ablatable_parts, explain_ablated
from triattn_core.checkpoint.bundle import load
from triattn_core.checkpoint.registry import VARIABLE
from triattn_core.errors import ConfigError
from triattn_core.inference.explain import explain
from triattn_core.tasks import pairs

PAIR = pairs.examples()[2]
SITE = "layer.1/a_over_b"


@pytest.fixture(scope="module")
def checkpoint_folder(tmp_path_factory):
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv(VARIABLE, str(make_checkpoints(tmp_path_factory.mktemp("checkpoints"))))
        patch.setenv("TRIATTN_DEVICE", "cpu")
        yield


def logits(bundle, context: bool, left: list[int]) -> np.ndarray:
    """What the paper's equations make of the pair with these blocks alone."""
    (roles,) = bundle.task.roles([PAIR], bundle.tokenizer, bundle.config.limits)[0]
    W = {name: parameter.double().numpy() for name, parameter in bundle.model.named_parameters()}
    kept = {name: array for name, array in W.items() if not name.startswith("layers.")}
    for number, block in enumerate(left):
        kept |= {f"layers.{number}.{name}": array for name, array in oracle.below(W, f"layers.{block}.").items()}
    a, b = ([W["embed.weight"][i] for i in side.ids] for side in (roles.query, roles.key))
    return oracle.forward(a, b, kept, len(left), MODEL["heads"], context=context)


@pytest.mark.parametrize(
    ("off", "context", "left"), [((), True, [0, 1, 2]), (("layer.1",), True, [0, 2]), (("context",), False, [0, 1, 2])]
)
def test_what_is_off_takes_no_part(checkpoint_folder, off, context, left):
    bundle = load("quora-coin")
    prediction, trace = explain_ablated(bundle, PAIR, off)
    expected = torch.tensor(logits(bundle, context, left)).softmax(-1)
    np.testing.assert_allclose(prediction.probabilities, expected, atol=1e-5)
    assert trace.meta["off"] == ",".join(off)
    blocks = {f"layer.{site.layer}" for site in trace.sites if site.layer is not None}
    assert blocks == {f"layer.{i}" for i in left}
    assert any("without_context" in site.role for site in trace.sites) == context
    whole = explain(bundle, PAIR)[0].probabilities  # the shared model is as it was
    np.testing.assert_allclose(whole, torch.tensor(logits(bundle, True, [0, 1, 2])).softmax(-1), atol=1e-5)


@pytest.mark.parametrize("off", ["layer.1", "block 2", ["block 2"], ("layer.1",)])
def test_a_block_is_called_as_on_the_page_or_as_in_a_site(checkpoint_folder, off):
    prediction, trace = explain_ablated(load("quora-coin"), PAIR, off)
    assert trace.meta["off"] == "layer.1" and {site.layer for site in trace.sites} >= {0, 2}
    with pytest.raises(ConfigError, match="quora-coin has no 'block two' to ablate"):
        explain_ablated(load("quora-coin"), PAIR, "block two")


def test_what_can_be_ablated_is_what_the_model_has(checkpoint_folder, monkeypatch):
    assert ablatable_parts(load("quora-coin")) == ("layer.0", "layer.1", "layer.2", "context")
    assert ablatable_parts(load("without-all-coin")) == ("layer.0", "layer.1")
    with pytest.raises(ConfigError, match="without-all-coin has no 'context' to ablate"):
        explain_ablated(load("without-all-coin"), PAIR, ["context"])
    with pytest.raises(ConfigError, match="'layer.7' to ablate; did you mean"):
        explain_ablated(load("quora-coin"), PAIR, ["layer.7"])


def test_other_models_have_nothing_to_ablate(tmp_path, monkeypatch):
    from tests.support.tiny import make_checkpoint, make_world

    monkeypatch.setenv(VARIABLE, str(make_world(tmp_path, ()) / "checkpoints"))
    make_checkpoint(tmp_path, "small-tri", "tri", 1)
    with pytest.raises(ConfigError, match="small-tri: blocks and their context term can be ablated in COIN only"):
        ablatable_parts(load("small-tri"))


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "pair.json"
    path.write_text(json.dumps(pairs.row(PAIR)), "utf-8")
    return str(path)


def test_the_command_prints_one_number_and_where_it_stands(checkpoint_folder, file, capsys):
    trace = explain_ablated(load("quora-coin"), PAIR, ["layer.0"])[1]
    cells = ["--cell", f"{SITE}/weight", "1,4", "--cell", f"{SITE}/gate", "2,13"]
    assert main(["explain", "quora-coin", file, "--ablate", "layer.0", *cells]) == 0
    captured = capsys.readouterr()
    first, second = captured.out.splitlines()[-2:]
    assert "layer.0, head 0 are their layer or block 1, head 1" in captured.err
    assert first.split()[0] == f"{float(trace.site(f'{SITE}/weight')[1, 4]):.6g}"
    assert first.endswith(f"query 1 {PAIR.text_a.split()[1]!r}, key 4 {PAIR.text_b.split()[4]!r}")
    assert second.split()[0] == f"{float(trace.site(f'{SITE}/gate')[2, 13]):.6g}" and second.endswith("feature 13")
    assert main(["explain", "quora-coin", file, "--json", *cells]) == 0
    whole = explain(load("quora-coin"), PAIR)[1].site(f"{SITE}/weight")
    cell = json.loads(capsys.readouterr().out)["cells"][0]
    assert cell["value"] == pytest.approx(float(whole[1, 4])) and cell["site"] == f"{SITE}/weight"


def test_parts_named_one_by_one_are_all_off(checkpoint_folder, file, capsys):
    for asked in (["--ablate", "context", "--ablate", "layer.0"], ["--ablate", "context", "layer.0"]):
        assert main(["explain", "quora-coin", file, "--json", *asked]) == 0
        assert json.loads(capsys.readouterr().out)["meta"]["off"] == "context,layer.0"


def test_the_command_prints_one_number_of_what_is_read_in_phrases(checkpoint_folder, file, capsys):
    own = f"{' '.join(PAIR.text_a.split()[:2])} | nothing of this"
    asked = ["--group-by", "query=phrases", "key=tokens", "--phrases", own, "--cell", f"{SITE}/weight", "0,4"]
    assert main(["explain", "quora-coin", file, *asked]) == 0
    line = capsys.readouterr().out.splitlines()[-1]
    weights = explain(load("quora-coin"), PAIR)[1].site(f"{SITE}/weight").values
    assert float(line.split()[0]) == pytest.approx((float(weights[0, 4]) + float(weights[1, 4])) / 2, rel=1e-5)
    assert f"query 0 {' '.join(PAIR.text_a.split()[:2])!r}" in line
    joined = [*asked[:-2], f"{SITE}/relevance", "0,4"]
    assert main(["explain", "quora-coin", file, *joined]) == 0
    assert "no score of the model" in capsys.readouterr().out.splitlines()[-1]
    assert "no score" not in line and main(["explain", "quora-coin", file, "--json", *joined]) == 0
    assert "no score of the model" in json.loads(capsys.readouterr().out)["cells"][0]["note"]


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["--cell", f"{SITE}/weight", "1"], "or mean, sum, max, logsumexp, for query and key"),
        (["--cell", f"{SITE}/weight", "1,-1"], "expected positions from 0"),
        (["--cell", f"{SITE}/weight", "1,99"], "key 99 is outside"),
        (["--cell", f"{SITE}/weigth", "1,1"], "did you mean"),
        (["--group-by", "context=words"], "there are query, key to turns, sentences, phrases, words, tokens"),
        (["--group-by", "query=verses"], "--group-by query=verses: expected an axis and its unit"),
        (["--group-by", "words"], "--group-by words: expected"),
        (["--group-by", "query=phrases", "--cell", f"{SITE}/weight", "5,1"], "query 5 is outside"),
        (["--ablate", "layer.0", "contex"], "did you mean 'context'"),
        (["--ablate", "layer.0", "--part", "3"], "There is no option 3: there is one"),
    ],
)
def test_bad_cells_and_parts_are_one_line(checkpoint_folder, file, capsys, arguments, says):
    assert main(["explain", "quora-coin", file, *arguments]) != 0
    errors = capsys.readouterr().err.strip().splitlines()
    assert len(errors) == 1 and says in errors[0]
