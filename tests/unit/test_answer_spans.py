"""Extractive question answering of Hugging Face: the span, its weights replaced, its attributions, by hand."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from tests.support.tiny_transformers import make_type
from triattn_core.analysis.catalogue import JOINT_METHODS
from triattn_core.checkpoint.registry import add_roots, find_encoder
from triattn_core.errors import DataError, InputError
from triattn_core.importers.text_rows import TextRow, text_row
from triattn_core.sources import find_entries, open_source
from triattn_core.sources.models import Models
from triattn_core.sources.row_answers import ask_row
from triattn_core.sources.source import Ability
from triattn_core.sources.transformer_worth import measure_score, measure_worth
from triattn_core.sources.two_models import judge_row
from triattn_core.sources.weight_change import WeightChange
from triattn_core.tasks.answer_match import exact, f1
from triattn_core.tasks.pairs import Example
from triattn_core.tasks.sentences import Example as Sentence

QUESTION, PASSAGE = "Which browsers can play movies?", "unhappy cats sat on mats which can download a movie"
KINDS = {"bert": "BertForQuestionAnswering", "bart": "BartForQuestionAnswering"}


@pytest.fixture(scope="module", params=KINDS)
def asked(request, tmp_path_factory):
    """The entry, its model, what its tokenizer makes, and where the passage starts and ends."""
    root = tmp_path_factory.mktemp("readers")
    make_type(request.param, root / f"spans-{request.param}", KINDS[request.param])
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("TRIATTN_CHECKPOINTS", str(find_encoder("minilm-en").parents[1]))
        add_roots([root])
        entry = find_entries([f"spans-{request.param}"])[0]
        loaded = Models("cpu").load(entry)
        draw = torch.Generator().manual_seed(2)
        for name, weight in loaded.model.named_parameters():  # maps that are not even, a head whose loss is no rounding
            if weight.ndim > 1:
                torch.nn.init.normal_(weight, std=0.35, generator=draw)
            elif name.endswith("weight"):
                torch.nn.init.ones_(weight)
        inputs = loaded.tokenizer(QUESTION, PASSAGE, return_tensors="pt")
        wanted = {name: inputs[name] for name in ("input_ids", "attention_mask")}
        places = [i for i, owner in enumerate(inputs.sequence_ids(0)) if owner == 1]
        yield entry, loaded, wanted, places


def spans_by_hand(model, inputs, places):
    """The log-probability of each span (first, last) of these positions, in float64."""
    with torch.no_grad():
        outputs = model(**inputs)
    starts, ends = outputs.start_logits[0].double(), outputs.end_logits[0].double()
    scores = {(i, j): starts[i] + ends[j] for i in places for j in places if i <= j < i + 30}
    whole = torch.stack(list(scores.values())).logsumexp(0)
    return {span: float(score - whole) for span, score in scores.items()}


def test_the_answer_is_the_best_span_of_the_passage(asked):
    entry, loaded, inputs, places = asked
    assert {Ability.REPLACE, Ability.GRADIENTS} <= open_source(entry).abilities
    by_hand = spans_by_hand(loaded.model, inputs, places)
    (start, end), best = max(by_hand.items(), key=lambda pair: pair[1])
    prediction, _ = open_source(entry, "cpu").explain(Example(QUESTION, PASSAGE), model=loaded)
    assert prediction.labels[0] == loaded.tokenizer.decode(inputs["input_ids"][0, start : end + 1])
    np.testing.assert_allclose(prediction.probabilities[0], np.exp(best), rtol=1e-4)


def test_its_odds_under_other_weights_are_those_of_hooks_by_hand(asked):
    entry, loaded, inputs, places = asked
    change = WeightChange("off", (("layer.1/attention/weight", 2),))
    if "bart" in entry.name:
        change = WeightChange("off", (("layer.1/encoder/weight", 2),))
    result = open_source(entry, "cpu").replace(Example(QUESTION, PASSAGE), [change], model=loaded)
    before = spans_by_hand(loaded.model, inputs, places)
    best = max(before, key=lambda span: before[span])
    base = loaded.model.model.encoder.layers[1] if "bart" in entry.name else loaded.model.bert.encoder.layer[1]
    module = base.self_attn.out_proj if "bart" in entry.name else base.attention.output.dense
    heads = loaded.model.config.num_attention_heads
    size = module.in_features // heads

    def off(module, args):
        values = args[0].clone()
        values[..., 2 * size : 3 * size] = 0
        return (values, *args[1:])

    hook = module.register_forward_pre_hook(off)
    after = spans_by_hand(loaded.model, inputs, places)
    hook.remove()
    odds = [p[best] - np.log1p(-np.exp(p[best])) for p in (before, after)]
    np.testing.assert_allclose(result.log_odds, odds, atol=2e-4)
    assert abs(odds[0] - odds[1]) > 1e-4 and result.written == ()


def test_gradients_are_those_by_hand_and_the_answer_stays_where_words_are_deleted(asked):
    entry, loaded, inputs, places = asked
    source, example = open_source(entry, "cpu"), Example(QUESTION, PASSAGE)
    if "bart" in entry.name:  # its decoder reads the same ids, which vectors in place of them would leave out
        with pytest.raises(InputError, match="takes no vectors in place of its words"):
            source.attribute(example, model=loaded)
        return
    found, odds = source.attribute(example, model=loaded)
    assert len(found.table) == inputs["input_ids"].shape[1]
    best = max(by_hand := spans_by_hand(loaded.model, inputs, places), key=lambda span: by_hand[span])
    np.testing.assert_allclose(odds, by_hand[best] - np.log1p(-np.exp(by_hand[best])), atol=2e-4)
    assert found.table[list(JOINT_METHODS)].notna().all().all()
    vectors = loaded.model.get_input_embeddings()(inputs["input_ids"]).detach().requires_grad_()
    rest = {name: value for name, value in inputs.items() if name != "input_ids"}
    outputs = loaded.model(inputs_embeds=vectors, **rest)
    scores = {
        (i, j): outputs.start_logits[0, i].double() + outputs.end_logits[0, j].double()
        for i in places for j in places if i <= j < i + 30
    }  # fmt: skip
    rest_of = torch.stack([score for span, score in scores.items() if span != best]).logsumexp(0)
    (slope,) = torch.autograd.grad(scores[best] - rest_of, [vectors])
    by_gradient = (slope[0] * vectors[0]).sum(-1).detach()
    np.testing.assert_allclose(found.table["gradient × input"], by_gradient, atol=1e-3, rtol=1e-3)
    curves = source.deletion_curves(example, found, 2, 0, model=loaded)
    words = [i for i, special in enumerate(found.table["special"]) if not special and not best[0] <= i <= best[1]]
    assert curves["tokens"].max() <= len(words) and np.isfinite(curves["comprehensiveness"]).all()
    row = curves[(curves["method"] == "attention") & (curves["share"] == 0.5)].iloc[0]
    top = sorted(words, key=lambda i: -found.table["attention"][i])[: row["tokens"]]
    kept = [i for i in range(len(found.table)) if i not in top]
    left = {name: value[:, kept] for name, value in inputs.items()}
    shorter = spans_by_hand(loaded.model, left, [kept.index(i) for i in places if i in kept])
    share = np.exp(shorter[kept.index(best[0]), kept.index(best[1])])
    np.testing.assert_allclose(row["comprehensiveness"], np.exp(by_hand[best]) - share, atol=1e-4)


def test_a_question_alone_is_refused_in_a_line(asked):
    entry, loaded, *_ = asked
    with pytest.raises(InputError, match="a question and a passage are needed"):
        Models("cpu").replace(entry, Sentence(QUESTION), [WeightChange("even")])
    prediction = Models("cpu").explain(entry, Sentence(QUESTION)).prediction
    assert prediction.labels == ("",) and any("question and a passage" in note for note in prediction.notes)


def test_rows_are_right_where_the_best_span_is_one_of_the_answers(asked):
    """The share of spans that are an answer, by loops; SQuAD's normalisation; what is said word for word."""
    entry, loaded, inputs, places = asked
    assert Ability.SCORED in open_source(entry).abilities
    by_hand = spans_by_hand(loaded.model, inputs, places)
    cuts = loaded.tokenizer(QUESTION, PASSAGE, return_offsets_mapping=True)["offset_mapping"]
    texts = {(first, last): PASSAGE[cuts[first][0] : cuts[last][1]] for first, last in by_hand}
    best = texts[max(by_hand, key=by_hand.__getitem__)]
    rows = [(QUESTION, PASSAGE, ("cats sat", f"The {best.upper()}!")), (QUESTION, PASSAGE, ("mats", "cats"))]
    for question, passage, answers in rows:
        row = text_row({"question": question, "context": passage, "answers": {"text": list(answers)}}, "")
        assert row == TextRow((question, passage), answers=answers)
        meant = [p for span, p in by_hand.items() if any(exact(texts[span], answer) for answer in answers)]
        share = float(np.exp(meant).sum())
        read = ask_row(loaded, row)
        right, odds = read.score(read.asked.run())[0].tolist()
        assert right == (answers == rows[0][2])
        np.testing.assert_allclose(odds, np.log(share) - np.log1p(-share), atol=1e-4)
        (said,) = judge_row(loaded, row)
        assert (said.said, said.is_right) == (best, bool(right))
        np.testing.assert_allclose(said.probability, share, rtol=1e-4)
    report = measure_worth(
        loaded, [(n, TextRow(row[:2], answers=row[2])) for n, row in enumerate([*rows, (QUESTION, PASSAGE, ("owl",))])]
    )
    assert (report["n"], report["score"], report["metric"]) == (2, 50, "exact answers")
    read = [(n, TextRow(row[:2], answers=row[2])) for n, row in enumerate(rows)]
    overlap = [max(f1(best, answer) for answer in row[2]) for row in rows]
    assert measure_score(loaded, read)["f1"] == pytest.approx(100 * np.mean(overlap), abs=0.01) and overlap[0] == 1
    assert "'owl' is no span of the passage of at most 30" in report["aside"][0] and len(report["heads"]) > 3
    with pytest.raises(DataError, match="no answer"):
        ask_row(loaded, TextRow((QUESTION, PASSAGE)))
