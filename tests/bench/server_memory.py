"""What the server holds while one visitor walks through the pages, each as it opens by itself.

`python -m tests.bench.server_memory [PAGE …]`: memory of the server once its imports are done, and after each page.
"""

from __future__ import annotations

import argparse

from tests.bench.first_views import PAGES, await_imports
from tests.soak.server import serving, used
from tests.soak.socket_client import Tab


def main() -> None:
    """Prints a table: MB after a page, and what the page added."""
    parser = argparse.ArgumentParser(prog="python -m tests.bench.server_memory", description=__doc__)
    parser.add_argument("pages", nargs="*")
    options = parser.parse_args()
    with serving() as (port, server):
        await_imports(server)
        held = used(server)[0]
        print(f"{'imports done':14} {held:7.0f} MB", flush=True)
        for page in options.pages or PAGES:
            tab = Tab(port, 300)
            tab.open_page("" if page == "start" else page)
            tab.close()
            before, held = held, used(server)[0]
            print(f"{page:14} {held:7.0f} MB  {held - before:+7.0f}", flush=True)


if __name__ == "__main__":
    main()
