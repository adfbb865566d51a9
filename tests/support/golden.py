"""What links of the app show and commands compute, as digests: recorded before a change of the code, compared after it.

    python -m tests.support.golden record FILE
    python -m tests.support.golden check FILE [words of a link or a command …]

A record is of one machine and its checkpoints: floating-point numbers differ elsewhere, so it stays outside the
repository.  Texts may change; what is compared are the figures' payloads and the numbers.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import re
from collections.abc import Iterable
from pathlib import Path
from tempfile import TemporaryDirectory
from urllib.parse import parse_qsl

from streamlit.testing.v1 import AppTest

from tests.support.golden_commands import outputs
from tests.support.pages import app_test, at_page

PAIR = "a=Where+is+the+red+car%3F&b=Where+can+I+find+my+car%3F"
LINKS = f"""
start
studies
open
cube
cube?{PAIR}&layer=1&head=3&quantity=relevance
cube?{PAIR}&query-as=words&context-as=words&hide=true&cell=2.1.3
cube?language=Chinese
cube?task=Dialogue&option=2
cube?task=Reading&option=1&context=sentences
side_by_side
side_by_side?{PAIR}&language=English&compare=inputs
side_by_side?task=Dialogue&compare=options&option=1&other=2
side_by_side?{PAIR}&language=English&query-as=words&key-as=words
mtsa
mtsa?heads=2+and+4&quantity=relevance
mtsa?checkpoint=snli-mtsa&of=hypothesis&tokens-as=words
tensor
tensor?head=3&quantity=relevance&clusters=3&cell=1.2.5
tensor?checkpoint=snli-mtsa&of=hypothesis
coin
coin?direction=B+over+A&off=context&gate=per+feature
coin?tokens-as=phrases&off=block+1
similarity
similarity?quantity=centred
similarity?scale=shared&question-as=phrases&cell=3.1.1
distributions
distributions?spread=centred&axis=one+each
context
context?task=Dialogue
intervene
intervene?task=Dialogue&how=mask
attribute
attribute?task=Reading
laboratory?task=match3
compare
heads?count=8
cases
case_book
results
results?table=Table+2
results?costs=true
results?costs=true&pass=inference&axes=linear
checkpoints
""".split()
# What is of a moment (times, sizes of memory) or of a run of the app (ids), not of the figure.
MOMENT = re.compile(r"\d+(?:\.\d+)?\s*(?:s|ms|GB|MB|GiB|MiB)\b|[0-9a-f]{12,}")
TOOK = re.compile(r"\d+(?:\.\d+)? m?s on ")  # how long a model took, in a caption
NUMBER = re.compile(r"\d+(?:[.,]\d+)*")


def digest(parts: Iterable[str]) -> str:
    """Twelve digits of the digest of texts, in their order."""
    sha = hashlib.sha256()
    for part in parts:
        sha.update(part.encode() + b"\0")
    return sha.hexdigest()[:12]


def numbers(text: str) -> str:
    """The numbers of a text or of HTML, without those of its markup, of times and of sizes."""
    plain = MOMENT.sub(" ", re.sub(r"<style.*?</style>|<[^>]*>", " ", text, flags=re.DOTALL))
    return " ".join(NUMBER.findall(plain))


def sorted_json(text: str) -> str:
    """JSON with its keys in order, and without the names that Altair and Streamlit count up."""
    text = re.sub(r'"(?:view|param|selector)_\d+"', '"view"', text)
    try:
        return json.dumps(json.loads(text), sort_keys=True)
    except ValueError:
        return text


def payload(text: str) -> str:
    """What a canvas draws, without what is only of this run."""
    content = json.loads(TOOK.sub("", text)) if text else {}
    return json.dumps(content.get("payload", {}), sort_keys=True)


def shows(app: AppTest) -> dict[str, str]:
    """Digests of the canvases, charts, tables and numbers of a page, and its complaints."""
    charts = [sorted_json(one.proto.spec) for kind in ("vega_lite_chart", "plotly_chart") for one in app.get(kind)]
    data = [sets.data.data.hex() for chart in app.get("vega_lite_chart") for sets in chart.proto.datasets]
    data += [chart.proto.data.data.hex() for chart in app.get("vega_lite_chart")]
    html = [numbers(element.proto.body) for element in app.get("html")]
    return {
        "canvases": digest(payload(component.proto.json) for component in app.get("bidi_component")),
        "charts": digest([*charts, *data]),
        "tables": digest(frame.value.to_csv(index=False, float_format="%.6g") for frame in app.dataframe),
        "numbers": digest(html),
        "commands": digest(code.value for code in app.code),
        "complaints": digest(one.value for one in (*app.exception, *app.error)),
    }


def open_link(link: str) -> AppTest:
    """A page opened by a link, `page?name=value&…`."""
    page, _, query = link.partition("?")
    app = app_test(300)
    for name, value in parse_qsl(query):
        app.query_params[name] = value
    return at_page(app, page).run()


def differences(before: dict[str, dict], after: dict[str, dict]) -> list[str]:
    """A line for each link whose page changed."""
    changed = {
        link: [part for part in now if now[part] != before.get(link, {}).get(part)] for link, now in after.items()
    }
    return [f"{link}: {', '.join(parts)}" for link, parts in changed.items() if parts]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=("record", "check"))
    parser.add_argument("file", type=Path)
    parser.add_argument("words", nargs="*", help="only links and commands that hold one of these")
    options = parser.parse_args()
    links = [link for link in LINKS if not options.words or any(word in link for word in options.words)]
    pages = {link: shows(open_link(link)) for link in links}
    with TemporaryDirectory() as folder:
        pages |= outputs(Path(folder), options.words)
    if options.what == "record":
        options.file.write_text(json.dumps(pages, indent=1) + "\n", encoding="utf-8")
        return 0
    lines = differences(json.loads(options.file.read_text("utf-8")), pages)
    print("\n".join(lines) or f"{len(pages)} links and commands give what they did")
    return bool(lines)


if __name__ == "__main__":
    raise SystemExit(main())
