"""What a Hugging Face model reads of a text: its inputs, each id of which has a row in the table that it is looked up
in."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from inspect import Parameter, signature
from typing import Any

import torch
from torch import nn

from triattn_core.errors import InputError
from triattn_core.importers.token_coords import Tokens, encode
from triattn_core.sources.transformer import Transformer, start_token
from triattn_core.text.token_names import name_piece

SEGMENTS = "token_type_ids"
NAMED = 4  # tokens that a message names


def read_text(transformer: Transformer, text: str, pair: str | None = None) -> tuple[Any, Tokens]:
    """The inputs of a text or a pair, a batch of one, and their tokens.  Raises InputError: no tokens, or an id for
    which the model has no row."""
    inputs, tokens = encode(transformer.tokenizer, text, pair, transformer.longest)
    ids = inputs["input_ids"][0].tolist()
    _require_rows(transformer, ids, _table(transformer.model, "encoder" if transformer.has_decoder else ""))
    if SEGMENTS in inputs and not _takes(transformer.model, SEGMENTS):
        del inputs[SEGMENTS]
    _require_segments(transformer, inputs)
    return inputs, tokens


def read_target(transformer: Transformer, target: str | None) -> tuple[list[int], list[int]]:
    """The ids that a decoder which reads an encoder is given, from its start token on, and those that it should write:
    of no target none.  Raises InputError for an id for which it has no row."""
    start = start_token(transformer.model)
    ids = transformer.tokenizer(text_target=target)["input_ids"][: transformer.longest] if target is not None else []
    given = [start, *ids[:-1]]
    _require_rows(transformer, given, _table(transformer.model, "decoder"))
    return given, ids


def _table(model: nn.Module, part: str) -> nn.Module | None:
    """The embedding table of a model's tokens, or that of its encoder or decoder; None where it has none, as models of
    characters."""
    try:
        found: Any = getattr(model, f"get_{part}", lambda: None)() if part else model
        reads: Any = found if isinstance(found, nn.Module) else model
        table = reads.get_input_embeddings()
    except (AttributeError, NotImplementedError, TypeError):
        return None
    return table if isinstance(getattr(table, "num_embeddings", None), int) else None


def _require_rows(transformer: Transformer, ids: Sequence[int], table: Any) -> None:
    """Raises InputError that names the tokens whose ids a table has no row for."""
    unknown = [] if table is None else [id_ for id_ in dict.fromkeys(ids) if not 0 <= id_ < table.num_embeddings]
    if not unknown:
        return
    tokenizer, rows = transformer.tokenizer, table.num_embeddings
    named = zip(unknown, tokenizer.convert_ids_to_tokens(unknown[:NAMED]))
    listed = ", ".join(f"{name_piece(piece, tokenizer.decode([id_]))} (id {id_})" for id_, piece in named)
    listed += f" and {len(unknown) - NAMED} more" if len(unknown) > NAMED else ""
    path = next((f"{name} " for name, module in transformer.model.named_modules() if module is table), "")
    sizes = f"its embedding table {path}has {rows:,} rows, its tokenizer {len(tokenizer):,} tokens"
    remedy = "save the tokenizer that its weights were trained with; or call resize_token_embeddings and train it"
    raise InputError(f"{transformer.name}: {sizes}: there is no row for {listed}: {remedy}")


def _takes(model: nn.Module, name: str) -> bool:
    """Whether a model has an input of this name."""
    parameters = signature(model.forward).parameters
    return name in parameters or any(one.kind is Parameter.VAR_KEYWORD for one in parameters.values())


def _require_segments(transformer: Transformer, inputs: Any) -> None:
    """Raises InputError where a model has no row for the second text of a pair."""
    highest = int(inputs[SEGMENTS].max()) if SEGMENTS in inputs else 0
    for path, table in _segment_tables(transformer.model):
        if highest >= table.num_embeddings:
            raise InputError(
                f"{transformer.name}: its table {path} has {table.num_embeddings:,} row, and its tokenizer numbers the "
                f"texts of a pair from 0 to {highest} (token_type_ids): save the tokenizer that these weights were "
                "trained with, or give one text"
            )


def _segment_tables(model: nn.Module) -> Iterator[tuple[str, Any]]:
    for path, module in model.named_modules():
        if path.endswith("token_type_embeddings") and isinstance(module, nn.Embedding):
            yield path, module


def as_input(ids: Sequence[int]) -> torch.Tensor:
    """A batch of one, [1, n]."""
    return torch.tensor([list(ids)])
