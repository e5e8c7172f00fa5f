"""prove(): whether the text of a fused kernel does what the texts of its kernels do.

The checker reads the texts with the parser, asks the opcode table, and shares nothing else with what made the kernel.
docs/proof.md has its rules.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import prod

from goptx.proof.certificate import Certificate, Established, Gap, digest
from goptx.proof.dependent.conflicts import Conflicts
from goptx.proof.dependent.handed_on import cells_of, is_move, is_plain
from goptx.proof.dependent.kernel_order import HandedOn
from goptx.proof.dependent.own_elements import Elements
from goptx.proof.formulas import TooManyFormulas
from goptx.proof.kernel_code import NotProved, Program, Step, program_of
from goptx.proof.placement.placement import Placements, placements_of
from goptx.proof.placement.pooled_memory import POOL, Part, check_parts, in_pool, part_of
from goptx.proof.placement.thread_groups import check_groups
from goptx.proof.projection import Projection
from goptx.proof.sync.convergence import check_convergence, diverging_branches
from goptx.proof.sync.termination import check_termination
from goptx.proof.sync.waiting import Found, check_waiting
from goptx.proof.terms import Terms
from goptx.proof.witness import Claim, Named, Witness, read_witness
from goptx.ptx.ir import Directive, Function, Module, Name, Variable
from goptx.ptx.parse import parse

INDEPENDENT = "the kernels are independent"
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
    parts: dict[tuple[str, str], Part] = field(default_factory=dict)  # of the dynamic array, by owner and name
    owners: dict[str, str] = field(default_factory=dict)  # of the fused kernel's variables and parameters
    separate: int = 0  # parameters and variables that are one kernel's

    def certificate(self) -> Certificate:
        try:
            return self._established()
        except _Failed as error:
            return replace(self.held, gaps=(error.what,))

    def _established(self) -> Certificate:
        entry = next((e for e in self.fused.entries if e.name == self.witness.entry), None)
        if entry is None:
            raise _Failed("witness", "", 1, f"there is no entry `{self.witness.entry}`")
        if self.witness.strategy not in STRATEGIES:
            raise _Failed(
                "strategy", "", entry.line, f"the checker has no rules for strategy {self.witness.strategy!r}"
            )
        if [n.letter for n in self.witness.kernels] != list(self.held.kernels):
            raise _Failed(
                "witness", "", 1, f"it was made of {len(self.witness.kernels)} kernels, not {len(self.kernels)}"
            )
        fused = self._program(entry, "")
        with _rule("witness", ""):
            claims = self._claims(fused)
        symbols = self._symbols(fused)
        projections, together = {}, 0
        with _rule("placement", ""):
            self._place(fused)
        with _rule("variables", ""):
            self._check_entry(entry)
        for named, module in zip(self.witness.kernels, self.kernels, strict=True):
            for copy in range(len(named.prefixes)):
                projection = self._projection(fused, named, copy, module, claims, symbols)
                projections[projection.letter] = projection
                with _rule("projection", projection.letter):
                    projection.check()
                fused.uniform.update(n for n, its in projection.decided.items() if self.placements.is_uniform(its))
                fused.uniform.update(projection.agreed)
        with _rule("projection", ""):
            for step in fused.steps:
                if step.facts.base == "brx" and not any(step.number in p.indexed for p in projections.values()):
                    raise NotProved(step.line, f"`{step.statement}` may have an index that is beyond its targets")
        diverging = diverging_branches(projections.values())
        for letter, projection in projections.items():
            with _rule("convergence", letter):
                together += check_convergence(projection, diverging)
        with _rule("variables", ""):
            check_parts(self.parts, {n.pool for n in self.witness.kernels if n.pool}, self.witness.launch)
        if self.witness.launch and (self.witness.depends or any(p.handed for p in projections.values())):
            what = "the checker has no rules for what kernels with shapes of their own hand on"
            raise _Failed("dependences", "", entry.line, what)
        handed = self._handed_on(fused, projections)
        with _rule("waiting", ""):
            waits = list[Found]()
            check_groups(fused, projections, self.placements, lambda *its: waits.append(check_waiting(*its)))
        with _rule("termination", ""):
            loops = check_termination(list(projections.values()))
        established = (
            *_followed(list(projections.values())),
            Established("variables", "", f"variables separate ({self.separate})"),
            Established("convergence", "", f"convergence {together} instructions"),
            Established("waiting", "", f"barriers {waits[0].barriers} in one order"),
            Established("termination", "", f"loops {loops} end"),
        )
        handed = [*handed, *self._conflicts(fused, projections)] if self.witness.depends else [INDEPENDENT, *handed]
        alike = (what for w in waits for what in w.presumed)
        presumed = dict.fromkeys((*self._equal_parameters(fused), *handed, *alike))
        return replace(self.held, established=established, presumed=tuple(presumed))

    def _handed_on(self, fused: Program, projections: Mapping[str, Projection]) -> list[str]:
        """What is presumed of buffers whose elements registers hold. The kernels are followed once more, since it takes
        all of them to know what registers hold."""
        every = [p for p in projections.values() if p.handed]
        if not every:
            return []
        with _rule("handed on", ""):
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
        with _rule("dependences", ""):
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

    def _program(self, entry: Function, letter: str) -> Program:
        with _rule("reading", letter):
            return program_of(entry)

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
        for directive in entry.directives:
            allowed = {(d.name, d.values) for e in own for d in e.directives}
            if (directive.name, directive.values) not in allowed and self._excludes(directive):
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
        self.placements = placements_of(self.terms, self.witness)
        declared = {p.name: p for p in fused.entry.parameters}
        others = {name for n in self.witness.kernels for name in n.parameters}
        for role, name in launch.hidden.items():
            found = declared.get(name)
            if found is None or name in others or (found.type, found.size) != ("u32", 4):
                raise NotProved(fused.entry.line, f"`{name}` is not a parameter of 32 bits that holds {role}")
        if len(set(launch.hidden.values())) != len(launch.hidden):
            raise NotProved(fused.entry.line, "two sizes of launches are one parameter")
        for named in self.witness.kernels:
            if named.launch is None or len(named.prefixes) != named.launch.factor:
                raise NotProved(1, f"kernel {named.letter} has other copies than its launch says")

    def _excludes(self, directive: Directive) -> bool:
        """Whether the fused kernel cannot be launched in some blocks by what the directive says."""
        if directive.name not in (".reqntid", ".maxntid"):
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
        symbols: Mapping[str, str],
    ) -> Projection:
        own = next((e for e in module.entries if e.name == named.entry), None)
        letter = named.letter
        if own is None or self.held.kernels[letter] != named.digest:
            raise _Failed("witness", letter, 1, f"it was made of another text than that of `{named.entry}`")
        kernel = self._program(own, letter)
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
            elif found := [s for line in lines for s in by_line.get(line, ()) if _may_be(s, step)]:
                mine[number] = _likeliest(found, step, named.prefixes[copy])
            elif is_move(step) and (found := [s for line in lines for s in by_line.get(line, ()) if is_plain(s)]):
                mine[number] = _likeliest(found, step, named.prefixes[copy])
                handed.add(number)
        copies = {n for n in handed if self._copies_load(fused, n, mine)}
        handed -= copies
        mine = {n: its for n, its in mine.items() if n not in copies}
        own_symbols = self._kernel_symbols(fused, named, copy, kernel, module)
        places = {name: part.first for (owner, name), part in self.parts.items() if owner == f"{letter}.{copy}"}
        kernel = in_pool(kernel, places)
        if self.witness.launch:
            _check_clusters(self.witness.launch.clusters, fused.entry, kernel.entry)
        return Projection(
            self.terms, fused, kernel, mine, symbols, own_symbols, frozenset(foreign), branches,
            f"{letter}.{copy}" if copy else letter, self.placements, handed,
        )  # fmt: skip

    @staticmethod
    def _copies_load(fused: Program, move: int, claims: Mapping[int, tuple[int, ...]]) -> bool:
        """Whether a step copies what a load of the fused kernel gives that comes from the same line."""
        loads = (fused.steps[n] for n, its in claims.items() if its == claims[move] and fused.is_effect(fused.steps[n]))
        return any(set(fused.steps[move].sources[0].names) & set(load.writes) for load in loads)

    def _symbols(self, fused: Program) -> dict[str, str]:
        """What each parameter, variable and function of the fused kernel is called there and in its kernels."""
        inner = (v.name for v in fused.variables)
        names = (*(p.name for p in fused.entry.parameters), *module_variables(self.fused), *inner)
        hidden = self.witness.launch.hidden if self.witness.launch else {}
        return {**{name: name for name in names}, **{name: f"hidden {role}" for role, name in hidden.items()}}

    def _kernel_symbols(
        self, fused: Program, named: Named, copy: int, kernel: Program, module: Module
    ) -> dict[str, str]:
        """What the kernel's parameters and variables are called in the fused kernel. Checks that what has one name is
        declared alike."""
        letter = named.letter
        old: dict[str, str] = {}
        pooled = named.pooled[copy] if copy < len(named.pooled) else {}
        pairs = list(zip(kernel.entry.parameters, named.parameters, strict=False))
        if len(kernel.entry.parameters) != len(named.parameters):
            raise _Failed("variables", letter, kernel.entry.line, "the fused kernel has other parameters")
        declared = {p.name: p for p in fused.entry.parameters}
        for variable, name in pairs:
            if name in declared or name not in self.witness.named:
                self._alike(letter, variable, declared.get(name), {})
            old[variable.name] = name
        for name in module_variables(module):
            if name in named.symbols:
                old[name] = named.symbols[name]
        inner = {v.name: v for v in kernel.variables}
        for name in inner:
            old[name] = f"{named.prefixes[copy]}_{name}"
        every = {**module_variables(self.fused), **{v.name: v for v in fused.variables}}
        parameters = {p.name for p in kernel.entry.parameters}
        variables = {n: v for n, v in {**module_variables(module), **inner}.items() if n in old and n not in parameters}
        for name, variable in variables.items():
            if old[name] in pooled:
                self.parts[f"{letter}.{copy}", name] = self._pooled(named, variable, pooled[old[name]])
                old[POOL] = named.pool
            else:
                self._alike(letter, variable, every.get(old[name]), old)
                of_module = variable.space in (".global", ".const")
                if of_module and ".extern" in variable.linkage and old[name] != name:
                    raise _Failed("variables", letter, variable.line, f"`{name}` is known by another name")
                self._check_owner(letter, named.digest if of_module else f"{letter}.{copy}", old[name], variable)
        own = [old[name] for name in variables]
        if len({*own}) != len(own) or not declared.keys().isdisjoint(own):
            raise _Failed(
                "variables", letter, fused.entry.line, "two variables of the kernel are one in the fused kernel"
            )
        self.separate += sum(name not in self.witness.named for _, name in pairs) + len(variables)
        return old

    def _pooled(self, named: Named, variable: Variable, first: int) -> Part:
        """The part of the dynamic array that a shared array of the kernel is."""
        pool = module_variables(self.fused).get(named.pool)
        with _rule("variables", named.letter):
            part = part_of(first, variable, pool, named.launch.shared if named.launch else None)
        assert pool is not None
        self._check_owner(named.letter, "the pool", named.pool, pool)
        return part

    def _check_owner(self, letter: str, owner: str, name: str, variable: Variable) -> None:
        """Raises `_Failed` where kernels, or copies of one, share a variable of a CTA or a thread, or kernels of
        several modules one of these. Arrays without a size all begin at one place."""
        where = "" if variable.space == ".shared" and variable.dims[:1] == ("",) else name
        if self.owners.setdefault(where, owner) != owner:
            raise _Failed("variables", letter, variable.line, f"`{name}` belongs to another kernel, too")

    def _alike(self, letter: str, old: Variable, new: Variable | None, renamed: Mapping[str, str]) -> None:
        """Raises `_Failed` unless a variable is declared as the kernel declares it."""
        init = tuple(Name(renamed.get(p.text, "")) if isinstance(p, Name) else p for p in old.init)
        if new is None or _form(new) != (*_form(old)[:-1], init):
            line = new.line if new else 1
            raise _Failed("variables", letter, line, f"`{old}` is not declared as the kernel declares it")


def _followed(projections: Sequence[Projection]) -> Iterator[Established]:
    """What the projections of all kernels establish."""
    blocks = sum(len(p.kernel.blocks) for p in projections)
    effects = sum(len(p.matched) for p in projections)
    yield Established("projection", "", f"control flow {blocks} blocks")
    yield Established("projection", "", f"registers separate ({effects} effects with equal operands)")


def _form(variable: Variable) -> tuple[object, ...]:
    qualifiers = tuple(q for q in variable.qualifiers if not q.startswith(".align"))
    external = ".extern" in variable.linkage
    return external, variable.space, qualifiers, variable.alignment, variable.dims, variable.init


def module_variables(module: Module) -> dict[str, Variable]:
    """The variables that a module declares outside functions."""
    return {item.name: item for item in module.items if isinstance(item, Variable)}


def _check_clusters(claimed: bool, *entries: Function) -> None:
    for entry in entries:
        if claimed or any("cluster" in d.name for d in entry.directives):
            raise _Failed(
                "placement", "", entry.line, "the checker has no rules for clusters of kernels with own shapes"
            )


def _may_be(own: Step, fused: Step) -> bool:
    """Whether a step can be the kernel's at all: the family of its opcode is the same."""
    return own.facts.base.removesuffix("rier") == fused.facts.base.removesuffix("rier")


def _likeliest(steps: Sequence[Step], fused: Step, prefix: str) -> tuple[int, ...]:
    """Of several steps in one line those that have most registers in common with a step of the fused kernel."""

    def registers(step: Step) -> set[str]:
        return {*step.writes, *(n for s in step.sources for n in s.names)}

    own = registers(fused)
    common = [len({f"%{prefix}_{name[1:]}" for name in registers(step)} & own) for step in steps]
    return tuple(step.number for step, count in zip(steps, common, strict=True) if count == max(common))


class _Failed(Exception):
    def __init__(self, rule: str, kernel: str, line: int, what: str) -> None:
        super().__init__(what)
        self.what = Gap(rule, kernel, line, what)


class _rule:
    """What is not proved inside is not proved by that rule."""

    def __init__(self, rule: str, kernel: str) -> None:
        self.rule, self.kernel = rule, kernel

    def __enter__(self) -> None:
        pass

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        if isinstance(error, NotProved):
            raise _Failed(self.rule, self.kernel, error.line, str(error)) from None
        if isinstance(error, TooManyFormulas):
            raise _Failed(self.rule, self.kernel, 1, "the conditions of this kernel are too many to follow") from None
