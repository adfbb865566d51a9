"""The case book: examples with a note and tags, kept in one file for pages, command line and notebooks."""

from triattn_core.case_book.book import CaseBook, place
from triattn_core.case_book.case import LONGEST, Case, texts

__all__ = ["LONGEST", "Case", "CaseBook", "place", "texts"]
