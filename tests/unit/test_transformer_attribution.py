"""Attribution of Hugging Face models against hooks, gradients and loops written by hand."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from tests.support.tiny_transformers import FAMILIES, make
from triattn_core.analysis.catalogue import JOINT_METHODS
from triattn_core.checkpoint.registry import add_roots, find_encoder
from triattn_core.errors import InputError
from triattn_core.recording.added import record_added
from triattn_core.sources import find_entries, open_source
from triattn_core.sources.models import Models
from triattn_core.sources.source import Ability, CanAttribute
from triattn_core.sources.transformer import load_transformer
from triattn_core.sources.transformer_attribution import rollout
from triattn_core.sources.weight_change import WeightChange
from triattn_core.tasks.pairs import Example
from triattn_core.tasks.sentences import Example as Sentence

A, B = "Which browsers can play movies?", "unhappy cats sat on mats"
HEADS = 4


@pytest.fixture(scope="module")
def folders(tmp_path_factory):
    root = tmp_path_factory.mktemp("attributed")
    made = {family: make(family, root / f"attributed-{family}") for family in FAMILIES}
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("TRIATTN_CHECKPOINTS", str(find_encoder("minilm-en").parents[1]))
        add_roots([root])
        yield made


@pytest.mark.parametrize("implementation", ["sdpa", "eager"])
@pytest.mark.parametrize("family", FAMILIES)
def test_what_is_added_sums_to_what_the_module_returns(folders, family, implementation):
    transformer = load_transformer(str(folders[family]), "cpu")
    if family != "deberta":
        transformer.model.set_attn_implementation(implementation)
    with torch.inference_mode(), record_added(transformer.model) as tape:
        transformer.model(**transformer.tokenizer(A, B, return_tensors="pt"))
    found = tape.by_site()
    assert len(found) == 3
    for added in found.values():
        torch.testing.assert_close(added.sums(), added.output, atol=2e-5, rtol=1e-5)


def bert_by_hand(model, inputs):
    """For each layer the weights [head, n, n] and the vectors [n, n, width] that keys add, from hooks on its parts."""
    kept, hooks = {}, []
    for number, layer in enumerate(model.bert.encoder.layer):
        own = layer.attention.self
        for name in ("query", "key", "value"):
            keep = lambda module, args, output, at=(number, name): kept.__setitem__(at, output[0].double())  # noqa: E731
            hooks.append(getattr(own, name).register_forward_hook(keep))
    with torch.inference_mode():
        model(**inputs)
    for hook in hooks:
        hook.remove()
    layers = []
    for number, layer in enumerate(model.bert.encoder.layer):
        n, width = kept[number, "query"].shape
        size = width // HEADS
        matrix = layer.attention.output.dense.weight.detach().double()
        weights, vectors = np.zeros((HEADS, n, n)), np.zeros((n, n, width))
        for head in range(HEADS):
            part = slice(head * size, (head + 1) * size)
            query, key, value = (kept[number, name][:, part] for name in ("query", "key", "value"))
            for i in range(n):
                row = ((key @ query[i]) / size**0.5).softmax(0)
                weights[head, i] = row
                for j in range(n):
                    vectors[i, j] += (row[j] * (matrix[:, part] @ value[j])).numpy()
        layers.append((weights, vectors))
    return layers


def test_attention_norms_and_rollout_are_those_of_hooks_written_by_hand(folders):
    entry, models = find_entries(["attributed-bert"])[0], Models("cpu")
    loaded = models.load(entry)
    layers = bert_by_hand(loaded.model, loaded.tokenizer(A, B, return_tensors="pt"))
    found, _ = open_source(entry, "cpu").attribute(Example(A, B), ["attention", "norms", "rollout"], model=loaded)
    n = len(found.table)
    shares = np.zeros(n)
    for _, vectors in layers:  # the classifier reads [CLS], the first position
        lengths = np.array([np.linalg.norm(vectors[0, j]) for j in range(n)])
        shares += lengths / lengths.sum() / len(layers)
    np.testing.assert_allclose(found.table["norms"], shares, atol=1e-6)
    np.testing.assert_allclose(found.table["attention"], np.mean([w.mean(0)[0] for w, _ in layers], 0), atol=1e-6)
    product = np.eye(n)
    for weights, _ in layers:
        step = 0.5 * weights.mean(0) + 0.5 * np.eye(n)
        product = step / step.sum(1, keepdims=True) @ product
    np.testing.assert_allclose(found.table["rollout"], product[0], atol=1e-6)
    assert np.abs(found.table["norms"] - found.table["attention"]).max() > 0.005


def log_odds_by_hand(model, inputs, vectors, answer=None):
    rest = {name: value for name, value in inputs.items() if name != "input_ids"}
    logits = model(inputs_embeds=vectors[None], **rest).logits[0].double()
    logits = logits if logits.ndim == 1 else logits[-1]
    answer = int(logits.argmax()) if answer is None else answer
    others = torch.cat([logits[:answer], logits[answer + 1 :]])
    return logits[answer] - others.logsumexp(0), answer


@pytest.mark.parametrize(("family", "text"), [("bert", Example(A, B)), ("gpt2", Sentence("Which browsers can play"))])
def test_gradients_and_occlusion_are_those_of_a_loop_by_hand(folders, family, text):
    entry, models = find_entries([f"attributed-{family}"])[0], Models("cpu")
    loaded = models.load(entry)
    texts = [text.text] if family == "gpt2" else [text.text_a, text.text_b]
    inputs = loaded.tokenizer(*texts, return_tensors="pt")
    methods = ["gradient × input", "occlusion", "integrated gradients"]
    found, odds = open_source(entry, "cpu").attribute(text, methods, 64, model=loaded)
    embed = loaded.model.get_input_embeddings()
    vectors = embed(inputs["input_ids"][0]).detach().requires_grad_()
    value, answer = log_odds_by_hand(loaded.model, inputs, vectors)
    np.testing.assert_allclose(odds, value.item(), atol=1e-4)
    slope = torch.autograd.grad(value, vectors)[0]
    np.testing.assert_allclose(
        found.table["gradient × input"], (slope * vectors).sum(-1).detach(), atol=1e-3, rtol=1e-3
    )
    baseline = (
        torch.zeros(vectors.shape[1]) if family == "gpt2" else embed.weight[loaded.tokenizer.pad_token_id].detach()
    )
    special = found.table["special"].to_numpy(bool)
    for place in range(len(vectors)):
        blanked = vectors.detach().clone()
        blanked[place] = blanked[place] if special[place] else baseline
        lost = value.item() - log_odds_by_hand(loaded.model, inputs, blanked, answer)[0].item()
        np.testing.assert_allclose(found.table["occlusion"][place], lost, atol=1e-3)
    nothing = torch.where(torch.tensor(special)[:, None], vectors.detach(), baseline)
    due = value.item() - log_odds_by_hand(loaded.model, inputs, nothing, answer)[0].item()
    np.testing.assert_allclose(found.table["integrated gradients"].sum() - found.gap, due, atol=1e-3)
    assert (found.table.loc[found.table["special"] == 1, "occlusion"] == 0).all()


def test_tokens_that_are_deleted_are_not_there(folders):
    entry, models = find_entries(["attributed-bert"])[0], Models("cpu")
    loaded = models.load(entry)
    source = open_source(entry, "cpu")
    found, _ = source.attribute(Example(A, B), ["occlusion"], model=loaded)
    curves = source.deletion_curves(Example(A, B), found, 3, 0, model=loaded)
    inputs = loaded.tokenizer(A, B, return_tensors="pt")
    words = np.flatnonzero(found.table["special"] == 0)
    ranked = words[np.argsort(-found.table["occlusion"].to_numpy()[words], kind="stable")]
    row = curves[(curves["method"] == "occlusion") & (curves["share"] == 0.2)].iloc[0]
    top = ranked[: row["tokens"]]

    def probability(kept):
        with torch.inference_mode():
            shares = loaded.model(**{name: value[:, kept] for name, value in inputs.items()}).logits[0].softmax(-1)
        return shares

    whole = probability(list(range(len(found.table))))
    answer = int(whole.argmax())
    without = [i for i in range(len(found.table)) if i not in top]
    alone = [i for i in range(len(found.table)) if i in top or i not in words]
    np.testing.assert_allclose(row["comprehensiveness"], whole[answer] - probability(without)[answer], atol=1e-5)
    np.testing.assert_allclose(row["sufficiency"], whole[answer] - probability(alone)[answer], atol=1e-5)
    assert set(curves["draw"]) == {0, 1, 2}


def test_the_tokens_of_a_pair_and_what_is_asked_of_a_source(folders):
    entry = find_entries(["attributed-bert"])[0]
    source = open_source(entry, "cpu")
    assert isinstance(source, CanAttribute) and Ability.GRADIENTS in source.abilities
    assert tuple(source.methods) == tuple(JOINT_METHODS)
    found, _ = source.attribute(Example(A, B), ["attention"])
    table = found.table
    assert table["role"].tolist() == sorted(table["role"], reverse=True) and set(table["role"]) == {"query", "key"}
    joined = found.words().table
    assert "".join(joined.loc[(joined["role"] == "key") & (joined["special"] == 0), "token"]) == B.replace(" ", "")
    np.testing.assert_allclose(joined["attention"].sum(), 1, atol=1e-5)
    with pytest.raises(InputError, match="unknown method 'norm'"):
        source.attribute(Example(A, B), ["norm"])


def test_a_decoders_words_without_any_are_its_first_token(folders):
    entry = find_entries(["attributed-gpt2"])[0]
    source = open_source(entry, "cpu")
    found, _ = source.attribute(Sentence("Which browsers"), ["attention"])
    curves = source.deletion_curves(Sentence("Which browsers"), found, 2, 0)
    assert np.isfinite(curves[["comprehensiveness", "sufficiency"]]).all().all()


def test_rollout_keeps_its_mass_through_a_row_without_weights():
    rows = [np.array([[0.25, 0.75], [0.0, 0.0]]), np.array([[0.5, 0.5], [0.1, 0.9]])]
    mass = rollout(rows, np.array([1.0, 0.0]))
    np.testing.assert_allclose(mass, [0.75 * 0.625, 0.75 * 0.375 + 0.25])
    np.testing.assert_allclose(rollout(rows, np.array([0.0, 1.0])).sum(), 1)


def test_a_masked_word_is_answered_changed_and_attributed(folders, tmp_path):
    make("bert", tmp_path / "masks" / "masked-bert", masked=True)
    add_roots([tmp_path / "masks"])
    entry, models = find_entries(["masked-bert"])[0], Models("cpu")
    loaded, text = models.load(entry), "Which [MASK] can play movies?"
    inputs = loaded.tokenizer(text, return_tensors="pt")
    place = inputs["input_ids"][0].tolist().index(loaded.tokenizer.mask_token_id)
    with torch.inference_mode():
        shares = loaded.model(**inputs).logits[0, place].double().softmax(-1)
    answer, best = int(shares.argmax()), float(shares.max())
    prediction = models.explain(entry, Sentence(text)).prediction
    np.testing.assert_allclose(prediction.probabilities[0], best, atol=1e-5)
    source = open_source(entry, "cpu")
    assert {Ability.REPLACE, Ability.GRADIENTS} <= source.abilities
    changed = models.replace(entry, Sentence(text), [WeightChange("off"), WeightChange("even")])
    np.testing.assert_allclose(changed.log_odds[0], np.log(best / (1 - best)), atol=1e-4)
    found, odds = source.attribute(Sentence(text), model=loaded)
    np.testing.assert_allclose(odds, np.log(best / (1 - best)), atol=1e-4)
    assert found.table.loc[place, "special"] == 1 and found.table.notna().all().all()
    curves = source.deletion_curves(Sentence(text), found, 2, 0, model=loaded)
    words = [i for i in range(len(found.table)) if not found.table["special"][i]]
    ranked = sorted(words, key=lambda i: -found.table["attention"][i])
    row = curves[(curves["method"] == "attention") & (curves["share"] == 0.5)].iloc[0]
    kept = [i for i in range(len(found.table)) if i not in ranked[: row["tokens"]]]
    with torch.inference_mode():
        part = loaded.model(**{name: value[:, kept] for name, value in inputs.items()}).logits[0, kept.index(place)]
    np.testing.assert_allclose(row["comprehensiveness"], best - float(part.double().softmax(-1)[answer]), atol=1e-5)
    with pytest.raises(InputError, match=r"masked-bert: This model guesses a masked word: write \[MASK\] in its place"):
        source.attribute(Sentence("Which browsers can play movies?"))
    plain = models.explain(entry, Sentence("Which browsers can play movies?"))
    assert any("write [MASK] in its place" in note for note in plain.prediction.notes)
