"""The Tri-Attention network against the oracle, and the two encodings it is given against a fresh run of BERT."""

from __future__ import annotations

from dataclasses import replace

import pytest
import torch
import transformers
from torch import Tensor, nn

from tests.oracles import tan as oracle
from tests.support.tiny import make_encoder
from triattn_core.attention.states import States
from triattn_core.configs.tan import TanConfig
from triattn_core.errors import ConfigError
from triattn_core.inference.batch import collate
from triattn_core.models.encoder import Encoded
from triattn_core.models.encoders import load_encoder
from triattn_core.models.tan import Tan
from triattn_core.tasks.pairs import Example, roles
from triattn_core.text.roles import Limits

HIDDEN, HEADS, N, I, J, ROWS = 14, 2, 3, 5, 11, 4

# --- interaction, aggregation, prediction ---


def encoded(seed: int = 0, rows: int = ROWS, dtype: torch.dtype = torch.float64) -> Encoded:
    """A batch whose first rows are: whole; padded; without a context; without a real query token."""
    draw = torch.Generator().manual_seed(seed)
    vectors = [torch.randn(rows, size, HIDDEN, generator=draw, dtype=dtype) for size in (N, I, J)]
    keep = [torch.ones(rows, size, dtype=torch.bool) for size in (N, I, J)]
    keep[0][1, 2:] = keep[1][1, 3:] = keep[2][1, 7:] = keep[2][2] = keep[0][3] = False
    owns = [torch.randn(rows, size, HIDDEN, generator=draw, dtype=dtype) for size in (N, I)]
    states = [States(*one) for one in zip(vectors, keep, [*owns, None])]
    return Encoded(*states, pooled=torch.randn(rows, HIDDEN, generator=draw, dtype=dtype))


def network(seed: int = 1, **config) -> Tan:
    """A network in eval mode, in float64, no weight of which is 0 or 1 by convention."""
    torch.manual_seed(seed)
    tan = Tan(TanConfig(heads=HEADS, **config), HIDDEN).double().eval()
    for weight in tan.parameters():
        nn.init.normal_(weight, std=0.7)
    return tan


def expected(tan: Tan, given: Encoded, row: int, mechanism: str) -> Tensor:
    weights = {name: tensor.numpy() for name, tensor in tan.state_dict().items()}
    sequences = [
        oracle.Sequence(
            *(None if array is None else array[row].numpy() for array in (states.vectors, states.keep, states.own))
        )
        for states in (given.query, given.key, given.context)
    ]
    pooled = given.pooled[row].numpy()
    return torch.tensor(oracle.forward(*sequences, pooled, weights, mechanism, len(tan.layers), HEADS))


@pytest.mark.parametrize("layers", [1, 3])
@pytest.mark.parametrize("residual", [True, False])
@pytest.mark.parametrize("mechanism", ["bi", "cbi", "tri"])
def test_logits(mechanism, residual, layers):
    tan, given = network(mechanism=mechanism, residual=residual, layers=layers), encoded()
    with torch.no_grad():
        logits = tan(given)
    for row in range(ROWS):
        torch.testing.assert_close(logits[row], expected(tan, given, row, mechanism), rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("mechanism", ["bi", "cbi", "tri"])
def test_padding_does_not_matter(mechanism):
    tan, given = network(mechanism=mechanism), encoded()
    changed = replace(
        given,
        **{
            name: replace(states, vectors=torch.where(states.keep[..., None], states.vectors, 99.0))
            for name, states in (("query", given.query), ("key", given.key), ("context", given.context))
        },
    )
    torch.testing.assert_close(tan(given), tan(changed))


def test_the_two_sentences_share_their_weights():
    """Swapped sentences are read alike: only the halves of the aggregation change places."""
    tan, given = network(mechanism="tri"), encoded()
    swapped = replace(given, query=given.key, key=given.query)
    a, b = aggregated(tan, given), aggregated(tan, swapped)
    torch.testing.assert_close(torch.cat([b[:, HIDDEN : 2 * HIDDEN], b[:, :HIDDEN], b[:, 2 * HIDDEN :]], 1), a)


def aggregated(tan: Tan, given: Encoded) -> Tensor:
    """What the prediction is given: [B, 4 h]."""
    seen = []
    handle = tan.predict.register_forward_pre_hook(lambda module, inputs: seen.append(inputs[0].detach()))
    tan(given)
    handle.remove()
    return seen[0]


def test_pooled_dropout_takes_whole_vectors_and_in_training_only():
    given = encoded(rows=600)
    tan = network(mechanism="bi", dropout=0.0, pooled_dropout=0.4)
    whole = aggregated(tan, given)
    assert torch.equal(whole[:, -HIDDEN:], given.pooled)
    dropped = aggregated(tan.train(), given)
    assert torch.equal(dropped[:, :-HIDDEN], whole[:, :-HIDDEN])
    removed_rows = (dropped[:, -HIDDEN:] == 0).all(1)
    assert torch.equal(dropped[~removed_rows, -HIDDEN:], given.pooled[~removed_rows])  # as it is, and not scaled up
    assert 0.33 < removed_rows.double().mean() < 0.47
    assert torch.equal(aggregated(network(mechanism="bi", dropout=0.0).train(), given)[:, -HIDDEN:], given.pooled)


def test_heads_must_share_the_features():
    with pytest.raises(ConfigError, match="14 features are not divisible by 4 heads"):
        Tan(TanConfig(mechanism="bi", heads=4), HIDDEN)


# --- the encodings ---

PAIRS = [
    Example("who play the red car ?", "what movie"),
    Example("browsers", "where watch blue movie is not the film ?"),
    Example("the big film", "the big film"),
]


@pytest.fixture(scope="module")
def encodings(tmp_path_factory):
    """A fresh BERT with the weights on disk; our encodings of PAIRS, padded; and the roles they come from."""
    folder = tmp_path_factory.mktemp("encoder") / "tiny"
    make_encoder(folder)
    encoder, tokenizer = load_encoder(str(folder), "cpu")
    cut = [example_roles for (example_roles,) in roles(PAIRS, tokenizer, Limits(16))]
    with torch.no_grad():
        encoding = encoder(collate(cut, tokenizer))
    return transformers.BertModel.from_pretrained(folder).float().eval(), encoding, cut, tokenizer.special


@torch.no_grad()
def run_bert(bert: transformers.BertModel, ids: list[int], types: list[int]):
    """One sequence, without padding."""
    inputs = {"input_ids": torch.tensor([ids]), "token_type_ids": torch.tensor([types])}
    return bert(**inputs, attention_mask=torch.ones(1, len(ids), dtype=torch.long), output_hidden_states=True)


@pytest.mark.parametrize("row", range(len(PAIRS)))
@pytest.mark.parametrize("role", ["query", "key"])
def test_a_sentence_alone_is_layer_one_without_special_tokens(encodings, role, row):
    bert, encoding, cut, special = encodings
    ids = [special["cls"], *getattr(cut[row], role).ids, special["sep"]]
    layers = run_bert(bert, ids, [0] * len(ids)).hidden_states
    states: States = getattr(encoding, role)
    ours = states.vectors[row, states.keep[row]]
    assert states.keep[row].sum() == len(ids) - 2
    torch.testing.assert_close(ours, layers[1][0, 1:-1])
    assert (ours - layers[2][0, 1:-1]).abs().max() > 0.01  # the last layer would have shown


@pytest.mark.parametrize("row", range(len(PAIRS)))
def test_the_joint_sequence_is_the_last_layer_and_the_pooler(encodings, row):
    bert, encoding, cut, special = encodings
    a, b = cut[row].query.ids, cut[row].key.ids
    ids = [special["cls"], *a, special["sep"], *b, special["sep"]]
    out = run_bert(bert, ids, [0] * (len(a) + 2) + [1] * (len(b) + 1))
    assert encoding.context.keep[row].sum() == len(ids)
    torch.testing.assert_close(encoding.context.vectors[row, : len(ids)], out.last_hidden_state[0])
    torch.testing.assert_close(encoding.pooled[row], out.pooler_output[0])


def test_own_context_is_the_state_of_the_same_token_in_the_joint_sequence(encodings):
    """`[CLS] A [SEP] B [SEP]`: A begins at 1, B two places after A's end."""
    _, encoding, cut, _ = encodings
    for row, example_roles in enumerate(cut):
        for states, first in ((encoding.query, 1), (encoding.key, len(example_roles.query) + 2)):
            size = int(states.keep[row].sum())
            expected = encoding.context.vectors[row, first : first + size]
            torch.testing.assert_close(states.own[row, :size], expected, rtol=0, atol=0)
