"""prove(): whether the text of a fused kernel does what the texts of its kernels do.

The checker reads the texts with the parser, asks the opcode table, and shares nothing else with what made the kernel.
docs/proof.md has its rules.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import prod

from goptx.proof.certificate import Certificate, Established, Gap, digest
from goptx.proof.code.called_functions import pure_functions
from goptx.proof.code.inlined_calls import with_functions
from goptx.proof.code.kernel_code import NotProved, Program, Step
from goptx.proof.code.read_steps import program_of
from goptx.proof.code.step_forms import quoted
from goptx.proof.dependent.conflicts import Conflicts
from goptx.proof.dependent.handed_on import cells_of, is_move, is_plain
from goptx.proof.dependent.kernel_order import HandedOn
from goptx.proof.dependent.own_elements import Elements
from goptx.proof.failures import Failed, rule
from goptx.proof.formulas import TRUE
from goptx.proof.lanes.reached_code import in_reached_code
from goptx.proof.placement.placement import Placements, placements_of
from goptx.proof.placement.pooled_memory import check_parts, in_pool
from goptx.proof.placement.thread_groups import check_groups
from goptx.proof.placement.thread_views import ThreadView
from goptx.proof.placement.uniform_terms import note_warp_numbers
from goptx.proof.projection import Projection
from goptx.proof.sync.barrier_order import Found
from goptx.proof.sync.convergence import (
    check_convergence,
    check_warpgroups,
    diverging_branches,
    settle_joint_branches,
)
from goptx.proof.sync.products import check_products
from goptx.proof.sync.termination import check_termination
from goptx.proof.sync.waiting import check_order_of_warpgroups, check_waiting
from goptx.proof.terms import Terms
from goptx.proof.variables import Variables, pointer_alignment
from goptx.proof.witness import Claim, Named, Witness, read_witness
from goptx.ptx.ir import Directive, Function, Module
from goptx.ptx.opcodes import Scope
from goptx.ptx.parse import parse

INDEPENDENT = "the kernels are independent"
_OF_LAUNCH = (".maxntid", ".reqntid", ".minnctapersm", ".maxnctapersm", ".maxnreg")  # bounds of blocks and registers
WARPGROUP = 128  # threads
STRATEGIES = ("weave", "vertical", "horizontal", "interleave")


def prove_text(fused: str, modules: Sequence[Module]) -> Certificate:
    """A certificate for the text of a fused kernel and the modules of its kernels, in the order of their letters.

    Raises `PtxSyntaxError` where the text is not PTX."""
    witness = read_witness(fused)
    module = parse(fused)
    digests = [digest(str(m)) for m in modules]
    letters = [chr(ord("A") + i) for i in range(len(modules))]
    held = Certificate(
        witness.entry if witness else "", witness.strategy if witness else "",
        witness.launches if witness else "", digest(fused), dict(zip(letters, digests, strict=True)),
        {k.letter: k.entry for k in witness.kernels} if witness else {},
    )  # fmt: skip
    if witness is None:
        return replace(held, gaps=(Gap("witness", "", 1, "the text has no witness; make it without --no-witness"),))
    return _Proof(held, witness, module, modules).certificate()


@dataclass
class _Proof:
    held: Certificate
    witness: Witness
    fused: Module
    kernels: Sequence[Module]
    terms: Terms = field(default_factory=Terms)
    placements: Placements = field(default_factory=Placements)

    def certificate(self) -> Certificate:
        try:
            return self._established()
        except Failed as error:
            return replace(self.held, gaps=(error.what,))

    def _established(self) -> Certificate:
        entry = next((e for e in self.fused.entries if e.name == self.witness.entry), None)
        if entry is None:
            raise Failed("witness", "", 1, f"there is no entry `{self.witness.entry}`")
        if self.witness.strategy not in STRATEGIES:
            raise Failed("strategy", "", entry.line, f"the checker has no rules for strategy {self.witness.strategy!r}")
        if [n.letter for n in self.witness.kernels] != list(self.held.kernels):
            raise Failed(
                "witness", "", 1, f"it was made of {len(self.witness.kernels)} kernels, not {len(self.kernels)}"
            )
        fused = self._program(entry, self.fused, "")
        with rule("witness", ""):
            claims = self._claims(fused)
        variables = Variables(self.witness, self.fused, fused)
        projections, together = {}, 0
        with rule("placement", ""):
            self._place(fused)
        with rule("variables", ""):
            self._check_entry(entry)
        for named, module in zip(self.witness.kernels, self.kernels, strict=True):
            for copy in range(len(named.prefixes)):
                projection = self._projection(fused, named, copy, module, claims, variables)
                projections[projection.letter] = projection
                with rule("projection", projection.letter):
                    projection.check()
                note_warp_numbers(fused, self.terms, self.placements, projection.computed)
        with rule("projection", ""):
            for step in fused.steps:
                if step.facts.base != "brx" or any(step.number in p.indexed for p in projections.values()):
                    continue
                if all(fused.block_of[step.number] in p.ends for p in projections.values()):  # threads come there
                    raise NotProved(step.line, f"`{step.statement}` may have an index that is beyond its targets")
            check_products(fused)
        reached = in_reached_code(fused, projections)
        settle_joint_branches([*reached.values()])
        diverging = diverging_branches(reached.values())
        on_several_sides = dict[str, NotProved]()
        for letter, projection in reached.items():
            with rule("convergence", letter):
                together += check_convergence(projection, diverging)
                try:
                    check_warpgroups(projection)
                except NotProved as error:
                    on_several_sides[letter] = error
        with rule("variables", ""):
            check_parts(variables.parts, {n.pool for n in self.witness.kernels if n.pool}, self.witness.launch)
        if self.witness.launch and (self.witness.depends or any(p.handed for p in projections.values())):
            what = "the checker has no rules for what kernels with shapes of their own hand on"
            raise Failed("dependences", "", entry.line, what)
        handed = self._handed_on(fused, projections)
        with rule("variables", ""):
            self._check_common(fused, projections)
        with rule("waiting", ""):
            waits, loops = list[Found](), 0

            def check(part: Program, its: Mapping[str, Projection], given: int, whole: Program) -> None:
                nonlocal loops
                waits.append(check_waiting(part, its))
                alone = given == TRUE or self.placements.is_of_cta(given)
                for letter, error in on_several_sides.items():
                    with rule("convergence", letter):
                        check_order_of_warpgroups(part, its, letter, error, alone)
                with rule("termination", ""):
                    loops = max(loops, check_termination(list(its.values()), given, whole))

            check_groups(next(iter(reached.values())).fused, reached, self.placements, check)
        established = (
            *_followed(list(projections.values())),
            Established("variables", "", f"variables separate ({variables.separate})"),
            Established("convergence", "", f"convergence {together} instructions"),
            Established("waiting", "", f"barriers {waits[0].barriers} in one order"),
            Established("termination", "", f"loops {loops} end"),
        )
        handed = [*handed, *self._conflicts(fused, projections)] if self.witness.depends else [INDEPENDENT, *handed]
        alike = (what for w in waits for what in w.presumed)
        presumed = dict.fromkeys((*self._equal_parameters(fused), *handed, *alike, *self.terms.presumed))
        return replace(self.held, established=established, presumed=tuple(presumed))

    def _check_common(self, fused: Program, projections: Mapping[str, Projection]) -> None:
        """That independent kernels do not write the buffers which the witness says that they have in common."""
        lists = [{*kernel.parameters} for kernel in self.witness.kernels]
        common = {name for i, its in enumerate(lists) for other in lists[:i] for name in its & other}
        if self.witness.depends or not common:
            return
        elements = Elements(self.terms, {v: its for p in projections.values() for v, its in p.comes_in.items()})
        whole = {p.name for p in fused.entry.parameters if not p.dims}  # in a structure, each goes by its own pointers
        every = [
            (p.letter.partition(".")[0], fused.steps[n], buffer)
            for p in projections.values()
            for n in p.matched
            if (access := p.accesses.get(n)) and (buffer := elements.buffer(access)) and buffer.name in common
        ]
        for letter, step, buffer in every:
            shared = buffer.name in whole or any(buffer == b and letter != other for other, _, b in every)
            if shared and "s" in step.facts.row.access:
                what = "is one buffer of several kernels, of whose order nothing is known"
                raise NotProved(step.line, f"`{step.statement}` writes `{buffer.name}`, which {what}")

    def _handed_on(self, fused: Program, projections: Mapping[str, Projection]) -> list[str]:
        """What is presumed of buffers whose elements registers hold. The kernels are followed once more, since it takes
        all of them to know what registers hold."""
        every = [p for p in projections.values() if p.handed]
        if not every:
            return []
        with rule("handed on", ""):
            elements = Elements(self.terms, {v: its for p in projections.values() for v, its in p.comes_in.items()})
            cells = cells_of(fused, elements, every)
            for projection in every:
                projection.check_cells(cells)
            declared = {p.name for p in fused.entry.parameters}
            return HandedOn(fused, [*projections.values()], elements, declared, cells.sources).check()

    def _conflicts(self, fused: Program, projections: Mapping[str, Projection]) -> list[str]:
        """What is presumed of kernels that depend on each other."""
        every = [*projections.values()]
        elements = Elements(self.terms, {v: its for p in every for v, its in p.comes_in.items()})
        several = [name for kernel in self.witness.kernels for name in kernel.parameters]
        structures = {p.name for p in fused.entry.parameters if p.dims and several.count(p.name) > 1}
        with rule("dependences", ""):
            presumed = Conflicts(fused, every, elements, self.witness.named, structures).check()
        alone = ", ".join(
            f"{k.letter}:{i}"
            for k in self.witness.kernels
            for i, p in enumerate(k.parameters)
            if p in self.witness.named
        )
        others = [f"{alone}: none of these is a buffer with another parameter, unless they are equal"] if alone else []
        return [*others, "buffers that are not one have nothing in common", *presumed]

    def _equal_parameters(self, fused: Program) -> Iterator[str]:
        """The parameters of kernels that are one, and those that the fused kernel does not have."""
        declared = {p.name for p in fused.entry.parameters}
        called: dict[str, list[str]] = {}
        for kernel in self.witness.kernels:
            for i, name in enumerate(kernel.parameters):
                called.setdefault(name, []).append(f"{kernel.letter}:{i}")
        for name, its in called.items():
            if name not in declared:
                yield f"{' and '.join(its)} are one buffer and no other; nobody needs its contents afterwards"
            elif len(its) > 1:
                yield f"{' and '.join(its)} are equal"

    def _program(self, entry: Function, module: Module, letter: str) -> Program:
        with rule("reading", letter):
            return program_of(entry, pure_functions(module), hints=bool(letter))

    def _claims(self, fused: Program) -> dict[int, tuple[Claim, ...]]:
        """Those of kernels that there are. What several kernels claim is done once for all of them, so it must not
        change memory."""
        found = {}
        for step in fused.steps:
            its = tuple(c for c in self.witness.claims.get(step.line, ()) if c.kernel in self.held.kernels)
            if its:
                found[step.number] = its
            if len({(c.kernel, c.copy) for c in its}) > 1 and "s" in step.facts.row.access:
                raise NotProved(step.line, f"`{step.statement}` belongs to several kernels")
        return found

    def _check_entry(self, entry: Function) -> None:
        """That the fused kernel has the kernels' parameters in order, can be launched as they can, and that names mean
        what they mean in the kernels where the target decides it."""
        declared = {p.name for p in entry.parameters}
        names = list[str]()
        for name in (name for named in self.witness.kernels for name in named.parameters):
            if name not in self.witness.named or (name in declared and name not in names):
                names.append(name)
        if [p.name for p in entry.parameters if p.name in names] != names:
            raise NotProved(entry.line, "the fused kernel does not have the parameters of its kernels in their order")
        own = [
            e for m, n in zip(self.kernels, self.witness.kernels, strict=True) for e in m.entries if e.name == n.entry
        ]
        promised = [
            (name, pointer_alignment(variable))
            for e, n in zip(own, self.witness.kernels, strict=False)  # one that is missing is refused later
            for name, variable in zip(n.parameters, e.parameters, strict=False)
        ]
        for parameter in entry.parameters:
            if pointer_alignment(parameter) > max((a for name, a in promised if name == parameter.name), default=1):
                raise NotProved(parameter.line, f"`{parameter}` is a pointer that no kernel says is so aligned")
        for directive in entry.directives:
            known = any((directive.name, directive.values) == (d.name, d.values) for e in own for d in e.directives)
            if known and (not self.witness.launch or self.witness.launch.common or not self._bounds_block(directive)):
                continue
            if not known and directive.name not in _OF_LAUNCH and "cluster" not in directive.name:
                raise NotProved(entry.line, f"`{directive}`, which no kernel has and the checker does not know")
            if self._excludes(directive):
                raise NotProved(entry.line, f"`{directive}` excludes launches that the kernels allow")
        for kernel in own:
            mine, its = ([str(d) for d in e.directives if "cluster" in d.name] for e in (entry, kernel))
            if mine != its:
                raise NotProved(entry.line, f"`{kernel.name}` is launched in other clusters")
        if any(
            m.target[1:] != self.fused.target[1:] or m.address_size != self.fused.address_size for m in self.kernels
        ):
            raise NotProved(1, "the kernels are made for another target")

    def _place(self, fused: Program) -> None:
        """Finds out which threads are whose, and checks that hidden parameters are what the witness says."""
        launch = self.witness.launch
        if launch is None:
            if any(len(n.prefixes) != 1 for n in self.witness.kernels):
                raise NotProved(1, "kernels without launch shapes have no copies")
            return
        for named in self.witness.kernels:
            if named.launch and len(named.prefixes) != named.launch.factor:
                raise NotProved(1, f"kernel {named.letter} has other copies than its launch says")
        self.placements = placements_of(self.terms, self.witness)
        declared = {p.name: p for p in fused.entry.parameters}
        others = {name for n in self.witness.kernels for name in n.parameters}
        for role, name in launch.hidden.items():
            found = declared.get(name)
            if found is None or name in others or (found.type, found.size) != ("u32", 4):
                raise NotProved(fused.entry.line, f"`{name}` is not a parameter of 32 bits that holds {role}")
        if len(set(launch.hidden.values())) != len(launch.hidden):
            raise NotProved(fused.entry.line, "two sizes of launches are one parameter")

    @staticmethod
    def _bounds_block(directive: Directive) -> bool:
        return directive.name in (".reqntid", ".maxntid")

    def _excludes(self, directive: Directive) -> bool:
        """Whether the fused kernel cannot be launched in some blocks by what the directive says."""
        if not self._bounds_block(directive):
            return False
        block = self.witness.launch.block if self.witness.launch else ()
        sizes = [int(v) for v in directive.values]
        if not block or None in block:
            return True
        needed = [n or 1 for n in block]
        exact = directive.name == ".reqntid"
        return sizes + [1] * (3 - len(sizes)) != needed if exact else prod(sizes) < prod(needed)

    def _projection(
        self,
        fused: Program,
        named: Named,
        copy: int,
        module: Module,
        claims: Mapping[int, tuple[Claim, ...]],
        variables: Variables,
    ) -> Projection:
        own = next((e for e in module.entries if e.name == named.entry), None)
        letter = named.letter
        if own is None or self.held.kernels[letter] != named.digest:
            raise Failed("witness", letter, 1, f"it was made of another text than that of `{named.entry}`")
        staying = {s.sources[0].names[0] for s in fused.steps if s.facts.calls}
        own = with_functions(own, module, {old for old, new in named.symbols.items() if new in staying})
        kernel = self._program(own, module, letter)
        by_line: dict[int, list[Step]] = {}
        for step in kernel.steps:
            by_line.setdefault(step.line, []).append(step)
        mine: dict[int, tuple[int, ...]] = {}
        branches: dict[int, tuple[int, ...]] = {}
        foreign, handed = set[int](), set[int]()
        for number, its in claims.items():
            lines = [c.line for c in its if (c.kernel, c.copy) == (letter, copy)]
            step = fused.steps[number]
            if not lines:
                foreign.add(number)
            elif step.is_branch:
                branches[number] = tuple(s.number for line in lines for s in by_line.get(line, ()) if s.is_branch)
            elif found := [s for line in lines for s in by_line.get(line, ()) if _may_be(s, kernel, step, fused)]:
                mine[number] = _likeliest(found, step, named.prefixes[copy])
            elif is_move(step) and (found := [s for line in lines for s in by_line.get(line, ()) if is_plain(s)]):
                mine[number] = _likeliest(found, step, named.prefixes[copy])
                handed.add(number)
        copies = {n for n in handed if self._copies_load(fused, n, mine)}
        handed -= copies
        mine = {n: its for n, its in mine.items() if n not in copies}
        name = f"{letter}.{copy}" if copy else letter
        view = ThreadView(self.terms, self.placements, name)
        own_symbols = variables.of_kernel(named, copy, kernel, module, view)
        places = {name: part.first for (owner, name), part in variables.parts.items() if owner == f"{letter}.{copy}"}
        kernel = in_pool(kernel, places)
        with rule("reading", letter):
            variables.check_calls(kernel, module, own_symbols)
        if self.witness.launch:
            _check_clusters(self.witness.launch.clusters, fused.entry, kernel.entry)
            _check_warpgroups(named.launch.first if named.launch else 0, kernel)
        return Projection(
            self.terms, fused, kernel, mine, variables.names(), own_symbols, frozenset(foreign), branches,
            name, self.placements, handed,
        )  # fmt: skip

    @staticmethod
    def _copies_load(fused: Program, move: int, claims: Mapping[int, tuple[int, ...]]) -> bool:
        """Whether a step copies what a load of the fused kernel gives that comes from the same line."""
        loads = (fused.steps[n] for n, its in claims.items() if its == claims[move] and fused.is_effect(fused.steps[n]))
        return any(set(fused.steps[move].sources[0].names) & set(load.writes) for load in loads)


def _followed(projections: Sequence[Projection]) -> Iterator[Established]:
    """What the projections of all kernels establish."""
    blocks = sum(len(p.kernel.blocks) for p in projections)
    followed = sum(len(p.followed) for p in projections)
    effects = sum(len(p.matched) for p in projections)
    swapped = sum(len(p.swapped) for p in projections)
    yield Established("projection", "", f"control flow {followed}/{blocks} blocks")
    yield Established("projection", "", f"registers separate ({effects} effects with equal operands)")
    yield Established("projection", "", f"memory order {swapped} pairs")


def _check_clusters(claimed: bool, *entries: Function) -> None:
    for entry in entries:
        if claimed or any("cluster" in d.name for d in entry.directives):
            raise Failed(
                "placement", "", entry.line, "the checker has no rules for clusters of kernels with own shapes"
            )


def _check_warpgroups(first: int, kernel: Program) -> None:
    """That four warps which are one warpgroup in the kernel are one in the fused kernel, where that matters."""
    if first % WARPGROUP == 0:
        return
    for step in kernel.steps:
        if step.facts.row.scope == Scope.WARPGROUP or step.facts.space == "tensor":
            what = f"needs whole warpgroups, and the kernel begins at thread {first}"
            raise Failed("placement", "", 1, f"{quoted(step)} {what}")


def _may_be(own: Step, kernel: Program, step: Step, fused: Program) -> bool:
    """Whether a step can be the kernel's at all: the family of its opcode is the same, and what it writes are numbers
    or predicates as there."""
    pairs = zip(own.writes, step.writes, strict=False)
    alike = all(kernel.is_predicate(a) == fused.is_predicate(b) for a, b in pairs)
    return alike and own.facts.base.removesuffix("rier") == step.facts.base.removesuffix("rier")


def _likeliest(steps: Sequence[Step], fused: Step, prefix: str) -> tuple[int, ...]:
    """Of several steps in one line those that have most registers in common with a step of the fused kernel."""

    def registers(step: Step) -> set[str]:
        return {*step.writes, *(n for s in step.sources for n in s.names)}

    own = registers(fused)
    common = [len({f"%{prefix}_{name[1:]}" for name in registers(step)} & own) for step in steps]
    return tuple(step.number for step, count in zip(steps, common, strict=True) if count == max(common))
