"""Words that both texts have: told to an encoder as segments, and evened out among the pairs that are trained on."""

from __future__ import annotations

import numpy as np
import pytest

from tests.support.tiny import make_encoder
from triattn_core.tasks import pairs
from triattn_core.text.roles import Limits
from triattn_core.text.tokenizer import Tokenizer
from triattn_core.training.encoder import pair_batches as encoder_rows
from triattn_core.training.overlap_balance import balance_labels, token_overlap


@pytest.mark.parametrize(
    ("a", "b", "share"), [("abc", "bcd", 0.5), ("aab", "b", 0.5), ("ab", "ba", 1), ("a", "b", 0), ("", "", 0)]
)
def test_the_share_of_common_tokens(a, b, share):
    a, b = tuple(map(ord, a)), tuple(map(ord, b))
    assert token_overlap(a, b) == token_overlap(b, a) == share


def leaning(count: int = 3000, seed: int = 1) -> tuple[list[float], list[int]]:
    """Overlaps that give the label away: the more, the likelier a paraphrase; some of them 0 and 1."""
    rng = np.random.default_rng(seed)
    overlaps = rng.integers(0, 31, count) / 30
    return overlaps.tolist(), (rng.random(count) < 0.05 + 0.9 * overlaps).astype(int).tolist()


@pytest.mark.parametrize("most", [1.0, 1.5, 4.0])
def test_in_each_tenth_of_overlap_no_label_outweighs_the_other(most):
    overlaps, labels = leaning()
    kept = balance_labels(overlaps, labels, most, seed=1)
    assert kept.tolist() == sorted(set(kept.tolist()))
    tenth = [min(int(overlap * 10), 9) for overlap in overlaps]
    for number in range(10):
        before = [[i for i in range(3000) if tenth[i] == number and labels[i] == label] for label in (0, 1)]
        after = [len(np.intersect1d(side, kept)) for side in before]
        few, many = sorted(map(len, before))
        assert sorted(after) == [few, min(many, round(most * few))]  # of the label with fewer rows none is lost


def test_the_overlap_no_longer_gives_the_label_away():
    overlaps, labels = leaning()
    kept = balance_labels(overlaps, labels, 1.0, seed=1)
    assert np.corrcoef(overlaps, labels)[0, 1] > 0.5
    assert abs(np.corrcoef(np.array(overlaps)[kept], np.array(labels)[kept])[0, 1]) < 0.05
    assert len(kept) > 1000


def test_which_rows_are_left_out_follows_from_the_seed():
    overlaps, labels = leaning()
    first = balance_labels(overlaps, labels, 1.5, seed=1)
    np.random.seed(3)
    np.testing.assert_array_equal(balance_labels(overlaps, labels, 1.5, seed=1), first)
    other = balance_labels(overlaps, labels, 1.5, seed=2)
    assert len(other) == len(first) and (other != first).any()


def test_a_tenth_with_one_label_alone_is_left_out():
    assert balance_labels([0.95, 1.0, 0.05, 0.0, 0.09], [1, 1, 0, 1, 1], 1.0, seed=1).tolist() in ([2, 3], [2, 4])


@pytest.fixture(scope="module", params=[False, True], ids=["plain", "match"])
def tokenizer(request, tmp_path_factory) -> Tokenizer:
    folder = tmp_path_factory.mktemp("encoders") / "tiny"
    make_encoder(folder)
    return Tokenizer(folder / "tokenizer.json", match=request.param)


EXAMPLES = [
    pairs.Example("the red red car ☃", "the blue car ☃ ?", 1),  # what is unknown in both matches nothing
    pairs.Example("who", "what movie is not small", 0),
    pairs.Example("play the movie", "movie the play", 1),
]


def test_training_and_reading_give_the_same_segments(tokenizer):
    a, b = (tokenizer.encode([getattr(example, text) for example in EXAMPLES], 16) for text in ("text_a", "text_b"))
    rows = [encoder_rows.Pair(left.ids, right.ids, example.label) for left, right, example in zip(a, b, EXAMPLES)]
    ids, types, keep = encoder_rows.collate(rows, tokenizer)
    for number, (roles,) in enumerate(pairs.roles(EXAMPLES, tokenizer, Limits(16))):
        real = keep[number]
        assert ids[number][real].tolist() == list(roles.context.ids)
        assert types[number][real].tolist() == list(roles.context.types)
        assert not types[number][~real].any()
    expected = [0, 2, 0, 0, 2, 0, 0, 3, 1, 3, 1, 1, 1] if tokenizer.match else [0] * 7 + [1] * 6
    assert types[0].tolist() == expected


@pytest.mark.parametrize("match", [None, False, True])
def test_a_stage_may_go_without(tokenizer, match):
    """As one that trains before matches are told; an encoder of two segments is never given more."""
    _, types, _ = encoder_rows.collate([encoder_rows.Pair((7, 8, 9), (9, 10), 1)], tokenizer, match)
    has_match = tokenizer.match and match is not False
    assert types.tolist() == ([[0, 0, 0, 2, 0, 3, 1, 1]] if has_match else [[0, 0, 0, 0, 0, 1, 1, 1]])
