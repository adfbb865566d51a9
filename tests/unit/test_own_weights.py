"""Arrays of yours after they are opened: shares of weights that do not sum to one, the card of a trace made again, and
where training looks for your rows."""

from __future__ import annotations

import argparse
from pathlib import Path
from zipfile import ZipFile

import numpy as np
import pytest

from tests.support.figure_arrays import sent_array
from triattn_core import trace_of
from triattn_core.__main__ import main
from triattn_core.commands import train
from triattn_core.trace import Choice
from triattn_core.trace.distribution import Distribution
from triattn_core.training.command import data_folder
from triattn_core.views import cube
from triattn_core.views.lib import cell
from triattn_core.views.lib.strongest import strongest


@pytest.mark.parametrize("sums", [np.full(6, 500.0), np.linspace(0.5, 1.5, 6)])
def test_shares_of_weights_that_do_not_sum_to_one_are_of_their_own_mass(sums):
    weights = np.random.default_rng(0).random((6, 5, 4))
    weights *= sums[:, None, None] / weights.sum((1, 2), keepdims=True)
    own = trace_of(weights, axes=("query", "key", "context"), quantity="weight")
    choice = Choice(next(iter(own.sites)))
    payload = cube.figure(Distribution(own, choice)).payload
    assert sent_array(payload, 0, "rows") == pytest.approx(weights.sum(), rel=1e-5)
    largest = np.sort(weights, axis=None)[-8:].sum()
    assert payload["inspector"]["triples"]["held"] == pytest.approx(largest / weights.sum(), rel=1e-5)
    assert sent_array(payload, 0, "even") == pytest.approx(weights.mean(), rel=1e-5)
    assert float(payload["mark"][7:-1]) == pytest.approx(weights.mean(), rel=1e-5)
    assert payload["scales"]["main"]["uniform"] == pytest.approx(weights.mean(), rel=1e-5)
    assert strongest(Distribution(own, choice))["share"].sum() == pytest.approx(1.0)
    facts = cell.numbers_of(Distribution(own, choice), {"query": 1, "key": 2, "context": 3})
    assert facts["share"] == pytest.approx(weights[1, 2, 3] / weights.sum(), rel=1e-5)
    assert facts["against"] == pytest.approx(weights[1, 2, 3] / weights.mean(), rel=1e-5)
    normal = trace_of(weights / weights.sum((1, 2), keepdims=True), axes=own.site(choice.site).dims, quantity="weight")
    payload = cube.figure(Distribution(normal, choice)).payload
    assert sent_array(payload, 0, "rows") == 6 and payload["mark"] == "even 1/20"


def test_the_card_of_a_trace_is_made_again_from_its_manifest(tmp_path, capsys):
    weights = np.random.default_rng(7).dirichlet(np.ones(35), 3).reshape(3, 5, 7)
    own = trace_of(weights, axes=("query", "key", "context"), quantity="weight")
    own.save(tmp_path / "own.nc")
    assert main(["card", "cube", str(tmp_path / "own.nc"), "--out", str(tmp_path / "card.zip")]) == 0
    with ZipFile(tmp_path / "card.zip") as card:
        card.extractall(tmp_path / "card")
    manifest = tmp_path / "card" / "manifest.json"
    assert main(["card", str(manifest), "--out", str(tmp_path / "again.zip")]) == 0
    assert "data: at most 0 from" in capsys.readouterr().out
    assert (tmp_path / "again.zip").read_bytes() == (tmp_path / "card.zip").read_bytes()
    manifest.write_text(manifest.read_text("utf-8").replace('"view": "cube"', '"view": "cubes"'), "utf-8")
    assert main(["card", str(manifest), "--out", str(tmp_path / "third.zip")]) == 1
    assert "no view 'cubes'; did you mean 'cube'" in capsys.readouterr().err


def test_without_a_data_folder_rows_are_looked_for_in_the_working_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert parser_of("train", train.train_arguments).parse_args(["config.json"]).data is None
    assert data_folder([]) == Path()
    (tmp_path / "data").mkdir()
    assert data_folder([]) == Path("data")


def parser_of(name, add_arguments) -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(name)
    add_arguments(parser)
    return parser
