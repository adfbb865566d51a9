"""A case card in a real browser, on a shipped checkpoint: downloaded, opened offline, made again by its command."""

from __future__ import annotations

import json
import zipfile
from pathlib import Path

import pandas as pd
import pytest

from triattn_core.__main__ import main

CANVAS = ".triattn canvas"
LINK = "checkpoint=quora-tri-published&layer=2&head=4&cell=4.3.5"
PAIR = "a=Which+browsers+can+play+movies%3F&b=Which+browser+can+download+movies%3F"


@pytest.mark.timeout(900)  # torch is loaded twice, by the app and by the command
def test_a_card_is_downloaded_opens_offline_and_is_made_again(page, app, tmp_path, capsys):
    page.set_default_timeout(240_000)  # torch is loaded first
    page.goto(f"{app}/cube?{PAIR}&{LINK}")
    page.wait_for_selector(f'{CANVAS}[data-cell="4.3.5"][data-exact="true"]')
    page.get_by_role("button", name="Export").click()
    with page.expect_download() as download:
        page.get_by_role("button", name="Case card, ZIP").click()
    assert download.value.suggested_filename == "cube-layer.1-a_over_b-weight.zip"
    with zipfile.ZipFile(Path(download.value.path())) as archive:
        archive.extractall(tmp_path)
    about = json.loads((tmp_path / "manifest.json").read_text("utf-8"))
    assert about["settings"]["cell"] == [4, 3, 5] and about["settings"]["head"] == 4
    table = pd.read_csv(tmp_path / "data.csv")
    weight = table.query("query_at == 4 and key_at == 3 and context_at == 5")["weight"].item()

    page.context.set_offline(True)
    page.goto((tmp_path / "cube.html").as_uri())
    page.wait_for_selector(f'{CANVAS}[data-cell="4.3.5"][data-exact="true"]')
    assert f"{weight:.3g}" in page.locator(".inspector").inner_text()
    for kind in ("svg", "png"):
        page.goto((tmp_path / f"cube.{kind}").as_uri())
        size = page.locator(kind if kind == "svg" else "img").bounding_box()
        assert size["width"] > 300 and size["height"] > 200
    page.context.set_offline(False)

    command = about["command"].replace("manifest.json", str(tmp_path / "manifest.json"))
    command = command.replace("card.zip", str(tmp_path / "again.zip"))
    assert main([*command.split()[1:], "--json", "--device", "cpu"]) == 0
    result = json.loads(capsys.readouterr().out)
    assert result["rows"] == len(table) and max(result["furthest"].values()) < 1e-5


CHARTS = {  # the link; the settings; what stands in the figure
    "context": ("layer=2&head=3&checkpoint=lcqmc-tri-published", {"layer": 2, "head": 3}, "residual", "花"),
    "intervene": (
        "unit=sentences&units=sentence+A&checkpoint=lcqmc-tri-published",
        {"unit": "sentences"},
        "maps",
        "花",
    ),
    "attribute": ("steps=16&checkpoint=lcqmc-tri-published", {"steps": 16}, "attribute", "花"),
}
CHINESE = "a=蚂蚁花呗怎么还款&b=花呗如何提前还款"


@pytest.mark.timeout(900)
@pytest.mark.parametrize("where", CHARTS)
def test_a_card_of_charts_is_downloaded_and_opens_offline(page, app, tmp_path, where):
    link, settings, figure, word = CHARTS[where]
    page.set_default_timeout(240_000)
    page.goto(f"{app}/{where}?{CHINESE}&language=Chinese&{link}")
    page.get_by_role("button", name="Export").click()
    page.get_by_text(f"triattn card {where} lcqmc-tri-published row.json").wait_for()
    with page.expect_download() as download:
        page.get_by_role("button", name="Case card, ZIP").click()
    assert download.value.suggested_filename == f"{where}.zip"
    with zipfile.ZipFile(Path(download.value.path())) as archive:
        archive.extractall(tmp_path)
        assert {info.date_time[0] for info in archive.infolist()} == {1980}
    about = json.loads((tmp_path / "manifest.json").read_text("utf-8"))
    assert {name: about["settings"][name] for name in settings} == settings and figure in about["figures"]
    assert about["checkpoints"][0]["name"] == "lcqmc-tri-published" and "花呗" in about["row"]["text_a"]

    asked, errors = [], []
    page.context.set_offline(True)
    page.on("request", lambda request: asked.append(request.url))
    page.on("console", lambda message: errors.append(message.text) if message.type == "error" else None)
    page.goto((tmp_path / f"{figure}.html").as_uri())
    page.wait_for_selector('#figure[data-drawn="true"]')
    drawing = page.locator("#figure svg.marks")
    assert word in drawing.text_content() and drawing.bounding_box()["width"] > 300
    assert about["figures"][figure]["alt"] in page.locator(".sentence").inner_text()
    assert [url for url in asked if not url.startswith("file:")] == [] and not errors
    page.goto((tmp_path / f"{figure}.svg").as_uri())
    assert word in page.locator("svg").text_content() and page.locator("svg").bounding_box()["height"] > 150
    page.context.set_offline(False)
