"""A fusion region for notebooks."""

from __future__ import annotations

from goptx.region.fusion import Done, Fusion
from goptx.view.html import Markup, display, folded, heading, line, markup, table
from goptx.view.woven_html import woven_parts

HEAD = ("", "seconds")
TEMPORARIES = ("temporary", "declared", "where", "why")


def fusion_html(fusion: Fusion) -> str:
    if fusion.report is None or fusion.fused is None:
        return display(heading("Fusion region", fusion.state))
    kernel = folded(f"The kernel {fusion.fused.name}", woven_parts(fusion.fused))
    return display(_title(fusion.report), _parts(fusion.report), kernel)


def done_html(done: Done) -> str:
    return display(_title(done), _parts(done))


def _title(done: Done) -> Markup:
    return heading("Fusion region", f"{done.strategy}, {'made' if done.anew else 'found in memory'}")


def _parts(done: Done) -> Markup:
    rows = [("to make it at first", f"{done.first:.3g}"), ("to prepare now", f"{done.preparing:.3g}"),
            ("to launch", f"{done.launching:.3g}")]  # fmt: skip
    kept = [(t.buffer, t.declared, t.where, t.why) for t in done.temporaries]
    return markup(
        line(f"not fused: {done.reason}") if done.reason else "",
        table(HEAD, rows),
        table(TEMPORARIES, kept) if kept else "",
    )
