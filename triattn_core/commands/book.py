"""`triattn book`: the case book, which pages and notebooks use too."""

from __future__ import annotations

import argparse
import json
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from triattn_core.errors import CaseError

if TYPE_CHECKING:
    from triattn_core.case_book import Case, CaseBook
    from triattn_core.tasks.task import Task

FIELDS = {
    "note": "a note on the case",
    "tags": "tags, separated by commas",
    "page": "the page that the case opens on, such as cube",
    "query": "the settings of that page, as the query string of its link",
}

ID = "the id of the case, as list prints it"


def arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of the command: a verb with its own arguments."""
    verbs = parser.add_subparsers(required=True, metavar="VERB")

    def verb(name: str, do, text: str) -> argparse.ArgumentParser:
        subparser = verbs.add_parser(name, help=text, description=text[0].upper() + text[1:] + ".")
        subparser.set_defaults(verb=do)
        subparser.add_argument("--json", action="store_true", help="print JSON for machines")
        subparser.add_argument(
            "--book", help="a SQLite file or a database URL (default: TRIATTN_CASES, or cases.sqlite in this folder)"
        )
        return subparser

    verb("list", search, "list all cases, the last changed first").set_defaults(words=[], tag=[], task="")
    verb_parser = verb("search", search, "find the cases with all of these words and tags")
    verb_parser.add_argument("words", nargs="*", metavar="WORD", help="words in note, tags or texts")
    verb_parser.add_argument("--tag", action="append", default=[], help="a tag of the case; may be repeated")
    verb_parser.add_argument("--task", default="", help="the task of the case (default: all)")
    verb("show", show, "show a case with its row and its link").add_argument("id", metavar="ID", help=ID)
    verb_parser = verb("keep", keep, "save an example as a case")
    verb_parser.add_argument(
        "input", type=Path, metavar="INPUT", help='a JSON file with one row, such as {"text_a": …, "text_b": …}'
    )
    verb_parser.add_argument("--task", default="pairs", help="the task of the example (default: pairs)")
    _fields(verb_parser)
    verb_parser = verb("change", change, "change the note, the tags or the page of a case")
    verb_parser.add_argument("id", metavar="ID", help=ID)
    verb_parser.add_argument("--version", type=int, metavar="N", help="fail if the case is no longer at this version")
    _fields(verb_parser)
    verb("drop", drop, "delete a case").add_argument("id", metavar="ID", help=ID)
    verb_parser = verb("export", export, "save all cases as JSON Lines")
    verb_parser.add_argument("file", type=Path, metavar="FILE", help="the file to write")
    verb_parser = verb("import", import_, "add the cases of an exported file")
    verb_parser.add_argument("file", type=Path, metavar="FILE", help="a file that export wrote")


def _fields(parser: argparse.ArgumentParser) -> None:
    for name, text in FIELDS.items():
        parser.add_argument(f"--{name}", help=text)


def run(options: argparse.Namespace) -> None:
    """Open the book and run the verb."""
    from triattn_core.case_book import CaseBook

    options.verb(CaseBook(options.book), options)


def search(book: CaseBook, options: argparse.Namespace) -> None:
    """Print one line per case."""
    if options.task:
        _find_task(options.task)
    cases = book.search(" ".join(options.words), options.tag, options.task)
    if options.json:
        print(json.dumps([vars(case) for case in cases], ensure_ascii=False))
        return
    for case in cases:
        print("  ".join((case.id, case.changed[:16], case.task, ", ".join(case.tags) or "-", _short(case))))
    if not cases:
        matching = "matching " if options.words or options.tag or options.task else ""
        print(f"no {matching}case in {book.path}")


def _find_task(name: str) -> Task:
    """The task of this name.  Raises CaseError that suggests the closest."""
    from triattn_core.errors import choices
    from triattn_core.tasks import TASKS

    if name not in TASKS:
        raise CaseError(f"no task {name!r}; {choices(name, TASKS)}")
    return TASKS[name]


def _short(case: Case) -> str:
    """The note in one line, or the first text of the row."""
    from triattn_core.case_book import texts

    text = " ".join((case.note or next(iter(texts(case.row)), "")).split())
    return text if len(text) <= 80 else text[:79] + "…"


def show(book: CaseBook, options: argparse.Namespace) -> None:
    """Print one case."""
    _print(book.get(options.id), options.json)


def keep(book: CaseBook, options: argparse.Namespace) -> None:
    """Store a valid row of a task."""
    from triattn_core.case_book import Case
    from triattn_core.text.rows import read_json

    task, row = _find_task(options.task), read_json(options.input)
    task.Example.from_row(row, str(options.input)).check()
    _print(book.keep(replace(Case(options.task, row), **_fields_of(options))), options.json)


def change(book: CaseBook, options: argparse.Namespace) -> None:
    """Change the given fields of a case."""
    case = book.get(options.id)
    if options.version is not None:
        case = replace(case, version=options.version)
    _print(book.change(replace(case, **_fields_of(options))), options.json)


def _fields_of(options: argparse.Namespace) -> dict:
    fields = {name: getattr(options, name) for name in FIELDS if getattr(options, name) is not None}
    return fields | ({"tags": tuple(fields["tags"].split(","))} if "tags" in fields else {})


def drop(book: CaseBook, options: argparse.Namespace) -> None:
    """Delete a case."""
    book.drop(options.id)
    print(json.dumps({"dropped": options.id}) if options.json else f"{options.id} is no longer in {book.path}")


def export(book: CaseBook, options: argparse.Namespace) -> None:
    """Write all cases to a file."""
    count = book.export(options.file)
    print(json.dumps({"cases": count}) if options.json else f"{count} cases in {options.file}")


def import_(book: CaseBook, options: argparse.Namespace) -> None:
    """Add the cases of an exported file that the book does not have."""
    from triattn_core.text.rows import read_json_lines

    num_new, num_existing = book.load(read_json_lines(options.file))
    text = f"{num_new} new, {num_existing} were here already"
    print(json.dumps({"new": num_new, "same": num_existing}) if options.json else text)


def _print(case: Case, as_json: bool) -> None:
    if as_json:
        print(json.dumps(vars(case), ensure_ascii=False))
        return
    for name, value in vars(case).items():
        if name in ("tags", "row"):
            value = ", ".join(value) if name == "tags" else json.dumps(value, ensure_ascii=False)
        print(f"{name:<8} {value}")
