"""The pictures of the README and of the gallery, taken from the running app: `python docs/pictures/make.py URL
[NAME…]`."""

from __future__ import annotations

import io
import sys
from pathlib import Path

from PIL import Image
from playwright.sync_api import Page, sync_playwright

PICTURES = {
    "start": "",
    "laboratory": "laboratory",
    "cube": "cube",
    "side_by_side": "side_by_side?language=English",
    "context": "context",
    "tensor": "tensor?checkpoint=sst5-mtsa&text=The film is not good.&head=5",
    "similarity": "similarity?example=paper-3",
    "third_order": "third_order",
    "intervene": "intervene",
}  # file name → address
SIZE = {"width": 1280, "height": 800}
COLOURS = 256  # of a picture's palette, chosen to cover all inks, also of few pixels


def settle(page: Page) -> None:
    """Waits until nothing is computed any more and every figure is drawn."""
    page.wait_for_timeout(3000)
    busy = page.locator('[data-testid="stStatusWidget"], .stSkeleton, [data-testid="stSkeleton"]')
    while busy.count():
        page.wait_for_timeout(500)
    page.wait_for_timeout(2000)


def main(url: str, names: list[str]) -> None:
    """Writes NAME-light.png and NAME-dark.png of these pictures beside this file, of all without names."""
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path="/usr/bin/chromium", args=["--no-sandbox"])
        for theme in ("light", "dark"):
            for name in names or PICTURES:
                page = browser.new_page(viewport=SIZE, color_scheme=theme)
                page.goto(f"{url}/{PICTURES[name]}")
                settle(page)
                image = Image.open(io.BytesIO(page.screenshot())).convert("RGB")
                image = image.quantize(COLOURS, Image.Quantize.MAXCOVERAGE, dither=Image.Dither.NONE)
                image.save(Path(__file__).with_name(f"{name}-{theme}.png"), optimize=True)
                page.close()
        browser.close()


if __name__ == "__main__":
    main(sys.argv[1].rstrip("/"), sys.argv[2:])
