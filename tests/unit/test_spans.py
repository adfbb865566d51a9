"""Answer spans of a reader, and the moving average of its weights."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from tests.oracles import questions as oracle
from tests.unit.test_reader import build, texts
from triattn_core.inference.span_decoding import best_spans, locate_spans
from triattn_core.text.roles import Role
from triattn_core.text.texts import Texts
from triattn_core.text.windows import windows
from triattn_core.training.ema import AveragedModel


@pytest.mark.parametrize("longest", [1, 3, 13])
def test_best_spans_of_one_window(longest):
    rng = np.random.default_rng(1)
    scores = rng.normal(size=(11, 2))
    expected = oracle.best_spans(scores[:, 0], scores[:, 1], longest)
    spans = best_spans([torch.tensor(scores)], longest, 17)
    assert [span[2:] for span in spans] == [one[1:] for one in expected[:17]] and {span[1] for span in spans} == {0}
    np.testing.assert_allclose([span[0] for span in spans], [one[0] for one in expected[:17]])


def test_windows_share_their_probability():
    rng = np.random.default_rng(2)
    parts = [rng.normal(size=(size, 2)) for size in (5, 3, 2)]
    both = np.concatenate(parts)
    spans = {span[1:]: span[0] for span in oracle.best_spans(both[:, 0], both[:, 1], 4)}
    starts = np.cumsum([0, 5, 3])
    ends = np.cumsum([5, 3, 2])
    inside = {
        (window, i - a, j - a): p
        for (i, j), p in spans.items()
        for window, (a, b) in enumerate(zip(starts, ends))
        if a <= i and j < b
    }
    ranked_spans = best_spans([torch.tensor(part) for part in parts], 4, 100)
    assert {span[1:] for span in ranked_spans} == set(inside)
    for probability, *place in ranked_spans:
        assert probability == pytest.approx(inside[tuple(place)])
    assert [span[0] for span in ranked_spans] == sorted((span[0] for span in ranked_spans), reverse=True)


def test_a_certain_answer_leaves_the_others_finite():
    ((probability, *place), *rest) = best_spans([torch.tensor([[1e4, 0.0], [0.0, 1e4]])], 5, 3)
    assert place == [0, 0, 1] and probability == 1.0 and not rest
    assert best_spans([torch.zeros(1, 2)], 5, 3) == [(1.0, 0, 0, 0)]


@pytest.mark.parametrize("words", [1, 3, 7])
def test_scores_that_are_no_numbers_still_name_words_of_the_window(words):
    """As a training gives them that runs away: it ends with its numbers, not with a traceback."""
    (span, *_) = best_spans([torch.full((words, 2), torch.nan)], 5, 3)
    assert np.isnan(span[0]) and 0 <= span[2] <= span[3] < words


@pytest.mark.parametrize("better", [0, 1])
def test_a_span_that_two_windows_have_has_the_probability_of_the_better(better):
    """Fourteen words in windows of eight, which overlap by two: word 6 is the seventh and the first of them."""
    n = 14
    spans = tuple((4 * i, 4 * i + 3) for i in range(n))
    same = (("who",) * n, ("passage",) * n, spans, (False,) * n, tuple(range(n)), (0,) * n, ("",) * n)
    parts = windows(Role(tuple(range(n)), *same), 8)
    assert [part.spans[0] for part in parts] == [spans[0], spans[6]]
    scores = [torch.zeros(8, 2), torch.zeros(8, 2)]
    for window, place in enumerate((6, 0)):
        scores[window][place] = 5.0 if window == better else 4.0
    answers = locate_spans([Texts({"passage": part}) for part in parts], scores, longest=1)
    total = torch.cat(scores).exp().sum(0)
    assert answers[0][:2] == spans[6] and answers[0].window == better
    assert answers[0].probability == pytest.approx((torch.tensor(10.0).exp() / total.prod()).item())
    assert len({answer[:2] for answer in answers}) == len(answers)


def test_the_average_is_that_of_its_steps():
    module = AveragedModel(build())
    expected = {name: one.detach().double().numpy().copy() for name, one in module.model.named_parameters()}
    torch.manual_seed(3)
    for step in range(5):
        with torch.no_grad():
            for parameter in module.model.parameters():
                parameter.add_(torch.randn_like(parameter))
        module.update(step, 0.3)
        decay = min(0.3, (1 + step) / (10 + step))
        for name, parameter in module.model.named_parameters():
            expected[name] = decay * expected[name] + (1 - decay) * parameter.detach().double().numpy()
    for name, parameter in module.average.named_parameters():
        np.testing.assert_allclose(parameter.numpy(), expected[name], atol=1e-6)
        assert not parameter.requires_grad
    given = texts()
    assert torch.equal(module.eval()(given), module.average(given))
    assert torch.equal(module.train()(given), module.model(given)) and not torch.equal(
        module(given), module.average(given)
    )
