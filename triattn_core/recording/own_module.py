"""Run a module of one's own from a Python file, on an input of one's own."""

from __future__ import annotations

import sys
import traceback
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from hashlib import sha256
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import torch
from torch import nn

from triattn_core.cached import cached_property
from triattn_core.errors import ConfigError, InputError, TriattnError
from triattn_core.recording.selection import Select
from triattn_core.recording.table_rows import describe_lookup
from triattn_core.recording.tape import Tape, record

ARRAYS = (".npy", ".npz", ".safetensors")


@dataclass(frozen=True)
class OwnModule:
    """What a function of a file has built: a module; `encode`, which makes inputs and tokens of a text, if any; and the
    names of the answers whose scores the module returns, if it says them."""

    name: str
    path: Path
    module: nn.Module = field(repr=False)
    encode: Any = field(default=None, repr=False)
    names: tuple[str, ...] | None = field(default=None, repr=False)

    @classmethod
    def of(cls, text: str) -> OwnModule:
        """Runs a file and its function: `FILE.py:build`.

        The function returns a module; or a module and a function of a text, which returns the inputs of the module and
        the tokens; or both and the names of its answers, one for each score that it returns.  Raises ConfigError in
        one line: no such file or function, whatever either raises.
        """
        file, _, function = text.rpartition(":")
        path = Path(file).expanduser()
        if not file or path.suffix != ".py" or not function.isidentifier():
            raise ConfigError(f"{text}: expected a Python file and a function in it, FILE.py:build")
        if not path.is_file():
            raise ConfigError(f"{path}: no such file")
        with _imported(path) as code:
            build = getattr(code, function, None)
            if not callable(build):
                raise ConfigError(f"{path}: no function {function} there")
            built = build()
        parts = built if isinstance(built, tuple) and len(built) in (2, 3) else (built, None)
        module, encode, names = (*parts, None)[:3]
        if not isinstance(module, nn.Module) or encode is not None and not callable(encode):
            raise ConfigError(f"{path}: {function}() must return a torch module, or a module and a function of a text")
        return cls(path.stem, path, module.eval(), encode, None if names is None else tuple(map(str, names)))

    @property
    def model(self) -> nn.Module:
        return self.module

    @property
    def device(self) -> str:
        """Where its parameters are."""
        return str(next(self.module.parameters(), torch.empty(0)).device)

    @cached_property
    def digest(self) -> str:
        """SHA-256 of its file and its weights, which may lie elsewhere."""
        found = sha256(self.path.read_bytes())
        for name, tensor in self.module.state_dict().items():
            found.update(name.encode())
            if isinstance(tensor, torch.Tensor):
                found.update(tensor.detach().cpu().contiguous().flatten().view(torch.uint8).numpy().tobytes())
        return found.hexdigest()

    def inputs(self, text: Any, pair: str | None = None) -> tuple[Any, list[str] | None]:
        """The inputs that a file of arrays holds (.npy: one; .npz, .safetensors: by the names of the arguments), or
        those that `encode` makes of a text, of two, or of a picture of PIL, and its tokens.

        Raises InputError in one line.
        """
        if isinstance(text, str) and (path := Path(text).expanduser()).suffix in ARRAYS:
            return read_arrays(path), None
        if self.encode is None:
            given = repr(text) if isinstance(text, str) else "A picture"
            raise InputError(
                f"{given} is no file of arrays ({', '.join(ARRAYS)}): for a text or a picture, let the function return "
                "the module and a function that makes inputs and tokens of one"
            )
        with one_line(self.path):
            made = self.encode(text) if pair is None else self.encode(text, pair)
        if not isinstance(made, tuple) or len(made) != 2 or not all(isinstance(token, str) for token in made[1] or ()):
            raise InputError(f"{self.path}: the function of a text must return inputs and a list of tokens, or None")
        return made[0], None if made[1] is None else list(made[1])

    def record(self, inputs: Any, select: Select = None, device: str | None = None) -> Tape:
        """The tape of one run.  Raises InputError in one line, whatever the module raises."""
        with one_line(self.path, self.module):
            module = self.module.to(device) if device else self.module
            inputs = to_device(inputs, device)
            with torch.no_grad(), record(module, select) as tape:
                call(module, inputs)
        return tape

    def run(self, inputs: Any) -> Any:
        """What the module returns, on the device where it is.  Raises InputError in one line, whatever it raises."""
        with torch.no_grad():
            return self.call(inputs)

    def call(self, inputs: Any) -> Any:
        """The same with gradients, where they are enabled."""
        with one_line(self.path, self.module):
            return call(self.module, to_device(inputs, self.device))


@contextmanager
def _imported(path: Path) -> Iterator[ModuleType]:
    """The module of a file that is run, with the files beside it to import, as when Python runs it.

    It is listed under a name of its own, by which dataclasses look it up.  What it imports from its folder is another
    file's own again afterwards: two versions of a model import files of one name.
    """
    folder, before = path.parent.resolve(), set(sys.modules)
    name = f"{path.stem}_{sha256(str(path.resolve()).encode()).hexdigest()[:8]}"
    spec = spec_from_file_location(name, path)
    assert spec is not None and spec.loader is not None
    code = sys.modules[name] = module_from_spec(spec)
    sys.path.insert(0, str(folder))
    try:
        with one_line(path):
            spec.loader.exec_module(code)
            yield code
    finally:
        sys.path.remove(str(folder))
        for imported in sys.modules.keys() - before - {name}:
            file = Path(getattr(sys.modules[imported], "__file__", None) or "/")
            if folder in file.parents and "site-packages" not in file.parts:
                del sys.modules[imported]


def call(module: nn.Module, inputs: Any) -> Any:
    """Calls a module with inputs: by name, several, or one."""
    if isinstance(inputs, Mapping):
        return module(**inputs)
    return module(*inputs if isinstance(inputs, list | tuple) else (inputs,))


def read_arrays(path: Path) -> Any:
    """The tensor of a .npy file, or those of another by name.  Raises InputError."""
    try:
        if path.suffix == ".safetensors":
            from safetensors.torch import load_file

            return load_file(path)
        arrays = np.load(path, allow_pickle=False)
        return torch.from_numpy(arrays) if path.suffix == ".npy" else {n: torch.from_numpy(arrays[n]) for n in arrays}
    except FileNotFoundError:
        raise InputError(f"{path}: no such file") from None
    except Exception as error:  # of each format
        raise InputError(f"{path}: cannot be read as arrays of numbers ({type(error).__name__})") from None


def to_device(inputs: Any, device: str | None) -> Any:
    """The inputs with their tensors on a device; as they are without one."""
    if isinstance(inputs, Mapping):
        return {name: to_device(value, device) for name, value in inputs.items()}
    if isinstance(inputs, Sequence) and not isinstance(inputs, str):
        return [to_device(value, device) for value in inputs]
    return inputs.to(device) if device and isinstance(inputs, torch.Tensor) else inputs


@contextmanager
def one_line(path: Path, module: nn.Module | None = None) -> Iterator[None]:
    """Turn any exception of a file into a line that says where in it that was.  module: that it runs."""
    try:
        yield
    except TriattnError:
        raise
    except (Exception, SystemExit) as error:
        lines = [frame.lineno for frame in traceback.extract_tb(error.__traceback__) if frame.filename == str(path)]
        number = error.lineno if isinstance(error, SyntaxError) else lines[-1] if lines else None
        text = str(error.msg) if isinstance(error, SyntaxError) else str(error)  # whose text has the place too
        reason = (text.strip().splitlines() or [""])[0][:300]
        if isinstance(error, IndexError):
            reason = describe_lookup(error, module) or reason
        place = f", line {number}" if number else ""
        raise InputError(f"{path}{place}: {type(error).__name__}: {reason}".rstrip(": ")) from None
