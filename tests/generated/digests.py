#!/usr/bin/env python3
"""SHA-256 of the PTX that goptx generates, for a list of cases: a change that should not alter it can be checked.

    tests/generated/digests.py              compare with sha256.txt; exit status 1 if a case differs
    tests/generated/digests.py --write      write sha256.txt
    tests/generated/digests.py PATTERN      compare the cases whose name contains PATTERN

A case is a strategy and its kernels: all pairs of examples/kernels in every strategy, single kernels coarsened, the
constructs of tests/constructs, Triton's kernels. A refusal counts as its class. All cases take some minutes.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Iterator, Mapping
from functools import cache, partial
from hashlib import sha256
from itertools import combinations_with_replacement
from multiprocessing import Pool
from pathlib import Path
from typing import Any

import goptx
from goptx.launch.specification import find_specification
from goptx.options import Strategy

HERE = Path(__file__).resolve().parent
DIGESTS = HERE / "sha256.txt"
ROOT = HERE.parents[1]
KERNELS = ROOT / "examples" / "kernels"
TRITON = ROOT / "examples" / "triton"
CONSTRUCTS = ROOT / "tests" / "constructs" / "constructs.sm_80.ptx"
PARTNERS = ("gelu", "lud")  # of each construct
POLICIES = ("paper", "concat")
FACTORS = (2, 3)

Make = Callable[[], goptx.Woven]


@cache
def cases() -> Mapping[str, Make]:
    """What makes the kernel of each case, by its name."""
    return dict(_cases())


def _cases() -> Iterator[tuple[str, Make]]:
    names = sorted(path.stem for path in KERNELS.glob("*.toml"))
    for a, b in combinations_with_replacement(names, 2):
        for strategy in ("weave", "vertical", "horizontal", "interleave"):
            yield f"{strategy} {a} {b}", partial(_pair, a, b, strategy)
    for a, b in combinations_with_replacement(("gelu", "harris", "lud", "micnd", "sort", "stms", "wmma"), 2):
        for policy in POLICIES:
            yield f"weave-{policy} {a} {b}", partial(_pair, a, b, "weave", policy=policy)
        yield f"auto {a} {b}", partial(_pair, a, b, "auto")
        yield f"weave-2-2 {a} {b}", partial(_both_coarsened, a, b, 2)
    for name in names:
        for factor in FACTORS:
            yield f"coarsen-{factor} {name}", partial(_coarsened, name, factor)
    for entry in sorted(e.name for e in goptx.read(CONSTRUCTS).entries):
        for partner in PARTNERS:
            yield f"construct {entry} {partner}", partial(_construct, entry, partner)
    yield "triton softmax noise", partial(goptx.weave, TRITON / "softmax.ptx", TRITON / "noise.ptx")


def _pair(a: str, b: str, strategy: Strategy, **options: Any) -> goptx.Woven:
    shaped = strategy in ("horizontal", "interleave", "auto") or shape(a) != shape(b)
    shapes: dict[str, Any] = {"shapes": [shape(a), shape(b)]} if shaped else {}
    return goptx.fuse(text(a), text(b), strategy=strategy, **shapes, **options)


def _coarsened(name: str, factor: int) -> goptx.Woven:
    return goptx.fuse(goptx.coarsen(text(name), factor), strategy="weave", shapes=[shape(name)])


def _both_coarsened(a: str, b: str, factor: int) -> goptx.Woven:
    return goptx.weave(*(goptx.coarsen(text(n), factor) for n in (a, b)), shapes=[shape(a), shape(b)])


def _construct(entry: str, partner: str) -> goptx.Woven:
    other = (KERNELS / f"{partner}.sm_80.ptx").read_text()
    return goptx.weave(CONSTRUCTS.read_text(), other, entries=[entry, None])


@cache
def text(name: str) -> str:
    return (KERNELS / f"{name}.sm_90.ptx").read_text()


@cache
def shape(name: str) -> goptx.Shape:
    launch = find_specification(KERNELS / f"{name}.sm_90.ptx", name)
    assert launch is not None
    return goptx.Shape(launch.grid, launch.block, launch.shared)


def digest(name: str) -> str:
    """The SHA-256 of a case's PTX, or the class of its refusal."""
    try:
        return sha256(cases()[name]().ptx.encode()).hexdigest()
    except goptx.GoptxError as error:
        return type(error).__name__


def written() -> dict[str, str]:
    """The digests of sha256.txt by case."""
    lines = DIGESTS.read_text().splitlines() if DIGESTS.exists() else []
    return {name: value for value, _, name in (line.partition("  ") for line in lines)}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("pattern", nargs="?", default="", help="part of the names of the cases to compare")
    parser.add_argument("--write", action="store_true", help="write sha256.txt instead of comparing")
    parser.add_argument("--jobs", type=int, default=2)
    options = parser.parse_args()
    names = [name for name in cases() if options.pattern in name]
    with Pool(options.jobs) as pool:
        found = dict(zip(names, pool.imap(digest, names, chunksize=8), strict=True))
    expected = written()
    if options.write:
        DIGESTS.write_text("".join(f"{value}  {name}\n" for name, value in ({**expected, **found}).items()))
        return 0
    different = [name for name in names if found[name] != expected.get(name)]
    print("\n".join([*different, f"{len(different)} of {len(names)} cases differ"]))
    return bool(different)


if __name__ == "__main__":
    sys.exit(main())
