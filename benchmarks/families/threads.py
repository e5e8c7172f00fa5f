"""Cases for what threads do together: shuffles, votes, reductions, barriers.

Requires nothing of a GPU. A shuffle never asks a lane that is not there, since what it gets is left open.
"""

from __future__ import annotations

import numpy as np
from families.entry import Case, Entry

from goptx.emulator.instructions.lanewise import Array

FULL = "0xffffffff"


def words(seed: int, high: int = 1 << 32, count: int = 4096) -> Array:
    return np.random.default_rng(seed).integers(0, high, count, np.uint32)


def flags(seed: int) -> Array:
    """As predicates: random ones, and those that whole warps, or halves of them, have in common."""
    found = words(seed, 2)
    found[512:1024] = 1
    found[1024:1536] = 0
    found[1536:2048] = np.arange(512) // 16 % 2
    return found


def _halves(entry: Entry) -> str:
    """A mask of the half of the warp that the lane is in: two groups of lanes execute one instruction."""
    lane, mask, upper = entry.new("b32"), entry.new("b32"), entry.new("pred")
    entry.line(f"mov.u32 {lane}, %laneid;", f"setp.gt.u32 {upper}, {lane}, 15;")
    entry.line(f"selp.b32 {mask}, 0xffff0000, 0x0000ffff, {upper};")
    return mask


# within a warp --------------------------------------------------------------------------------------


def shuffles() -> list[Case]:
    cases = []
    for mode in ("up", "down", "bfly", "idx"):
        for how in ("any lane and clamp", "halves", "segments"):
            entry = Entry(f"shfl.sync.{mode}.b32, {how}")
            highest = {"segments": 32, "halves": 16}.get(how, 1 << 32)
            value, lane = entry.read(words(1)), entry.read(words(2, highest))
            clamp = {"any lane and clamp": words(3), "halves": words(3, 32) & 15 | 0x1000}.get(how)
            if clamp is None:  # as compilers write them for widths of 1 to 32
                width = np.uint32(1) << words(4, 6)
                clamp = (32 - width) << np.uint32(8) | (0 if mode == "up" else 31)
            elif mode == "up" and how == "halves":
                clamp &= np.uint32(0x1F00)
            mask = _halves(entry) if how == "halves" else FULL
            result, inside = entry.new("b32"), entry.new("pred")
            entry.line(f"shfl.sync.{mode}.b32 {result}|{inside}, {value}, {lane}, {entry.read(clamp)}, {mask};")
            entry.write(result)
            entry.write(inside, "pred")
            cases.append(entry.case())
    return cases


def warp_wide() -> list[Case]:
    """vote, match, redux, activemask, elect, bar.warp.sync"""
    cases = []
    for how in ("all lanes", "halves"):
        for mode in ("all", "any", "uni", "ballot"):
            entry = Entry(f"vote.sync.{mode}, {how}")
            given, type_ = entry.read(flags(5), "pred"), "b32" if mode == "ballot" else "pred"
            result = entry.new(type_)
            mask = _halves(entry) if how == "halves" else FULL
            entry.line(f"vote.sync.{mode}.{type_} {result}, {given}, {mask};")
            entry.write(result, type_)
            cases.append(entry.case())
        for mode, type_ in (("any", "b32"), ("any", "b64"), ("all", "b32"), ("all", "b64")):
            entry = Entry(f"match.{mode}.sync.{type_}, {how}")
            values = np.where(flags(6) == flags(7), words(8, 4), 9).astype(f"u{int(type_[1:]) // 8}")
            values[2048:3072] = np.repeat(values[2048:3072:16], 16)
            if type_ == "b64":
                values <<= np.uint64(31)
            given, result, agreed = entry.read(values), entry.new("b32"), entry.new("pred")
            mask = _halves(entry) if how == "halves" else FULL
            entry.line(f"match.{mode}.sync.{type_} {result}{f'|{agreed}' if mode == 'all' else ''}, {given}, {mask};")
            entry.write(result)
            if mode == "all":
                entry.write(agreed, "pred")
            cases.append(entry.case())
        for name in "add.u32 add.s32 min.u32 min.s32 max.u32 max.s32 and.b32 or.b32 xor.b32".split():
            operation, type_ = name.split(".")
            entry = Entry(f"redux.sync.{operation}.{type_}, {how}")
            few = words(31) & words(32) & words(33)  # of 32 words with few bits, not all bits are in one
            values = {"and": ~few, "or": few}.get(operation, words(9))
            given, result = entry.read(values), entry.new("b32")
            entry.line(
                f"redux.sync.{operation}.{type_} {result}, {given}, {_halves(entry) if how == 'halves' else FULL};"
            )
            entry.write(result)
            cases.append(entry.case())
        entry = Entry(f"elect.sync, {how}")
        leader, chosen = entry.new("b32"), entry.new("pred")
        entry.line(f"elect.sync {leader}|{chosen}, {_halves(entry) if how == 'halves' else FULL};")
        entry.write(leader)
        entry.write(chosen, "pred")
        cases.append(entry.case())
    entry = Entry("activemask, a CTA of 40 threads", 4, 40)
    result = entry.new("b32")
    entry.line(f"activemask.b32 {result};")
    entry.write(result)
    return [*cases, entry.case(), _parted(), _warp_exchange()]


def _parted() -> Case:
    """Lanes that diverge at a branch, each side with a mask of its own."""
    entry = Entry("shfl.sync, vote.sync, redux.sync on both sides of a branch")
    value, side = entry.read(words(10)), entry.read(words(11, 2), "pred")
    sides, others, result, sum_ = (entry.new("b32") for _ in range(4))
    held, low = entry.new("pred"), entry.new("b32")
    entry.line(f"vote.sync.ballot.b32 {sides}, {side}, {FULL};", f"not.b32 {others}, {sides};")
    entry.line(f"and.b32 {low}, {value}, 1;", f"setp.ne.b32 {held}, {low}, 0;", f"@{side} bra taken;")
    first = entry.new("b32")
    for mask, end in ((others, "bra.uni join;"), (sides, "")):
        if mask == sides:
            entry.line("taken:")
        entry.line(f"bfind.u32 {first}, {mask};", f"shfl.sync.idx.b32 {result}, {value}, {first}, 31, {mask};")
        entry.line(f"redux.sync.add.u32 {sum_}, {value}, {mask};", f"vote.sync.ballot.b32 {low}, {held}, {mask};")
        entry.line(*([end] if end else []))
    entry.line("join:")
    for register in (result, sum_, low):
        entry.write(register)
    return entry.case()


def _warp_exchange() -> Case:
    entry = Entry("bar.warp.sync, an exchange through shared memory")
    value = entry.read(words(12))
    entry.variables.append(".shared .align 4 .b8 slots[1024];")
    start, other = entry.new("b64"), entry.new("b32")
    entry.line(f"mov.u64 {start}, slots;", f"xor.b32 {other}, %rank, 21;")
    mine, theirs = entry.at(start, 4, "%rank"), entry.at(start, 4, other)
    entry.line(f"st.shared.b32 [{mine}], {value};", f"bar.warp.sync {FULL};", f"ld.shared.b32 {value}, [{theirs}];")
    entry.write(value)
    return entry.case()


# within a CTA ---------------------------------------------------------------------------------------


def barriers() -> list[Case]:
    cases = []
    for name, count in (("bar.red", ""), ("barrier.red.aligned", ", 256"), ("barrier.cta.red", "")):
        for reduction, type_ in (("popc.u32", "b32"), ("and.pred", "pred"), ("or.pred", "pred")):
            entry = Entry(f"{name}.{reduction}{f'{count} threads' if count else ''}")
            for seed in (13, 14):
                values = flags(seed)
                values[3072:] = np.repeat([0, 1, 0, 1], 256) if seed == 13 else 1
                values[3200] = 1
                given, result = entry.read(values, "pred"), entry.new(type_)
                entry.line(f"{name}.{reduction} {result}, 1{count}, {given};")
                entry.write(result, type_)
            cases.append(entry.case())
    for sync in ("bar.sync 0;", "barrier.sync 3;", "barrier.sync.aligned 5, 256;", "bar.cta.sync 15, 256;"):
        entry = Entry(f"{sync.rstrip(';')}, an exchange")
        value, other = entry.read(words(15)), entry.new("b32")
        start = _slots(entry)
        entry.line(f"sub.u32 {other}, 255, %rank;")
        mine, theirs = entry.at(start, 4, "%rank"), entry.at(start, 4, other)
        entry.line(f"st.shared.b32 [{mine}], {value};", sync, f"ld.shared.b32 {value}, [{theirs}];")
        entry.write(value)
        cases.append(entry.case())
    return [*cases, _hand_over(), _early_end()]


def _slots(entry: Entry) -> str:
    entry.variables.append(".shared .align 4 .b8 slots[1024];")
    start = entry.new("b64")
    entry.line(f"mov.u64 {start}, slots;")
    return start


def _hand_over() -> Case:
    """Warps of the lower half produce and arrive, those of the upper half wait and consume."""
    entry = Entry("bar.arrive, bar.sync of producers and consumers")
    value, start, other = entry.read(words(16)), _slots(entry), entry.new("b32")
    consumes = entry.new("pred")
    entry.line(f"setp.gt.u32 {consumes}, %rank, 127;", f"xor.b32 {other}, %rank, 128;")
    mine, theirs = entry.at(start, 4, "%rank"), entry.at(start, 4, other)
    entry.line(f"@{consumes} bra consume;", f"st.shared.b32 [{mine}], {value};", "bar.arrive 2, 256;", "bra.uni done;")
    entry.line("consume:", "bar.sync 2, 256;", f"ld.shared.b32 {value}, [{theirs}];", "done:")
    entry.write(value)
    return entry.case()


def _early_end() -> Case:
    """Warps that have ended are not waited for."""
    entry = Entry("bar.sync after some warps have ended")
    value, start, ends = entry.read(words(17)), _slots(entry), entry.new("pred")
    entry.line(f"setp.gt.u32 {ends}, %rank, 191;", f"@{ends} exit;")
    other, low = entry.new("b32"), entry.new("b32")
    entry.line(f"and.b32 {low}, %rank, 63;", f"sub.u32 {other}, %rank, {low};", f"sub.u32 {low}, 63, {low};")
    entry.line(f"add.u32 {other}, {other}, {low};")
    mine, theirs = entry.at(start, 4, "%rank"), entry.at(start, 4, other)
    entry.line(f"st.shared.b32 [{mine}], {value};", "bar.sync 0;", f"ld.shared.b32 {value}, [{theirs}];")
    entry.write(value)
    return entry.case()
