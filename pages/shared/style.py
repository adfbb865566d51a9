"""The little CSS there is: one height for all widgets, less padding, and the few classes that pages write."""

from __future__ import annotations

from html import escape
from pathlib import Path
from runpy import run_path

import streamlit as st
from streamlit.delta_generator import DeltaGenerator
from streamlit.runtime.pages_manager import PagesManager

from pages.shared import copy_link, sentence_box, study_strip, url_state
from pages.shared.errors import open_notices
from pages.shared.navigation import show_tabs
from triattn_core.views.lib.palette import THEMES

APP = Path(__file__).parents[2] / "app.py"
CSS = """
.stAppHeader {height: 41px; min-height: 41px; border-bottom: 1px solid var(--t-hairline)}
.stAppHeader .stAppToolbar {padding-top: 0; padding-bottom: 0; min-height: 40px; height: 40px}
.stAppHeader .stStatusWidget {margin-right: 96px}
[data-testid="stPopoverBody"] {max-height: min(70vh, calc(100vh - 300px))}
.st-key-copy-link > :nth-child(n + 2) {display: none}
.st-key-copy-link {position: fixed; top: 6px; right: 60px; width: auto; z-index: 1000000}
[data-testid="stLayoutWrapper"]:has(> .st-key-copy-link) {position: absolute}
[data-testid="stMainBlockContainer"] {padding: 50px 28px 32px; max-width: 1680px}
[data-testid="stMain"] {scroll-padding: 52px 0 12px}
[data-testid="stVerticalBlock"] {gap: 8px}
[data-testid="stHorizontalBlock"]:not(:has(> [data-testid="stColumn"])) {gap: 14px}
label[data-testid="stWidgetLabel"] {min-height: 0; margin-bottom: 3px}
[data-testid="stWidgetLabel"] p {font-size: 13px; line-height: 20px}
[data-testid="stTextInputRootElement"] {height: 36px; background: transparent}
[data-testid="stTextInputRootElement"] input {font-size: 16px; padding: 0 11px}
[data-testid="stTextAreaRootElement"], [data-testid="stTextAreaRootElement"] > div {background: transparent}
[data-testid="stTextAreaRootElement"] textarea {font-size: 14px; line-height: 1.45; padding: 7px 11px}
.stSelectbox [role="group"] {height: 32px; min-height: 32px; background: transparent}
.stSelectbox input {font-size: 13px}
.stMultiSelect [data-tag] {background: color-mix(in srgb, var(--t-accent) 16%, transparent); color: var(--t-text)}
.stMultiSelect [role="group"], .stMultiSelect [data-baseweb="select"] > div {background: transparent; min-height: 32px}
[data-testid="stNumberInputContainer"] {height: 32px; background: transparent}
[data-testid="stNumberInputContainer"] input {font-size: 13px; background: transparent}
.stButtonGroup button, .stButton button, .stDownloadButton button, .stMenuButton button, .stPopover button {
  height: 32px; min-height: 32px; font-size: 13px; background-color: transparent}
.stButtonGroup button[data-selected="true"] {background: color-mix(in srgb, var(--t-accent) 14%, transparent)}
.st-key-pair :is(.stMenuButton, .stButtonGroup, .stPopover) button {height: 36px}
.st-key-pair > :is(.st-key-a, .st-key-b), .st-key-pair-edited > :is(.st-key-a2, .st-key-b2) {
  flex: 1 1 300px; min-width: min(300px, 100%)}
.st-key-asked, [data-testid="stLayoutWrapper"]:has(> .st-key-asked) {min-width: min(450px, 100%)}
.st-key-differs {padding: 4px 12px; border-radius: 3px;
  background: color-mix(in srgb, var(--t-accent) 12%, transparent)}
.st-key-differs .stButton button {height: 28px; min-height: 28px; background-color: var(--t-page)}
.t-note [lang] {color: var(--t-text)}
.stApp :is(a, button, summary, [tabindex="0"]):focus-visible {outline: 2px solid var(--t-accent); outline-offset: 1px}
.stApp :is([data-testid$="RootElement"], .stSelectbox [role="group"]) :is(input, textarea):focus-visible {outline: none}
.stApp :is([data-testid$="RootElement"], .stSelectbox [role="group"]):has(:focus-visible) {
  outline: 1px solid var(--t-accent); border-color: var(--t-accent)}
.stApp :is(main, [data-testid="stDataFrameResizable"]):focus-visible {outline-offset: -2px}
[data-testid="stElementToolbar"]:focus-within {opacity: 1}
.st-key-maps [data-testid="stElementToolbar"] {top: auto !important; bottom: -14px}
[data-testid="stDataFrameResizable"]:has(canvas:focus) {outline: 2px solid var(--t-accent); outline-offset: -2px}
[data-testid="stAlertContainer"] {padding: 6px 12px; min-height: 0}
[data-testid="stStatusWidgetRunningIcon"] {display: none}
.stApp:has(.st-key-under-way) .stStatusWidget button {display: none}
.st-key-one-by-one {min-height: 216px}
.st-key-measuring {padding: 8px 12px}
.st-key-panels > * {flex: 1 1 420px; min-width: min(420px, 100%); max-width: 640px}
@media (max-width: 600px) {
  .t-costs, .t-costs th {font-size: 12px} .t-table.t-costs :is(th, td):not(:last-child) {padding-right: 5px}
}
.st-key-tabs {border-bottom: 1px solid var(--t-hairline); flex: 0 0 auto}
.st-key-tabs [data-testid="stPageLink"] a {padding: 3px 9px 5px; border-radius: 0}
.st-key-tabs [data-testid="stPageLink"] a p {font-size: 15px; font-weight: 400; color: var(--t-text)}
.st-key-tab-here [data-testid="stPageLink"] a {box-shadow: inset 0 -2px var(--t-accent)}
.st-key-tab-here [data-testid="stPageLink"] a p {font-weight: 650}
.st-key-top:has(.st-key-tabs) h1 {position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%)}
.st-key-top > [data-testid="stElementContainer"] {flex: 1 1 0; min-width: min(420px, 100%); width: auto}
@media (max-width: 1320px) {
  .st-key-settings {column-gap: 8px !important} .st-key-tail {gap: 5px !important}
  .st-key-tail > * {flex: 0 0 auto !important; width: auto !important}
  .st-key-tail button, .st-key-settings :is(.stPopover, .stButtonGroup) button {padding: 0 7px; min-width: 0}
}
@media (max-width: 1100px) {
  .st-key-top > [data-testid="stElementContainer"] {min-width: min(230px, 100%)}
  .st-key-settings > .st-key-checkpoint {flex: 0 0 152px !important}
  .st-key-file-row [data-testid="stFileUploaderDropzone"] {min-height: 0; padding: 0 8px}
}
.t-head {display: flex; flex-wrap: wrap; align-items: baseline; gap: 2px 18px; margin: 0}
.t-head h1 {font-size: 21px; font-weight: 650; letter-spacing: 0; padding: 0; margin: 0; line-height: 1.3}
.t-start {display: flex; flex-wrap: wrap; align-items: center; gap: 0 20px; margin: 8px 0 6px}
.t-start h1 {font-size: 32px; font-weight: 650; letter-spacing: -0.01em; line-height: 1.2; padding: 0; margin: 0}
.t-start p {flex: 1 1 250px; font-size: 14px; line-height: 1.35; margin: 4px 0 0; color: var(--t-text)}
.t-start-line {font-size: 15px; line-height: 1.45; margin: 2px 0 0; color: var(--t-text)}
.st-key-units .stButtonGroup {display: flex; flex-wrap: wrap; align-items: center; gap: 4px 12px}
.st-key-units .stButtonGroup > label {margin: 0; width: auto}
.st-key-doors {margin-top: 2px} .st-key-doors > * {flex: 1 1 220px; width: auto}
.st-key-doors [data-testid="stPageLink"] a {width: 100%; justify-content: space-between; padding: 11px 18px;
  border: 1px solid var(--t-hairline); border-radius: 4px}
.st-key-doors [data-testid="stPageLink"] a:hover {border-color: var(--t-accent)}
.st-key-doors [data-testid="stPageLink"] a p {font-size: 16px}
.t-intro p {font-size: 15.5px; line-height: 1.5; max-width: 1120px}
.t-head:not(.t-intro) p, .t-muted {color: var(--t-muted)}
.t-head p {margin: 0; font-size: 14px; line-height: 1.35}
.t-num {font-variant-numeric: tabular-nums}
.t-query {color: var(--t-query)} .t-key {color: var(--t-key)} .t-context, .t-feature {color: var(--t-context)}
.t-says {display: flex; flex-wrap: wrap; align-items: center; gap: 2px 14px; line-height: 1.5}
.t-says .t-muted {font-size: 14px}
.t-says.t-answer .t-muted {flex-basis: 100%}
.t-true-cell {display: inline-block; width: 13px; height: 11px; border: 3px solid; border-radius: 3px}
.t-true-cell {margin-left: 10px; vertical-align: -1px}
.t-bar {display: inline-block; width: 170px; height: 8px; background: var(--t-hairline)}
.t-bar i {display: block; height: 100%}
.t-note {color: var(--t-muted); font-size: 13px; margin: 2px 0 0}
.t-outcome {font-size: 17px; line-height: 1.4; margin: 6px 0 2px}
.t-outcome .t-muted {font-size: 14px; margin-left: 6px}
.t-swatch {display: inline-block; width: 9px; height: 9px; margin-right: 6px}
.t-table {border-collapse: collapse; width: 100%; font-size: 14px; font-variant-numeric: tabular-nums}
.t-table th {font-weight: 400; font-size: 13px; color: var(--t-muted); text-align: left; padding: 4px 12px 4px 0}
.t-table :is(td, th[scope="row"]) {border-top: 1px solid var(--t-hairline); padding: 3px 12px 3px 0}
.t-table tr:has(> th) > td:empty {border-top: 0}
.t-table .r {text-align: right} .t-table .t-line {white-space: nowrap} .t-table tr > *:last-child {padding-right: 0}
:is(.t-candidates, .t-alignment, .t-predicate) {width: auto}
:is(.t-candidates, .t-alignment, .t-predicate) :is(th, td) {padding-right: 20px} .t-predicate .c {text-align: center}
:is(.t-candidates, .t-alignment, .t-predicate) th {white-space: nowrap}
.t-settings .t-long {overflow-wrap: anywhere}
.st-key-study-strip {padding: 5px 68px 6px 12px; border-left: 3px solid var(--t-accent); position: relative;
  background: color-mix(in srgb, var(--t-accent) 7%, transparent)}
.st-key-study-strip p {margin: 0; font-size: 13.5px; line-height: 1.45} .st-key-study-strip p b {font-weight: 600}
.st-key-study-strip > :first-child {flex: 1 1 420px; min-width: min(420px, 100%)}
.st-key-study-strip > :nth-child(2) {flex: 0 1 auto; width: auto; min-width: 0}
.st-key-study-strip .t-table {font-size: 13px; width: auto}
.st-key-study-strip .t-table :is(th, td) {padding-top: 1px; padding-bottom: 1px} .t-table .t-after {font-weight: 600}
.st-key-close-study {position: absolute; top: -1px; right: 12px; width: auto}
.t-rule {border: 0; border-top: 1px solid var(--t-hairline); margin: 6px 0}

[class*="st-key-map-"] {gap: 0}
.t-section {display: flex; flex-wrap: wrap; justify-content: space-between; gap: 0 12px; margin: 8px 0 3px;
  padding-top: 8px; border-top: 1px solid var(--t-hairline); font-size: 14px}
.t-section .t-muted {font-size: 13px}
.t-facts {border-collapse: collapse; width: 100%; font-size: 13px; font-variant-numeric: tabular-nums}
.t-facts td {padding: 1px 12px 1px 0; vertical-align: top} .t-facts td:last-child {padding-right: 0}
.t-facts {max-width: 560px} .t-facts .r {text-align: right}
.t-sources {max-width: none} .t-sources td:first-child {white-space: nowrap; width: 1%; padding-right: 24px}
.t-mark td {background: var(--t-query-mark)} .t-mark td.t-muted {color: var(--t-text)}
.t-mark td:first-child {font-weight: 600; padding-left: 5px}
.t-code {font-family: 'Source Code', monospace; font-size: 12.5px}
.t-card {border-top: 3px solid; padding-top: 8px}
.t-card h2 {font-size: 17px; font-weight: 600; padding: 0 0 2px; margin: 0}
.t-card p {margin: 0 0 6px}
.t-big {display: flex; align-items: center; gap: 18px; margin: 10px 0}
.t-big > b {font-size: 34px; font-weight: 600; line-height: 1; font-variant-numeric: tabular-nums}
.t-big span {font-size: 13px; line-height: 1.4}
.t-maps {display: grid; grid-template-columns: repeat(auto-fit, minmax(min(var(--least), 100%), 1fr)); gap: 8px 18px;
  align-items: end}
.t-maps figure {margin: 0; min-width: 0; max-width: 380px; padding-right: 42px}
.t-maps.t-uneven {align-items: start}
.t-maps figcaption {font-weight: 600; font-size: 13px; line-height: 1.35}
.t-maps table {border-collapse: separate; border-spacing: 1px; table-layout: fixed; width: 100%; font-size: 11.5px}
.t-maps th {font-weight: 400; color: var(--t-muted); padding: 0; border: 0; line-height: 1; text-align: right;
  overflow: hidden; text-overflow: ellipsis; white-space: nowrap}
.t-maps td {padding: 0; border: 0; text-align: center; line-height: 1; font-variant-numeric: tabular-nums}
.t-weight-ramp {display: inline-block; width: 84px; height: 9px; margin: 0 3px}
.t-maps .t-true {outline: 2px solid var(--t-key); outline-offset: -1px}
.t-maps tbody th {padding-right: 5px}
.t-maps thead th {height: 50px; vertical-align: bottom; overflow: visible; text-align: left}
.t-maps thead span {display: inline-block; position: relative; left: 50%; bottom: 3px; transform: rotate(-40deg);
  transform-origin: 0 100%}
.t-maps .t-dense {padding-right: 24px}
.t-maps .t-dense thead span {transform: rotate(-90deg); bottom: 0; left: calc(50% + 5px); font-size: 10.5px}
.t-truth {margin: 0}
.t-problem {font-size: 17px; line-height: 1.75; max-width: 1000px; margin: 2px 0; white-space: pre-line}
.t-film {font-size: 16px; line-height: 1.9; margin: 2px 0; max-width: 760px}
.t-problem mark {background: var(--t-key-mark); color: inherit; padding: 1px 4px; border-radius: 3px}
.t-problem mark.t-picked {outline: 2px solid var(--t-key); outline-offset: -2px; font-weight: 600}
.t-study {font-size: 16px; font-weight: 600; margin: 6px 0 4px; padding: 0}
.t-study-input {font-size: 14px; line-height: 1.4; margin: 0 0 6px; color: var(--t-muted)}
.t-finding {color: var(--t-text); font-size: 14px} details.t-note > summary {cursor: pointer}
details.t-note > div {max-width: 1120px; padding: 2px 0 4px 14px}
.t-corner {position: absolute; left: 0; bottom: 0; font-size: clamp(10.5px, 1.05vw, 13px); line-height: 1.3}
.t-corner b {font-weight: 600}
.t-scores th, .t-scores td {border: 0; padding: 3px 0 3px 6px; white-space: nowrap}
.t-scores .t-block {padding-left: 26px} .t-scores th[colspan] {padding-top: 0}
.t-scores tr > :first-child {padding-left: 0}
.st-key-studies > div > [data-testid="stHorizontalBlock"], .st-key-studies > [data-testid="stHorizontalBlock"] {
  flex-wrap: wrap}
.st-key-studies [data-testid="stColumn"] {flex: 1 1 300px; min-width: min(300px, 100%)}
[class*="st-key-wide-"] [data-testid="stColumn"] {flex-basis: 440px; min-width: min(440px, 100%)}
.st-key-main-parts > div > [data-testid="stHorizontalBlock"] {flex-wrap: wrap}
.st-key-main-parts > div > [data-testid="stHorizontalBlock"] > [data-testid="stColumn"] {
  flex-basis: 552px; min-width: min(552px, 100%)}
[class*="st-key-wide-"] [data-testid="stHorizontalBlock"] {flex-wrap: wrap-reverse; align-items: flex-end}
@media (max-width: 600px) {
  .t-scores {font-size: 11.5px} .t-scores th {font-size: 11px} .t-scores .t-swatch {display: none}
  .t-scores th, .t-scores td {padding-left: 4px} .t-scores .t-block {padding-left: 9px}
}
[data-testid="stPageLink"] a {padding: 0; min-height: 0; color: var(--t-accent)}
[data-testid="stPageLink"] a p {font-weight: 600; font-size: 14px; color: var(--t-accent)}
.st-key-aside {border-left: 1px solid var(--t-hairline); padding-left: 20px}
[class*="st-key-links"] a p {font-weight: 400; line-height: 1.35; color: var(--t-text); white-space: normal;
  padding-left: 92px; text-indent: -92px}
[class*="st-key-links"] a p > span:first-child {display: inline-block; min-width: 92px; text-indent: 0}
[class*="st-key-links"] a p [class*="st-emotion"], [class*="st-key-links"] a p span {color: var(--t-muted)}
@media (max-width: 900px) {
  [class*="st-key-main"] > div > [data-testid="stHorizontalBlock"] {flex-wrap: wrap}
  [class*="st-key-main"] > div > [data-testid="stHorizontalBlock"] > [data-testid="stColumn"] {min-width: 100%}
  .st-key-aside {border: 0; padding: 0}
}
.t-sum {max-width: none} .t-sum td {padding-top: 3px; padding-bottom: 3px}
.t-sum td:nth-child(-n+2) {white-space: nowrap; width: 1%}
.t-fall {position: relative; display: block; height: 12px; min-width: 90px} .t-fall i {position: absolute; height: 12px}
.t-fall b {position: absolute; top: -8px; bottom: -8px; width: 1px; background: var(--t-muted)}
.t-total td {border-top: 1px solid var(--t-hairline)} .t-large {font-size: 20px; font-weight: 600}
.t-sides {display: grid; grid-template-columns: repeat(auto-fit, minmax(min(224px, 100%), 1fr)); align-items: start;
  gap: 0 28px; margin-top: 6px}
.t-sides td {white-space: nowrap}
@media (max-width: 1100px) {.t-sum td:nth-child(2) {white-space: normal; width: auto} .t-fall {min-width: 56px}}
.t-lead {margin: 10px 0 -4px; font-size: 14px} .t-lead .t-muted {font-size: 13px; margin-left: 10px}
.t-item {margin-right: 18px; white-space: nowrap}
.t-scroll {overflow-x: auto} .t-scrolled {max-height: 94px; overflow-y: auto}
.st-key-maps > *, .st-key-residual {max-width: 100%; overflow-x: auto}
"""


def scrolled(html: str, long: bool, label: str) -> str:
    """HTML that scrolls, with the keyboard too, where it is long; else as it is.  label: what it is, in words."""
    if not long:
        return html
    return f'<div class="t-scrolled" tabindex="0" role="region" aria-label="{escape(label)}">{html}</div>'


def dark() -> bool:
    """Whether this browser shows the dark theme."""
    return st.context.theme.get("type") == "dark"


def theme() -> str:
    """`dark` or `light`: the theme this browser shows."""
    return "dark" if dark() else "light"


def colours() -> dict[str, str]:
    """The palette's colours by name (`text`, `muted`, `query`, `bi`, …) in the theme this browser shows."""
    return THEMES[theme()]


def heading(title: str, sentence: str, intro: bool = False) -> None:
    """Top of every page: the style sheet, the title, and one sentence (HTML of our own) that says how to read it.

    `intro` is for the first page: more than a sentence, to be read.
    """
    place, _ = opening()
    say(place, title, sentence, intro)


def opening() -> tuple[DeltaGenerator, DeltaGenerator]:
    """The same in two steps, if a control decides the sentence: the place of the heading (see `say`), and the toolbar
    beside it."""
    _through_app()
    url_state.arrive()
    variables = "".join(f"--t-{name.replace('_', '-')}:{value};" for name, value in colours().items())
    st.html(f"<style>:root{{{variables}}}{CSS}{sentence_box.CSS}</style>")
    with st.container(horizontal=True, key="top"):
        show_tabs()
        place = st.empty()
        toolbar = st.container(horizontal=True, vertical_alignment="center", width="content", key="beside")
    copy_link.button()
    open_notices()
    study_strip.show()
    return place, toolbar


def say(place: DeltaGenerator, title: str, sentence: str, intro: bool = False) -> None:
    """The heading in its place."""
    css_class = f"t-head{' t-intro' if intro else ''}"
    place.html(f'<div class="{css_class}"><h1>{escape(title)}</h1><p>{sentence}</p></div>')


def _through_app() -> None:
    """Streamlit 1.67 runs a file in a folder named `pages` without app.py when a link to it is the first request.

    That is its older kind of multipage app, and ends with the first call of `st.navigation`: in app.py, run here.
    """
    if PagesManager.uses_pages_directory:
        run_path(str(APP))
        st.stop()


def colour(mechanism: str) -> str:
    """The colour of a mechanism; that of plain bars where it has none."""
    return colours().get(mechanism, colours()["bar"])


def swatch(mechanism: str) -> str:
    """HTML: the colour of a mechanism as a small square; the name must stand beside it."""
    return f'<span class="t-swatch" style="background:{colour(mechanism)}"></span>'


def bar(share: float, colour: str) -> str:
    """HTML: a bar filled from 0 to 1."""
    return f'<span class="t-bar"><i style="width:{100 * min(max(share, 0), 1):.1f}%;background:{colour}"></i></span>'
