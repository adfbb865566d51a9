"""The layers of a model by its lists of modules: what number a module has, and which layers did not attend."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Collection, Mapping

from torch import nn

LAYERS = re.compile(
    r"(?:^|\.)(?:layers?|h|blocks?|blks|resblocks|encoder_layers|decoder_layers|layer_groups|albert_layer_groups"
    r"|hidden_layers|transformer_layers)\.(\d+)(?:\.|$)"
)
NUMBER = re.compile(r"(?:^|\.)(\d+)(?:\.|$)")


def layer_of_path(path: str) -> int | None:
    """The number of the layer in a module path: the first one after the name of a list of layers, else the first.

    >>> layer_of_path("encoder.block.3.layer.0.SelfAttention"), layer_of_path("attn")
    (3, None)
    """
    match = LAYERS.search(path) or NUMBER.search(path)
    return int(match[1]) if match else None


def list_of_path(path: str) -> str | None:
    """The path of the list that the number of the layer is one of; None where there is none.

    >>> list_of_path("encoder.block.3.layer.0.SelfAttention"), list_of_path("0.attn"), list_of_path("attn")
    ('encoder.block', '', None)
    """
    match = LAYERS.search(path) or NUMBER.search(path)
    return path[: max(0, match.start(1) - 1)] if match else None


def layer_numbers(model: nn.Module) -> dict[str, int | None]:
    """Returns the number of the layer of each module by its path, from 0; None outside of layers.

    Where a list holds lists of layers, such as Funnel's blocks, the layers of one follow those of the list before it.
    """
    modules = dict(model.named_modules())
    numbers = {path: layer_of_path(path) for path in modules}
    for path, blocks in modules.items():
        if not _is_list_of_lists(blocks) or list_of_path(f"{path}.0".removeprefix(".")) != path:
            continue
        count = 0
        for name, block in blocks.named_modules(prefix=path):
            if block in list(blocks.children()):
                numbers[name] = None  # of several layers
                for place, layer in enumerate(block.children()):
                    own = f"{name}.{place}"
                    numbers |= dict.fromkeys((part for part, _ in layer.named_modules(prefix=own)), count)
                    count += 1
    return numbers


def _is_list_of_lists(module: nn.Module) -> bool:
    """Whether a module is a list of lists of layers, all of one form; other lists hold the parts of one layer each."""
    blocks = list(module.children())
    if not blocks or not all(isinstance(block, nn.ModuleList) and len(block) for block in [module, *blocks]):
        return False
    layers = [layer for block in blocks for layer in block.children()]
    return len({tuple(map(type, layer.modules())) for layer in layers}) == 1


def layers_without_attention(
    model: nn.Module,
    numbers: Mapping[str, int | None],
    attending: Collection[str],
    ran: Collection[str],
    selects: Callable[[str], bool],
) -> tuple[list[int], int]:
    """Returns the numbers of the layers that ran and did not attend, and how many layers there are: of the lists of
    modules that hold what attends.  A layer that is not selected as a whole may attend.

    numbers: see `layer_numbers`.  attending, ran: paths of modules.  selects: whether one is selected.
    """
    modules = dict(model.named_modules())
    lists = {path for path in map(list_of_path, attending) if path is not None}
    lists = {path for path in lists if isinstance(modules.get(path), nn.ModuleList) or LAYERS.search(f"{path}.0")}
    layers: dict[int, list[str]] = defaultdict(list)
    for path, number in numbers.items():
        if number is not None and list_of_path(path) in lists:
            layers[number] += [path] * (path in ran)
    attend = {numbers.get(path) for path in attending}
    missing = (n for n, own in layers.items() if n not in attend and own and all(map(selects, own)))
    return sorted(missing), len(layers)
