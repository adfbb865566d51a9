"""Copy link: the address of what is shown, on every page; and what a link says that the page does not take."""

from __future__ import annotations

import streamlit as st
from streamlit.runtime.scriptrunner import get_script_run_ctx

from pages.shared import choice_input, sentence_box
from pages.shared.errors import notice
from triattn_core.errors import quote

_BUTTON = '<button type="button" aria-live="polite">Copy link</button>'
_STYLE = """
button { height: 28px; padding: 0 10px; cursor: pointer; font: 400 13px var(--st-font); color: var(--st-text-color);
  background: var(--st-background-color); border: 1px solid var(--st-border-color);
  border-radius: var(--st-button-radius); white-space: nowrap; }
button:hover, button:focus-visible { border-color: var(--st-primary-color); color: var(--st-primary-color); }
"""
_SCRIPT = """
function legacyCopy(text) {  // without https the clipboard is not offered
  const area = document.createElement("textarea");
  area.value = text;
  document.body.append(area);
  area.select();
  const done = document.execCommand("copy");
  area.remove();
  return done ? Promise.resolve() : Promise.reject();
}
export default function ({ parentElement, setTriggerValue }) {
  const button = parentElement.querySelector("button");
  let timer = 0;
  button.onclick = async () => {
    const link = window.location.href;
    const local = new URLSearchParams(window.location.search).has("trace");
    try {
      await (navigator.clipboard ? navigator.clipboard.writeText(link) : legacyCopy(link));
      button.textContent = local ? "Copied; the trace stays on this machine" : "Copied";
    } catch {
      button.textContent = "Copy it from the address bar";
    }
    clearTimeout(timer);
    timer = setTimeout(() => { button.textContent = "Copy link"; }, 3000);
  };
  const wish = matchMedia("(prefers-color-scheme: dark)");
  const turn = () => setTimeout(() => setTriggerValue("turned", wish.matches ? "dark" : "light"), 300);
  wish.addEventListener("change", turn);
  return () => wish.removeEventListener("change", turn);
}
"""
_copy = st.components.v2.component("triattn_copy_link", html=_BUTTON, css=_STYLE, js=_SCRIPT)
READ = (  # by pages themselves, without a widget of this name
    "a2 agreement at-head b2 case cell checkpoints edited functions language laboratory map-cell part predicate row "
    "second special-listed spoken step study task trace units".split()
)


def button() -> None:
    """The button, in the header bar; it also runs the page anew in the other colours when the system turns light or
    dark, which Streamlit does not."""
    with st.container(key="copy-link"):
        _copy(key="copy-link-button", on_turned_change=lambda: None)
        sentence_box.listen()


def report_unused() -> None:
    """At the end of a page: what the link says and nothing on the page has taken."""
    context = get_script_run_ctx()
    if context is None:
        return
    taken = {*READ, *choice_input.NAMES}
    with context.session_state.query_params() as link:
        unused = [name for name in st.query_params if name not in taken and not link.is_bound(name)]
    for name in unused[:3]:
        notice(f"The link says {quote(name)}, which this page does not use.")
