"""Draws the pairs of pairs.toml: at random from all pairs of the first thirty kernels, halved by a hash; and the later
ones, of the kernels that were added then, with each other and with the first.

python benchmarks/unseen/draw.py    # prints pairs.toml
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from hashlib import sha256
from itertools import combinations, combinations_with_replacement, product
from pathlib import Path

DRAWN, SEED = 60, 20261123
AMONG_LATER, WITH_FIRST, LATER_SEED = 45, 15, 2026
NAMES = sorted(path.stem for path in (Path(__file__).parent / "kernels").glob("*/*.toml"))
LATER_NAMES = (
    "add_norm_quant", "asian_option", "cholesky8", "depthwise3x3", "event_bins", "fft1024", "floyd_tile", "gated_scan",
    "group_norm_silu", "kepler_rk4", "layernorm_grad", "mlp_dp4a", "ray_spheres", "segment_argsort", "smith_waterman",
    "tag_filter",
)  # fmt: skip
TENSOR_CORES = ("flash_attention", "matmul")  # left out of the later pairs
HEAD = "# Drawn once by draw.py. Constants and models may be fitted on `fitted`; `held_out` is only ever measured."
LATER_HEAD = "# Drawn later, also once. Rules of the cost model were found with these pairs: they are in sample."


def drawn(names: Sequence[str]) -> dict[str, list[str]]:
    """Two groups of equal size of the first kernels, and the later one."""
    first = [name for name in names if name not in LATER_NAMES]
    pairs = random.Random(SEED).sample(list(map("+".join, combinations_with_replacement(first, 2))), DRAWN)
    pairs.sort(key=lambda pair: sha256(pair.encode()).hexdigest())
    return {
        "fitted": sorted(pairs[: DRAWN // 2]),
        "held_out": sorted(pairs[DRAWN // 2 :]),
        "later": sorted(_later([name for name in first if name not in TENSOR_CORES])),
    }


def _later(first: Sequence[str]) -> list[str]:
    """Pairs of two different later kernels, then of one with one of the first."""
    among = random.Random(LATER_SEED).sample(list(map("+".join, combinations(LATER_NAMES, 2))), AMONG_LATER)
    mixed = random.Random(LATER_SEED).sample(list(map("+".join, product(LATER_NAMES, first))), WITH_FIRST)
    return among + mixed


def main() -> None:
    print(HEAD)
    for group, pairs in drawn(NAMES).items():
        print()
        if group == "later":
            print(LATER_HEAD)
        print(f"{group} = [")
        for pair in pairs:
            print(f'    "{pair}",')
        print("]")


if __name__ == "__main__":
    main()
