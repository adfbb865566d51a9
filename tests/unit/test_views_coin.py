"""COIN's blocks through their own payload, against the trace that they are drawn from."""

from __future__ import annotations

import json
import re
import shlex
from dataclasses import replace

import numpy as np
import pytest
from jsonschema import Draft202012Validator

from tests.oracles import coin as oracle
from tests.support.coin_checkpoints import WIDTH, make_checkpoints
from tests.support.figure_arrays import group_arrays
from tests.unit.test_figure import SCHEMA
from triattn_core.analysis.intervention.coin_ablation import explain_ablated
from triattn_core.checkpoint.bundle import load
from triattn_core.checkpoint.registry import VARIABLE
from triattn_core.errors import TraceError
from triattn_core.inference.explain import explain
from triattn_core.tasks import pairs
from triattn_core.trace import AttentionTrace
from triattn_core.trace.site import Sites
from triattn_core.trace.token_grouping import TokenGrouping
from triattn_core.views import coin
from triattn_core.views.coin.blocks import NOISE, Answer, ablation_label, blocks, first_cell, spread, table

PAIR = pairs.Example("Can cats eat raw fish?", "Can a dog eat?")  # 6 tokens over 5
REPEATED = pairs.Example("Cats eat and fish eat?", "Can dogs eat or eat?")
ANSWERS = [Answer("", "nothing", 0.7), Answer("layer.0", "block 1", 0.4, True)]


@pytest.fixture(scope="module")
def traces(tmp_path_factory) -> dict[str, AttentionTrace]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv(VARIABLE, str(make_checkpoints(tmp_path_factory.mktemp("checkpoints"))))
        patch.setenv("TRIATTN_DEVICE", "cpu")
        traces_by_name = {
            name: explain(load(name), PAIR)[1] for name in ("quora-coin", "without-all-coin", "single-coin")
        }
        for name, off in (("quora-coin", "layer.1"), ("quora-coin", "context"), ("single-coin", "layer.0")):
            traces_by_name[f"{name} {off}"] = explain_ablated(load(name), PAIR, (off,))[1]
        traces_by_name["repeated"] = explain(load("quora-coin"), REPEATED)[1]
        return traces_by_name


def drawn(traces, name: str = "quora-coin", direction: str = "a_over_b", off: str = "", **more) -> dict:
    return coin.figure(traces[name], traces[f"{name} {off}".strip()], direction, ANSWERS, "paraphrase", **more).payload


@pytest.mark.parametrize(("direction", "n", "i"), [("a_over_b", 6, 5), ("b_over_a", 5, 6)])
def test_a_block_has_the_numbers_of_its_trace(traces, direction, n, i):
    trace, payload = traces["quora-coin"], drawn(traces, direction=direction)
    assert dict(payload["coordinates"])["block"] == 3
    sides = [panel["title"] for panel in payload["panels"] if "small" in panel]
    assert sides == 3 * direction.upper().split("_OVER_")
    assert [len(payload["axes"][axis]["label"]) for axis in ("query", "key")] == [n, i]
    first, second = direction.split("_over_")
    for number in range(3):
        block = group_arrays(payload, number)
        site = lambda name, at=f"layer.{number}": trace.site(f"{at}/{name}").values  # noqa: E731
        weight, plain = block["weight"], block["plain"]
        np.testing.assert_array_equal(weight, site(f"{direction}/weight"))
        np.testing.assert_array_equal(block["score"], site(f"{direction}/relevance"))
        np.testing.assert_array_equal(plain, site(f"{direction}/without_context/weight"))
        np.testing.assert_allclose(block["changed"], weight - plain, atol=NOISE)
        np.testing.assert_array_equal(block["own_query"], site(f"{first}_over_{first}/weight"))
        np.testing.assert_array_equal(block["own_key"], site(f"{second}_over_{second}/weight"))
        np.testing.assert_array_equal(block["most_query"], block["own_query"].argmax(1))
        np.testing.assert_array_equal(block["best"], weight.argmax(1))
        np.testing.assert_allclose(block["gate"], site(f"{direction}/gate").mean(1), rtol=1e-6)
        halves = [np.sort(row)[[len(row) // 4, -1 - len(row) // 4]] for row in site(f"{direction}/gate")]
        np.testing.assert_allclose(np.stack([block[f"gate_{end}"] for end in ("low", "high")], 1), halves)
        assert "features" not in block


def test_the_gate_is_sent_feature_by_feature_on_demand(traces):
    orders = [list(reversed(range(WIDTH)))] * 3
    payload, gate = drawn(traces, orders=orders), traces["quora-coin"].site("layer.2/a_over_b/gate").values
    block = group_arrays(payload, 2)
    assert payload["panels"][-1]["follows"] == "block" and list(block["order"]) == orders[2]
    np.testing.assert_array_equal(block["features"], gate)
    plain = drawn(traces)
    assert not any("follows" in panel for panel in plain["panels"]) and dict(plain["coordinates"])["feature"] == WIDTH


@pytest.mark.parametrize(("name", "off"), [("quora-coin", ""), ("quora-coin", "layer.1"), ("quora-coin", "context"),
                                           ("single-coin", "layer.0"), ("without-all-coin", "")])  # fmt: skip
@pytest.mark.parametrize("features", [False, True])
def test_its_description_keeps_the_schema_and_names_only_what_is_there(traces, name, off, features):
    payload = drawn(traces, name, off=off, orders=[list(range(WIDTH))] * 3 if features else ())
    assert json.loads(json.dumps(payload, allow_nan=False)) == payload
    Draft202012Validator(SCHEMA).validate(payload)
    count = dict(payload["coordinates"])["block"]
    sent = {one for number in range(count) for one in group_arrays(payload, number)}
    readout = payload["readout"]
    numbers = [one for numbers in readout["numbers"] for one in numbers]
    asked = {one[part] for one in numbers for part in ("array", "over", "best") if part in one}
    texts = [case["text"] for part in (*readout["sentences"], *readout["tip"]) for case in part["cases"]]
    texts += [text for column in readout["columns"] for text in column] + [readout["command"][1]]
    asked |= {found.partition(":")[0] for text in texts for found in re.findall(r"\{([^}]*)\}", text)}
    assert asked - set(dict(payload["coordinates"])) <= sent or not sent
    assert {"weight", "best", "spread"} <= sent or not sent


def test_scales_hold_every_weight_and_every_difference(traces):
    payload = drawn(traces)
    arrays = [group_arrays(payload, number) for number in range(3)]
    weights = np.concatenate([block[name] for block in arrays for name in ("weight", "plain")])
    assert payload["scales"]["weight"]["high"] >= weights.max() * 0.9999
    most = max(np.abs(block["changed"]).max() for block in arrays)
    assert payload["scales"]["change"]["limit"] == pytest.approx(most)


def test_it_opens_on_content_words_where_context_changed_most(traces):
    block_list = blocks(traces["quora-coin"], "a_over_b")
    best, where = -1.0, None
    for number, block in enumerate(block_list):
        gap = np.abs(block.weight.values - block.plain.values)
        names = [block.weight[f"{axis}_token"].values for axis in ("query", "key")]
        for q in range(6):
            for k in range(5):
                if gap[q, k] > best and not {names[0][q], names[1][k]} & {"Can", "a", "?"}:
                    best, where = gap[q, k], (q, k, number)
    q, k, number = where
    gate, (own, other) = block_list[number].gate.values[q], block_list[number].own
    expected = (*where, int(gate.argmin()), int(own.values[q].argmax()), int(other.values[k].argmax()))
    assert first_cell(block_list, dict(traces["quora-coin"].texts), WIDTH) == expected == tuple(drawn(traces)["cell"])


def changed_to(trace: AttentionTrace, cell: tuple[int, int] | None) -> AttentionTrace:
    """The trace with no change by context, but for one cell of block 2, A over B."""
    sites = Sites(trace.sites)
    for number in range(3):
        site = f"layer.{number}/a_over_b"
        plain = sites[f"{site}/weight"].copy()
        if number == 1 and cell is not None:
            plain.values[cell] += 0.25
        sites[f"{site}/without_context/weight"] = plain
    return replace(trace, sites=sites)


def test_in_words_no_change_is_none_and_words_that_stand_twice_are_told_apart(traces):
    describe_change = lambda cell: drawn({"quora-coin": changed_to(traces["repeated"], cell)})["alt"]  # noqa: E731
    assert "Context changes nothing. Probability" in describe_change(None) and "+0" not in describe_change(None)
    assert "Context changes most what “eat²” gives to “eat” in block 2: \u22120.25." in describe_change((4, 2))
    assert "what “eat” gives to “eat²” in block 2" in describe_change((1, 4))


def test_how_evenly_a_block_spreads_its_weights(traces):
    trace, payload = traces["quora-coin"], drawn(traces, direction="b_over_a")
    for number in range(3):
        weights = trace.site(f"layer.{number}/b_over_a/weight").values.astype(float)
        assert group_arrays(payload, number)["spread"] == pytest.approx(oracle.spread(weights), abs=1e-6)
    weight = trace.site("layer.0/a_over_b/weight")
    assert spread(weight.copy(data=np.full(weight.shape, 1 / 5))) == pytest.approx(1, abs=1e-12)
    assert spread(weight.copy(data=np.eye(6, 5) + (np.arange(5) == 0) * (np.arange(6) == 5)[:, None])) == 0
    assert spread(weight.isel(key=[0])) is None


def test_joined_tokens_make_no_preference_and_no_score(traces):
    trace = traces["quora-coin"]
    even = {name: site.copy(data=np.full(site.shape, 1 / site.shape[1])) if name.quantity == "weight" else site
            for name, site in trace.sites.items()}  # fmt: skip
    flat = replace(trace, sites=even)
    read = TokenGrouping.of(query="phrases", key="phrases", phrases=("Can cats", "dog eat")).trace(flat)
    payload = coin.figure(read, read, "a_over_b", ANSWERS, "paraphrase", ungrouped=flat).payload
    counts = payload["axes"]["key"]["cells"]
    assert max(counts) > 1
    assert "Block 3 spreads its weight almost evenly (1.00 of the largest entropy)" in payload["notes"]
    for block in (group_arrays(payload, number) for number in range(3)):
        assert block["spread"] == pytest.approx(1) and "score" not in block
        np.testing.assert_allclose(block["even"], np.array(counts) / sum(counts), rtol=1e-6)
    assert "a score has no sum" in payload["notes"]
    rows = table(read, "a_over_b")
    assert rows["score"].isna().all() and rows["score without context"].isna().all() and rows["weight"].notna().all()


def test_a_block_that_hardly_aligns_is_named(traces):
    even = Sites(traces["quora-coin"].sites)
    for number, share in ((0, 0.3), (1, 0.2), (2, 0.96)):
        site = even[f"layer.{number}/a_over_b/weight"]
        row = np.array([share, *[(1 - share) / 4] * 4])
        even[f"layer.{number}/a_over_b/weight"] = site.copy(data=np.tile(row, (6, 1)))
    trace = replace(traces["quora-coin"], sites=even)
    payload = drawn({"quora-coin": trace})
    sentence = (
        "Block 1 spreads its weight almost evenly (0.98 of the largest entropy). Block 2 spreads its weight almost "
    )
    sentence += "evenly (1.00 of the largest entropy). Before training, each block"
    assert sentence in payload["notes"] and "Block 3" not in payload["notes"]
    assert "almost evenly" not in payload["alt"], "the page shows both, one below the other"
    assert "What was measured" not in payload["notes"], "no page has that name"
    sharp = {f"layer.{number}/a_over_b/weight": site.copy(data=np.eye(6, 5) * 0.9 + 0.02) for number in range(3)}
    fine = drawn({"quora-coin": replace(trace, sites=Sites({**even, **sharp}))})
    assert "evenly" not in fine["notes"] + fine["alt"]


def test_what_is_said_with_something_off_claims_no_need(traces):
    payload = drawn(traces)
    (said,) = payload["charts"][1]["lines"]
    assert "the weights were not trained without" in said and "even" not in payload
    page = coin.figure(traces["quora-coin"], traces["quora-coin"], "a_over_b", ANSWERS, "paraphrase").html()
    assert "With one part ablated" in page and "What the prediction needs" not in page


def test_what_is_ablated_is_not_there(traces):
    payload = drawn(traces, off="layer.1")
    assert [bool(group_arrays(payload, i)) for i in range(3)] == [True, False, True]
    assert payload["caption"].endswith("block 2 ablated") and "--ablate layer.1" in payload["readout"]["command"][0]
    assert payload["charts"][0]["names"] == ["block 1", "block 2 ablated", "block 3"]
    payload = drawn(traces, off="context")
    lacks = {"plain", "changed", "own_query", "own_key"}
    assert all(not lacks & set(group_arrays(payload, i)) and "gate" in group_arrays(payload, i) for i in range(3))
    assert group_arrays(payload, 0)["most_query"].tolist() == group_arrays(drawn(traces), 0)["most_query"].tolist()
    payload = drawn(traces, "single-coin", off="layer.0")  # nothing is left to be drawn
    assert not group_arrays(payload, 0) and payload["cell"] == drawn(traces, "single-coin")["cell"]
    assert [len(payload["axes"][axis]["label"]) for axis in ("query", "key")] == [6, 5]
    assert [ablation_label(name) for name in ("", "layer.0", "context")] == ["nothing", "block 1", "context"]


def test_a_change_that_rounds_to_zero_has_no_sign_and_a_flip_is_said(traces):
    shares = [0.7, 0.7004, 0.6996, 0.4, 0.72]
    answers = [Answer("layer.0" * bool(i), f"part {i}", share, i == 3) for i, share in enumerate(shares)]
    trace = traces["quora-coin"]
    (_, tally) = coin.figure(trace, trace, "a_over_b", answers, "paraphrase").payload["charts"]
    assert tally["said"] == ["", "0.000", "0.000", "flips", "+0.020"] and tally["bold"] == [3]
    assert tally["shares"] == shares and tally["chosen"] == 0


def test_a_model_without_context_and_gate_has_its_alignments(traces):
    payload, trace = drawn(traces, "without-all-coin"), traces["without-all-coin"]
    blocks_sent = [group_arrays(payload, number) for number in range(dict(payload["coordinates"])["block"])]
    for number, block in enumerate(blocks_sent):
        weight = trace.site(f"layer.{number}/a_over_b/weight").values
        np.testing.assert_array_equal(block["weight"], weight)
        assert not {"plain", "gate", "own_query"} & set(block)
    query, key, number, *rest = payload["cell"]
    content = [block["weight"][1:5, 2:4] for block in blocks_sent]
    assert blocks_sent[number]["weight"][query, key] == max(weights.max() for weights in content)
    assert rest == [0, 0, 0] and dict(payload["coordinates"])["feature"] == 1
    rows = table(trace, "a_over_b")
    assert rows["changed"].isna().all() and rows["gate"].isna().all() and rows["weight"].notna().all()


def test_every_pair_of_every_block_is_a_row(traces):
    rows, trace = table(traces["quora-coin layer.1"], "b_over_a"), traces["quora-coin layer.1"]
    assert len(rows) == 2 * 5 * 6 and sorted(set(rows["block"])) == [1, 3]
    row = rows[(rows["block"] == 3) & (rows["query_at"] == 2) & (rows["key_at"] == 4)].iloc[0]
    assert (row["query"], row["key"]) == ("dog", "fish")
    weight = trace.site("layer.2/b_over_a/weight").values[2, 4]
    without = trace.site("layer.2/b_over_a/without_context/weight").values[2, 4]
    assert row["weight"] == weight and row["weight without context"] == without
    assert row["changed"] == pytest.approx(weight - without, abs=NOISE)
    assert row["gate"] == pytest.approx(trace.site("layer.2/b_over_a/gate").values[2].mean())
    assert table(traces["single-coin layer.0"], "a_over_b").empty


def test_other_traces_are_refused():
    with pytest.raises(TraceError, match="not one of COIN but of tri"):
        blocks(AttentionTrace({}, {}, {"mechanism": "tri"}), "a_over_b")


def test_the_command_holds_any_text_and_the_page_reads_none_of_it_as_html(traces):
    trace = traces["quora-coin"]
    odd = AttentionTrace(trace.sites, {"a": "It's </script><b> $HOME", "b": 'a "quote" \\'}, trace.meta)
    canvas = coin.figure(odd, odd, "a_over_b", ANSWERS, "paraphrase")
    _, row = shlex.split(canvas.payload["readout"]["command"][0].split(" > pair.json")[0])[1:]
    assert json.loads(row) == {"text_a": odd.texts["a"], "text_b": odd.texts["b"]}
    page = canvas.html()
    inside = re.search(r'<script id="payload" type="application/json">(.*?)</script>', page, re.S).group(1)
    assert "<" not in inside and json.loads(inside)["texts"]["a"] == odd.texts["a"]
    assert not re.search(r"""(src|href)=["']?https?:|@import|url\(""", page) and "innerHTML" not in page
