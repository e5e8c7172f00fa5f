"""The operations of a kernel on 32-bit words, about as the assembler makes them of PTX.

Requires: a flow without regions. Ensures: a word is a value of 32 bits that needs a machine register. A copy has the
words of its source, a half of a wide value one of its words. What operands can name without a register has no words:
parameters, numbers, sizes of the launch, predicates, and integers that are equal for a whole CTA, which have uniform
registers. Values that are there already are not computed again. Operations whose results nobody needs are left out, and
stores that are overwritten at once.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple

from goptx.analysis.cfg import Code, Flow, instructions_in
from goptx.analysis.dataflow import killed, read, register_of, written
from goptx.analysis.influence import callee_of
from goptx.analysis.matrix_products import begins_sums
from goptx.analysis.registers.declared_registers import widths
from goptx.analysis.registers.equal_values import EqualValues, Form
from goptx.analysis.values.thread_values import number
from goptx.ptx.ir import TYPE_BYTES, Address, Immediate, Instruction, Name, Operand, Registers, Sum, Vector
from goptx.ptx.opcodes import Facts, Scope, facts_of

OF_LAUNCH = ("%ntid", "%nctaid")
OF_CTA = ("%ctaid", *OF_LAUNCH)
FAR, NEAR, WARP, SOON = 500, 30, 20, 5  # cycles until a result is there: far memory, near memory, other lanes, else
OFFSETS = 1 << 23  # bytes from an address that an access reaches by a constant of its own
# Registers of the code of a slow path: of 64 bits, of a square root, and of any other. Found on the fitted kernels in
# which little but one kind of slow path is live.
SLOW_OF_64_BITS, SLOW_ROOT, SLOW_PATH = 19, 8, 13
OF_ABI = 22  # registers of a function that is called by the calling convention
OF_RUNTIME = ("malloc", "free", "vprintf", "__assertfail")  # functions that no module contains
DIVISION = 4  # words that the code of a division of 32 bits takes besides its operands and its result
ADDRESSES = 80  # from sm_80 on, an access needs its address in registers; before, there are uniform ones for it
FAR_BASES = 90  # from sm_90 on, the sum of a parameter and a product needs the parameter in registers

Words = tuple[int, ...]


class Operation(NamedTuple):
    """`defines`, `uses`: words. `cycles`: until its results are there. `access`: what it does to memory, as in the
    opcode table, or "c" for a call; "" for memory that nobody writes. `space`: "shared", "local" or "" for any other.
    `effective`: it does something besides defining words. `alone`: nothing is moved across it, for it contains a branch
    or a call; `called`: the registers that the called code takes. `guarded`: it runs under a predicate, and
    nothing else writes its results."""

    defines: Words
    uses: Words
    cycles: int
    access: str = ""
    space: str = ""
    effective: bool = False
    alone: bool = False
    guarded: bool = False
    called: int = 0

    @property
    def cheap(self) -> bool:
        """Whether it may as well be done again: it is done at once, and does nothing but to define a word or two."""
        plain = not (self.access or self.effective or self.alone or self.guarded)
        return plain and self.cycles <= SOON and len(self.defines) <= 2


@dataclass(frozen=True, slots=True)
class Operations:
    """The operations of each block, and the words that its end reads."""

    blocks: dict[str, list[Operation]]
    ends: dict[str, Words]


def operations(flow: Flow, declared: Collection[Registers], arch: str) -> Operations:
    """The operations of a kernel for `arch` ("sm_90"), in its reachable blocks."""
    order = flow.reverse_postorder()
    lowered = _Lowered(flow, order, widths(declared), int("".join(c for c in arch if c.isdigit())))
    blocks = {name: lowered.block(flow.blocks[name].code) for name in order}
    ends = {name: lowered.words(map(register_of, flow.blocks[name].end.reads())) for name in order}
    return Operations(_needed(blocks, ends), ends)


class _Lowered:
    """The words of each register, found as the code is read in reverse postorder."""

    def __init__(self, flow: Flow, order: Sequence[str], sizes: Mapping[str, int], arch: int) -> None:
        self.sizes = sizes
        self.arch = arch
        writes: dict[str, Code] = {}
        several: set[str] = set()  # written by different code: copies of code write the same
        for name in order:
            for code in flow.blocks[name].code:
                for register in written(code):
                    first = writes.setdefault(register, code)
                    if first is not code and first != code:
                        several.add(register)
        self.single = {r: code for r, code in writes.items() if r not in several}
        self.once = {r for r, code in self.single.items() if not getattr(code, "guard", None)}
        self.free: set[str] = set()  # written once, and operands can name the value
        self.of_cta: set[str] = set()  # written once, and equal for the whole CTA
        self._words: dict[str, tuple[int | None, ...]] = {}
        self._count = 0
        self._equal = EqualValues(self.single)

    def words(self, registers: Iterable[str]) -> Words:
        """The words of all these, each once."""
        found: dict[int, None] = {}
        for register in registers:
            for word in self._words_of(register):
                if word is not None:
                    found[word] = None
        return tuple(found)

    def _words_of(self, register: str) -> tuple[int | None, ...]:
        own = self._words.get(register)
        if own is None:
            own = self._words[register] = self._fresh(self.sizes.get(register, 0))
        return own

    def _fresh(self, number: int) -> Words:
        self._count += number
        return tuple(range(self._count - number, self._count))

    def block(self, block: Sequence[Code]) -> list[Operation]:
        """The operations of a block. Of stores to the same place between which nothing reads, only the last is one."""
        self._equal.begin_block()
        found: list[Operation | None] = []
        stores: dict[Form, int] = {}
        for code in block:
            access = _kind(code.opcode).access if isinstance(code, Instruction) else "c"
            if access == "s" and isinstance(code, Instruction) and (place := self._equal.place(code)) is not None:
                if place in stores:
                    found[stores[place]] = None
                stores[place] = len(found)
            elif access:
                stores.clear()
            found += self.operations(code)
        return [operation for operation in found if operation]

    def operations(self, code: Code) -> list[Operation]:
        """None where the code becomes no machine instruction."""
        outputs = written(code)
        if self._is_there(code):
            return []
        if isinstance(code, Instruction) and outputs and outputs <= self.once and self._is_absorbed(code, outputs):
            return []
        defines, uses = self.words(outputs), self.words(self._inputs(code, outputs))
        if not isinstance(code, Instruction):
            called = next((_called(i) for i in instructions_in(code) if facts_of(i.opcode).calls), 0)
            return [Operation(defines, uses, SOON, access="c", effective=True, alone=True, called=called)]
        kind = _kind(code.opcode)
        bases = [self._fresh(2) for _ in self._bases(code, kind)]
        scratch = self._fresh(DIVISION if kind.divides and not isinstance(code.operands[-1], Immediate) else 0)
        own = Operation(
            defines, uses, kind.cycles, kind.access, kind.space, kind.effective or not defines, kind.alone,
            code.guard is not None and self.single.keys() >= outputs, _called(code) if kind.alone else 0,
        )  # fmt: skip
        if not bases and not scratch:
            return [own]
        first = [Operation(base, (), WARP) for base in bases]
        first += [Operation(scratch, (), SOON)] if scratch else []
        return [*first, own._replace(uses=(*uses, *(w for each in first for w in each.defines)))]

    def _inputs(self, code: Code, outputs: frozenset[str]) -> frozenset[str]:
        """What the code reads, and what it leaves unchanged in registers that it may write. In a loop, what a load
        under a predicate wrote is preserved until the next one: the assembler does not see that nobody reads it."""
        if isinstance(code, Instruction) and begins_sums(code):
            return read(code) - outputs
        sure = killed(code)
        if sure is outputs:
            return read(code)
        loads = isinstance(code, Instruction) and _kind(code.opcode).cycles >= FAR
        preserved = outputs - sure if loads or _updates(code) else outputs - sure - self.single.keys()
        return read(code) | preserved

    def _is_there(self, code: Code) -> bool:
        """Whether other registers hold the results already. Notes that they have the same words."""
        equal = self._equal.take(code)
        if not equal or not self.single.keys() >= {*equal, *equal.values()}:
            return False
        for register, other in equal.items():
            self._words[register] = self._words_of(other)
            for known in (self.free, self.of_cta):
                if other in known:
                    known.add(register)
        return True

    def _is_absorbed(self, code: Instruction, outputs: Collection[str]) -> bool:
        """Whether the results are words of other registers, or need none. Notes the words of the results."""
        facts = facts_of(code.opcode)
        if isinstance(code.operands[0], Vector):
            return facts.moves and self._is_split(code.operands)
        (register, *others) = outputs
        if others or not self.sizes.get(register):
            return False
        found = self._words_of_result(code, facts, register)
        if found is None:
            return False
        self._words[register] = found
        return True

    def _words_of_result(self, code: Instruction, facts: Facts, register: str) -> tuple[int | None, ...] | None:
        size, inputs = self.sizes[register], read(code)
        if facts.loads_parameter or (facts.moves and all(map(self._is_free, inputs))):
            self.free.add(register)
            return (None,) * size
        if inputs and _kind(code.opcode).integers and all(map(self._is_of_cta, inputs)):
            self.of_cta.add(register)
            return (None,) * size
        if size == 2 and facts.adds and (base := self._with_offset(code)):
            return base
        if len(code.operands) != 2:
            return None
        source = code.operands[1]
        if facts.moves and isinstance(source, Vector):
            return self._put_together(source, size)
        if not isinstance(source, Name) or source.text not in self.once or source.text not in self._words:
            return None
        words = self._words[source.text]
        if facts.moves:
            return words if len(words) == size else None
        return _converted(facts, words) if facts.copies else None

    def _with_offset(self, code: Instruction) -> tuple[int | None, ...] | None:
        """The words of the address to which a constant is added: an access to memory takes the constant itself."""
        _, source, offset = code.operands
        constant = number(offset)
        if not isinstance(source, Name) or constant is None or abs(constant) >= OFFSETS:
            return None
        return self._words.get(source.text) if source.text in self.once - self.free else None

    def _put_together(self, source: Vector, size: int) -> tuple[int | None, ...] | None:
        found: list[int | None] = []
        for part in source.parts:
            if isinstance(part, Name):
                if part.text not in self.once or part.text not in self._words:
                    return None
                found += self._words[part.text]
            else:
                found.append(None)
        return tuple(found) if len(found) == size else None

    def _is_split(self, operands: Sequence[Operand]) -> bool:
        parts, source = operands
        if not isinstance(parts, Vector) or not isinstance(source, Name) or source.text not in self.once:
            return False
        words = self._words.get(source.text, ())
        if not words or len(parts.parts) % len(words):
            return False
        each = len(parts.parts) // len(words)  # 2: halves of words, which operands can name
        for i, part in enumerate(parts.parts):
            if isinstance(part, Name):
                self._words[part.text] = (words[i // each],)
        return True

    def _is_free(self, name: str) -> bool:
        return name in self.free or not name.startswith("%") or name.startswith(OF_LAUNCH)

    def _is_of_cta(self, name: str) -> bool:
        return name in self.of_cta or self._is_free(name) or name.startswith(OF_CTA)

    def _bases(self, code: Instruction, kind: _Kind) -> list[str]:
        """The parameters of 64 bits, and addresses of variables, that an instruction needs in registers: what it adds
        something to, and the address itself of an access to global memory."""
        if kind.far and self.arch >= ADDRESSES:
            return [base for o in code.operands if (base := _base(o)) and self._is_free(base)]
        if not kind.adds or self.arch < FAR_BASES or len(written(code)) != 1:
            return []
        sources = {o.text for o in code.operands[1:] if isinstance(o, Name)}
        return sorted(r for r in sources if r in self.free and self.sizes.get(r) == 2)


def _base(operand: Operand) -> str:
    """The name of what an address is counted from; "" for any other operand."""
    if not isinstance(operand, Address):
        return ""
    first = operand.parts[0]
    base = first.base if isinstance(first, Sum) else first
    return base.text if isinstance(base, Name) else ""


class _Kind(NamedTuple):
    """The fields of its operations that follow from an opcode; whether a uniform datapath can compute it; whether it
    adds, accesses an element in far memory, and divides in place."""

    cycles: int
    access: str
    space: str
    effective: bool
    alone: bool
    integers: bool
    adds: bool
    far: bool
    divides: bool


@lru_cache(maxsize=4096)
def _kind(opcode: str) -> _Kind:
    facts = facts_of(opcode)
    access = "c" if facts.calls else "" if facts.read_only else facts.row.access
    if facts.space in ("param", "const") and facts.loads:
        access = ""
    effective = facts.row.access not in ("", "l") or facts.row.scope > Scope.THREAD or facts.volatile or facts.calls
    return _Kind(
        _cycles(facts), access, facts.space if facts.space in ("shared", "local") else "", effective,
        facts.slow_path or facts.calls, _computes_integers(facts), facts.adds or facts.adds_to_product,
        facts.accesses_element and _reaches_far(facts), facts.divides_in_place,
    )  # fmt: skip


def _called(code: Instruction) -> int:
    """The registers of the code that an instruction calls. The assembler inlines functions of the same module."""
    facts = facts_of(code.opcode)
    if facts.calls:
        callee = callee_of(code)
        return OF_ABI if callee in OF_RUNTIME or callee.startswith("%") else 0
    if facts.types and facts.types[-1].endswith("64"):
        return SLOW_OF_64_BITS
    return SLOW_ROOT if facts.takes_root else SLOW_PATH


def _updates(code: Code) -> bool:
    return not isinstance(code, Instruction) or facts_of(code.opcode).row.updates


def _computes_integers(facts: Facts) -> bool:
    """Whether a uniform datapath can compute it."""
    row = facts.row
    pure = not row.access and row.scope == Scope.THREAD and not row.expands and not row.updates
    return pure and all(t[0] in "usb" for t in facts.types)


def _converted(facts: Facts, words: tuple[int | None, ...]) -> tuple[int | None, ...] | None:
    """The words of an integer that is made longer or shorter, if none of them is a new one."""
    if len(facts.types) != 2 or any(t[0] not in "usb" or t not in TYPE_BYTES for t in facts.types):
        return None
    to, by = (TYPE_BYTES[t] for t in facts.types)
    if by == 8 and to == 4:
        return words[:1]
    if to == 8 and by == 4 and facts.types[1] == "u32":
        return (*words, None)
    return words if to <= by <= 4 else None


def _cycles(facts: Facts) -> int:
    if facts.loads:
        return FAR if _reaches_far(facts) else NEAR if facts.space in ("shared", "local") else WARP
    return WARP if facts.row.scope > Scope.THREAD else SOON


def _reaches_far(facts: Facts) -> bool:
    """Whether what it accesses is in memory far from the SM."""
    return facts.space not in ("shared", "local", "param", "const")


def _needed(blocks: Mapping[str, list[Operation]], ends: Mapping[str, Words]) -> dict[str, list[Operation]]:
    """Without the operations whose results nobody needs."""
    makers: dict[int, list[Operation]] = {}
    for every in blocks.values():
        for operation in every:
            for word in operation.defines:
                makers.setdefault(word, []).append(operation)
    wanted = [o for every in blocks.values() for o in every if o.effective]
    words = [w for end in ends.values() for w in end] + [w for o in wanted for w in o.uses]
    found, seen = {id(o) for o in wanted}, set[int]()
    while words:
        word = words.pop()
        if word in seen:
            continue
        seen.add(word)
        for maker in makers.get(word, ()):
            if id(maker) not in found:
                found.add(id(maker))
                words += maker.uses
    return {name: [o for o in every if id(o) in found] for name, every in blocks.items()}
