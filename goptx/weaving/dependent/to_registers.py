"""Keeps temporaries between kernels in registers, and loads inputs that kernels have in common once.

Requires: kernels fused to one side, in their order; buffers as the caller declared them. Ensures: a load of a private
buffer is a move from the register in which the same thread has put the element before; its stores, what computed their
addresses, and the parameter are gone. All accesses of such a buffer are changed, or `CannotWeave` names one that cannot
be. Of equal loads of an input that no kernel writes the later ones are moves too, wherever that can be shown.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import count, pairwise

from goptx.analysis.cfg import Code, Flow
from goptx.analysis.numbering import free_number, provenance_of
from goptx.analysis.sync.acquires import non_acquiring_functions
from goptx.analysis.sync.barriers import holds_barrier
from goptx.analysis.values.access_sites import Access, AccessSites
from goptx.analysis.values.expressions import Atoms, Expression
from goptx.analysis.values.footprint import Footprint, Size, footprint
from goptx.analysis.values.value_numbering import Place, Values
from goptx.errors import CannotWeave
from goptx.launch.shape import Limit
from goptx.ptx.ir import Immediate, Instruction, Name, Operand, Provenance, Vector
from goptx.ptx.walk import names_in
from goptx.weaving.dependent.dead_code import without_unused
from goptx.weaving.dependent.kernel_dependences import check_along_x
from goptx.weaving.dependent.promised import Unmatched, registers_of
from goptx.weaving.dependent.shared_buffers import Buffer, in_words
from goptx.weaving.dependent.temporaries import Findings
from goptx.weaving.merging.merge_input import MergeInput
from goptx.weaving.merging.merged_blocks import expanded
from goptx.weaving.model import Linked
from goptx.weaving.shapes.scalar_code import Fresh, free_stem

SHARE = "keep the buffer in memory (depends=True, same= instead of private=), or use separate launches"


@dataclass(frozen=True, slots=True)
class Internalised:
    """`flows` are those of the single kernels, changed alike; `along_x` says
    that what was shown holds for launches along x only. `forwarded` are registers that one kernel writes and others
    read."""

    linked: Linked
    side: MergeInput
    flows: list[Flow]
    notes: tuple[str, ...]
    along_x: bool
    forwarded: frozenset[str] = frozenset()


def internalised(
    linked: Linked,
    side: MergeInput,
    flows: Sequence[Flow],
    buffers: Sequence[Buffer],
    size: Size,
    findings: Findings | None = None,
    assume_private: bool = False,
    fixed: Collection[Provenance] = frozenset(),
) -> Internalised:
    """`size` is that of the grid, as far as it is known. With private buffers that are refused (`findings`), what comes
    back is of no use. `assume_private`: the caller's word (promised.py) for those that are declared private. `fixed`
    are the provenance of loads that stay as they are."""
    findings = findings or Findings()
    if not any(b.kind in ("private", "same") for b in buffers):
        return Internalised(linked, side, list(flows), (), False)
    places = AccessSites(Values(expanded(side.flow)[0], Atoms()), non_acquiring_functions(linked.items))
    stem = free_stem("%kept", [n for k in linked.kernels for n in k.register_names()])
    work = _Work(linked, places, Fresh(stem), size, count(free_number(side.flow)), fixed)
    for buffer in buffers:
        accesses = [a for a in places.accesses() if a.base == buffer.name]
        if buffer.kind == "private":
            assumed = assume_private and findings.declared[buffer.name] == "private"
            work.try_to_keep(buffer, accesses, findings, assumed)
        elif buffer.kind == "same" and not any(a.writes for a in accesses):
            work.load_once(buffer, accesses)
    private = {b.name: b for b in buffers if b.kind == "private"}
    changed = [f.with_code(work.changed) for f in (side.flow, *flows)]
    whole, *own = without_unused(changed, side.flow)
    for instruction in whole.instructions():
        for name in private.keys() & {n for o in instruction.operands for n in names_in(o)}:
            refusal = CannotWeave(
                f"{work.at(instruction)} takes the address of the private buffer {private[name].said(linked)} for "
                f"something else than its loads and stores, so it cannot vanish; {SHARE}.",
                rule="plain-accesses",
            )
            findings.refused.setdefault(name, refusal)
    lacks = {**linked.lacks, **dict.fromkeys(private, "")}
    notes = tuple(work.notes)
    new = replace(side, flow=whole)
    first, *rest = linked.kernels
    first = replace(first, registers=(*first.registers, *work.fresh.declared()))
    linked = replace(linked, kernels=(first, *rest), lacks=lacks, limits=linked.limits | work.limits)
    forwarded = frozenset(str(name) for names in work.kept.values() for name in names)
    return Internalised(linked, new, own, notes, work.along_x, forwarded)


@dataclass(slots=True)
class _Work:
    """`new` has what stands in place of instructions, by their provenance; `numbers` are free for what is made."""

    linked: Linked
    places: AccessSites
    fresh: Fresh
    size: Size
    numbers: Iterator[int]
    fixed: Collection[Provenance] = frozenset()
    new: dict[Provenance, tuple[Instruction, ...]] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)
    kept: dict[object, tuple[Name, ...]] = field(default_factory=dict)
    along_x: bool = False
    limits: frozenset[Limit] = frozenset()

    def changed(self, code: Sequence[Code]) -> Iterator[Code]:
        return (made for c in code for made in self.new.get(provenance_of(c), (c,)))

    def at(self, instruction: Instruction) -> str:
        kernel = self.linked.owner(instruction)
        return f"{kernel.at(instruction.line)}: `{kernel.quote(instruction)}`"

    # private buffers ---------------------------------------------------------------------------------

    def try_to_keep(self, buffer: Buffer, accesses: Sequence[Access], findings: Findings, assumed: bool) -> None:
        try:
            findings.became[buffer.name] = "registers", self.keep(buffer, accesses, assumed)
        except CannotWeave as refusal:
            findings.refused[buffer.name] = refusal

    def keep(self, buffer: Buffer, accesses: Sequence[Access], assumed: bool) -> str:
        """Why it can be: what was replaced, and what is assumed."""
        said = buffer.said(self.linked)
        for access in accesses:
            if not access.plain or len(access.instruction.operands) != 2:
                raise CannotWeave(
                    f"{self.at(access.instruction)} is no plain load or store of the private buffer {said}, so it "
                    f"cannot become a move; {SHARE}.",
                    rule="plain-accesses",
                )
        stores = [a for a in accesses if a.writes]
        if not stores:
            raise CannotWeave(
                f"{self._entries(buffer)}: no kernel writes the private buffer {said}; use same= for it.",
                rule="written-before-read",
            )
        cells, missing = {a.place: a.address for a in accesses}, ""
        if assumed:
            cells, missing = self._promised(said, accesses), self._not_proved(said, accesses, stores)
        else:
            self._check_own(said, accesses, stores)
        self._check_widths(said, cells, accesses)
        for access in accesses:
            kept = self._kept((buffer.name, cells[access.place]), access)
            move = self._into if access.writes else self._out_of
            self.new[provenance_of(access.instruction)] = tuple(move(access, kept))
        what = f"{len(stores)} stores and {len(accesses) - len(stores)} loads"
        word = f", on the word of assume_private=True; not proved: {missing}" if missing else ""
        self.notes.append(f"{said} is kept in registers: {what}{word}")
        return f"{what}{word}"

    def _check_own(self, said: str, accesses: Sequence[Access], stores: Sequence[Access]) -> None:
        """Every load is of what the thread itself has stored."""
        along_x, self.along_x = self.along_x, False
        for load in accesses:
            if not load.writes:
                self._check_written(said, load, stores)
        self._check_apart(said, accesses, stores)
        if self.along_x:
            check_along_x(self.linked, f"the private buffer {said}")
        self.along_x |= along_x

    def _not_proved(self, said: str, accesses: Sequence[Access], stores: Sequence[Access]) -> str:
        """What is assumed of all launches, "" if it is proved for some, beyond which it is assumed."""
        before = self.along_x, self.limits
        try:
            self._check_own(said, accesses, stores)
        except CannotWeave as refusal:
            return str(refusal)
        finally:
            self.along_x, self.limits = before
        return ""

    def _promised(self, said: str, accesses: Sequence[Access]) -> dict[Place, Expression]:
        try:
            return registers_of(
                self.places, accesses, self.size, lambda a: f"{self.at(a.instruction)} at {self._say(a)}"
            )
        except Unmatched as found:
            where = f"{self.at(found.load.instruction)} reads the private buffer {said}"
            store = found.store
            if store is None:
                raise CannotWeave(
                    f"{where} before any kernel has stored to it; {SHARE}.", rule="written-before-read"
                ) from None
            raise CannotWeave(
                f"{where} at {self._say(found.load)}, which assume_private=True does not match with one store: "
                f"{self.at(store.instruction)} writes it at {self._say(store)}, {found.why}; {SHARE}.",
                rule="written-before-read",
            ) from None

    def _check_widths(self, said: str, cells: Mapping[Place, Expression], accesses: Sequence[Access]) -> None:
        """All that one register is for has one width."""
        first: dict[Expression, Access] = {}
        for access in accesses:
            one = first.setdefault(cells[access.place], access)
            if (one.element, one.lanes) != (access.element, access.lanes):
                raise self._differ(said, access, one)

    def _differ(self, said: str, one: Access, other: Access) -> CannotWeave:
        return CannotWeave(
            f"{self.at(one.instruction)} {'writes' if one.writes else 'reads'} {one.lanes} elements of {one.element} "
            f"bytes of the private buffer {said}, and {self.at(other.instruction)} writes {other.lanes} of "
            f"{other.element}: the widths differ; {SHARE}.",
            rule="plain-accesses",
        )

    def _entries(self, buffer: Buffer) -> str:
        kernels = [self.linked.kernels[k] for k, _ in buffer.members]
        return " and ".join(dict.fromkeys(k.at(k.entry.line) for k in kernels))

    def _check_written(self, said: str, load: Access, stores: Sequence[Access]) -> None:
        """Some store of the same element comes before it in every thread."""
        atoms = self.places.values.atoms
        ahead = [s for s in stores if self.places.precedes(s.place, load.place)]
        equal = [s for s in ahead if s.address == load.address]
        fitting = [s for s in equal if (s.element, s.lanes) == (load.element, load.lanes)]
        if any(self.places.dominates(s.place, load.place) for s in fitting):
            return
        where = self.at(load.instruction)
        if not ahead:
            raise CannotWeave(
                f"{where} reads the private buffer {said} before anything is written to it; {SHARE}.",
                rule="written-before-read",
            )
        other = (fitting or equal or ahead)[-1]
        place = self.at(other.instruction)
        if not equal:
            loop = " (loops are fused only where they go round equally often)" if self._loops(other, load) else ""
            raise CannotWeave(
                f"{where} reads the private buffer {said} at {self._say(load)}, and {place} writes it at "
                f"{self._say(other)}: these are not shown to be equal{loop}; {SHARE}.",
                rule="written-before-read",
            )
        if not fitting:
            raise self._differ(said, load, other)
        read, written = (in_words(self.linked, atoms.render(self.places.condition(a.place))) for a in (load, other))
        raise CannotWeave(
            f"{where} reads the private buffer {said} if `{read}`, which does not imply that {place} has written it, "
            f"if `{written}`; name bounds that are equal (same=), or {SHARE}.",
            rule="written-before-read",
        )

    def _loops(self, one: Access, other: Access) -> bool:
        return bool(self.places.depth[one.place[0]] or self.places.depth[other.place[0]])

    def _say(self, access: Access) -> str:
        return f"`{in_words(self.linked, self.places.values.atoms.render(access.address))}`"

    def _check_apart(self, said: str, accesses: Sequence[Access], stores: Sequence[Access]) -> None:
        """No other thread, and no other way around a loop, writes an element that is still to be read."""
        writers = {s.instruction.kernel for s in stores}
        several = len(writers) > 1 or len({a.address for a in accesses}) > 1
        several |= len(stores) > 1 and any(map(holds_barrier, self.places.flow.blocks.values()))
        several |= bool(self.places.acquires)  # by which threads may write one element in turn
        for access in stores:
            found = self._footprint(access)
            depth = self.places.depth[access.place[0]]
            if depth and not (depth == 1 and found is not None and found.advances):
                raise CannotWeave(
                    f"{self.at(access.instruction)} writes the private buffer {said} in a loop at {self._say(access)}, "
                    f"which is not shown to be another element each time around; {SHARE}.",
                    rule="temporary-ownership",
                )
            if found is None or not found.exclusive:  # of what several threads store, one value is in memory for all
                raise self._shared(access, said)
            self.along_x |= found.axes == 1
            self.limits |= found.limits
        if several:
            self._check_one_block(said, accesses)

    def _footprint(self, access: Access) -> Footprint | None:
        known = self.places.condition(access.place)
        return footprint(self.places.values, access.address, self.size, known)

    def _shared(self, access: Access, said: str) -> CannotWeave:
        return CannotWeave(
            f"{self.at(access.instruction)} touches the private buffer {said} at {self._say(access)}, which is not "
            f"shown to be an element of this thread alone; {SHARE}.",
            rule="temporary-ownership",
        )

    def _check_one_block(self, said: str, accesses: Sequence[Access]) -> None:
        """Every thread has a piece of its own of the buffer, in which all its elements lie, one beside the other."""
        found = [(self._footprint(a), a) for a in accesses]
        first = found[0][0]
        ends: dict[int, int] = {}
        for one, access in found:
            if first is None or one is None or one.pitch != first.pitch or one.origin != first.origin:
                raise self._shared(access, said)
            ends[one.offset] = max(ends.get(one.offset, 0), one.offset + access.width)
        low, high = min(ends), max(ends.values())
        steps = sorted(ends)
        overlap = any(ends[a] > b for a, b in pairwise(steps))
        if first is not None and (high - low > abs(first.pitch) or overlap):
            access = found[-1][1]
            raise CannotWeave(
                f"{self.at(access.instruction)}: the elements of the private buffer {said} that threads touch overlap; "
                f"{SHARE}.",
                rule="temporary-ownership",
            )

    # inputs --------------------------------------------------------------------------------------------

    def load_once(self, buffer: Buffer, accesses: Sequence[Access]) -> None:
        first: dict[Provenance, list[Access]] = {}  # of each load that stays, where it stands
        later: dict[Provenance, Access] = {}
        for number, load in self._where(accesses).items():
            found = next((s for s in first.values() if self._holds(s, load)), None)
            if found is None:
                first[number] = load
            else:
                later[number] = found[0]
                kept = self._kept((buffer.name, provenance_of(found[0].instruction)), found[0])
                self.new[number] = tuple(self._out_of(load[0], kept))
        needed = {provenance_of(source.instruction) for source in later.values()}
        for number, (source, *_) in first.items():
            if number in needed:
                copies = self._into(source, self._kept((buffer.name, number), source), loaded=True)
                self.new[number] = (source.instruction, *copies)
        if later:
            self.notes.append(f"{buffer.said(self.linked)}: {len(later)} loads of what was loaded before are left out")

    def _where(self, accesses: Sequence[Access]) -> dict[Provenance, list[Access]]:
        """The plain loads by their provenance, each with all places where it stands: merging copies blocks."""
        found: dict[Provenance, list[Access]] = {}
        for load in accesses:
            number = provenance_of(load.instruction)
            if load.plain and len(load.instruction.operands) == 2 and number not in self.fixed:
                found.setdefault(number, []).append(load)
        return found

    def _holds(self, source: Sequence[Access], load: Sequence[Access]) -> bool:
        """Whether a load, wherever it stands, gives what an earlier one of another kernel has given. A kernel may write
        itself, by another of its parameters, what it alone loads."""
        if self._letter(source[0]) == self._letter(load[0]):
            return False
        return all(any(self._holds_at(s, one, source) for s in source) for one in load)

    def _letter(self, access: Access) -> str:
        return self.linked.owner(access.instruction).letter

    def _holds_at(self, source: Access, load: Access, copies: Sequence[Access]) -> bool:
        """Of one place of the load. `copies` are all places of the source, which leave what they load in one
        register."""
        others = [c.place for c in copies if c.address != load.address]
        return (
            (source.address, source.element, source.lanes) == (load.address, load.element, load.lanes)
            and self.places.dominates(source.place, load.place)
            and not self.places.acquires_between(source.place, load.place)  # others may write it meanwhile
            and not self.places.between(source.place, load.place, others)
        )

    # registers -----------------------------------------------------------------------------------------

    def _kept(self, key: object, access: Access) -> tuple[Name, ...]:
        """The registers that hold an element, or the several elements, of one access."""
        if key not in self.kept:
            bits = 8 * max(access.element, 2)
            self.kept[key] = tuple(self.fresh.register(f".b{bits}") for _ in range(access.lanes))
        return self.kept[key]

    def _into(self, access: Access, kept: Sequence[Name], loaded: bool = False) -> list[Instruction]:
        """What is stored, or has been loaded, into the registers."""
        taken = _lanes(access.instruction.operands[0 if loaded else 1])
        return [self._move(access, name, value, value) for name, value in zip(kept, taken, strict=True)]

    def _out_of(self, access: Access, kept: Sequence[Name]) -> list[Instruction]:
        given = _lanes(access.instruction.operands[0])
        moves = zip(given, kept, strict=True)
        return [self._move(access, result, name, result) for result, name in moves if str(result) != "_"]

    def _move(self, access: Access, result: Operand, value: Operand, outside: Operand) -> Instruction:
        """`outside` is the kernel's own of the two, which may have more bits than the element."""
        type_ = access.facts.types[-1]
        bits, own = 8 * max(access.element, 2), self._bits(access.instruction, outside) or 8 * max(access.element, 2)
        opcode = f"mov.b{bits}" if bits == own else f"cvt.u{bits}.u{own}"
        if bits == own == 8 * access.element:
            opcode = f"mov.{type_}"
        elif result is outside and not access.writes:  # as a load widens it
            kind = "s" if type_.startswith("s") else "u"
            opcode = f"cvt.{kind}{own}.{kind}{8 * access.element}"
        replaced = access.instruction
        provenance = Provenance(provenance_of(replaced).kernel, next(self.numbers))
        return Instruction(opcode, (result, value), replaced.guard, replaced.line, provenance)

    def _bits(self, instruction: Instruction, operand: Operand) -> int:
        """Of a register; 0 of what is none."""
        if isinstance(operand, Immediate):
            return 0
        kernel = self.linked.owner(instruction)
        for declared in kernel.registers:
            for name, several in declared.names:
                stem = str(operand).removeprefix(name)
                if str(operand) == name or (several is not None and stem != str(operand) and stem.isdigit()):
                    return int("".join(c for c in declared.types[-1] if c.isdigit()) or 0)
        return 0


def _lanes(operand: Operand) -> tuple[Operand, ...]:
    return operand.parts if isinstance(operand, Vector) else (operand,)
