"""A link with an empty value opens on the default, and says so once."""

from __future__ import annotations

import pytest
from streamlit.testing.v1 import AppTest


def page() -> None:
    import streamlit as st

    from pages.shared import url_state
    from pages.shared.errors import open_notices

    open_notices()
    st.write(f"layer {url_state.segments('Layer', [1, 2], 'layer')}")
    st.write(f"null {url_state.segments('Null', ['a', 'b'], 'null', 1)}")


@pytest.mark.parametrize("value", ["", ["", ""]])
def test_an_empty_value_is_the_default_and_said_once(value):
    app = AppTest.from_function(page, default_timeout=60)
    app.query_params["layer"], app.query_params["null"] = value, value
    app.run()
    assert not app.exception and [block.value for block in app.markdown] == ["layer 1", "null b"]
    assert ["Shown instead" in info.value for info in app.info] == [True, True]
    app.run()
    assert not app.info and [block.value for block in app.markdown] == ["layer 1", "null b"]


def test_a_value_that_is_offered_is_taken():
    app = AppTest.from_function(page, default_timeout=60)
    app.query_params["layer"] = "2"
    app.run()
    assert [block.value for block in app.markdown] == ["layer 2", "null b"] and not app.info
