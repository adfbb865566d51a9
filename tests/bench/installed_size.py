"""What an installation takes on the disk: the app's requirements with all that they need, beside everything here.

`python -m tests.bench.installed_size [FILE …]`: MB of the files of each requirements file's packages and of what those
need, and the largest of them.
"""

from __future__ import annotations

import argparse
import re
from collections.abc import Iterator
from importlib.metadata import Distribution, PackageNotFoundError, distribution, distributions
from importlib.util import cache_from_source
from pathlib import Path

from packaging.requirements import Requirement

ROOT = Path(__file__).resolve().parents[2]


def size(package: Distribution) -> float:
    """MB of the files that its installation wrote, and of what was compiled of them, then or since."""
    paths = {Path(str(package.locate_file(file))) for file in package.files or ()}
    paths |= {Path(cache_from_source(str(path))) for path in paths if path.suffix == ".py"}
    return sum(path.stat().st_size for path in paths if path.is_file()) / 1e6


def needed(names: list[Requirement]) -> Iterator[Distribution]:
    """The installed packages that these need, themselves among them, each once."""
    waiting, seen = list(names), set()
    while waiting:
        asked = waiting.pop()
        try:
            package = distribution(asked.name)
        except PackageNotFoundError:  # of another platform
            continue
        key = (re.sub(r"[-_.]+", "-", asked.name).lower(), *sorted(asked.extras))
        if key in seen:
            continue
        if not any(name == key[0] for name, *_ in seen):
            yield package
        seen.add(key)
        for further in map(Requirement, package.requires or ()):
            if not further.marker or any(further.marker.evaluate({"extra": extra}) for extra in ("", *asked.extras)):
                waiting.append(further)


def main() -> None:
    """Prints a line for each file, and one for all that is installed."""
    parser = argparse.ArgumentParser(prog="python -m tests.bench.installed_size", description=__doc__)
    parser.add_argument("files", nargs="*", type=Path, default=[ROOT / "requirements.txt"])
    for file in parser.parse_args().files:
        lines = [line.partition("#")[0].strip() for line in file.read_text("utf-8").splitlines()]
        sizes = {package.name: size(package) for package in needed([Requirement(line) for line in lines if line])}
        largest = sorted(sizes, key=sizes.__getitem__, reverse=True)[:5]
        told = ", ".join(f"{name} {sizes[name]:.0f}" for name in largest)
        print(f"{file.name}: {len(sizes)} packages, {sum(sizes.values()):,.0f} MB ({told})")
    print(f"all that is installed: {sum(map(size, distributions())):,.0f} MB")


if __name__ == "__main__":
    main()
