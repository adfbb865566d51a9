"""What a model of Hugging Face writes by itself: the most likely token, one after another."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import torch

from triattn_core.errors import InputError
from triattn_core.importers.token_coords import name_ids
from triattn_core.recording.replace import SiteChange, replace_sites
from triattn_core.sources.transformer import NEXT_TOKEN
from triattn_core.sources.transformer_errors import one_line
from triattn_core.sources.transformer_inputs import as_input, read_target, read_text

DECODERS_OWN = "decoder_input_ids"
MOST = 24  # tokens of a text that is shown beside an answer


def generation_options(transformer: Any, inputs: Mapping[str, Any], most: int) -> dict[str, Any]:
    """What `generate` is told, over whatever the folder says: the most likely token, one beam, at most so many."""
    options: dict[str, Any] = {"max_new_tokens": most, "return_dict_in_generate": True}
    options |= {"do_sample": False, "num_beams": 1, "num_return_sequences": 1}
    options |= {"repetition_penalty": 1.0, "no_repeat_ngram_size": 0}
    options |= {"forced_eos_token_id": None}  # MarianMT's would be the last of them, whatever is most likely
    if transformer.has_decoder:
        options["decoder_start_token_id"] = int(inputs[DECODERS_OWN][0, 0])
    return options


@torch.inference_mode()
def write(transformer: Any, inputs: Mapping[str, Any], most: int, cached: bool = True) -> list[int]:
    """The ids that a model writes after its inputs, of one row on its device, at most so many."""
    given = inputs[DECODERS_OWN if transformer.has_decoder else "input_ids"].shape[1]
    options = generation_options(transformer, inputs, most)
    with one_line(transformer.name, transformer.model):
        made = transformer.model.generate(**inputs, **options, use_cache=cached)
    return made.sequences[0, given:].tolist()


def with_start(transformer: Any, inputs: Any, written: int = 0) -> Any:
    """The inputs of a text, on the model's device, and of a decoder that reads an encoder its start token.

    written: it goes on with so many tokens that it wrote itself.  Raises InputError where it writes fewer, or where
    there is no such decoder.
    """
    inputs = inputs.to(transformer.model.device)
    if not transformer.writes:
        if written:
            raise InputError(f"{transformer.name} writes no text of which one word could be asked for")
        return inputs
    inputs[DECODERS_OWN] = as_input(read_target(transformer, None)[0]).to(transformer.model.device)
    if written >= transformer.longest:
        raise InputError(
            f"{transformer.name} writes at most {transformer.longest} tokens: there is no token {written + 1}"
        )
    if written:
        ids = write(transformer, inputs, written)
        if len(ids) < written or ids[-1] in end_ids(transformer):
            raise InputError(f"{transformer.name} writes {len(ids)} tokens of this text: it has no token {written + 1}")
        inputs[DECODERS_OWN] = torch.cat(
            [inputs[DECODERS_OWN], torch.tensor([ids], device=inputs["input_ids"].device)], 1
        )
    return inputs


def end_ids(transformer: Any) -> set[int]:
    """The ids at which a text ends."""
    found = getattr(transformer.model.generation_config, "eos_token_id", None)
    return set(found if isinstance(found, list) else [] if found is None else [found])


def written_words(transformer: Any, text: str) -> list[str]:
    """The tokens that a decoder writes of a text, at most MOST, as a reader knows them, and the end.  Raises InputError
    for a model that writes none."""
    if not transformer.writes or transformer.head != NEXT_TOKEN:
        raise InputError(f"{transformer.name} writes no text of another")
    inputs, _ = read_text(transformer, text)
    return name_ids(transformer.tokenizer, write(transformer, with_start(transformer, inputs), MOST)).tokens


def written_text(transformer: Any, inputs: Mapping[str, Any], change: SiteChange | None = None) -> str:
    """The text that a model writes, at most MOST tokens, from its start or after its text; with `…` where it would go
    on.  change: of the weights, at every step.  Raises InputError where the weights cannot change as the text grows."""
    first = {**inputs, DECODERS_OWN: inputs[DECODERS_OWN][:, :1]} if DECODERS_OWN in inputs else dict(inputs)
    if change is None:
        ids = write(transformer, first, MOST)
    else:
        with replace_sites(transformer.model, change):
            ids = write(transformer, first, MOST, cached=False)
    more = " …" if len(ids) == MOST and ids[-1] not in end_ids(transformer) else ""
    return transformer.tokenizer.decode(ids, skip_special_tokens=True).strip() + more
