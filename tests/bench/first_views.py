"""What a visitor waits for on each page of a fresh server, once its imports are done.

`python -m tests.bench.first_views [--against REV] [PAGE …]`: for each page, opened as it opens by itself and as the
page of a server of its own, the seconds until its heading, its first figure, and the end of its run.
`--against` measures another commit too, page by page in turn.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

from tests.soak.server import ROOT, serving, used
from tests.soak.socket_client import Tab

PAGES = (
    "start", "cube", "side_by_side", "mtsa", "tensor", "coin", "similarity", "distributions", "context", "intervene",
    "attribute", "laboratory", "compare", "results",
)  # fmt: skip
FIGURES = ("plotly_chart", "arrow_vega_lite_chart", "vega_lite_chart", "bidi_component", "component_instance", "imgs")
HTML_FIGURES = ("<img", 'class="t-marks"', 'class="t-whole"')
COLUMNS = ("heading", "first figure", "all", "CPU s")


def first_view(root: Path, page: str) -> dict[str, float]:
    """Seconds to each of COLUMNS on a server of its own.  Raises RuntimeError where the page fails."""
    with serving(root) as (port, server):
        await_imports(server)
        before, seen = used(server)[1], {}
        tab = Tab(port, 300)
        for seconds, message in tab.follow_page("" if page == "start" else page):
            seen["all"] = seconds
            element = message.delta.new_element.WhichOneof("type") or ""
            if element == "exception":
                raise RuntimeError(f"{page}: {message.delta.new_element.exception.type} after {seconds:.2f} s")
            if element in ("html", "markdown", "heading"):
                seen.setdefault("heading", seconds)
            body = message.delta.new_element.html.body if element == "html" else ""
            if element in FIGURES or any(figure in body for figure in HTML_FIGURES):
                seen.setdefault("first figure", seconds)
        tab.close()
        return {**seen, "CPU s": used(server)[1] - before}


def await_imports(server) -> None:
    """Until the processor rests: a version that imports nothing by itself rests at once."""
    before = used(server)[1]
    for _ in range(60):
        time.sleep(1)
        now = used(server)[1]
        if now - before < 0.05:
            return
        before = now


@contextmanager
def checkouts(against: str | None) -> Iterator[dict[str, Path]]:
    """The folders of this version and of another commit, by what they are called."""
    with TemporaryDirectory() as folder:
        other = Path(folder) / "other"
        if not against:
            yield {"this": ROOT}
            return
        subprocess.run(["git", "worktree", "add", "-q", "--detach", str(other), against], cwd=ROOT, check=True)
        try:
            yield {"this": ROOT, against: other}
        finally:
            subprocess.run(["git", "worktree", "remove", "--force", str(other)], cwd=ROOT, check=True)


def main() -> int:
    """Prints a table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("pages", nargs="*")
    parser.add_argument("--against", help="a commit, such as HEAD~1")
    options = parser.parse_args()
    with checkouts(options.against) as roots:
        print(f"{'page':14} {'version':10} " + " ".join(f"{name:>12}" for name in COLUMNS), flush=True)
        for page in options.pages or PAGES:
            for version, root in roots.items():
                seen = first_view(root, page)
                numbers = " ".join(f"{seen[name]:12.2f}" if name in seen else f"{'-':>12}" for name in COLUMNS)
                print(f"{page:14} {version:10} {numbers}", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
