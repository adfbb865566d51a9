"""Twenty-four checkpoints in two languages: each page opens in one, turns to the other, and says what does not fit."""

from __future__ import annotations

import pytest
from streamlit.testing.v1 import AppTest

from tests.app.test_pages import LONG, SAYS, opened, sound, texts
from tests.support.checkpoint_fixtures import checkpoint_fixtures
from tests.support.pages import app_test, at_page
from tests.support.two_languages import make_checkpoints
from triattn_core.tasks import pairs

ENGLISH, CHINESE = (pairs.examples(language)[0] for language in ("en", "zh"))
ODD = {
    "mixed scripts": "Chrome浏览器可以看movie吗",
    "traditional": "哪些瀏覽器可以看電影",
    "full width": "ＱＱ怎么登录？１２３",
    "never seen": "龘靐怎么读",
    "an emoji of three and a flag": "好👨\u200d👩\u200d👧看🇨🇳吗",
    "accents apart": "cafe\u0301怎么读",
    "a tower of accents": "看" + "\u0301" * 900,
    "punctuation": "？？？……。",
    "Japanese": "どの映画を見ますか",
    "markup": "<b>看</b><script>",
    "100,000 characters": "浏" * 100_000,
}


checkpoint_folder, use_checkpoints = checkpoint_fixtures(make_checkpoints)


def pair(app: AppTest) -> tuple[str, str]:
    return app.text_area(key="a").value, app.text_area(key="b").value


def language(app: AppTest) -> str:
    return app.segmented_control(key="language").value


def turned(app: AppTest, code: str) -> AppTest:
    return sound(app.segmented_control(key="language").set_value(code).run())


def checkpoints(app: AppTest) -> list[str]:
    """Names of the chosen checkpoints."""
    if "checkpoint" in app.session_state:
        return [app.session_state["checkpoint"].name]
    return app.session_state["checkpoints"]


def trio(data: str, similarity: str) -> list[str]:
    return [f"{data}-{mechanism}-{similarity}" for mechanism in ("bi", "cbi", "tri")]


def test_compare_turns_to_the_other_language_where_no_text_was_typed_yet() -> None:
    """Compare has no texts of its own, and may be the first page of a session."""
    app = turned(opened("compare"), "zh")
    assert checkpoints(app) and all(name.startswith("lcqmc-") for name in map(str, checkpoints(app)))


def test_side_by_side_opens_on_the_first_chinese_pair() -> None:
    app = sound(opened("side_by_side", language="Chinese"))
    assert pair(app) == (CHINESE.text_a, CHINESE.text_b)
    assert language(app) == "zh" and checkpoints(app) == trio("lcqmc", "additive")
    assert "gold label" in texts(app)


@pytest.mark.parametrize("page", ["cube", "side_by_side"])
def test_a_page_opens_in_the_language_of_the_links_texts_else_in_english(page: str) -> None:
    app = sound(opened(page))
    assert language(app) == "en" and pair(app) == (ENGLISH.text_a, ENGLISH.text_b)
    assert language(sound(opened(page, a="Where is the station?", b="Where are my keys?"))) == "en"
    app = sound(opened(page, a="今天天气怎么样", b="明天会下雨吗"))
    assert language(app) == "zh" and pair(app) == ("今天天气怎么样", "明天会下雨吗") and not app.info


def test_a_link_without_a_name_is_said() -> None:
    app = sound(opened("side_by_side", checkpoints=""))
    assert app.info[0].value.startswith("The link names no checkpoint")


def test_the_cube_opens_in_english() -> None:
    app = sound(opened("cube"))
    assert pair(app) == (ENGLISH.text_a, ENGLISH.text_b) and checkpoints(app) == ["quora-tri-additive"]
    assert app.selectbox(key="checkpoint").options == [
        f"quora-tri-{name}" for name in ("additive", "dot", "scaled-dot", "bilinear")
    ]


@pytest.mark.parametrize("page", ["cube", "side_by_side"])
def test_another_language_brings_its_models_and_its_example(page: str) -> None:
    app = sound(opened(page))
    first = language(app)
    other = {"en": "zh", "zh": "en"}[first]
    turned(app, other)
    example = pairs.examples(other)[0]
    assert pair(app) == (example.text_a, example.text_b)
    assert all(name.startswith({"en": "quora", "zh": "lcqmc"}[other]) for name in checkpoints(app))
    turned(app, first)
    assert pair(app) == (pairs.examples(first)[0].text_a, pairs.examples(first)[0].text_b)
    assert not app.info


def test_the_similarity_stays_when_the_language_turns() -> None:
    app = sound(opened("cube", checkpoint="lcqmc-tri-scaled-dot"))
    assert language(app) == "zh" and pair(app)[0] == CHINESE.text_a
    assert checkpoints(turned(app, "en")) == ["quora-tri-scaled-dot"]
    app = sound(opened("side_by_side", language="Chinese"))
    app.selectbox(key="similarity").set_value("bilinear").run()
    assert checkpoints(sound(app)) == trio("lcqmc", "bilinear")
    assert checkpoints(turned(app, "en")) == trio("quora", "bilinear")
    assert app.selectbox(key="similarity").value == "bilinear"
    assert app.selectbox(key="similarity").options == ["additive", "dot", "scaled dot", "bilinear"]


@pytest.mark.parametrize("mechanism", ["cbi", "tri"])
def test_the_mechanism_stays_when_the_language_turns(mechanism: str) -> None:
    typed = {"a": CHINESE.text_a, "b": CHINESE.text_b}
    app = sound(opened("attribute", wait=400, checkpoint=f"quora-{mechanism}-scaled-dot", steps="16", **typed))
    assert app.button(key="turn").label == f"Use lcqmc-{mechanism}-scaled-dot"


@pytest.mark.parametrize("page", ["cube", "side_by_side"])
def test_what_was_typed_stays(page: str) -> None:
    app = sound(opened(page, language="Chinese"))
    app.text_area(key="a").set_value("今天天气怎么样").run()
    turned(app, "en")
    assert pair(app) == ("今天天气怎么样", CHINESE.text_b)


@pytest.mark.parametrize("page", ["cube", "side_by_side"])
def test_chinese_on_an_english_model_is_said_and_turned_with_one_click(page: str) -> None:
    app = sound(opened(page, language="English", a="今天天气怎么样", b="明天会下雨吗"))
    assert "These sentences look Chinese: " in texts(app)
    button = app.button(key="turn")
    assert button.label == {"cube": "Use lcqmc-tri-additive", "side_by_side": "Use the Chinese models"}[page]
    sound(button.click().run())
    assert language(app) == "zh" and pair(app) == ("今天天气怎么样", "明天会下雨吗")
    assert "look Chinese" not in texts(app)


def test_what_no_model_here_reads_is_said_and_nothing_offered() -> None:
    app = sound(opened("cube", a="هل يمكن أن أرى", b="ما هو مكتوب"))
    assert "These sentences look Arabic: quora-tri-" in texts(app).replace("\\", "")
    assert "turn" not in [button.key for button in app.button]


def test_english_on_a_chinese_model_is_said() -> None:
    app = sound(opened("side_by_side", language="Chinese", a="Where is the station?", b="Where are my keys?"))
    assert "These sentences look English: these models read Chinese." in texts(app)
    assert checkpoints(sound(app.button(key="turn").click().run())) == trio("quora", "additive")


@pytest.mark.parametrize("code", ["en", "zh"])
def test_a_pair_of_two_languages_is_said_and_nothing_offered(code: str) -> None:
    app = sound(opened("cube", language={"en": "English", "zh": "Chinese"}[code], a=CHINESE.text_a, b=ENGLISH.text_b))
    notice = {"en": "Sentence A looks Chinese: quora", "zh": "Sentence B looks English: lcqmc"}[code]
    assert notice in texts(app).replace("\\", "")
    assert "turn" not in [button.key for button in app.button]


def test_the_link_names_the_language_where_a_text_looks_like_another() -> None:
    app = sound(opened("cube"))
    assert "language" not in app.query_params
    typed = sound(app.text_area(key="a").set_value("今天天气很好").run())
    assert language(typed) == "en" and typed.query_params["language"] == "English"
    same = sound(opened("cube", language="English", a="今天天气很好"))
    assert checkpoints(same) == checkpoints(typed) and language(same) == "en"
    assert "language" not in sound(typed.text_area(key="a").set_value("Where is it?").run()).query_params


def test_examples_are_those_of_the_language_and_bring_their_label() -> None:
    example = next(example for example in pairs.examples("zh") if example.label == 1)
    app = sound(opened("cube", checkpoint="lcqmc-tri-dot", a=example.text_a, b=example.text_b))
    assert "gold: paraphrase" in texts(app)
    assert f"gold: {pairs.LABELS[ENGLISH.label]}" in texts(turned(app, "en"))  # an example of the other language


@pytest.mark.parametrize("page", ["cube", "side_by_side"])
def test_odd_text_gives_a_result_or_one_message(page: str) -> None:
    app = opened(page, language="Chinese")
    for kind, text in ODD.items():
        app.text_area(key="a").set_value(text).run()
        assert not app.exception, kind
        assert len(app.error) + (SAYS in texts(app)) == 1, kind
        assert "<script>" not in texts(app), kind
        assert ("has 100,000 characters" in texts(app)) == (len(text) == len(LONG)), kind


def test_unknown_characters_are_named_on_the_page() -> None:
    app = sound(opened("cube", language="Chinese", a="龘靐怎么读", b="<龖>怎么读"))
    assert "Sentence A: the model does not know 龘, 靐 and sees them all alike." in texts(app)
    assert "Sentence B: the model does not know 龖." in texts(app)


def test_a_link_of_two_languages_shows_one_and_says_so() -> None:
    app = app_test(110)
    app.query_params["checkpoints"] = ["lcqmc-bi-dot", "quora-tri-dot", "nothing"]
    at_page(app, "side_by_side").run()
    sound(app)
    assert "quora\\-tri\\-dot, nothing" in app.info[0].value and SAYS in texts(app)
    assert checkpoints(app) == trio("lcqmc", "additive")


def test_a_language_that_is_not_there_is_said() -> None:
    app = sound(opened("cube", language="French"))
    assert "language 'French'" in app.info[0].value.replace("\\", "") and language(app) == "en"


def test_the_checkpoints_page_has_a_table_a_data_set() -> None:
    app = sound(opened("checkpoints"))
    assert [len(table.value) for table in app.dataframe] == [12, 12]
    assert [set(table.value["name"].str.partition("-")[0]) for table in app.dataframe] == [{"quora"}, {"lcqmc"}]
    assert all(list(table.value["dev"]) == sorted(table.value["dev"], reverse=True) for table in app.dataframe)
    assert "Quora, English" in texts(app) and "LCQMC, Chinese" in texts(app)
    assert "encoder characters-zh, not pre-trained" in texts(app)
    app.selectbox(key="language").set_value("Chinese").run()
    app.selectbox(key="similarity").set_value("dot").run()
    assert [len(table.value) for table in sound(app).dataframe] == [3]


def test_studies_have_examples_and_numbers_of_both_languages() -> None:
    app = sound(opened("studies"))
    links = [link.proto.label for link in app.get("page_link")]
    for example in (pairs.examples("en")[1], CHINESE):
        assert any(example.text_a.rstrip("?") in link for link in links)
    assert "<b>Quora</b>, English" in texts(app) and "<b>LCQMC</b>, Chinese" in texts(app)
