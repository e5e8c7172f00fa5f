"""Moves temporaries that stay within a CTA to its shared memory.

Requires: kernels with the barriers that their dependences need, known blocks. Ensures: all accesses of such a buffer
are to an array of the fused kernel in shared memory, at the places that they had in the CTA's piece of the buffer; the
parameter is gone. Every element that a kernel reads was written before by a thread of the CTA, or `CannotWeave` names a
load.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace

from goptx.analysis.cfg import Block, Code, Flow
from goptx.analysis.dataflow import read, register_of, written
from goptx.analysis.numbering import provenance_of
from goptx.analysis.terminators import Jump
from goptx.analysis.values.access_sites import Access
from goptx.analysis.values.expressions import Atoms
from goptx.analysis.values.footprint import Size, piece_of_cta
from goptx.errors import CannotWeave
from goptx.launch.shape import Limit
from goptx.ptx.ir import Address, Declaration, Immediate, Instruction, Name, Variable
from goptx.ptx.opcodes import facts_of
from goptx.ptx.walk import free_name, names_in
from goptx.weaving.dependent.coverage import covering
from goptx.weaving.dependent.kernel_accesses import KernelAccesses
from goptx.weaving.dependent.kernel_dependences import check_along_x
from goptx.weaving.dependent.shared_buffers import Buffer, in_words
from goptx.weaving.dependent.temporaries import Findings
from goptx.weaving.model import Kernel, Linked
from goptx.weaving.shapes.scalar_code import Fresh, free_stem
from goptx.weaving.shapes.shared_pool import STATIC_LIMIT, packed, shared_of

KEEP = "keep the buffer in memory (depends=True, same= instead of local=), or use separate launches"
_HINTS = frozenset("global nc proxy::readonly ca cg cs lu cv wb wt".split())  # of global memory only


def in_shared_memory(
    linked: Linked, buffers: Sequence[Buffer], size: Size, assume_local: bool, findings: Findings
) -> Linked:
    """The kernels with those buffers that are not refused in shared memory, each for itself and in order.
    `assume_local` is the caller's word that what they load was stored before by a thread of the CTA."""
    for buffer in buffers:
        if buffer.kind == "local":
            move = _Move(linked, buffer, size, assume_local)
            try:
                linked, bytes_ = move.moved()
            except CannotWeave as refusal:
                findings.refused[buffer.name] = refusal
            else:
                findings.became[buffer.name] = "shared memory", f"{bytes_} bytes for each CTA"
    return linked


class _Move:
    def __init__(self, linked: Linked, buffer: Buffer, size: Size, assumed: bool) -> None:
        self.linked = linked
        self.buffer = buffer
        self.size = size
        self.assumed = assumed
        self.atoms = Atoms()
        self.limits: frozenset[Limit] = frozenset()  # of the launches for which it is proved
        self.of = [KernelAccesses.of(k, self.atoms, buffer.name) for k in linked.kernels]

    @property
    def described(self) -> str:
        return f"the local buffer {self.buffer.describe(self.linked)}"

    def moved(self) -> tuple[Linked, int]:
        """And how many bytes of shared memory it takes."""
        check_along_x(self.linked, self.described)
        bytes_ = self.bytes_of_cta()
        for j, of in enumerate(self.of):
            for access in of.accesses:
                if not access.writes:
                    self.check_written(j, access)
        declared = [d.variable.name for k in self.linked.kernels for d in k.variables]
        array = free_stem(f"{self.buffer.name}_local", declared)
        kernels = [self.kernel(of, array, bytes_) for of in self.of]
        variable = Declaration(Variable(".shared", (".align 16", ".b8"), array, (str(bytes_),)))
        kernels[0] = replace(kernels[0], variables=(*kernels[0].variables, variable))
        note = f"{self.described} is held in {bytes_} bytes of shared memory"
        lacks = {**self.linked.lacks, self.buffer.name: ""}
        limits = self.linked.limits | self.limits
        notes = (*self.linked.notes, note)
        return replace(self.linked, kernels=tuple(kernels), lacks=lacks, notes=notes, limits=limits), bytes_

    # what has to hold ------------------------------------------------------------------------------------

    def bytes_of_cta(self) -> int:
        """Of the piece of the buffer that each CTA has, one after the other from the beginning on."""
        if self.size.threads is None:
            first = self.linked.kernels[self.buffer.members[0][0]]
            raise CannotWeave(
                f"{first.at(first.entry.line)}: how much shared memory {self.described} takes depends on the block; "
                "give the kernels' shapes (shapes=, --shape).",
                rule="known-shapes",
            )
        found = set()
        for of in self.of:
            for access in of.accesses:
                if not access.plain or len(access.instruction.operands) != 2:
                    raise CannotWeave(
                        f"{of.describe(access)} is not a plain load or store of {self.described}; {KEEP}.",
                        rule="plain-accesses",
                    )
                piece = piece_of_cta(of.places.values, access.offset, self.size, access.width)
                if piece is None or piece.origin.terms:
                    raise CannotWeave(
                        f"{of.describe(access)} touches {self.described} at {self.say(access)}, not proved to be in a "
                        f"piece of this CTA alone; {KEEP}.",
                        rule="temporary-ownership",
                    )
                self.limits |= piece.limits
                found.add(piece.stride * self.size.threads if piece.by_threads else piece.stride)
                if len(found) > 1:
                    raise CannotWeave(
                        f"{of.describe(access)} takes a piece of another size of {self.described} than others do; "
                        f"{KEEP}.",
                        rule="temporary-ownership",
                    )
        bytes_ = found.pop() if found else 0
        others = packed([v for k in self.linked.kernels for v in shared_of(k, self.linked).static])[1]
        if bytes_ + others > STATIC_LIMIT:
            raise CannotWeave(
                f"{self.described} takes {bytes_} bytes of shared memory for each CTA, beside {others} of the kernels, "
                f"and ptxas allows {STATIC_LIMIT}; {KEEP}.",
                rule="shared-memory-size",
            )
        return bytes_

    def check_written(self, j: int, load: Access) -> None:
        """Some store before it covers all that the threads of a CTA load."""
        mine = self.of[j]
        for store in mine.accesses:
            if store.writes and store.address == load.address and mine.places.dominates(store.place, load.place):
                return
        for of in self.of[:j]:
            for store in of.accesses:
                limits = covering(of, store, mine, load, self.size) if store.writes else None
                if limits is not None:
                    self.limits |= limits
                    return
        if not self.assumed:
            raise CannotWeave(
                f"{mine.describe(load)} reads {self.described} at {self.say(load)}, not proved to have been written "
                f"before by a thread of the CTA; name bounds that are equal (same=); {KEEP}.",
                rule="written-before-read",
            )

    # the kernels within the fused one --------------------------------------------------------------------------------

    def kernel(self, of: KernelAccesses, array: str, bytes_: int) -> Kernel:
        """The accesses go to the array: the buffer begins where the CTA's piece would be at the array's beginning."""
        if not of.accesses and not self.mentions(of.kernel):
            return of.kernel
        self.check_uses(of)
        kernel = of.kernel
        fresh = Fresh(free_stem(f"%{kernel.prefix}_local", kernel.register_names()))
        begin, cta, offset, base = (fresh.register(t) for t in (".b64", ".b32", ".b64", ".b64"))
        code = (
            Instruction("mov.u64", (begin, Name(array))),
            Instruction("mov.u32", (cta, Name("%ctaid.x"))),
            Instruction("mul.wide.u32", (offset, cta, Immediate(str(bytes_)))),
            Instruction("sub.s64", (base, begin, offset)),
        )
        moved = {provenance_of(a.instruction) for a in of.accesses}
        derived = self.derived(kernel)

        def changed(c: Code) -> Code:
            if not isinstance(c, Instruction):
                return c
            if c.provenance in moved:
                return replace(c, opcode=_of_shared(c.opcode))
            if self.is_load_of_parameter(c):
                return replace(c, opcode="mov.u64", operands=(c.operands[0], base))
            if facts_of(c.opcode).converts_address and written(c) & derived:
                return replace(c, opcode="mov.u64")
            return c

        blocks = kernel.flow.with_code(lambda codes: map(changed, codes)).blocks
        name = free_name("local", set(blocks))
        flow = Flow(name, {name: Block(code, Jump(kernel.flow.entry)), **blocks}).pruned()
        return replace(kernel, flow=flow, registers=(*kernel.registers, *fresh.declared()))

    def mentions(self, kernel: Kernel) -> bool:
        code = list(kernel.flow.instructions())
        return any(self.buffer.name in names_in(o) for i in code for o in i.operands)

    def is_load_of_parameter(self, code: Instruction) -> bool:
        facts = facts_of(code.opcode)
        return facts.loads_parameter and str(code.operands[1]) == f"[{self.buffer.name}]"

    def derived(self, kernel: Kernel) -> frozenset[str]:
        """The registers that may hold an address in the buffer."""
        code = list(kernel.flow.instructions())
        found: set[str] = set()
        for c in code:
            found |= written(c) if self.is_load_of_parameter(c) else set()
        while (
            more := {r for c in code if facts_of(c.opcode).offsets_address and read(c) & found for r in written(c)}
            - found
        ):
            found |= more
        return frozenset(found)

    def check_uses(self, of: KernelAccesses) -> None:
        derived = self.derived(of.kernel)
        moved = {provenance_of(a.instruction) for a in of.accesses}
        for block in of.kernel.flow.blocks.values():
            for code in block.instructions():
                fine = self.is_load_of_parameter(code) or not self._reads(code, derived, code.provenance in moved)
                if not fine or (block.end.reads() and derived & set(block.end.reads())):
                    raise CannotWeave(
                        f"{of.kernel.at(code.line)}: `{of.kernel.quote(code)}` takes the address of {self.described} "
                        f"for something else than its loads and stores, so it cannot move; {KEEP}.",
                        rule="plain-accesses",
                    )

    def _reads(self, code: Instruction, derived: Collection[str], moved: bool) -> bool:
        """Whether it uses the address, or the parameter, for more than computing with it or for an access."""
        if facts_of(code.opcode).offsets_address:
            return any(self.buffer.name in names_in(o) for o in code.operands)
        operands = [o for o in code.operands if not (moved and isinstance(o, Address))]
        operands = operands[facts_of(code.opcode).row.writes :] if not moved else operands
        names = {register_of(n) for o in operands for n in names_in(o)}
        return bool(names & {*derived, self.buffer.name})

    # words -----------------------------------------------------------------------------------------------

    def say(self, access: Access) -> str:
        return f"`{in_words(self.linked, self.atoms.render(access.address))}`"


def _of_shared(opcode: str) -> str:
    base, *words = opcode.split(".")
    return ".".join([base, "shared", *(w for w in words if w not in _HINTS and not w.startswith(("L1::", "L2::")))])
