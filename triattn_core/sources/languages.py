"""Which languages a translation model of several is told: their tokens in a text, a target, and what it writes."""

from __future__ import annotations

from typing import Any

from triattn_core.sources.transformer import Transformer, start_token

WHERE = "src_lang and tgt_lang in its tokenizer_config.json, forced_bos_token_id in its generation_config.json"


def tell_languages(transformer: Transformer) -> tuple[str, ...]:
    """A note on the languages of a model whose tokenizer has tokens for them, such as NLLB, M2M100 and mBART; of other
    models nothing."""
    model, tokenizer = transformer.model, transformer.tokenizer
    if not (transformer.writes and hasattr(tokenizer, "src_lang") and hasattr(tokenizer, "tgt_lang")):
        return ()
    if not (source := _mark(tokenizer, tokenizer("")["input_ids"])):
        return ()
    try:
        target = _mark(tokenizer, tokenizer(text_target="")["input_ids"])
    except Exception:  # each tokenizer has its own where no tgt_lang is set
        target = ""
    first = getattr(model.generation_config, "forced_bos_token_id", None)
    written = _mark(tokenizer, [start_token(model) if first is None else first])
    targets = f"targets as {target}" if target else "no targets, for want of their language"
    likeliest = "begins what it writes with the token that it finds likeliest"
    writes = f"writes {written}" if written else likeliest
    return (f"It reads texts as {source} and {targets}, and {writes}: {WHERE}.",)


def _mark(tokenizer: Any, ids: list[int]) -> str:
    """The first token that marks no start, end or padding: of a text without words, its language."""
    others = {tokenizer.bos_token_id, tokenizer.eos_token_id, tokenizer.pad_token_id, tokenizer.unk_token_id}
    return next((str(tokenizer.convert_ids_to_tokens(i)) for i in ids if i not in others), "")
