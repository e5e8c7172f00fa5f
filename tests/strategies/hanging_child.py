"""Stands in for the child process of suite B: one candidate hangs in it, and one ends it."""

import os
import time
from collections.abc import Collection
from multiprocessing.connection import Connection

from suite_b.child import BEGIN, END, RESULT

HANGS, ENDS, LEFT = "weave", "interleave", "vertical"


def serve(connection: Connection, skipped: Collection[str], small: bool) -> None:
    row = {"right": True}
    for name in (LEFT, HANGS, ENDS):
        if name in skipped:
            continue
        connection.send((BEGIN, name))
        if name == HANGS:
            time.sleep(600)
        if name == ENDS:
            os._exit(1)
        connection.send((END, name, row))
    connection.send((RESULT, {"right": True, "ways": {LEFT: row}, "small": small}))


def serve_nothing(connection: Connection, skipped: Collection[str], small: bool) -> None:
    connection.close()
