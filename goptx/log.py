"""The logger of goptx, which writes nothing until a program sets up logging."""

from __future__ import annotations

import logging

LOG = logging.getLogger("goptx")
LOG.addHandler(logging.NullHandler())
