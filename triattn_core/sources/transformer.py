"""Load a model of Hugging Face with its tokenizer, from a local folder or by its name on the hub.

It runs in its default implementation.  Code of models is never run (`trust_remote_code` is off).
"""

from __future__ import annotations

import json
import logging
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from hashlib import sha256
from inspect import signature
from pathlib import Path
from threading import RLock
from typing import Any

import torch

from triattn_core.cached import cached_property
from triattn_core.checkpoint.hub import OFFERED, hub_allowed
from triattn_core.checkpoint.transformer_folder import ADAPTER, UNMERGED, is_transformer, refuse_pointers
from triattn_core.errors import CheckpointError, cause
from triattn_core.inference.device import choose_device, memory_guard
from triattn_core.sources.transformer_errors import refuse_other_senses
from triattn_core.sources.wrapper import apply_wrapper
from triattn_core.text.piece_text import give_decoder
from triattn_core.trace.from_array import LONGEST

OF_TEXT = ("bos_token_id", "eos_token_id", "pad_token_id", "decoder_start_token_id", "forced_bos_token_id")
DAMAGED = "its files cannot be read: one of them is damaged, or is not what its name says"
TEXT_HALF = "Of its two encoders the one that reads text was run; the other reads pictures."
NEXT_TOKEN, MASKED_WORD, SPAN = "next token", "masked word", "answer span"

_loads = RLock()


@dataclass(frozen=True)
class Transformer:
    """A model with its tokenizer.

    head: what it predicts, `labels`, `next token`, `masked word`, `answer span` or nothing; notes: on loading it.
    """

    name: str
    model: Any = field(repr=False)
    tokenizer: Any = field(repr=False)
    head: str = ""
    notes: tuple[str, ...] = ()

    @cached_property
    def digest(self) -> str:
        """SHA-256 of its weights."""
        digest = sha256()
        for name, tensor in sorted(self.model.state_dict().items()):
            digest.update(name.encode() + tensor.detach().cpu().contiguous().view(torch.uint8).numpy().tobytes())
        return digest.hexdigest()

    @property
    def device(self) -> str:
        return str(self.model.device)

    @property
    def has_decoder(self) -> bool:
        """Whether it has a decoder that reads an encoder."""
        return "decoder_input_ids" in signature(self.model.forward).parameters

    @property
    def writes(self) -> bool:
        """Whether it has a decoder that reads an encoder and writes; where labels or spans are read from such a
        decoder, the model makes its inputs itself."""
        return self.has_decoder and self.head not in ("labels", SPAN)

    @property
    def longest(self) -> int:
        """The most tokens that it reads and that are drawn."""
        positions = getattr(self.model.config, "max_position_embeddings", None) or LONGEST
        limits = (LONGEST, self.tokenizer.model_max_length, positions, self.positions)
        return min(limit for limit in limits if limit > 0)  # XLNet's is -1: none

    @cached_property
    def positions(self) -> int:
        """The most tokens for which its tables of positions have rows; LONGEST where it has no such table.

        Where a table has a row for padding, as RoBERTa's and those after it, positions begin after that row.
        """
        counts = [LONGEST]
        for path, module in self.model.named_modules():
            weight, padding = getattr(module, "weight", None), getattr(module, "padding_idx", None)
            if path.rpartition(".")[2] == "position_embeddings" and isinstance(weight, torch.Tensor):
                counts.append(len(weight) - (0 if padding is None else padding + 1))
        return min(counts)


def start_token(model: Any) -> int:
    """The id with which a decoder that reads an encoder starts."""
    names = ("decoder_start_token_id", "bos_token_id", "pad_token_id")
    parts = (model.config, getattr(model, "generation_config", None))
    numbers = (getattr(part, name, None) for name in names for part in parts)
    return next((number for number in numbers if number is not None), 0)


def is_transformer_folder(name: str) -> bool:
    """Whether a folder has a config of Hugging Face's, which names the type of its model, or of an adapter for one."""
    if (Path(name).expanduser() / ADAPTER).is_file():
        return True
    try:
        config = json.loads((Path(name).expanduser() / "config.json").read_text("utf-8"))
    except (OSError, ValueError, RecursionError):
        return False
    return is_transformer(config)


def load_transformer(name: str, device: str | None = None, local: bool | None = None) -> Transformer:
    """Load a model from a folder or, if there is none, by its name on the hub.  local: use only files downloaded
    before; None follows `hub_allowed`, by which nothing is downloaded by default.

    Raises CheckpointError, in one line: no such model, gated, offline, damaged, or a kind without attention.
    """
    local = not hub_allowed() if local is None else local
    folder = Path(name).expanduser()
    if not folder.is_dir() and ("/" in name.strip("/") or "\\" in name) and folder.parent.is_dir():
        raise CheckpointError(f"{name}: no such folder")
    where = str(folder) if folder.is_dir() else name
    refuse_adapter(name, where, local or folder.is_dir())
    if folder.is_dir() and not (folder / "config.json").is_file():
        raise CheckpointError(
            f"{name}: no config.json there{_below(folder)}: expected a folder as save_pretrained writes it"
        )
    refuse_pointers(name, folder)
    with loading(name, folder.is_dir(), local):
        return _load(name, where, choose_device(device), local or folder.is_dir())


def _load(name: str, where: str, device: str, local: bool) -> Transformer:
    from transformers import AutoConfig, AutoTokenizer

    options = {"local_files_only": local, "trust_remote_code": False}
    config = AutoConfig.from_pretrained(where, **options)
    refuse_other_senses(name, config)
    tokenizer = AutoTokenizer.from_pretrained(where, **options)
    give_decoder(tokenizer)
    tokenizer.model_max_length = _whole_limit(tokenizer.model_max_length)
    _require_vocabulary(name, where, tokenizer)
    beside = apply_wrapper(tokenizer, where, local)
    kind, head = _auto_class(config)
    config.return_dict = True  # whatever the folder says: outputs have names
    model, missing, unused = load_weights(name, kind, where, config, options)
    _forget_generation(model)
    notes: tuple[str, ...] = tell_labels_apart(model.config) if head == "labels" else ()
    if missing and head:
        notes, head = (without_head(missing),), ""
    if hasattr(model, "get_text_features") and hasattr(model, "text_model"):  # two encoders side by side, as in CLIP
        model, notes = model.text_model, (*notes, TEXT_HALF)
    notes = (*notes, *unused, *beside)
    with memory_guard(f"{name} on {device}"):
        model = model.to(device).eval()
    return Transformer(name.rstrip("/").rsplit("/", 1)[-1] or name, model, tokenizer, head, notes)


def _forget_generation(model: Any) -> None:
    """Drops how a folder has its model write, but which ids begin, end and fill a text.

    Guidance, drafts, words that are not to be written and the like change which token is the most likely one, or run
    the model more than once a token.
    """
    saved = getattr(model, "generation_config", None)
    if saved is not None:
        model.generation_config = type(saved)(**{name: getattr(saved, name, None) for name in OF_TEXT})


def tell_labels_apart(config: Any) -> tuple[str, ...]:
    """Gives labels of one name their numbers, and returns a note where there are any."""
    names = {number: str(name) for number, name in (config.id2label or {}).items()}
    same = sorted({name for name in names.values() if list(names.values()).count(name) > 1})
    config.id2label = {number: f"{name} ({number})" if name in same else name for number, name in names.items()}
    return (f"Several labels have one name in its config.json ({', '.join(same)}): numbers tell them apart.",) * bool(
        same
    )


def _below(folder: Path) -> str:
    """Which folders in it have a config, as those of sentence-transformers and of a training's steps do."""
    found = sorted(path.parent.name for path in folder.glob("*/config.json"))
    more = f" and {len(found) - 3} more" if len(found) > 3 else ""
    return f", but in {', '.join(found[:3])}{more}" if found else ""


def refuse_adapter(name: str, where: str, local: bool) -> None:
    """Raises CheckpointError for a model with an adapter, as of LoRA: the library leaves it out unless peft is there,
    and with it weights would change that nobody named."""
    from transformers.utils import find_adapter_config_file

    with loading(name, Path(where).is_dir(), local):
        file = find_adapter_config_file(where, local_files_only=local)
    if file:
        raise CheckpointError(f"{name}: {UNMERGED}")


def load_weights(
    name: str, kind: Any, where: str, config: Any, options: Mapping[str, Any]
) -> tuple[Any, list[str], list[str]]:
    """The model of a class with the weights of a folder, in its default implementation of attention, whichever the
    folder was saved with; the names of the weights of a head that are not there; and a note on those that it has
    no place for, such as those of another head or of more layers than its config says.

    Raises CheckpointError for weights that are not there or have other sizes than the config says.
    """
    config._attn_implementation = None  # such as flash_attention_2, which few machines have
    how = {"output_loading_info": True, "ignore_mismatched_sizes": True}  # refused below, with the sizes
    model, info = kind.from_pretrained(where, config=config, **how, **options)
    if mismatched := sorted(map(tuple, info.get("mismatched_keys") or ())):
        key, saved, expected = mismatched[0][:3]
        sizes = f"{_times(saved)}, and {_times(expected)} by its config.json"
        more = f", as {len(mismatched) - 1} more of its weights" if len(mismatched) > 1 else ""
        raise CheckpointError(f"{name}: {key} is {sizes}{more}: they are not of one model")
    require_weights(name, model, info["missing_keys"])
    unused = sorted(info["unexpected_keys"])
    notes = [f"Weights of its files that the model does not use: {len(unused)}, such as {unused[0]}."] if unused else []
    return model, sorted(info["missing_keys"]), notes


def without_head(missing: Sequence[str]) -> str:
    """The note on a head whose weights are not there."""
    return f"The weights of its head ({missing[0]}, …) are not in the file: nothing is predicted."


def _times(shape: Any) -> str:
    return " × ".join(map(str, shape))


def require_weights(name: str, model: Any, missing: Collection[str]) -> None:
    """Raises CheckpointError if weights that attention depends on are not in the file: they would be random.

    missing: names of weights that were not in it.  Those of a head, or of the pooler before it, may be.
    """
    prefix = model.base_model_prefix
    body = f"{prefix}." if prefix and hasattr(model, prefix) else ""
    missing = sorted(key for key in missing if key.startswith(body) and "pooler" not in key)
    if missing:
        lacking = (
            f"{len(missing)} of its weights, such as {missing[0]}, are not in its files, at least not by that name"
        )
        raise CheckpointError(f"{name}: {lacking}: save it with save_pretrained")


def _whole_limit(limit: Any) -> int:
    """The maximum length of a tokenizer, of whatever type its file has it: a whole number; none where it is below 1."""
    try:
        length = int(limit)
    except (TypeError, ValueError, OverflowError):
        length = 0
    return length if length > 0 else 10**30  # as the library has it


def _require_vocabulary(name: str, where: str, tokenizer: Any) -> None:
    """Raises CheckpointError for the empty tokenizer that the library makes where it finds no tokenizer files.

    Tokenizers of bytes or characters have no file of a vocabulary.
    """
    own_files = getattr(tokenizer, "vocab_files_names", {}).values()
    if not own_files and not tokenizer.is_fast:
        return
    files = sorted({"tokenizer.json", *own_files})
    saved = not Path(where).is_dir() or any((Path(where) / file).is_file() for file in files)
    if not saved or set(tokenizer.get_vocab()) <= set(tokenizer.all_special_tokens):
        problem = "its tokenizer knows no words" if saved else f"no tokenizer files there ({' or '.join(files)})"
        raise CheckpointError(f"{name}: {problem}: save it beside the model with tokenizer.save_pretrained(folder)")


def _auto_class(config: Any) -> tuple[Any, str]:
    """The class that loads a model with its saved head, and what the head predicts."""
    import transformers

    saved = " ".join(config.architectures or ())
    if "ForSequenceClassification" in saved:
        return transformers.AutoModelForSequenceClassification, "labels"
    if "ForQuestionAnswering" in saved and type(config) in transformers.MODEL_FOR_QUESTION_ANSWERING_MAPPING:
        return transformers.AutoModelForQuestionAnswering, SPAN
    if saved.endswith("EncoderModel") and hasattr(transformers, saved):  # half of an encoder-decoder
        return getattr(transformers, saved), ""
    if config.is_encoder_decoder and type(config) in transformers.MODEL_FOR_SEQ_TO_SEQ_CAUSAL_LM_MAPPING:
        bare = getattr(transformers.MODEL_MAPPING.get(type(config), None), "__name__", "")
        if saved != bare:
            return transformers.AutoModelForSeq2SeqLM, NEXT_TOKEN
    if ("CausalLM" in saved or "LMHeadModel" in saved) and not config.is_encoder_decoder:
        return transformers.AutoModelForCausalLM, NEXT_TOKEN
    if "ForMaskedLM" in saved and type(config) in transformers.MODEL_FOR_MASKED_LM_MAPPING:
        return transformers.AutoModelForMaskedLM, MASKED_WORD
    return transformers.AutoModel, ""


@contextmanager
def loading(name: str, folder: bool, local: bool) -> Iterator[None]:
    """Inside, the library prints nothing, and whatever it raises is a CheckpointError of one line; one at a time, since
    it imports its parts as they are named, and two threads that import one circle of modules can fail."""
    with _loads, _one_line(name, folder, local), _suppress_output():
        yield


@contextmanager
def _suppress_output() -> Iterator[None]:
    """Suppress warnings and progress bars of the library; our notes say what matters."""
    from transformers.utils import logging as library

    level, had_bars = library.get_verbosity(), library.is_progress_bar_enabled()
    hub = logging.getLogger("huggingface_hub")
    hub_level = hub.level
    library.set_verbosity_error()
    library.disable_progress_bar()
    hub.setLevel(logging.CRITICAL)
    try:
        yield
    finally:
        hub.setLevel(hub_level)
        library.set_verbosity(level)
        if had_bars:
            library.enable_progress_bar()


@contextmanager
def _one_line(name: str, folder: bool, local: bool) -> Iterator[None]:
    """Turn any exception of a library into a CheckpointError of one line."""
    try:
        yield
    except CheckpointError:
        raise
    except Exception as error:  # each of several libraries has its own
        reason = cause(error).split(". ")[0][:200] or DAMAGED
        if reason == DAMAGED and folder and _is_setting(name, error):
            reason = f"its config.json has {error}, which this version of the library does not know"
        if "Weights only load failed" in reason:
            reason = "its weights are a pickle of Python objects, which is not read: save it with save_pretrained"
        if "gated" in str(error).lower():
            reason = "a gated model: its owner must let you in, and `hf auth login` say who you are"
        elif not folder and ("offline" in str(error).lower() or "connect" in str(error).lower() or local):
            problem = f"it was not fetched before; {OFFERED}" if local else "the hub cannot be reached"
            reason = f"no such folder, and {problem}: name a folder that has config.json, tokenizer and weights"
        raise CheckpointError(f"{name}: {reason}") from None


def _is_setting(name: str, error: Exception) -> bool:
    """Whether an error names a value of the config as an unknown key, such as that of an activation."""
    key = error.args[0] if isinstance(error, KeyError) and error.args else None
    try:
        values = json.loads((Path(name).expanduser() / "config.json").read_text("utf-8")).values()
    except (OSError, ValueError, AttributeError):
        return False
    return isinstance(key, str) and key in [value for value in values if isinstance(value, str)]
