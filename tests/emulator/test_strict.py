"""Strict mode: for each check a kernel that must be caught, and the same kernel repaired, which must pass."""

import pytest
from emulator.faulty import FAULTY, Faulty
from emulator.faulty_accesses import FAULTY_ACCESSES
from emulator.threads import fault, line_of, run

SEEDS = (0, 1, 2)
CASES = FAULTY + FAULTY_ACCESSES


@pytest.mark.parametrize("case", CASES, ids=[c.name for c in CASES])
def test_caught(case: Faulty) -> None:
    for seed in case.seeds:
        found = fault(case.broken, seed=seed, **case.options)
        assert found.kind == case.kind
        assert str(found).startswith(f"{found.source}:{found.line}: `{found.instruction}`: {found.kind}: ")
        if seed == 0:
            assert line_of(case.broken, found.line) == case.at
            assert found.threads == tuple(case.threads)


@pytest.mark.parametrize("case", CASES, ids=[c.name for c in CASES])
def test_repaired(case: Faulty) -> None:
    outputs = [run(case.repaired, seed=seed, **case.options)[0] for seed in SEEDS]
    assert outputs[0] == outputs[1] == outputs[2]


HIDDEN = [c for c in CASES if c.kind == "uninitialised"]


@pytest.mark.parametrize("case", HIDDEN, ids=[c.name for c in HIDDEN])
def test_not_strict(case: Faulty) -> None:
    """Uninitialised memory has any value, as on a GPU; but addresses must be valid."""
    if "address" in case.name:
        assert fault(case.broken, strict=False).kind == "out of bounds"
    else:
        run(case.broken, strict=False)
