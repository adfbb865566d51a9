"""Trace the attention of a vision transformer of Hugging Face on a picture: its patches are the tokens."""

from __future__ import annotations

import json
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import torch
import xarray as xr

from triattn_core.checkpoint.hub import hub_allowed
from triattn_core.checkpoint.transformer_folder import refuse_pointers
from triattn_core.errors import CheckpointError
from triattn_core.importers.pictures import (
    around_patches,
    grid_of,
    patch_columns,
    patch_tokens,
    read_picture,
    seen_picture,
)
from triattn_core.importers.token_coords import token_columns
from triattn_core.inference.device import choose_device, memory_guard
from triattn_core.recording.selection import Select
from triattn_core.recording.tape import record
from triattn_core.sources.transformer import load_weights, loading, refuse_adapter, without_head
from triattn_core.sources.transformer_errors import one_line
from triattn_core.trace import AttentionTrace
from triattn_core.trace.array_rows import empty_unknown_rows

NO_GRID = "Its maps are not of patches by patches, as with windows or merged patches: keys have numbers."
LISTED = 5  # labels


@dataclass(frozen=True)
class VisionModel:
    """A model with the processor of its pictures.  labels: whether it classifies; notes: on loading it."""

    name: str
    model: Any = field(repr=False)
    processor: Any = field(repr=False)
    labels: bool = False
    notes: tuple[str, ...] = ()

    @property
    def config(self) -> Any:
        """That of what reads the picture."""
        return getattr(self.model.config, "vision_config", self.model.config)


def load_vision_model(name: str, device: str | None = None, local: bool | None = None) -> VisionModel:
    """Load a model that reads pictures from a folder, or by its name on the hub, as `load_transformer` does; of one
    that reads text too, such as CLIP, the part that reads pictures.

    Raises CheckpointError in one line.
    """
    import transformers

    local = not hub_allowed() if local is None else local
    folder = Path(name).expanduser()
    options = {"local_files_only": local or folder.is_dir(), "trust_remote_code": False}
    where = str(folder) if folder.is_dir() else name
    refuse_adapter(name, where, options["local_files_only"])
    refuse_pointers(name, folder)
    with loading(name, folder.is_dir(), local):
        config = transformers.AutoConfig.from_pretrained(where, **options)
        processor = transformers.AutoImageProcessor.from_pretrained(where, **options)
        labels = "ForImageClassification" in " ".join(config.architectures or ())
        kind = transformers.AutoModelForImageClassification if labels else transformers.AutoModel
        model, missing, unused = load_weights(name, kind, where, config, options)
        if labels and missing:
            labels, unused = False, [without_head(missing), *unused]
        model = getattr(model, "vision_model", model)
        if "pixel_values" not in model.forward.__code__.co_varnames and model.main_input_name != "pixel_values":
            raise CheckpointError(f"{name}: this {config.model_type} model reads no pictures: give it a text")
        device = choose_device(device)
        with memory_guard(f"{name} on {device}"):
            model = model.to(device).eval()
    return VisionModel(folder.name or name, model, processor, labels, tuple(unused))


@torch.inference_mode()
def trace_picture(vision: VisionModel, path: Path, select: Select = None) -> AttentionTrace:
    """Returns the trace of a picture: a site `layer.0/attention/weight` [head, query, key] for each attention.

    Tokens are the patches, named by row and column from 1, and the special tokens around them; the coordinates
    `key_patch_row` and `key_patch_column` say where each is, from 0.  meta: `picture`, what the model saw.
    Raises InputError in one line.
    """
    start = time.perf_counter()
    image = read_picture(path)
    with one_line(vision.name, vision.model, "picture"):
        pixels = vision.processor(image, return_tensors="pt")["pixel_values"]
        with record(vision.model, select) as tape:
            outputs = vision.model(pixel_values=pixels.to(vision.model.device))
        arrays, nan_notes = empty_unknown_rows(tape.arrays())
    grid = grid_of(vision.config, *pixels.shape[-2:])
    sites = {site: _with_patches(array, grid, vision.config) for site, array in arrays.items()}
    meta = tape.meta(tape.attentions, arrays, vision.name)
    placed = any("key_patch_row" in array.coords for array in sites.values())
    notes = [*vision.notes, str(meta["notes"]), *nan_notes, *[NO_GRID] * (not placed)]
    if placed:
        meta["picture"] = seen_picture(pixels[0].float().numpy(), vision.processor)
    prediction = _labels(vision, outputs) if vision.labels else []
    meta |= {
        "device": str(vision.model.device),
        "prediction": json.dumps(prediction, ensure_ascii=False),
        "seconds": time.perf_counter() - start,
        "notes": "\n".join(notes),
    }
    return AttentionTrace(sites, {}, meta)


def _with_patches(array: xr.DataArray, grid: tuple[int, int] | None, config: Any) -> xr.DataArray:
    """The weights with patches along each axis that has them all."""
    coords: dict[str, Any] = {}
    for axis in ("query", "key"):
        extra = array.sizes[axis] - (grid[0] * grid[1] if grid else 0)
        if grid is None or extra < 0 or extra > array.sizes[axis] // 2:
            continue
        before, after = around_patches(config, extra)
        tokens = patch_tokens(*grid, before, after)
        coords |= token_columns(tokens, axis) | patch_columns(tokens, len(before), *grid, axis)
    return array.assign_coords(coords)


def _labels(vision: VisionModel, outputs: Any) -> list[tuple[str, float]]:
    """The likeliest labels of a classifier."""
    shares = outputs.logits[0].float().cpu().softmax(-1)
    top = shares.topk(min(LISTED, len(shares)))
    names = vision.model.config.id2label
    return [(str(names.get(i, i)), share) for i, share in zip(top.indices.tolist(), top.values.tolist())]
