"""Published QA systems with their own similarity function or a replacement (the T-trilinear paper, Table 4).

They read word vectors as the baseline does, without the papers' character embeddings.  A class takes the config and the
width of a word vector, and is a `models.reader.Answering`.  To add one: a file, a line.
"""

from __future__ import annotations

from triattn_core.models.systems.bidaf import Bidaf
from triattn_core.models.systems.dcn import Dcn
from triattn_core.models.systems.qanet import Qanet

SYSTEMS = {"bidaf": Bidaf, "dcn": Dcn, "qanet": Qanet}
