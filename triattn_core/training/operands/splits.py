"""Training and dev steps of GSM8K, parted by problem, and the test steps."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from random import Random

import numpy as np

from triattn_core.configs.operands import OperandsCheckpoint
from triattn_core.errors import DataError
from triattn_core.tasks.operands import operand_pairs
from triattn_core.tasks.operands.example import Example
from triattn_core.text.rows import rows_file
from triattn_core.training.sentence.splits import Splits


def operands_splits(config: OperandsCheckpoint, folder: Path) -> Splits:
    """`dev_problems` of the training problems, drawn from `split_seed`, are dev.  Raises DataError if none is left."""
    data = config.data
    (name,) = data.train
    sets = {each: list(operand_pairs.read(rows_file(folder, each))) for each in (name, data.test) if each}
    try:
        held_out = is_dev(config, sets[name])
    except DataError as error:
        raise DataError(f"{rows_file(folder, name)}: {error}") from None
    test = (data.test, np.arange(len(sets[data.test]))) if data.test else None
    return Splits(sets, {name: np.flatnonzero(~held_out)}, (name, np.flatnonzero(held_out)), test)


def is_dev(config: OperandsCheckpoint, examples: Sequence[Example]) -> np.ndarray:
    """Of each example of the training set whether it is dev [examples].  Raises DataError if no other is left."""
    data, owners = config.data, [example.id.partition(".")[0] for example in examples]
    problems = list(dict.fromkeys(owners))
    if len(problems) <= data.dev_problems:
        raise DataError(f"{len(problems)} problems, of which {data.dev_problems} are dev")
    Random(data.split_seed).shuffle(problems)
    held_out = set(problems[: data.dev_problems])
    return np.array([owner in held_out for owner in owners])
