"""Draws the pairs of pairs.toml: at random from all pairs of the first thirty kernels, halved by a hash; and, each time
that sixteen more were added, pairs of these, with each other and with the kernels before them.

python benchmarks/unseen/draw.py    # prints pairs.toml
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from hashlib import sha256
from itertools import combinations, combinations_with_replacement, product
from pathlib import Path

DRAWN, SEED = 60, 20261123
AMONG_ADDED, WITH_EARLIER, LATER_SEED, NEWEST_SEED = 45, 15, 2026, 2027
NAMES = sorted(path.stem for path in (Path(__file__).parent / "kernels").glob("*/*.toml"))
LATER_NAMES = (
    "add_norm_quant", "asian_option", "cholesky8", "depthwise3x3", "event_bins", "fft1024", "floyd_tile", "gated_scan",
    "group_norm_silu", "kepler_rk4", "layernorm_grad", "mlp_dp4a", "ray_spheres", "segment_argsort", "smith_waterman",
    "tag_filter",
)  # fmt: skip
NEWEST_NAMES = (
    "advect_midpoint", "biquad_bank", "block_match_sad", "gemm_s8", "gumbel_sample", "int4_gemv", "lbm_d2q9",
    "lj_forces", "lstm_cell", "lz_decode", "modexp256", "moe_top2", "radix_tile_pass", "tridiag_pcr", "viterbi_k7",
    "wave3d_order8",
)  # fmt: skip
TENSOR_CORES = ("flash_attention", "matmul")  # left out of the pairs of added kernels
HEAD = "# Drawn once by draw.py. Constants and models may be fitted on `fitted`; `held_out` is only ever measured."
HEADS = {
    "later": "# Drawn later, also once. Rules of the cost model were found with these pairs: they are in sample.",
    "newest": "# Drawn later still, once. Rules of the cost model were found with these pairs: they are in sample.",
}


def drawn(names: Sequence[str]) -> dict[str, list[str]]:
    """Two groups of equal size of the first kernels, and one for each time that kernels were added."""
    before_newest = [name for name in names if name not in NEWEST_NAMES]
    first = [name for name in before_newest if name not in LATER_NAMES]
    pairs = random.Random(SEED).sample(list(map("+".join, combinations_with_replacement(first, 2))), DRAWN)
    pairs.sort(key=lambda pair: sha256(pair.encode()).hexdigest())
    return {
        "fitted": sorted(pairs[: DRAWN // 2]),
        "held_out": sorted(pairs[DRAWN // 2 :]),
        "later": _of_added(LATER_NAMES, first, LATER_SEED),
        "newest": _of_added(NEWEST_NAMES, before_newest, NEWEST_SEED),
    }


def _of_added(added: Sequence[str], earlier: Sequence[str], seed: int) -> list[str]:
    """Pairs of two different kernels that were added, and of one with an earlier one."""
    others = [name for name in earlier if name not in TENSOR_CORES]
    among = random.Random(seed).sample(list(map("+".join, combinations(added, 2))), AMONG_ADDED)
    mixed = random.Random(seed).sample(list(map("+".join, product(added, others))), WITH_EARLIER)
    return sorted(among + mixed)


def main() -> None:
    print(HEAD)
    for group, pairs in drawn(NAMES).items():
        print()
        if group in HEADS:
            print(HEADS[group])
        print(f"{group} = [")
        for pair in pairs:
            print(f'    "{pair}",')
        print("]")


if __name__ == "__main__":
    main()
