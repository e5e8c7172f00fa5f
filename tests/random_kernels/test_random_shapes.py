"""Random kernels, each in its own launch shape, woven with another: they do what they do alone."""

import re
from itertools import pairwise

from random_kernels.case import Case
from random_kernels.data import arguments
from random_kernels.pairs import REASONS, Outcome
from random_kernels.search import search

import goptx
from goptx import CannotWeave, Shape

PAIRS = 40


def drawn(number: int) -> list[Case]:
    found: list[Case] = []

    def take(case: Case) -> Outcome:
        found.append(case)
        return Outcome("")

    search(number, PAIRS, judge=take)
    return found


def test_random_kernels_in_shapes_of_their_own() -> None:
    cases = drawn(7)
    woven = 0
    for number, (one, other) in enumerate(pairwise(cases)):
        values = {
            f"{letter}:{i}": value
            for letter, case, k in (("A", one, 0), ("B", other, 1))
            for i, value in enumerate(arguments(case.grid, case.block, case.n[k], case.scale[k], case.seed + k))
        }
        launched = [Shape(case.grid, case.block) for case in (one, other)]
        try:
            check = goptx.check(
                one.texts[0],
                other.texts[1],
                shapes=launched,
                placement=("spread", "front")[number % 2],
                args=values,
                races=True,
                **one.options,
            )
        except CannotWeave as error:
            assert any(re.search(said, str(error)) for said in (*REASONS.values(), "needs whole warps")), error
            continue
        woven += 1
        assert check, f"{check}\n{one.file('')}\n{other.file('')}"
    assert woven > PAIRS // 2
