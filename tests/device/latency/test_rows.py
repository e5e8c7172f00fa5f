"""The tables of microbenchmarks: complete, and consistent with each other."""

import string
from collections import Counter
from collections.abc import Iterable, Iterator
from itertools import product
from pathlib import Path

import pytest

from goptx.device.latency.row import Row
from goptx.device.latency.rows import ROWS, SKIPPED
from goptx.latency.table import SIGNS, load_table
from goptx.ptx.ir import Function, Instruction, Scope, Statement
from goptx.ptx.opcodes import facts_of
from goptx.sources.read import read

ROOT = Path(__file__).resolve().parents[3]
KERNELS = sorted((ROOT / "examples" / "kernels").glob("*.ptx"))
KEYS = {row.key for row in ROWS if not row.name}


def alike(key: str) -> set[str]:
    """The key, and those of types that differ only in sign."""
    first, *types = key.split(".")
    return {".".join([first, *choice]) for choice in product(*(SIGNS.get(t, (t,)) for t in types))} | {key}


def instructions(body: Iterable[Statement]) -> Iterator[Instruction]:
    for statement in body:
        if isinstance(statement, Instruction):
            yield statement
        elif isinstance(statement, Scope):
            yield from instructions(statement.body)


@pytest.mark.parametrize("path", KERNELS, ids=lambda path: path.stem)
def test_every_key_of_the_example_kernels_is_measured(path: Path) -> None:
    """Suite A is seven of them."""
    functions = [item for item in read(path).items if isinstance(item, Function)]
    used = {facts_of(i.opcode).latency_key for f in functions for i in instructions(f.body or ())}
    assert used
    assert sorted(key for key in used if not alike(key) & KEYS) == []


def test_every_key_of_a_table_is_measured_or_left_out_for_a_reason() -> None:
    """Short keys stand for opcodes without a longer one, except for integers that lose or gain bits beyond a word."""
    left = ("cvt.u64.u8", "cvt.u8.u16", "cvt.u64.u16", "cvt.u8.u64", "cvt.u16.u64")
    for arch in ("sm_80", "sm_90"):
        keys = load_table(arch, arch).entries
        missing = [
            key
            for key in keys
            if not alike(key) & KEYS and key not in SKIPPED and not any(k.startswith(f"{key}.") for k in KEYS)
        ]
        assert sorted(missing) == sorted(left)


def test_skipped_keys_are_not_measured() -> None:
    assert not set(SKIPPED) & KEYS
    assert all(SKIPPED.values())


def test_labels_distinguish_rows() -> None:
    for names in (Counter(row.key for row in ROWS), Counter(row.label for row in ROWS)):
        assert [name for name, count in names.items() if count > 1] == []


@pytest.mark.parametrize("row", [row for row in ROWS if row.taken_off or row.interval_of], ids=lambda row: row.label)
def test_subtracted_keys_are_measured_by_themselves(row: Row) -> None:
    rows = {row.key: row for row in ROWS}

    def walk(key: str, above: tuple[str, ...]) -> None:
        assert key in rows, f"{above[-1]} takes off {key}"
        assert key not in above
        for other in rows[key].taken_off:
            walk(other, (*above, key))

    walk(row.key, ())
    if row.interval_of:
        assert INTERVAL_ROWS[row.interval_of].chains > 1
        assert row.chains == 0


INTERVAL_ROWS = {row.key: row for row in ROWS}


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.label)
def test_a_row_measures_something(row: Row) -> None:
    assert row.latency or row.chains
    assert row.long > row.short
    words = {name for _, name, *_ in string.Template.pattern.findall(f"{row.operands} {row.after} {row.then}")}
    if row.latency and not row.timed:
        assert words & {"x", "X"}, "nothing is handed on"
