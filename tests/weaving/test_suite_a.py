"""All pairs of suite A, in both orders, for both architectures."""

import hashlib
import os
import subprocess
import sys
from itertools import combinations_with_replacement, product
from pathlib import Path

import pytest

import goptx
from goptx.device.assemble import assemble, find_ptxas

KERNELS = ("gelu", "harris", "lud", "micnd", "sort", "stms", "wmma")
FOLDER = Path(__file__).parents[2] / "examples" / "kernels"


def path(name: str, arch: str) -> Path:
    return FOLDER / f"{name}.{arch}.ptx"


@pytest.mark.slow
@pytest.mark.skipif(find_ptxas() is None, reason="needs ptxas")
@pytest.mark.parametrize("arch", ["sm_80", "sm_90"])
@pytest.mark.parametrize("first", KERNELS)
def test_every_pair_assembles(first: str, arch: str) -> None:
    for second in KERNELS:
        woven = goptx.weave(path(first, arch), path(second, arch))
        made = assemble(woven.ptx, entry=woven.name)
        assert made.arch == arch
        assert made.spill_store_bytes == 0, f"{first}+{second}"


# Interleaved, fewer of their CTAs would fit on an SM.
IN_SEQUENCE = [("lud", "wmma"), ("sort", "wmma"), ("wmma", "wmma")]


@pytest.mark.slow
@pytest.mark.parametrize(("first", "second"), list(combinations_with_replacement(KERNELS, 2)))
def test_pairs_are_really_woven(first: str, second: str) -> None:
    least = 0.3 if "wmma" in (first, second) else 0.6
    for a, b in {(first, second), (second, first)}:
        report = goptx.weave(path(a, "sm_90"), path(b, "sm_90")).report
        if (first, second) in IN_SEQUENCE:
            assert any(note.startswith("the kernels stand one after the other") for note in report.notes)
        else:
            assert report.woven_fraction >= least


HASH = """
import hashlib, sys
from pathlib import Path
import goptx
for pair in sys.argv[1:]:
    woven = goptx.weave(*map(Path, pair.split("+")))
    print(pair, hashlib.sha256(woven.ptx.encode()).hexdigest())
"""


@pytest.mark.slow
def test_same_bytes_under_every_hash_seed() -> None:
    pairs = [f"{path(a, 'sm_90')}+{path(b, 'sm_90')}" for a, b in product(KERNELS, KERNELS)]
    printed = [
        subprocess.run(
            [sys.executable, "-c", HASH, *pairs],
            env={**os.environ, "PYTHONHASHSEED": seed},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for seed in ("1", "20261121")
    ]
    assert printed[0] == printed[1]
    assert len(set(printed[0].split())) == 2 * len(pairs)  # no two pairs give one text


def test_parameters_say_where_they_come_from() -> None:
    woven = goptx.weave(path("harris", "sm_90"), path("gelu", "sm_90"))
    assert [(p.kernel, p.original, p.type, p.size) for p in woven.params][-2:] == [
        ("B", "gelu_param_0", "u64", 8),
        ("B", "gelu_param_1", "u32", 4),
    ]
    assert [p.name for p in woven.params] == [v.name for v in woven.module.entries[0].parameters]


def test_policies_differ_only_in_order() -> None:
    texts = [
        goptx.weave(path("harris", "sm_90"), path("stms", "sm_90"), policy=policy, slicing=None).ptx
        for policy in ("concat", "paper")
    ]
    assert texts[0] != texts[1]
    assert sorted(texts[0].splitlines()) == sorted(texts[1].splitlines())


def test_register_cap_holds_beside_launch_bounds() -> None:
    """facts.md: ptxas ignores -maxrregcount beside .maxntid."""
    if find_ptxas() is None:
        pytest.skip("needs ptxas")
    text = path("wmma", "sm_90").read_text().replace(")\n{", ")\n.maxntid 256, 1, 1\n.minnctapersm 1\n{", 1)
    woven = goptx.weave(text, text)
    assert ".maxntid 256, 1, 1" in woven.ptx
    free, capped = woven.resources(block=256), woven.resources(max_registers=32, block=256)
    assert free.registers > 32 >= capped.registers
    assert capped.occupancy is not None
    assert free.occupancy is not None
    assert capped.occupancy > free.occupancy


def test_digest_is_of_use() -> None:
    """The hash above is of the text: another name gives another."""
    one, other = (goptx.weave(path("gelu", "sm_90"), path("gelu", "sm_90"), name=name).ptx for name in ("one", "other"))
    assert hashlib.sha256(one.encode()).digest() != hashlib.sha256(other.encode()).digest()
