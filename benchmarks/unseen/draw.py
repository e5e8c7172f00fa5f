"""Draws the pairs of pairs.toml: at random from all pairs of the kernels that there were then, halved by a hash.

python benchmarks/unseen/draw.py    # prints pairs.toml
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from hashlib import sha256
from itertools import combinations_with_replacement
from pathlib import Path

DRAWN, SEED = 60, 20261123
NAMES = sorted(path.stem for path in (Path(__file__).parent / "kernels").glob("*/*.toml"))


def drawn(names: Sequence[str]) -> dict[str, list[str]]:
    """Two groups of equal size."""
    pairs = random.Random(SEED).sample(list(map("+".join, combinations_with_replacement(names, 2))), DRAWN)
    pairs.sort(key=lambda pair: sha256(pair.encode()).hexdigest())
    return {"fitted": sorted(pairs[: DRAWN // 2]), "held_out": sorted(pairs[DRAWN // 2 :])}


def main() -> None:
    print("# Drawn once by draw.py. Constants and models may be fitted on `fitted`; `held_out` is only ever measured.")
    for group, pairs in drawn(NAMES).items():
        print(f"\n{group} = [")
        for pair in pairs:
            print(f'    "{pair}",')
        print("]")


if __name__ == "__main__":
    main()
