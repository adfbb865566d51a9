"""The style sheet of the Results page: tables of numbers with a strip of dots on their rows."""

from __future__ import annotations

import streamlit as st

CSS = """
.t-beside {border-collapse: collapse; width: 100%; font-size: 14px; font-variant-numeric: tabular-nums}
.t-beside th {font-weight: 400; font-size: 13px; color: var(--t-muted); text-align: right; padding: 2px 0 3px;
  vertical-align: bottom; white-space: nowrap}
.t-beside th:first-child {text-align: left}
.t-beside th.t-over {font-weight: 600; color: var(--t-text); text-align: left; padding-left: 30px}
.t-over span {display: block; border-bottom: 1px solid var(--t-hairline); padding-bottom: 2px}
.t-beside td {padding: 3px 0; white-space: nowrap; height: 26px; box-sizing: border-box}
.t-beside tr.t-group td {padding: 9px 0 2px; font-weight: 600; font-size: 13px; height: auto;
  border-bottom: 1px solid var(--t-hairline)}
.t-beside .n {text-align: right; padding-left: 14px; min-width: 60px}
.t-beside .s {text-align: left; padding-left: 5px; font-size: 12px; color: var(--t-muted); min-width: 34px}
.t-beside .first {padding-left: 30px} .t-beside .r {text-align: right; padding-left: 18px}
.t-beside .why {text-align: right; color: var(--t-muted); font-size: 13px; padding-left: 14px}
.t-beside a {color: inherit; text-decoration: underline; text-decoration-color: var(--t-hairline);
  text-underline-offset: 3px}
.t-beside a:hover, .t-beside a:focus-visible {color: var(--t-accent); text-decoration-color: currentColor}
.t-beside sub {font-size: 11px; line-height: 0}
.t-beside .t-strip, .t-beside tr.t-group td.t-strip {position: relative; padding: 0 0 0 40px; width: 38%;
  min-width: 220px}
.t-beside th.t-strip {text-align: left; color: var(--t-muted)} .t-strip b {font-weight: 600; color: var(--t-text)}
.t-draw {position: relative; height: 34px; margin: -4px 16px -4px 0; background-repeat: no-repeat}
.t-draw span {position: absolute}
.t-draw .dot {width: 10px; height: 10px; margin: -5px 0 0 -5px; top: 50%; border-radius: 50%; box-sizing: border-box}
.t-draw .line {height: 2px; margin-top: -1px; top: 50%}
.t-draw .tick {font-size: 12px; color: var(--t-muted); transform: translateX(-50%); bottom: 4px}
.t-key {display: inline-block; width: 10px; height: 10px; border-radius: 50%; box-sizing: border-box;
  border: 1.5px solid var(--t-muted); margin: 0 5px 0 0}
.t-pair {display: inline-block; margin-left: 10px}
.t-key.ours {background: var(--t-muted)}
.t-beside.t-order td {vertical-align: baseline; height: auto; padding-top: 4px; padding-bottom: 4px}
.t-beside.t-order .say {text-align: left; padding-left: 30px; font-size: 13px; white-space: normal; width: 27%}
.t-beside.t-pairs {max-width: 900px}
.t-scroll:has(> .t-beside) {overflow: auto hidden}
.t-know {display: grid; grid-template-columns: minmax(92px, max-content) 1fr; gap: 5px 18px; font-size: 13.5px;
  line-height: 1.45; margin: 4px 0}
.t-know b {font-weight: 600} .t-know span {color: var(--t-muted)} .t-know a {color: var(--t-accent)}
@media (max-width: 1150px) {
  .t-beside .t-strip, .t-beside tr.t-group td.t-strip {min-width: 130px; padding-left: 18px}
  .t-beside th.t-strip {white-space: normal}
  .t-beside.t-wide .t-strip, .t-beside.t-wide tr.t-group td.t-strip {display: none}
  .t-beside.t-wide .first, .t-beside.t-wide th.t-over {padding-left: 14px; white-space: normal}
  .t-beside.t-wide .s {min-width: 0} .t-beside.t-wide .r {padding-left: 10px}
  .t-beside .n {padding-left: 8px; min-width: 0}
}
@media (max-width: 1023px) {
  .t-beside {font-size: 13px} .t-beside .n {padding-left: 5px}
  .t-beside .first, .t-beside th.t-over {padding-left: 12px}
  .t-beside .s {min-width: 0; font-size: 11px; padding-left: 3px}
}
@media (max-width: 960px) {
  .t-beside th.t-over {white-space: normal}
  .t-beside.t-wide td:first-child {white-space: normal} .t-beside.t-wide th, .t-beside.t-wide td {font-size: 12px}
  .t-beside.t-wide .n, .t-beside.t-wide .r {padding-left: 6px}
  .t-beside td.why {font-size: 11px; white-space: normal; line-height: 1.1; padding-left: 6px; max-width: 74px}
  .t-beside .t-strip, .t-beside tr.t-group td.t-strip {display: none}
  .t-beside .n, .t-beside .r {padding-left: 8px; min-width: 0}
  .t-beside .first, .t-beside th.t-over {padding-left: 14px}
  .t-beside .s {min-width: 0; font-size: 11px; padding-left: 3px}
  .t-beside.t-order .say {padding-left: 12px; font-size: 12px; min-width: 128px}
  .t-know {grid-template-columns: minmax(92px, 190px) 1fr}
  .t-scroll {background: linear-gradient(to left, var(--t-page) 30%, transparent) right / 40px 100% no-repeat local,
    linear-gradient(to left, var(--t-bar), transparent) right / 10px 100% no-repeat scroll}
}
@media (max-width: 600px) {
  .t-beside.t-order {font-size: 11.5px} .t-beside.t-order th {font-size: 11px} .t-order .t-swatch {display: none}
  .t-beside.t-order .n {padding-left: 6px} .t-beside.t-order .first {padding-left: 10px}
  .t-beside.t-order .say {font-size: 12px; min-width: 232px}
}
"""


def inject_style() -> None:
    """Puts it on the page."""
    st.html(f"<style>{CSS}</style>")
