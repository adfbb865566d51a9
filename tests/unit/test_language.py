"""In which language a text is written."""

from __future__ import annotations

import pytest

from triattn_core.tasks import pairs
from triattn_core.text.language import READ, guess_language, other_than


@pytest.mark.parametrize("language", pairs.LANGUAGES)
def test_the_examples_are_in_their_language(language: str) -> None:
    for example in pairs.examples(language):
        assert guess_language(example.text_a) == guess_language(example.text_b) == language, example.id


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("Chrome浏览器可以看movie吗", "zh"),
        ("What does 你好 mean?", "en"),
        ("Ｗｈｉｃｈ ｂｒｏｗｓｅｒ？", "en"),
        ("哪些瀏覽器可以看電影", "zh"),
        ("看", "zh"),
        ("𠮷𠀀", "zh"),
        ("iPhone", None),
        ("iPhone 6s", "en"),
        ("手机 iPhone 6s", None),
        ("日本の映画を見る", "Japanese"),
        ("한국 영화", "Korean"),
        ("한국 영화 映畵", "Korean"),
        ("هل يمكن أن أرى", "Arabic"),
        ("ﻣﺮﺣﺒﺎ", "Arabic"),
        ("שלום עולם", "Hebrew"),
        ("Привет, мир, iPhone", "Cyrillic"),
        ("สวัสดีชาวโลก", "Thai"),
        ("The α and β of привет", "en"),
        ("What does カラオケ mean here?", "en"),
        ("Wo hast du die alte Uhr gekauft?", "German"),
        ("Der alte Fischer reparierte gestern seine Netze.", "German"),
        ("Où est la gare, et qui sont ces gens ?", "French"),
        ("¿Cómo está tu hermano y dónde están los niños?", "Spanish"),
        ("Maria de la Cruz lives in El Paso.", "en"),
        ("What does “das ist nicht gut” mean in German, and how would a native speaker say it?", "en"),
        ("Der Spiegel is a magazine.", "en"),
        ("😀 123 ?!", None),
        ("", None),
        ("a" * READ + "看" * 9, None),
    ],
)
def test_letters_and_common_words_decide(text: str, language: str | None) -> None:
    assert guess_language(text) == language


def test_most_of_the_texts_decide():
    assert other_than("en", ["哪些浏览器", "手机", "Which browser?", "123"]) == "zh"
    assert other_than("zh", ["哪些浏览器", "手机", "Which browser?"]) is None
    assert other_than("en", ["哪些浏览器", "Which browser?"]) is None  # neither is most
    assert other_than("en", ["123", ""]) is None
