#!/usr/bin/env python3
"""Which pairs of the kernels of this folder are woven, and why the rest is not: docs/pairs.md.

    ./table.py                          remake the table; all pairs take a quarter of an hour
    ./table.py --check [A+B ...]        exit status 1 if a cell (of all, or of these pairs) is not what it says

Each pair is woven, and compared with its kernels alone on the emulator, in the sizes for checks of their launch
specifications (`goptx check`). Needs no GPU.
"""

from __future__ import annotations

import argparse
import re
import sys
import time
from collections.abc import Mapping
from multiprocessing import Pool
from pathlib import Path

import goptx

FOLDER = Path(__file__).resolve().parent
DOCUMENT = FOLDER.parents[1] / "docs" / "pairs.md"
SUITE_A = ("gelu", "harris", "lud", "micnd", "sort", "stms", "wmma")
REALISTIC = (
    "reduce", "scan", "histogram", "stencil", "transpose", "gemm", "pipeline", "softmax", "layernorm", "sha256",
)  # fmt: skip
NAMES = (*REALISTIC, *SUITE_A)
WOVEN, IN_TURN = "woven", "in turn"
LEAST = 0.1  # the woven fraction of a pair that is more than its kernels one behind the other

Pair = tuple[str, str]

HEAD = """# Which kernels are woven with which

After this page you know which of the kernels in [`examples/kernels`](../examples/kernels/README.md) are woven with
which: kernel A by row, kernel B by column, all ordered pairs. Each pair was woven for sm_90 by default and, in the
sizes for checks, compared bit for bit with both kernels alone on the strict emulator, in two orders of the warps, by
`goptx check`. `examples/kernels/table.py` makes this file.

* **woven**: right, and at least a tenth of the smaller kernel's instructions, by loop depth, stand beside the other's.
* **in turn**: right, but with less beside each other than that: closer merging would pass the default limits of size
  (`max_blocks=`, `max_growth=`), fewer CTAs would fit on an SM, or little of one kernel may run before the other's last
  barrier.
* **a number**: refused; the message is below the table, NAME in it stands for the pair's kernels.
"""


def outcome(pair: Pair) -> tuple[Pair, str, float]:
    """`WOVEN`, `IN_TURN` or a message; and the seconds that it took."""
    begin = time.monotonic()
    try:
        check = goptx.check(*(FOLDER / f"{name}.sm_90.ptx" for name in pair))
    except goptx.GoptxError as error:
        said = general(f"{type(error).__name__}: {error}")
    else:
        said = WOVEN if check.report.woven_fraction >= LEAST else IN_TURN
        if check.failure:
            said = f"WRONG, {type(check.failure).__name__}: {check.failure}".partition("\n")[0]
    return pair, said, time.monotonic() - begin


def general(message: str) -> str:
    """A message without what differs between pairs for which it is the same one."""
    message = message.replace(f"{FOLDER}/", "")
    message = re.sub(r"kernel [AB] \(", "kernel (", message)
    return re.sub(r"\w+\.toml says", "NAME.toml says", message)


def document(outcomes: Mapping[Pair, str]) -> str:
    """The table, and the messages in the order in which rows meet them."""
    numbers: dict[str, int] = {}
    rows = []
    for first in NAMES:
        said = [outcomes[first, second] for second in NAMES]
        cells = [s if s in (WOVEN, IN_TURN) else str(numbers.setdefault(s, len(numbers) + 1)) for s in said]
        rows.append(" | ".join(["", f"**{first}**", *cells, ""]).strip())
    lines = [HEAD, f"| | {' | '.join(NAMES)} |", "|---" * (len(NAMES) + 1) + "|", *rows, ""]
    lines += [f"{number}. {message}" for message, number in numbers.items()]
    return "\n".join([*lines, "", summary(outcomes), ""])


def summary(outcomes: Mapping[Pair, str]) -> str:
    woven, in_turn = (list(outcomes.values()).count(said) for said in (WOVEN, IN_TURN))
    refused = len(outcomes) - woven - in_turn
    return f"Of {len(outcomes)} pairs {woven} are woven, {in_turn} run in turn, {refused} are refused."


def documented(text: str) -> dict[Pair, str]:
    """The outcomes that a table shows."""
    messages = dict(re.findall(r"^(\d+)\. (.*)$", text, re.MULTILINE))
    rows = {row[0].strip("*"): row[1:] for row in map(_cells, text.splitlines()) if row[0].startswith("**")}
    return {(a, b): messages.get(cell, cell) for a, row in rows.items() for b, cell in zip(NAMES, row, strict=True)}


def _cells(line: str) -> list[str]:
    return [cell.strip() for cell in line.strip("|").split("|")]


def main() -> int:
    """Make or check the table; return the exit status."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true", help="compare with docs/pairs.md, write nothing")
    parser.add_argument("--jobs", type=int, default=1, help="processes to run (default: %(default)s)")
    parser.add_argument("pairs", nargs="*", metavar="A+B", help="with --check: only these")
    options = parser.parse_args()
    if options.pairs and not options.check:
        parser.error("a part of the table can be checked, but only all of it be made")
    chosen: list[Pair] = [(a, b) for a, _, b in (pair.partition("+") for pair in options.pairs)]
    chosen = chosen or [(a, b) for a in NAMES for b in NAMES]
    text = DOCUMENT.read_text(encoding="utf-8") if options.check else ""
    shown = documented(text)

    outcomes: dict[Pair, str] = {}
    wrong = 0
    if options.check and document(shown) != text:
        print(f"{DOCUMENT.name} was changed by hand")
        wrong += 1
    with Pool(options.jobs) as pool:
        for pair, said, seconds in pool.imap(outcome, chosen):
            outcomes[pair] = said
            differs = options.check and shown.get(pair) != said
            wrong += said.startswith("WRONG") or differs
            print(f"{'DIFFERS ' if differs else ''}{'+'.join(pair)}: {said} ({seconds:.1f} s)", flush=True)
    if not options.check:
        DOCUMENT.write_text(document(outcomes), encoding="utf-8")
        print(summary(outcomes))
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
