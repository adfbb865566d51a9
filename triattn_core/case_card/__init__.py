"""Case cards: the scene of a view packed into a zip without a page, and made again from a manifest.

shown = draw("cube", ["quora-tri-published"], example, head=4)
shown               # shows itself in a notebook
shown.save("card.zip")
"""

from triattn_core.case_card.draw import draw
from triattn_core.case_card.rendered import RenderedView

__all__ = ["RenderedView", "draw"]
