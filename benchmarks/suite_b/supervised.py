"""Runs the child process under a time limit, again without the way that hung or failed in it."""

from __future__ import annotations

import multiprocessing
import time
from collections.abc import Callable, Collection
from multiprocessing.connection import Connection
from typing import Any

from suite_b import WAYS
from suite_b.child import END, RESULT, serve

START, LIMIT = 90, 20  # seconds until a child's first word, when its kernels ran alone, and for each step from then on
MOST = 3  # ways that may fail so

Child = Callable[[Connection, Collection[str], bool], None]


def supervised(small: bool, report: Callable[[str], None], child: Child = serve) -> dict[str, Any]:
    """What the child found, with the ways that hung or failed among the others; or only a "problem", where nothing
    could be measured. `report` is called with each step."""
    failed: dict[str, Any] = {}
    while True:
        found, doing = _attempt(child, [*failed], small, report)
        if "problem" not in found:
            found["ways"] = {name: found["ways"].get(name) or failed[name] for name in _named(found["ways"], failed)}
            found["right"] &= not failed
            return found
        report(f"{doing}: {found['problem']}")
        if doing not in map(str, WAYS) or len(failed) == MOST:
            return {"right": False, "problem": f"{doing}: {found['problem']}"}
        failed[doing] = {"right": False, **found}


def _named(found: dict[str, Any], failed: dict[str, Any]) -> list[str]:
    return [name for name in map(str, WAYS) if name in found or name in failed]


def _attempt(
    serving: Child, skipped: list[str], small: bool, report: Callable[[str], None]
) -> tuple[dict[str, Any], str]:
    """What the child found, or a "problem" with what it was doing."""
    context = multiprocessing.get_context("spawn")
    ours, theirs = context.Pipe()
    child = context.Process(target=serving, args=(theirs, skipped, small), daemon=True)
    child.start()
    theirs.close()
    doing, limit, begun = "the kernels alone", START, time.monotonic()
    try:
        while True:
            if not ours.poll(limit):
                return {"problem": f"no answer within {limit} s: hangs"}, doing
            kind, what, *row = ours.recv()
            if kind == RESULT:
                return what, doing
            if kind == END:
                report(f"{what}: {'right' if row[0]['right'] else 'WRONG'} ({time.monotonic() - begun:.1f} s)")
            doing, limit = what, LIMIT
    except (EOFError, OSError):
        return {"problem": "the child ended without an answer; its output is above"}, doing
    finally:
        child.kill()
        child.join(START)
