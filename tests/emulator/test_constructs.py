"""The kernels of tests/constructs, separately against models in Python, and woven in pairs."""

from functools import cache
from pathlib import Path

import numpy as np
import pytest
from emulator.construct_models import BLOCK, INITIAL, MODELS, Launch

import goptx
from goptx.emulator.emulation import Emulation
from goptx.emulator.instructions.lanewise import Array
from goptx.sources.read import read

CONSTRUCTS = read(Path(__file__).parents[1] / "constructs" / "constructs.sm_80.ptx")
NAMES = [entry.name for entry in CONSTRUCTS.entries]
CTAS = 2
pytestmark = pytest.mark.usefixtures("laws")


def data(n: int) -> Array:
    return np.random.default_rng(n).integers(0, 1024, n).astype(np.int32)


@cache
def alone(name: str, n: int, seed: int = 0, races: bool = False) -> tuple[list[int], Emulation]:
    given, out = data(n), np.full(CTAS * BLOCK, INITIAL, np.int32)
    emulation = goptx.emulate(CONSTRUCTS, CTAS, BLOCK, [given, out, n], entry=name, seed=seed, races=races)
    assert (given == data(n)).all()
    return out.tolist(), emulation


def test_all_have_models_but_the_one_of_floats() -> None:
    assert set(NAMES) == {*MODELS, "slow_float"}


@pytest.mark.parametrize("n", [300, 512, 1024])
@pytest.mark.parametrize("name", MODELS)
def test_alone(name: str, n: int) -> None:
    """With more threads than elements, as many, and fewer."""
    launch = Launch(data(n).tolist(), n, CTAS)
    want = [v for cta in range(CTAS) for v in MODELS[name](launch, cta)]
    assert alone(name, n)[0] == want


def test_floats() -> None:
    x = data(300)[np.arange(CTAS * BLOCK) % 300] + 1.5
    y = np.sqrt(x) / (x + 3) + 1 / np.sqrt(x)
    want = np.where(x > 50, y, np.sin(y) * np.exp(-y))
    np.testing.assert_allclose(np.array(alone("slow_float", 300)[0], np.int32).view(np.float32), want, rtol=1e-5)


@pytest.mark.parametrize("name", NAMES)
def test_no_races_and_one_result_in_any_order(name: str) -> None:
    outputs = [alone(name, 300, seed, races=seed in (0, 3))[0] for seed in range(6)]
    assert all(out == outputs[0] for out in outputs)


@pytest.mark.parametrize("name", NAMES)
def test_a_seed_determines_the_counts(name: str) -> None:
    assert alone(name, 300, 4) == alone.__wrapped__(name, 300, 4)


@pytest.mark.parametrize("first", range(len(NAMES)))
def test_woven_pairs(first: int) -> None:
    """Each kernel is once the first and once the second of a pair; `n` differs."""
    a, b = NAMES[first], NAMES[(12 * first + 5) % len(NAMES)]
    woven = goptx.weave(CONSTRUCTS, CONSTRUCTS, entries=(a, b))
    outputs = [np.full(CTAS * BLOCK, INITIAL, np.int32) for _ in range(2)]
    arguments = [[data(n), out, n] for n, out in zip((300, 337), outputs, strict=True)]
    goptx.emulate(woven, CTAS, BLOCK, arguments, seed=first % 4)
    assert outputs[0].tolist() == alone(a, 300)[0]
    assert outputs[1].tolist() == alone(b, 337)[0]
