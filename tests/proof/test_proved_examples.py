"""Which pairs of examples/kernels are proved in each strategy: every kernel with the next one in the alphabet.

tests/golden/proved_*.txt lists what became of each; a pair that is proved there must stay proved. What becomes proved
is written there with --update-golden. `benchmarks/proofs.py` has all pairs.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path

import pytest

import goptx
from goptx.errors import CannotWeave

sys.path.append(str(Path(__file__).parents[2] / "benchmarks"))

from proving.cases import STRATEGIES, Kernel, examples, fusing

KERNELS = examples()
PAIRS = [*zip(KERNELS, [*KERNELS[1:], KERNELS[0]], strict=True)]


def outcome(pair: tuple[Kernel, Kernel], strategy: str) -> str:
    """ "proved", or the rule by which it is not."""
    try:
        fused = fusing(pair, strategy)()
    except CannotWeave:
        return "cannot be woven"
    made = goptx.prove(fused)
    return "proved" if made else made.gaps[0].rule


@pytest.mark.slow(all_cases=True)
@pytest.mark.parametrize("strategy", STRATEGIES)
def test_examples(strategy: str, golden: Callable[[str, str], None]) -> None:
    lines = [f"{first.name}+{second.name}: {outcome((first, second), strategy)}\n" for first, second in PAIRS]
    golden(f"proved_{strategy}.txt", "".join(lines))


def test_every_kernel_is_in_a_pair() -> None:
    files = {path.name.split(".")[0] for path in (Path(__file__).parents[2] / "examples" / "kernels").glob("*.ptx")}
    assert {kernel.name for pair in PAIRS for kernel in pair} == files
