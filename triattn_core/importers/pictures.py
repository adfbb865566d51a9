"""Pictures for vision transformers: the patches that are their tokens, and the picture as the model sees it."""

from __future__ import annotations

import base64
import io
from pathlib import Path
from typing import Any

import numpy as np

from triattn_core.errors import InputError
from triattn_core.importers.token_coords import Tokens
from triattn_core.text.token_names import NO_WORD


def read_picture(path: Path) -> Any:
    """The picture of a file, in RGB.  Raises InputError in one line."""
    from PIL import Image

    try:
        with Image.open(path) as image:
            return image.convert("RGB")
    except FileNotFoundError:
        raise InputError(f"{path}: no such file") from None
    except Exception as error:  # of each format
        raise InputError(f"{path}: cannot be read as a picture ({type(error).__name__})") from None


def grey_picture(size: int = 224) -> Any:
    """A picture without anything on it, in RGB: it shows whether a model reads pictures."""
    from PIL import Image

    return Image.new("RGB", (size, size), (128, 128, 128))


def patch_tokens(rows: int, columns: int, before: tuple[str, ...] = (), after: tuple[str, ...] = ()) -> Tokens:
    """The patches of a picture, row by row, named `3.5` by row and column from 1, with the tokens around them."""
    names = [f"{row}.{column}" for row in range(1, rows + 1) for column in range(1, columns + 1)]
    count = len(names)
    patches = Tokens(names, [""] * count, [(0, 0)] * count, list(range(count)), [0] * count)
    return _special(before).followed_by(patches).followed_by(_special(after))


def _special(names: tuple[str, ...]) -> Tokens:
    count = len(names)
    return Tokens(list(names), [""] * count, [(0, 0)] * count, [NO_WORD] * count, [1] * count)


def patch_columns(tokens: Tokens, first: int, rows: int, columns: int, axis: str) -> dict[str, Any]:
    """The coordinates `<axis>_patch_row` and `<axis>_patch_column`, from 0; -1 for a token that is no patch."""
    places = np.full((2, len(tokens)), -1)
    places[:, first : first + rows * columns] = np.indices((rows, columns)).reshape(2, -1)
    return {f"{axis}_patch_row": (axis, places[0]), f"{axis}_patch_column": (axis, places[1])}


def seen_picture(pixels: np.ndarray, processor: Any) -> str:
    """The pixels [3, height, width] that a model reads, as a PNG in a data URI: cut, resized, without normalisation."""
    values = np.asarray(pixels, np.float64)
    if getattr(processor, "do_normalize", False):
        mean, std = (np.reshape(getattr(processor, name), (-1, 1, 1)) for name in ("image_mean", "image_std"))
        values = values * std + mean
    factor = 1.0 if not getattr(processor, "do_rescale", True) else getattr(processor, "rescale_factor", 1 / 255)
    return as_png((values / factor).transpose(1, 2, 0))


def as_png(levels: np.ndarray) -> str:
    """Levels 0 to 255 [height, width, 3] as a PNG in a data URI."""
    from PIL import Image

    buffer = io.BytesIO()
    Image.fromarray(np.clip(np.rint(levels), 0, 255).astype(np.uint8)).save(buffer, "PNG")
    return "data:image/png;base64," + base64.b64encode(buffer.getvalue()).decode()


def grid_of(config: Any, height: int, width: int) -> tuple[int, int] | None:
    """Rows and columns of patches, by the config of a vision transformer; None where it names no size of a patch."""
    size = getattr(config, "patch_size", None)
    sizes = (size, size) if isinstance(size, int) else size
    if not isinstance(sizes, list | tuple) or len(sizes) != 2 or not all(isinstance(n, int) and n > 0 for n in sizes):
        return None
    return height // sizes[0], width // sizes[1]


def around_patches(config: Any, extra: int) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The names of `extra` tokens before and after the patches: [CLS], registers, detection tokens."""
    after = min(getattr(config, "num_detection_tokens", 0) or 0, extra)
    registers = getattr(config, "num_register_tokens", 0) or 0
    count = extra - after
    names = [] if not count else ["[CLS]"]
    kind = "register" if registers else "special"
    names += [f"{kind} {i}" for i in range(1, count)]
    return tuple(names), tuple(f"detection {i + 1}" for i in range(after))
