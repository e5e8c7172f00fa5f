"""Cases for bulk operations of one thread: reductions into global and shared memory, zeros, remote stores.

Requires nothing of a GPU. A CTA's shared memory is filled first; the CTA is a cluster of its own.
"""

from __future__ import annotations

from families.entry import Case, Entry
from families.memory import SLOT, copy, slot, words

INTEGERS = "add.u32 add.s32 add.u64 inc.u32 dec.u32 min.u32 min.s32 max.u32 max.s32 and.b32 or.b32 xor.b32".split()
WIDE = "min.u64 min.s64 max.u64 max.s64 and.b64 or.b64 xor.b64".split()
FLOATS = "add.f32 add.f64 add.noftz.f16 add.noftz.bf16 min.f16 max.f16 min.bf16 max.bf16".split()
COMPLETION = "mbarrier::complete_tx::bytes"


def operations() -> list[Case]:
    to_global = [_into_global(form) for form in (*INTEGERS, *WIDE, *FLOATS)]
    remote = [_remote_reduction(form) for form in INTEGERS]
    return [*to_global, *(_into_shared(form) for form in INTEGERS), *remote, _remote_store()]


def _filled(name: str, seed: int) -> tuple[Entry, str]:
    """An entry whose threads have filled their slots of shared memory, and the address of a thread's own slot."""
    entry = Entry(name, 2)
    entry.directives.append(".reqnctapercluster 1, 1, 1")  # else instructions on shared::cluster are illegal on sm_90
    shared = slot(entry, "shared")
    copy(entry, entry.at(entry.array(words(entry.threads * SLOT // 4, seed)), SLOT), "global", shared, "shared")
    entry.variables += [".reg .b64 %first_slot;", ".reg .pred %first;", ".shared .align 8 .b8 object[8];"]
    entry.variables += [f".shared .align 16 .b8 others[{entry.block * SLOT}];", ".reg .b64 %others;"]
    entry.line("mov.u64 %first_slot, slots;", "mov.u64 %others, others;", "setp.eq.u32 %first, %rank, 0;")
    entry.line("@%first mbarrier.init.shared.b64 [object], 1;")
    return entry, shared


def _begin(entry: Entry, expected: int = 0) -> None:
    """All threads see what is in shared memory, and so does what works asynchronously."""
    entry.line("fence.proxy.async.shared::cta;", "bar.sync 0;")
    if expected:
        entry.line(f"@%first mbarrier.arrive.expect_tx.shared.b64 _, [object], {expected};", "bar.sync 0;")


def _end(entry: Entry, place: str) -> None:
    """Waits for the bytes, and stores each thread's slot at that place."""
    done = entry.new("pred")
    entry.line("waiting:", f"mbarrier.try_wait.parity.shared.b64 {done}, [object], 0;", f"@!{done} bra waiting;")
    copy(entry, place, "shared", entry.at(entry.room(entry.threads * SLOT // 4, "b32"), SLOT), "global")


def _into_global(form: str) -> Case:
    entry, _ = _filled(f"cp.reduce.async.bulk.global.shared::cta.bulk_group.{form}", 21)
    type_ = form.split(".")[-1]
    given = words(entry.threads * SLOT // 4, 22)
    format_ = type_ if type_ in ("f16", "bf16", "f32", "f64") else "bits"
    place = entry.at(entry.changed(given.view(f"u{int(type_.lstrip('busf')) // 8}"), format_), SLOT)
    _begin(entry)
    entry.line(
        f"@%first {entry.name} [{place}], [%first_slot], {entry.block * SLOT};",
        "@%first cp.async.bulk.commit_group;", "@%first cp.async.bulk.wait_group 0;",
    )  # fmt: skip
    return entry.case()


def _others(entry: Entry, seed: int) -> str:
    """The address of a thread's slot in a second array in shared memory, which is filled."""
    place = entry.at("%others", SLOT, "%rank")
    copy(entry, entry.at(entry.array(words(entry.threads * SLOT // 4, seed)), SLOT), "global", place, "shared")
    return place


def _into_shared(form: str) -> Case:
    entry, _ = _filled(f"cp.reduce.async.bulk.shared::cluster.shared::cta.{COMPLETION}.{form}", 23)
    place, size = _others(entry, 24), entry.block * SLOT
    _begin(entry, size)
    entry.line(f"@%first {entry.name} [%others], [%first_slot], {size}, [object];")
    _end(entry, place)
    return entry.case()


def _remote_reduction(form: str) -> Case:
    """Every thread reduces into the slot of another."""
    type_ = form.split(".")[-1]
    entry, shared = _filled(f"red.async.relaxed.cluster.shared::cluster.{COMPLETION}.{form}", 25)
    width = int(type_[1:]) // 8
    value = entry.read(words(2 * entry.threads, 26).view(f"u{width}")[: entry.threads])
    other, place = entry.new("b32"), entry.new("b64")
    entry.line(f"xor.b32 {other}, %rank, 77;", f"mad.wide.u32 {place}, {other}, {SLOT}, %first_slot;")
    _begin(entry, entry.block * width)
    entry.line(f"{entry.name} [{place}], {value}, [object];")
    _end(entry, shared)
    return entry.case()


def _remote_store() -> Case:
    """Every thread stores a pair in the slot of another."""
    entry, shared = _filled(f"st.async.weak.shared::cluster.{COMPLETION}.v2.b32", 27)
    values = [entry.read(words(entry.threads, seed)) for seed in (28, 29)]
    other, place = entry.new("b32"), entry.new("b64")
    entry.line(f"xor.b32 {other}, %rank, 77;", f"mad.wide.u32 {place}, {other}, {SLOT}, %first_slot;")
    _begin(entry, entry.block * 8)
    entry.line(f"{entry.name} [{place}], {{{', '.join(values)}}}, [object];")
    _end(entry, shared)
    return entry.case()
