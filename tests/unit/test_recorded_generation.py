"""Steps of a generation as one map, against the model run once over the whole text: caches of every form, and refusals
where a step did not write one token after those before it."""

from __future__ import annotations

import numpy as np
import pytest
import torch
import transformers

from tests.support import small_tokenizers
from triattn_core.errors import TraceError
from triattn_core.recording.replace import replace
from triattn_core.recording.tape import record
from triattn_core.sources.transformer import load_transformer
from triattn_core.sources.transformer_trace import trace_transformer

SIZES = {"hidden_size": 32, "intermediate_size": 24, "num_hidden_layers": 2, "num_attention_heads": 4}
SIZES |= {"max_position_embeddings": 64, "eos_token_id": None, "bos_token_id": 1, "pad_token_id": 0}
SIZES |= {"num_key_value_heads": 2}
IDS = torch.tensor([[1, 5, 6, 7, 8, 9]])
NAMES = [f"t{i}" for i in range(11)]


def make(kind: str, window: int | None = None, vocabulary: int = 50, seed: int = 0):
    torch.manual_seed(seed)
    sizes = SIZES | {"vocab_size": vocabulary} | ({"sliding_window": window} if window else {})
    config = getattr(transformers, f"{kind}Config")(**sizes)
    model = getattr(transformers, f"{kind}ForCausalLM")(config).eval()
    for weight in model.parameters():
        torch.nn.init.normal_(weight, std=0.4)
    return model


def rows_of_whole_text_from(model, written, read: int) -> list[np.ndarray]:
    """The rows of the tokens that wrote, after so many that were read, of a pass over the whole text, as the library
    gives them."""
    model.set_attn_implementation("eager")
    with torch.no_grad():
        found = model(written[:, :-1], output_attentions=True, use_cache=False).attentions
    return [weights[0, :, read - 1 :].numpy() for weights in found]


@pytest.mark.parametrize(
    ("kind", "window", "options"),
    [
        ("Mistral", 4, {}),  # shared heads on the axis of the queries, keys of a window
        ("Mistral", 8, {}),
        ("Mistral", 4, {"cache_implementation": "static"}),
        ("Llama", None, {"cache_implementation": "static"}),
        ("Llama", None, {"use_cache": False}),
        ("Qwen2", None, {}),
    ],
)
@pytest.mark.parametrize("implementation", ["sdpa", "eager"])
def test_each_written_token_has_the_row_of_the_whole_text(kind, window, options, implementation):
    model = make(kind, window)
    model.set_attn_implementation(implementation)
    with torch.no_grad(), record(model) as tape:
        written = model.generate(IDS, max_new_tokens=5, do_sample=False, **options)
    trace = tape.generation(NAMES[:6], NAMES[6:])
    for array, expected in zip(
        trace.sites.values(), rows_of_whole_text_from(model, written, IDS.shape[1]), strict=True
    ):
        assert array.shape == expected.shape == (4, 5, 10)
        np.testing.assert_allclose(array.values, expected, atol=1e-6)
        assert array["key_token"].values.tolist() == NAMES[:-1]
        assert array.attrs["quantity"] == "weight" and "runs_over" not in array.attrs


def test_a_step_over_a_padded_batch_has_the_models_heads():
    model = make("Llama")
    ids = torch.tensor([[0, 0, 1, 5, 6], [1, 7, 8, 9, 10]])
    with torch.no_grad(), record(model, example=0) as tape:
        model.generate(ids, attention_mask=(ids > 0).long(), max_new_tokens=3, do_sample=False)
    array = tape.trace(step=1).sites["layer.0/attention/weight"]
    assert dict(array.sizes) == {"head": 4, "query": 1, "key": 6} and array.attrs["heads_to_a_key"] == 2
    assert not array.values[..., :2].any()
    np.testing.assert_allclose(array.values.sum(-1), 1, atol=1e-6)


def test_one_head_is_switched_off_while_a_model_with_a_window_writes():
    model = make("Mistral", 4)

    def logits(implementation: str) -> torch.Tensor:
        model.set_attn_implementation(implementation)
        with torch.no_grad(), replace(model, "off", heads=[1]):
            made = model.generate(
                IDS, max_new_tokens=4, do_sample=False, output_logits=True, return_dict_in_generate=True
            )
        return torch.cat(made.logits)

    torch.testing.assert_close(logits("sdpa"), logits("eager"), atol=1e-4, rtol=1e-4)


@pytest.mark.parametrize("seed", [5, 8, 26])
def test_rows_that_a_beam_search_exchanges_are_refused(seed):
    model = make("Llama", seed=seed)
    with torch.no_grad(), record(model) as tape:
        made = model.generate(IDS, max_new_tokens=5, do_sample=False, num_beams=3, return_dict_in_generate=True)
    assert made.beam_indices.any()
    with pytest.raises(TraceError, match="the rows of the batch changed places, as in a beam search"):
        tape.generation()


@pytest.mark.parametrize(("options", "said"), [({"num_beams": 2}, True), ({"do_sample": True}, False)])
def test_a_search_too_short_to_exchange_rows_is_told(options, said):
    model = make("Llama")
    with torch.no_grad(), record(model) as tape:
        model.generate(IDS, max_new_tokens=2, **{"do_sample": False} | options)
    assert ("The 2 rows of the batch read one text" in tape.generation().meta["notes"]) is said


@pytest.mark.parametrize(
    "options", [{"prompt_lookup_num_tokens": 2}, {"prefill_chunk_size": 2}, {"prefill_chunk_size": 4}]
)
def test_a_step_of_several_tokens_is_refused(options):
    model = make("Llama")
    repeated = torch.tensor([[5, 6, 5, 6, 5, 6, 5, 6]])
    with torch.no_grad(), record(model) as tape:
        model.generate(repeated, max_new_tokens=6, do_sample=False, **options)
    with pytest.raises(TraceError, match=r"step \d read \d tokens, not one"):
        tape.generation()


def test_as_many_written_tokens_as_steps_are_asked_for():
    model = make("Llama")
    with torch.no_grad(), record(model) as tape:
        model.generate(IDS, max_new_tokens=3, do_sample=False)
    with pytest.raises(TraceError, match="generated: 2 tokens, but the model ran 3 times"):
        tape.generation(NAMES[:6], ["a", "b"])


def test_import_writes_with_a_window_and_shared_heads(tmp_path):
    tokenizer = small_tokenizers.llama()
    model = make("Mistral", 4, len(tokenizer))
    model.save_pretrained(tmp_path)
    tokenizer.save_pretrained(tmp_path)
    trace = trace_transformer(load_transformer(str(tmp_path)), "a cat and", generate=5)
    array = trace.sites["layer.0/attention/weight"]
    prompt = tokenizer("a cat and")["input_ids"]
    assert array.shape == (4, 5, len(prompt) + 4)
    reads = (array.values > 0).sum(-1)
    assert reads.max() == 4  # of a window
    np.testing.assert_allclose(array.values.sum(-1), 1, atol=1e-6)


def test_what_gradient_checkpointing_runs_again_is_no_second_visit():
    model = make("Llama").train()
    model.gradient_checkpointing_enable()
    with record(model) as tape:
        model(IDS, labels=IDS, use_cache=False).loss.backward()
    assert [str(site) for site in tape.trace().sites] == ["layer.0/attention/weight", "layer.1/attention/weight"]
    assert any(weight.grad is not None and bool(weight.grad.any()) for weight in model.parameters())
