"""The scripts of the figures in one piece, and the checks that node makes of them."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import pytest

from triattn_core.views.lib import script_bundle as bundles
from triattn_core.views.lib.script_bundle import ROOT, bundle_script

OWN = ("start",)
FIGURES = (*(f"{name}/{name}.js" for name in OWN), "lib/renderer/figure.js")
NODE = shutil.which("node")


@pytest.fixture
def folder(tmp_path, monkeypatch) -> Path:
    """An empty folder in place of the views."""
    monkeypatch.setattr(bundles, "ROOT", tmp_path)
    bundle_script.cache_clear()
    yield tmp_path
    bundle_script.cache_clear()


def write(folder: Path, **files: str) -> None:
    for name, code in files.items():
        (folder / f"{name}.js").write_text(code, encoding="utf-8")


@pytest.mark.parametrize("figure", FIGURES)
def test_a_figure_is_one_script_that_mounts(figure):
    script = bundle_script(figure)
    assert not re.search(r"^(import|export)\b", script, re.MULTILINE)
    assert script.rstrip().endswith(f"const {{ mount }} = module_{re.sub(r'[/.]', '_', figure)[:-3]};")
    names = re.findall(r"^const (module_\w+) =", script, re.MULTILINE)
    assert len(names) == len(set(names)) and "</script" not in script


def test_no_file_is_left_out():
    """Every script is part of some figure."""
    scripts = "".join(bundle_script(figure) for figure in FIGURES)
    files = {re.sub(r"\W", "_", str(file.relative_to(ROOT).with_suffix(""))) for file in ROOT.rglob("*.js")}
    assert set(re.findall(r"^const module_(\w+) =", scripts, re.MULTILINE)) == files


def test_each_module_has_its_own_scope(folder):
    write(
        folder, a='import { twice as double } from "./b.js";\n\nconst x = 3;\n\nexport const run = () => double(x);\n'
    )
    write(folder, b="const x = 2;\n\nexport function twice(y) {\n  return x * y;\n}\n")
    script = bundle_script("a.js")
    assert script.index("module_b =") < script.index("module_a =")
    if NODE:
        process = subprocess.run(
            [NODE, "-e", script + "console.log(run())"], capture_output=True, text=True, check=True
        )
        assert process.stdout == "6\n"


@pytest.mark.skipif(NODE is None, reason="node is not installed")
def test_a_script_outside_of_the_views_and_its_generators(tmp_path):
    write(tmp_path, numbers="export function* numbers() {\n  yield* [4, 2];\n}\n")
    write(tmp_path, start='import { numbers } from "./numbers.js";\n\nconsole.log([...numbers()].join(""));\n')
    run = subprocess.run(
        [NODE, "-e", bundle_script(str(tmp_path / "start.js"))], capture_output=True, text=True, check=True
    )
    assert run.stdout == "42\n"


@pytest.mark.parametrize(
    ("code", "message"),
    [
        ('import { none } from "./b.js";\n', "b.js does not export none"),
        ('import { back } from "./c.js";\n\nexport const x = 1;\n', "import each other: a.js -> c.js -> a.js"),
        ('import all from "./b.js";\n', "not understood: import all"),
        ("export default 3;\n", "not understood: export default"),
    ],
)
def test_what_it_does_not_understand_is_said(folder, code, message):
    write(folder, a=code, b="export const some = 1;\n", c='import { x } from "./a.js";\n\nexport const back = x;\n')
    with pytest.raises(ValueError, match=re.escape(message)):
        bundle_script("a.js")


@pytest.mark.skipif(NODE is None, reason="node is not installed")
def test_the_scripts_pass_their_own_tests():
    """Layout, hit-testing, scales and numbers, under node."""
    tests = sorted(map(str, (Path(__file__).parents[1] / "scripts").glob("*.test.js")))
    ran = subprocess.run([NODE, "--test", *tests], capture_output=True, text=True)
    assert ran.returncode == 0, ran.stdout[-4000:]
