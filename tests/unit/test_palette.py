"""Colours and scales: what is drawn must give back what was meant."""

from __future__ import annotations

import base64

import numpy as np
import pytest
import xarray as xr

from triattn_core.trace.relevance import centred
from triattn_core.views.lib.palette import (
    DIVERGING,
    NAMES,
    SEQUENTIAL,
    THEMES,
    LogScale,
    SignedScale,
    colour_table,
    ink_on,
    oklab,
    pack,
    ramp,
    rgb,
    scale_payload,
    srgb,
    theme_payload,
)


@pytest.mark.parametrize("stops", [*SEQUENTIAL.values(), *DIVERGING.values()])
def test_ramp_passes_through_its_stops(stops):
    table = ramp(stops, len(stops))
    assert ["#{:02x}{:02x}{:02x}".format(*row) for row in table] == stops


def test_oklab_of_white_and_of_red_as_published():
    np.testing.assert_allclose(oklab(np.ones(3)), [1, 0, 0], atol=1e-6)
    np.testing.assert_allclose(oklab(rgb("#ff0000")), [0.62796, 0.22486, 0.12585], atol=1e-5)
    np.testing.assert_allclose(srgb(oklab(rgb("#378faa"))), rgb("#378faa"), atol=1e-6)


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_sequential_lightness_runs_one_way(theme):
    lightness = oklab(ramp(SEQUENTIAL[theme]) / 255)[:, 0]
    steps = np.diff(lightness) * (-1 if theme == "light" else 1)
    assert (steps > -0.004).all() and abs(lightness[-1] - lightness[0]) > 0.6


def test_log_scale_gives_back_what_it_was_given_within_half_a_step():
    scale = LogScale.of(np.array([0.9, 0.001]), cells=90)
    assert scale.low == pytest.approx(1 / 630) and scale.high == 0.9
    values = np.geomspace(scale.low, scale.high, 401)
    half = (scale.high / scale.low) ** (0.5 / 255)
    ratio = scale.values(scale.levels(values)) / values
    assert ratio.max() <= half * 1.0001 and ratio.min() >= 1 / half / 1.0001
    assert scale.levels(np.array([0.0, np.nan, scale.low / 9, 0.9])).tolist() == [0, 0, 0, 255]


def test_log_scale_of_equal_weights_and_of_nothing():
    assert LogScale.of(np.full(5, 0.2), 5).levels(np.array([0.2])) == 255
    assert LogScale.of(np.zeros(0), 0).high == 1


def test_fitted_scale_shows_diffuse_maps_and_leaves_peaked_ones_alone():
    peaked, diffuse = np.array([0.7, 0.0001, 0.2999]), np.array([0.1, 0.2, 0.7])
    assert LogScale.fit(peaked, 3) == LogScale.of(peaked, 3)
    assert LogScale.fit(diffuse, 3).levels(diffuse)[[0, 2]].tolist() == [0, 255]
    alone = LogScale.fit(np.ones(1), 1)
    assert alone.high == 1 and alone.levels(np.ones(1)).tolist() == [255], "no weight is above 1"
    flat = LogScale.fit(np.full(5, 0.2), 5)
    assert flat.levels(np.array([0.2])) in (127, 128) and flat.high / flat.low == pytest.approx(4)


@pytest.mark.parametrize("power", [0.5, 1.0])
def test_signed_scale_keeps_zero_exact_and_sides_apart(power):
    scale = SignedScale.of(np.array([-3.0, 1.0, np.inf]), power)
    levels = scale.levels(np.array([-3.0, -1e-9, 0.0, 1e-9, 3.0, -np.inf]))
    assert levels.tolist() == [0, 127, 127, 127, 254, 127]
    assert scale.values(np.array([0, 127, 254])).tolist() == [-3, 0, 3]
    assert SignedScale.of(np.zeros(3)).limit == 1


def test_a_legend_says_how_a_signed_scale_goes():
    scale_notes = [SignedScale(2.0, power).how for power in (0.5, 0.7, 1.0)]
    assert scale_notes == ["square-root scale", "power 0.7 scale", ""]
    assert scale_payload(SignedScale(2.0, 0.7))["how"] == "power 0.7 scale"


def test_ticks_stand_on_the_scale_and_are_few():
    for scale in (LogScale.of(np.array([0.2]), 90), LogScale.of(np.array([0.6]), 8384), SignedScale(2.37)):
        ticks = scale.ticks()
        assert 2 <= len(ticks) <= 6
        low = scale.low if scale.kind == "log" else -scale.limit
        high = scale.high if scale.kind == "log" else scale.limit
        assert all(low <= tick <= high * 1.001 for tick in ticks)


def test_centred_relevance_has_mean_zero_per_query_and_the_same_softmax():
    raw = xr.DataArray(
        np.random.default_rng(0).normal(5, 1, (3, 5, 7)),
        dims=("query", "key", "context"),
        attrs={"quantity": "relevance"},
    )
    moved = centred(raw)
    assert moved.dims == raw.dims and moved.attrs == {"quantity": "relevance", "centred": "query"}
    np.testing.assert_allclose(moved.mean(("key", "context")), 0, atol=1e-12)

    def softmax(array):
        powers = np.exp(array)
        return powers / powers.sum(("key", "context"))

    np.testing.assert_allclose(softmax(moved), softmax(raw))


def test_centred_leaves_out_what_is_masked():
    raw = xr.DataArray([[1.0, 3.0, -np.inf]], dims=("query", "key"), attrs={"quantity": "relevance"})
    assert centred(raw).values.tolist() == [[-1, 1, -np.inf]]


def test_payloads_hold_both_themes_and_whole_tables():
    themes = theme_payload("log", "signed")
    for name, theme in themes.items():
        assert set(NAMES) <= set(theme) and theme["page"] == THEMES[name]["page"]
        assert len(base64.b64decode(theme["tables"]["log"])) == 256 * 3
        assert len(base64.b64decode(theme["tables"]["signed"])) == 255 * 3
    assert scale_payload(SignedScale(2.0))["limit"] == 2
    assert base64.b64decode(pack(np.array([1.5], ">f4"))) == np.array([1.5], "<f4").tobytes()


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("kind", ["log", "signed"])
def test_numbers_on_any_colour_of_a_map_can_be_read(theme, kind):
    def luminance(colour):
        linear = np.where(colour <= 0.04045, colour / 12.92, ((colour + 0.055) / 1.055) ** 2.4)
        return linear @ [0.2126, 0.7152, 0.0722]

    for colour in colour_table(kind, theme):
        ink = {"#000000": 0.0, "#ffffff": 1.0}[ink_on(colour)]
        high, low = sorted((luminance(colour / 255), ink), reverse=True)
        assert (high + 0.05) / (low + 0.05) >= 4.5
