"""A fault of an instruction, before the machine adds place and threads."""

from __future__ import annotations

from typing import Any

import numpy as np


class Trouble(Exception):
    """One kind of fault at the lanes `lanes` (flat numbers; None: all lanes that execute the instruction).

    The machine turns it into an `EmulationFault`, which names file, line, instruction and threads.
    """

    def __init__(self, kind: str, message: str, lanes: np.ndarray[Any, np.dtype[Any]] | None = None) -> None:
        super().__init__(message)
        self.kind = kind
        self.message = message
        self.lanes = lanes
