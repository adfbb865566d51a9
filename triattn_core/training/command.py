"""`triattn train`: train from a checkpoint's config.json or an encoder's recipe.json, and record metrics."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path

from accelerate import Accelerator
from accelerate.state import AcceleratorState

from triattn_core.checkpoint.config import read_config
from triattn_core.configs.parts import CheckpointConfig
from triattn_core.errors import ConfigError
from triattn_core.inference.device import choose_device, keep_freed_memory
from triattn_core.kinds import KINDS, kind_of
from triattn_core.text.rows import has_rows, read_json, rows_file
from triattn_core.training.encoder.post_training import finish_encoder, post_train
from triattn_core.training.loop import Event
from triattn_core.training.metrics_writer import machine, record_metrics, seed_run
from triattn_core.training.model_card import encoder_card
from triattn_core.training.recipe import read_recipe
from triattn_core.training.run_lock import lock_runs


def train(paths: Sequence[Path], data: Path, runs: Path, resume: bool, command: str) -> Iterator[Event]:
    """Train each of `paths` in turn; results are written next to them.

    Checkpoints of one encoder train on the same features and are measured in one pass over dev and test.  Raises
    ConfigError for a file that is neither a config.json nor a recipe.json, and if another command trains one of them.
    """
    prepare()
    configs, runs = read_configs(paths, data), runs.resolve()
    with lock_configs(configs, runs) if is_main_process() else nullcontext():
        yield from train_configs(configs, data, runs, resume, command)


def lock_configs(configs: Sequence[tuple[Path, CheckpointConfig | dict]], runs: Path) -> AbstractContextManager[None]:
    """Keeps other commands off the folders in `runs` of these configs.  Raises ConfigError."""
    return lock_runs(runs, [run.name for path, config in configs for run in run_folders(path, config, runs)])


def train_configs(
    configs: Sequence[tuple[Path, CheckpointConfig | dict]], data: Path, runs: Path, resume: bool, command: str
) -> Iterator[Event]:
    """`train` of configs that are read, where this process, or that for which it works, has locked their runs."""
    trained: list[tuple[Path, CheckpointConfig]] = []
    for path, config in configs:
        if isinstance(config, dict):
            yield from _train_encoder(path, config, data, runs, resume, command)
            continue
        if config.folds:
            for folder, fold_config in kind_of(config).folds(config, path.parent, runs).items():
                yield from train_seeds(path, fold_config, {fold_config.training.seed: folder}, data, runs, resume)
            trained.append((path.parent, config))
            continue
        seed_folders = {seed: seed_run(runs, path.parent.name, seed) for seed in config.training.more_seeds}
        yield from train_seeds(path, config, {config.training.seed: path.parent, **seed_folders}, data, runs, resume)
        trained.append((path.parent, config))
    if is_main_process():
        yield from record_metrics(trained, data, runs, resume, command)


def read_configs(paths: Sequence[Path], data: Path) -> list[tuple[Path, CheckpointConfig | dict]]:
    """Absolute paths of configs and recipes, each with its contents.

    Raises ConfigError for a file that is neither, DataError for a data set that is not in `data`.
    """
    configs = [(path, _read(path)) for path in map(Path.resolve, paths)]
    for name in dict.fromkeys(name for _, config in configs for name in sets(config)):
        rows_file(data, name)
    return configs


def run_folders(path: Path, config: CheckpointConfig | dict, runs: Path) -> list[Path]:
    """The folders in `runs` where `train` keeps the states of a config: its own, and those of its seeds or folds."""
    folders = [path.parent]
    if not isinstance(config, dict):
        folders = list(kind_of(config).folds(config, path.parent, runs))
        folders += [seed_run(runs, path.parent.name, seed) for seed in config.training.more_seeds]
    return [runs / folder.name for folder in folders]


def data_folder(paths: Sequence[Path]) -> Path:
    """The folder of data sets where none is named: `data`, or the working folder where there is no `data`; if neither
    has all sets that the configs name, the folder that holds a checkpoint's folder, as `triattn new` writes it.

    Raises ConfigError for a file that is no config.
    """
    default, configs = Path("data") if Path("data").is_dir() else Path(), [path.resolve() for path in paths]
    names = {name for path in configs for name in sets(_read(path))}
    candidates = (default, *dict.fromkeys(path.parent.parent for path in configs))
    return next((folder for folder in candidates if all(has_rows(folder, name) for name in names)), default)


def prepare() -> None:
    """Set up device and memory of this process, before the first run."""
    if not os.environ.get("LOCAL_RANK"):  # `accelerate launch` assigns the devices
        os.environ["ACCELERATE_TORCH_DEVICE"] = choose_device()
    keep_freed_memory()


def train_seeds(
    path: Path, config: CheckpointConfig, folders: Mapping[int, Path], data: Path, runs: Path, resume: bool
) -> Iterator[Event]:
    """Train the config of `path` once for each seed of `folders`, into its folder."""
    for seed, folder in folders.items():
        seed_config = config
        if seed != config.training.seed:
            training = config.training.model_copy(update={"seed": seed, "more_seeds": ()})
            seed_config = config.model_copy(update={"training": training})
        try:
            accelerator = _accelerator(config.training.precision)
            yield from kind_of(config).train(seed_config, folder, data, runs, resume, accelerator)
        except ConfigError as error:
            raise ConfigError(f"{path}: {error}") from None


def is_main_process() -> bool:
    """Whether this process writes the records."""
    return _accelerator("no").is_main_process


def _accelerator(precision: str) -> Accelerator:
    AcceleratorState._reset_state()  # the next run may have another precision
    return Accelerator(mixed_precision=precision)


def _train_encoder(path: Path, recipe: dict, data: Path, runs: Path, resume: bool, command: str) -> Iterator[Event]:
    accelerator = _accelerator(recipe.get("precision", "no"))
    yield from post_train(recipe, data, runs / path.parent.name, resume, accelerator)
    if accelerator.is_main_process:
        finish_encoder(recipe, path.parent, data, runs / path.parent.name, machine(), command)
        (path.parent / "README.md").write_text(encoder_card(path.parent), "utf-8")


def _read(path: Path) -> CheckpointConfig | dict:
    """A checkpoint's config, or an encoder's recipe as a dictionary."""
    if not path.is_file():
        raise ConfigError(f"{path}: no such file; name a checkpoint's config.json or an encoder's recipe.json")
    kind = read_json(path).get("kind")
    if kind not in ("encoder", *KINDS):
        raise ConfigError(f'{path}: expected "kind": ' + " or ".join(f'"{name}"' for name in ("encoder", *KINDS)))
    return read_recipe(path) if kind == "encoder" else read_config(path)


def sets(config: CheckpointConfig | dict) -> Iterator[str]:
    """The data sets that a config or a recipe names."""
    if not isinstance(config, dict):
        yield from config.sets
        return
    for stage in config["stages"]:
        yield from filter(None, (*stage["data"], stage.get("mine")))
    yield config["dev"]
