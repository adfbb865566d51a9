"""What the server imports before it answers, and what it leaves to a thread."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]

# With a pause of an hour only who asks for a model can end it.
SCRIPT = """
import sys
from triattn_core.inference import preload

preload.PAUSE = 3600
preload.start()
assert {"pandas", "xarray"} <= set(sys.modules)
assert "torch" not in sys.modules
preload.wait()
assert "torch" in sys.modules
"""


def test_the_first_page_waits_for_no_model_and_a_model_for_no_pause() -> None:
    done = subprocess.run([sys.executable, "-c", SCRIPT], capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr


# The thread stands within `scipy.spatial` until the page has either begun a part of it or waits for the whole.
MEETING = """
import importlib, sys
from importlib import _bootstrap
from importlib.machinery import ExtensionFileLoader
from threading import Event, Thread

inside, go_on, failures = Event(), Event(), []
run_module = ExtensionFileLoader.exec_module

def run_and_stop(loader, module):
    if module.__name__ == "scipy.spatial._ckdtree":
        inside.set()
        go_on.wait()
    return run_module(loader, module)

def load(name):
    try:
        importlib.import_module(name)
    except ImportError as error:
        failures.append(str(error))

def is_waiting(thread):
    locks = _bootstrap._blocking_on.get(thread) or []  # one lock, since Python 3.12 a list
    return "scipy.spatial" in [lock.name for lock in (locks if isinstance(locks, list) else [locks])]

ExtensionFileLoader.exec_module = run_and_stop
preload = Thread(target=load, args=("scipy.optimize",))
preload.start()
inside.wait()
page = Thread(target=load, args=(sys.argv[1],))
page.start()
while page.is_alive() and not is_waiting(page.ident):
    pass
go_on.set()
preload.join()
page.join()
print(failures)
"""


def fails_beside_the_thread(module: str) -> bool:
    """Whether an import fails where a page and the thread meet within SciPy."""
    done = subprocess.run([sys.executable, "-c", MEETING, module], capture_output=True, text=True, timeout=200)
    assert done.returncode == 0, done.stderr
    return done.stdout.strip() != "[]"


@pytest.mark.parametrize("name", ["clusters", "head_clusters"])
def test_a_page_and_the_thread_can_meet_within_scipy(name: str) -> None:
    assert not fails_beside_the_thread(f"triattn_core.analysis.maps.{name}")


def test_a_part_of_a_package_that_is_half_imported_fails() -> None:
    """Twin: what SciPy's clusters do where `scipy.spatial` was not asked for as a whole before."""
    assert fails_beside_the_thread("scipy.cluster.hierarchy")


PAGES = """
import ast, sys
from pathlib import Path

for file in sorted(Path("pages").glob("*/page.py")):
    lines = [line for line in ast.parse(file.read_text("utf-8")).body if isinstance(line, (ast.Import, ast.ImportFrom))]
    exec(compile(ast.Module(lines, []), str(file), "exec"), {})
print({"scipy", "torch", "transformers", "matplotlib", "fontTools"} & set(sys.modules))
"""


def test_no_page_imports_scipy_torch_or_what_prints_beside_the_thread() -> None:
    done = subprocess.run([sys.executable, "-c", PAGES], cwd=ROOT, capture_output=True, text=True, timeout=300)
    assert done.stdout.strip() == "set()", done.stderr
