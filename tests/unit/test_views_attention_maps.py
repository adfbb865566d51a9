"""Maps of heads and of clusters through their own payload, against a made-up trace."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from functools import partial

import numpy as np
import pytest

from tests.support.figure_arrays import sent_array
from tests.support.mtsa_traces import LAYER, MASKS, SIZE, N, make_trace, open_pairs
from triattn_core.analysis.maps.clusters import cluster_features, similarity_order
from triattn_core.analysis.maps.mtsa_tensor import head_tensor
from triattn_core.errors import InputError, TraceError
from triattn_core.trace.array_rows import empty_unknown_rows
from triattn_core.views import attention_maps
from triattn_core.views.attention_maps import maps

ORDERS = [[4, 2, 0, 1, 3], [1, 0, 2, 3, 4]]


def site(trace, name: str, head: int) -> np.ndarray:
    return trace.site(f"{LAYER}/{name}").values[head].astype(float)


def test_heads_stand_beside_each_other_one_of_each_mask():
    trace = make_trace(masks="forward,forward,backward")
    assert maps.groups(trace) == {"forward": [0, 1], "backward": [2]}
    assert maps.one_head_per_mask(trace, 0) == [0, 2] and maps.one_head_per_mask(trace, 1) == [1, 2]
    assert maps.looks("window:2") == "2 tokens to either side"
    with pytest.raises(TraceError, match="not one of MTSA"):
        maps.groups(make_trace(masks=""))


def test_a_map_is_the_weights_of_its_head_with_its_mask_hatched():
    trace = make_trace()
    payload = attention_maps.figure(maps.maps(trace, LAYER, [1, 2]), trace.texts, ORDERS).payload
    assert [panel["title"] for panel in payload["panels"]] == ["Head 2, backward", "Head 3, window 2", "Source2token"]
    for index, (head, order) in enumerate(zip((1, 2), ORDERS)):
        sent = partial(sent_array, payload, index)
        out = ~open_pairs(MASKS[head], N)
        weights = site(trace, "token2token/weight", head)
        np.testing.assert_allclose(sent("weights"), weights, rtol=1e-6)
        np.testing.assert_array_equal(sent("masked"), out)
        scores = np.where(out, -np.inf, site(trace, "token2token/relevance", head))
        np.testing.assert_allclose(sent("scores"), scores, rtol=1e-6)
        source = site(trace, "source2token/weight", head)
        np.testing.assert_allclose(sent("source"), source[:, order], rtol=1e-6)
        np.testing.assert_allclose(sent("mean"), source.mean(1), rtol=1e-5)
        assert sent("order").tolist() == [feature + 1 for feature in order]


@pytest.mark.parametrize("scale", ["identity", "log_sigmoid"])
def test_relevance_is_drawn_as_its_softmax_takes_it(scale):
    """Differences within a row are those of its log weights."""
    trace = make_trace(scale_t=scale, scale_s=scale)
    (head_map,) = maps.maps(trace, LAYER, [0], "relevance")
    sent = partial(sent_array, attention_maps.figure([head_map], trace.texts, ORDERS[:1]).payload, 0)
    weights, values = site(trace, "token2token/weight", 0), sent("values")
    for q in range(2, N):
        log_weights = np.log(weights[q, :q])
        np.testing.assert_allclose(values[q, :q], log_weights - log_weights.mean(), atol=1e-4)
    source = site(trace, "source2token/relevance", 0)
    source = source if scale == "identity" else -np.log1p(np.exp(-source))
    np.testing.assert_allclose(sent("mean"), (source - source.mean(0)).mean(1), atol=1e-5)
    assert sent("scores")[3, 1] == pytest.approx(site(trace, "token2token/relevance", 0)[3, 1])


def test_relevance_is_centred_over_what_the_mask_leaves():
    trace = make_trace(scale_t="identity")
    (head_map,) = maps.maps(trace, LAYER, [0], "relevance")
    sent = partial(sent_array, attention_maps.figure([head_map], trace.texts, ORDERS[:1]).payload, 0)
    scores, values = site(trace, "token2token/relevance", 0), sent("values")
    for q in range(1, N):
        row = scores[q, :q]  # forward: what stands before it
        np.testing.assert_allclose(values[q, :q], row - row.mean(), atol=1e-5)
    source = site(trace, "source2token/relevance", 0)
    np.testing.assert_allclose(sent("mean"), (source - source.mean(0)).mean(1), atol=1e-5)


@pytest.mark.parametrize("quantity", ["weight", "relevance"])
def test_source2token_comes_with_its_weights_and_raw_scores(quantity):
    trace = make_trace(scale_s="log_sigmoid")
    payload = attention_maps.figure(maps.maps(trace, LAYER, [1], quantity), trace.texts, ORDERS[:1]).payload
    sent = partial(sent_array, payload, 0)
    raw, weights = (site(trace, f"source2token/{name}", 1) for name in ("relevance", "weight"))
    np.testing.assert_allclose(sent("source_scores"), raw[:, ORDERS[0]], rtol=1e-6)
    np.testing.assert_allclose(sent("mean_scores"), raw.mean(1), atol=1e-6)
    drawn = quantity == "weight"  # not sent twice
    assert ("source_weights" in payload["panels"][0]["arrays"]) != drawn
    values = sent("source" if drawn else "source_weights")
    np.testing.assert_allclose(values, weights[:, ORDERS[0]], rtol=1e-6)
    np.testing.assert_allclose(sent("mean" if drawn else "mean_weights"), weights.mean(1), rtol=1e-5)


def test_tokens_are_quoted_in_sentences_and_hatching_is_explained_where_there_is_some():
    trace = make_trace()
    (masked,) = maps.maps(trace, LAYER, [0])
    whole = replace(masked, even=masked.even.copy(data=np.full((N, N), 1 / N)))
    drawn = [attention_maps.figure([one], trace.texts).payload for one in (masked, whole)]
    assert ["Hatched: a mask leaves the pair out." in payload["keys"] for payload in drawn] == [True, False]
    assert ["of what the mask leaves" in payload["walks"] for payload in drawn] == [True, False]
    assert [payload["mark"] for payload in drawn] == [f"even, no mask 1/{N}", f"even 1/{N}"]
    readout = drawn[0]["readout"]
    said = [readout["corner"], *(case["text"] for part in readout["sentences"] for case in part["cases"])]
    assert len(said) > 3
    for sentence in said:
        assert len(re.findall(r"\{(query|key)\b", sentence)) == len(re.findall(r"“\{(query|key)[^}]*\}”", sentence))


@pytest.mark.parametrize("orders", [None, ORDERS], ids=("strips", "features"))
def test_a_word_that_the_model_is_asked_about_has_a_mark_in_every_map_and_on_paper(orders):
    trace = make_trace()
    heads = maps.maps(trace, LAYER, [0, 1])
    begins = heads[0].map_values["key_start"].values.tolist()
    canvas = attention_maps.figure(heads, trace.texts, orders, marked=("predicate", begins[2]))
    payload = canvas.payload
    assert payload["scale_lines"] == ["▸ the predicate"] == [attention_maps.mark_legend("predicate")]
    expected = [int(i == 2) for i in range(N)]
    assert [payload["axes"][axis]["marked"] for axis in ("query", "key")] == [expected, expected]
    printed = [side for mark in canvas.maps for side in (mark.rows.texts, mark.columns.texts) if len(side) == N]
    assert len(printed) >= 4
    assert all([label.startswith("▸ ") for label in side] == list(map(bool, expected)) for side in printed)
    plain = attention_maps.figure(heads, trace.texts, orders)
    assert "marked" not in plain.payload["axes"]["key"] and plain.payload["scale_lines"] == []
    assert not any(label.startswith("▸") for mark in plain.maps for label in mark.rows.texts)


def test_a_grid_has_strips_and_no_features():
    trace = make_trace()
    payload = attention_maps.figure(maps.maps(trace, LAYER, range(3)), trace.texts).payload
    assert len(payload["panels"]) == 3 and all("source" not in panel["arrays"] for panel in payload["panels"])
    assert all("mean_levels" in panel["arrays"] and panel["marks"][0]["mark"] == "strip" for panel in payload["panels"])
    assert payload["cell"][3] == 0


@pytest.mark.parametrize("count, room", [(16, (12.5, 12)), (24, (12.5, 12)), (60, (2, 0))])
def test_each_of_few_tokens_has_room_for_its_name_in_a_grid(count: int, room: tuple[float, int]):
    trace = make_trace(n=count)
    grid = attention_maps.figure(maps.maps(trace, LAYER, range(3)), trace.texts).payload["grid"]
    assert (grid["row"][0], grid["finest"]) == room


def test_it_opens_on_the_pair_that_holds_most_against_an_even_share():
    trace = make_trace()
    head_maps = maps.maps(trace, LAYER, [0, 1])
    best, where = -1.0, None
    for panel, head in enumerate((0, 1)):
        weights, left = site(trace, "token2token/weight", head), open_pairs(MASKS[head], N).sum(1)
        for q in range(N):
            for k in range(N):
                if weights[q, k] * left[q] > best + 1e-9:
                    best, where = weights[q, k] * left[q], (q, k, panel)
    cell = attention_maps.first_cell(head_maps, ORDERS)
    assert cell[:3] == where
    source = site(trace, "source2token/weight", where[2])[where[1]]
    assert ORDERS[where[2]][cell[3]] == source.argmax()


def test_one_token_and_too_many():
    trace = make_trace(n=1)
    canvas = attention_maps.figure(maps.maps(trace, LAYER, [0, 1]), trace.texts, ORDERS)
    assert canvas.alt.endswith("Nothing may be attended to: every row is zeros.") and "gives" not in canvas.alt
    assert canvas.payload["cell"] == [0, 0, 0, 0]
    with pytest.raises(InputError, match=rf"Maps of {maps.MOST + 1} tokens are not drawn \(at most {maps.MOST}\)"):
        maps.maps(make_trace(n=maps.MOST + 1), LAYER, [0])
    with pytest.raises(TraceError, match="no head 4"):
        maps.maps(make_trace(), LAYER, [3])


def test_who_is_left_nothing_to_attend_to_is_named_with_the_map():
    def describe_empty_rows(names, chosen, n=N):
        return attention_maps.alt(
            maps.maps(make_trace(n=n, masks=names), LAYER, chosen), make_trace(n=n).texts
        ).partition("). ")[2]

    names = ",".join(MASKS)
    assert describe_empty_rows(names, [0, 1]) == f"In head 1 “w0” is left nothing to attend to, in head 2 “w{N - 1}”."
    assert describe_empty_rows(names, [1, 2]) == f"In head 2 “w{N - 1}” is left nothing to attend to."
    assert describe_empty_rows(names, [0]) == "“w0” is left nothing to attend to." and not describe_empty_rows(
        names, [2]
    )
    assert describe_empty_rows(names, [0, 0]) == "In every map “w0” is left nothing to attend to."
    assert describe_empty_rows(names, [0, 1, 0]).startswith("In heads 1 and 1 “w0” is left")


def test_of_many_who_are_left_nothing_the_count_is_said():
    head_map = maps.maps(make_trace(), LAYER, [0])[0]
    for rows, wanted in ((3, "“w0”, “w1” and “w2” are left"), (4, f"4 of {N} are left")):
        weights = head_map.weights.copy(data=np.where(np.arange(N)[:, None] < rows, 0, head_map.weights.values))
        assert f"). {wanted} nothing to attend to." in attention_maps.alt(
            [replace(head_map, weights=weights)], make_trace().texts
        )


def test_prototypes_are_maps_of_clusters():
    trace = head_tensor(make_trace(), LAYER, 0)
    clusters = cluster_features(trace.site(f"{LAYER}/tensor/weight"), 2)
    drawn = maps.prototypes(trace, LAYER, clusters.assignments.tolist(), clusters.prototypes, clusters.typical)
    payload = attention_maps.figure(drawn, trace.texts).payload
    for i, panel in enumerate(payload["panels"]):
        sent = partial(sent_array, payload, i)
        members = [f for f in range(SIZE) if clusters.assignments[f] == i]
        mean = sum(trace.site(f"{LAYER}/tensor/weight").values[..., f] for f in members) / len(members)
        np.testing.assert_allclose(sent("weights"), mean, atol=1e-6)
        many, single = f"{len(members)} features, like {clusters.typical[i] + 1}", f"feature {members[0] + 1}"
        assert panel["note"] == (many if len(members) > 1 else single) and "scores" not in panel["arrays"]


def test_every_pair_of_every_head_is_a_row():
    trace = make_trace()
    rows = maps.table(trace, LAYER)
    assert len(rows) == len(MASKS) * N * N and list(rows.columns[:3]) == ["head", "query", "query_at"]
    row = rows[(rows["head"] == 2) & (rows["query_at"] == 1) & (rows["key_at"] == 5)].iloc[0]
    assert row["weight"] == pytest.approx(site(trace, "token2token/weight", 1)[1, 5]) and row["key"] == "w5"
    assert rows["score"].isna().sum() == sum((~open_pairs(name, N)).sum() for name in MASKS)


def test_features_stand_by_likeness():
    source = make_trace().site(f"{LAYER}/source2token/weight").isel(head=0)
    assert sorted(similarity_order(source)) == list(range(SIZE))
    twins = source.isel(feature=[0, 1, 2, 0, 3])
    order = similarity_order(twins)
    assert abs(order.index(0) - order.index(3)) == 1


def test_offline_page_loads_nothing_and_reads_no_token_as_html():
    trace = make_trace()
    page = attention_maps.figure(maps.maps(trace, LAYER, [0]), {"text": "</script><b> w1"}, ORDERS[:1]).html()
    inside = re.search(r'<script id="payload" type="application/json">(.*?)</script>', page, re.S).group(1)
    assert "<" not in inside and json.loads(inside)["texts"]["text"].startswith("</script>")
    assert not re.search(r"""(src|href)=["']?https?:|@import|url\(""", page) and "innerHTML" not in page


def test_rows_that_are_no_numbers_are_not_said_to_be_masked():
    head_map = maps.maps(make_trace(), LAYER, [0])[0]
    weights = head_map.weights.expand_dims(head=2).astype(float)
    for rows, wanted in ((N, "No weight is a number: every row is shown empty."), (2, "“w0” and “w1” are empty, not")):
        values = np.where(np.arange(N)[:, None] < rows, np.nan, weights.values + 0.1)
        arrays, _ = empty_unknown_rows({LAYER: weights.copy(data=values)})
        drawn = [replace(head_map, weights=arrays[LAYER].isel(head=0))]
        described = attention_maps.alt(drawn, make_trace().texts)
        assert wanted in described and "nothing to attend" not in described
