"""Cases for what completes later: copies by `cp.async`, and `mbarrier` objects.

Requires nothing of a GPU.
"""

from __future__ import annotations

import numpy as np
from families.entry import Case, Entry
from families.memory import SLOT, copy, slot, words

# cp.async -------------------------------------------------------------------------------------------


def copies() -> list[Case]:
    """Of all sizes, cut short, left out, in groups."""
    cases = []
    for opcode, size in (("ca", 4), ("ca", 8), ("ca", 16), ("cg", 16)):
        for how in ("", "fewer bytes", "no bytes", "left out"):
            cases.append(_async(f"cp.async.{opcode}.shared.global", size, how))
    cases += [_async("cp.async.ca.shared::cta.global.L2::128B", 8, ""), _groups()]
    return cases


def _async(opcode: str, size: int, how: str) -> Case:
    entry = Entry(f"{opcode}, {size} bytes{f', {how}' if how else ''}", 2)
    origin = entry.at(entry.array(words(entry.threads * SLOT // 4, 4)), SLOT)
    shared = slot(entry, "shared")
    copy(entry, entry.at(entry.array(words(entry.threads * SLOT // 4, 5)), SLOT), "global", shared, "shared")
    rest = {"": "", "no bytes": ", 0"}.get(how)
    if rest is None:
        amounts = np.random.default_rng(6).integers(
            0, size + 1 if how == "fewer bytes" else 2, entry.threads, np.uint32
        )
        rest = f", {entry.read(amounts, 'pred' if how == 'left out' else 'b32')}"
    entry.line("bar.sync 0;", f"{opcode} [{shared}], [{origin}], {size}{rest};", "cp.async.wait_all;", "bar.sync 0;")
    copy(entry, shared, "shared", entry.at(entry.room(entry.threads * SLOT // 4, "b32"), SLOT), "global")
    return entry.case()


def _groups() -> Case:
    """Four stages in a ring: a copy is read by the thread's neighbour when its group has completed."""
    entry = Entry("cp.async.commit_group, cp.async.wait_group", 2)
    stages, rounds = 4, 6
    origin = entry.at(entry.array(words(rounds * entry.threads, 7)), 4)
    entry.variables.append(f".shared .align 16 .b8 ring[{stages * entry.block * 4}];")
    start, mine, next_, neighbour = entry.new("b64"), entry.new("b32"), entry.new("b32"), entry.new("b32")
    total, word = entry.new("b32"), entry.new("b32")
    entry.line(
        f"mov.u64 {start}, ring;", f"add.u32 {next_}, %rank, 1;", f"and.b32 {neighbour}, {next_}, {entry.block - 1};"
    )
    entry.line(f"mov.u32 {mine}, %rank;", f"mov.u32 {total}, 0;")
    own, other = entry.at(start, 4, mine), entry.at(start, 4, neighbour)
    for i in range(rounds + stages - 1):
        if i < rounds:
            stage = i % stages * entry.block * 4
            entry.line(f"cp.async.ca.shared.global [{own}+{stage}], [{origin}+{i * entry.threads * 4}], 4;")
        entry.line("cp.async.commit_group;")
        if i >= stages - 1:
            stage = (i - stages + 1) % stages * entry.block * 4
            entry.line(f"cp.async.wait_group {stages - 1};", "bar.sync 0;", f"ld.shared.b32 {word}, [{other}+{stage}];")
            entry.line(f"mad.lo.u32 {total}, {total}, 33, {word};", "bar.sync 0;")
    entry.write(total)
    return entry.case()


# mbarrier -------------------------------------------------------------------------------------------


def barrier_objects() -> list[Case]:
    cases = [_exchange(wait, arrive) for wait in ("test_wait", "test_wait.parity", "try_wait", "try_wait.parity")
             for arrive in ("arrive", "arrive.release.cta", "arrive.expect_tx")]  # fmt: skip
    return [
        *cases,
        _pending(),
        _dropped(),
        _with_copies("cp.async.mbarrier.arrive.noinc"),
        _with_copies("cp.async.mbarrier.arrive"),
    ]


def _object(entry: Entry, count: int) -> str:
    """An object that waits for as many arrivals, made by the first thread."""
    entry.variables += [".shared .align 8 .b8 object[8];", ".reg .b64 %object;", ".reg .pred %first;"]
    entry.line(
        "mov.u64 %object, object;", "setp.eq.u32 %first, %rank, 0;",
        f"@%first mbarrier.init.shared.b64 [%object], {count};", "bar.sync 0;",
    )  # fmt: skip
    return "[%object]"


def _wait(entry: Entry, opcode: str, object_: str, state: str, label: str) -> None:
    done = entry.new("pred")
    entry.line(f"{label}:", f"{opcode} {done}, {object_}, {state};", f"@!{done} bra {label};")


def _exchange(wait: str, arrive: str) -> Case:
    """Three phases; in each, what a thread stored is read by another when all have arrived."""
    entry = Entry(f"mbarrier.{arrive}, mbarrier.{wait}", 2)
    value = entry.read(words(entry.threads, 8))
    entry.variables.append(f".shared .align 16 .b8 slots[{3 * entry.block * 4}];")
    object_ = _object(entry, entry.block)
    start, other = entry.new("b64"), entry.new("b32")
    entry.line(f"mov.u64 {start}, slots;", f"xor.b32 {other}, %rank, 77;")
    mine, theirs = entry.at(start, 4, "%rank"), entry.at(start, 4, other)
    state, word = entry.new("b64"), entry.new("b32")
    for phase in range(3):
        offset = phase * entry.block * 4
        entry.line(f"st.shared.b32 [{mine}+{offset}], {value};")
        entry.line(f"mbarrier.{arrive}.shared.b64 {state}, {object_}{', 0' if 'expect' in arrive else ''};")
        given = f"{phase & 1}" if "parity" in wait else state
        _wait(entry, f"mbarrier.{wait}.shared.b64", object_, given, f"wait_{phase}")
        entry.line(f"ld.shared.b32 {word}, [{theirs}+{offset}];", f"mad.lo.u32 {value}, {value}, 5, {word};")
    entry.write(value)
    return entry.case()


def _pending() -> Case:
    """One thread alone arrives, with counts, and asks how many arrivals were pending before."""
    entry = Entry("mbarrier.arrive.noComplete, mbarrier.pending_count", 1, 32)
    object_ = _object(entry, 9)
    out = entry.room(4, "b32")
    state, pending = entry.new("b64"), entry.new("b32")
    entry.line("@!%first bra done;")
    for i, arrive in enumerate(("arrive.noComplete", "arrive.noComplete", "arrive_drop.noComplete", "arrive")):
        count = (2, 3, 1, 3)[i]
        entry.line(f"mbarrier.{arrive}.shared.b64 {state}, {object_}, {count};")
        entry.line(f"mbarrier.pending_count.b64 {pending}, {state};", f"st.global.b32 [{out}+{4 * i}], {pending};")
    _wait(entry, "mbarrier.test_wait.shared.b64", object_, state, "waiting")
    entry.line("mbarrier.inval.shared.b64 [%object];", "done:")
    return entry.case()


def _dropped() -> Case:
    """Every other thread leaves in the first phase; the rest complete the second."""
    entry = Entry("mbarrier.arrive_drop, mbarrier.expect_tx, mbarrier.complete_tx", 2)
    object_ = _object(entry, entry.block)
    state, seen, odd = entry.new("b64"), entry.new("b32"), entry.new("pred")
    entry.line(f"and.b32 {seen}, %rank, 1;", f"setp.ne.u32 {odd}, {seen}, 0;")
    out = entry.at(entry.room(entry.threads, "b32"), 4)
    entry.line(f"@{odd} bra leave;")
    entry.line(f"@%first mbarrier.expect_tx.relaxed.cta.shared::cta.b64 {object_}, 64;")
    entry.line(f"@%first mbarrier.complete_tx.relaxed.cta.shared::cta.b64 {object_}, 64;")
    for phase in range(2):
        entry.line(f"mbarrier.arrive.shared.b64 {state}, {object_};")
        _wait(entry, "mbarrier.try_wait.shared.b64", object_, state, f"wait_{phase}")
    entry.line(f"st.global.b32 [{out}], 2;", "bra done;")
    entry.line("leave:", f"mbarrier.arrive_drop.shared.b64 {state}, {object_};")
    entry.line(f"st.global.b32 [{out}], 1;", "done:")
    return entry.case()


def _with_copies(arrive: str) -> Case:
    """A copy counts as an arrival when it has completed; without `.noinc` it only pays for itself."""
    entry = Entry(f"{arrive}.shared.b64", 2)
    origin = entry.at(entry.array(words(entry.threads * SLOT // 4, 9)), SLOT)
    shared = slot(entry, "shared")
    object_ = _object(entry, entry.block)
    state, start, other = entry.new("b64"), entry.new("b64"), entry.new("b32")
    entry.line(f"cp.async.cg.shared.global [{shared}], [{origin}], 16;", f"{arrive}.shared.b64 {object_};")
    if not arrive.endswith("noinc"):
        entry.line(f"mbarrier.arrive.shared.b64 {state}, {object_};")
    _wait(entry, "mbarrier.try_wait.parity.shared.b64", object_, "0", "waiting")
    entry.line(f"mov.u64 {start}, slots;", f"xor.b32 {other}, %rank, 37;")
    copy(
        entry,
        entry.at(start, SLOT, other),
        "shared",
        entry.at(entry.room(entry.threads * SLOT // 4, "b32"), SLOT),
        "global",
    )
    return entry.case()
