"""prove(): whether the text of a fused kernel does what the texts of its kernels do.

The checker reads the texts with the parser, asks the opcode table, and shares nothing else with what made the kernel.
docs/proof.md has its rules.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from goptx.proof.certificate import Certificate, Established, Gap, digest
from goptx.proof.convergence import check_convergence
from goptx.proof.kernel_code import NotProved, Program, Step, program_of
from goptx.proof.placement.placement import Placements, placements_of
from goptx.proof.placement.pooled_memory import POOL, Part, check_parts, in_pool, part_of
from goptx.proof.placement.thread_groups import check_groups
from goptx.proof.projection import Projection
from goptx.proof.termination import check_termination
from goptx.proof.terms import Terms
from goptx.proof.waiting import Waits, check_waiting
from goptx.proof.witness import Claim, Named, Witness, read_witness
from goptx.ptx.ir import Declaration, Function, Module, Name, Variable
from goptx.ptx.parse import parse

STRATEGIES = ("weave", "horizontal", "interleave")


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
    owners: dict[str, str] = field(default_factory=dict)  # whose a variable of the CTA or of the thread is

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
        claims = self._claims(fused)
        established: list[Established] = []
        projections = {}
        with _rule("placement", ""):
            self._place(fused)
        for named, module in zip(self.witness.kernels, self.kernels, strict=True):
            for copy in range(len(named.prefixes)):
                projection = self._projection(fused, named, copy, module, claims)
                projections[projection.letter] = projection
                established += self._follow(projection)
        with _rule("variables", ""):
            check_parts(self.parts, {n.pool for n in self.witness.kernels if n.pool}, self.witness.launch)
        with _rule("waiting", ""):
            waits = list[Waits]()
            check_groups(fused, projections, self.placements, lambda *its: waits.append(check_waiting(*its)))
        with _rule("termination", ""):
            loops, ends = check_termination(list(projections.values()))
        established.append(Established("termination", "", f"{loops} loops get on"))
        established.append(Established("waiting", "", f"{waits[0].barriers} barriers, passed in one order"))
        independent = "the kernels are independent: what is checked of their arguments at launch"
        presumed = dict.fromkeys((independent, *(what for w in waits for what in w.presumed), *ends))
        return replace(self.held, established=tuple(established), presumed=tuple(presumed))

    def _program(self, entry: Function, letter: str) -> Program:
        with _rule("reading", letter):
            return program_of(entry)

    def _claims(self, fused: Program) -> dict[int, tuple[Claim, ...]]:
        return {s.number: self.witness.claims[s.line] for s in fused.steps if s.line in self.witness.claims}

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

    def _projection(
        self, fused: Program, named: Named, copy: int, module: Module, claims: Mapping[int, tuple[Claim, ...]]
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
        foreign = set()
        for number, its in claims.items():
            lines = [c.line for c in its if (c.kernel, c.copy) == (letter, copy)]
            step = fused.steps[number]
            if not lines:
                foreign.add(number)
            elif step.is_branch:
                branches[number] = tuple(s.number for line in lines for s in by_line.get(line, ()) if s.is_branch)
            elif found := tuple(s.number for line in lines for s in by_line.get(line, ()) if _may_be(s, step)):
                mine[number] = found
        symbols, kernel_symbols = self._symbols(fused, named, copy, kernel, module)
        places = {name: part.first for (owner, name), part in self.parts.items() if owner == f"{letter}.{copy}"}
        kernel = in_pool(kernel, places)
        if self.witness.launch:
            _check_clusters(self.witness.launch.clusters, fused.entry, kernel.entry)
            symbols |= {name: f"hidden {role}" for role, name in self.witness.launch.hidden.items()}
        return Projection(
            self.terms, fused, kernel, mine, symbols, kernel_symbols, frozenset(foreign), branches,
            f"{letter}.{copy}" if copy else letter, self.placements,
        )  # fmt: skip

    def _symbols(
        self, fused: Program, named: Named, copy: int, kernel: Program, module: Module
    ) -> tuple[dict[str, str], dict[str, str]]:
        """What parameters and variables are called in the fused kernel and in the kernel, by one name for both. Checks
        that what has one name is declared alike."""
        letter = named.letter
        new: dict[str, str] = {}
        old: dict[str, str] = {}
        pooled = named.pooled[copy] if copy < len(named.pooled) else {}
        pairs = list(zip(kernel.entry.parameters, named.parameters, strict=False))
        if len(kernel.entry.parameters) != len(named.parameters):
            raise _Failed("variables", letter, kernel.entry.line, "the fused kernel has other parameters")
        declared = {p.name: p for p in fused.entry.parameters}
        for i, (variable, name) in enumerate(pairs):
            self._alike(letter, variable, declared.get(name), {})
            new[name] = old[variable.name] = f"parameter {letter} {i}"
        for name in (*module_variables(module), *(f.name for f in module.functions)):
            if name in named.symbols:
                new[named.symbols[name]] = old[name] = f"{letter} {name}"
        inner = {v.name: v for v in body_variables(kernel.entry)}
        for name in inner:
            new[f"{named.prefixes[copy]}_{name}"] = old[name] = f"{letter} {name}"
        every = {**module_variables(self.fused), **{v.name: v for v in body_variables(fused.entry)}}
        renamed = {name: twin for twin, both in new.items() for name, its in old.items() if its == both}
        for name, variable in {**module_variables(module), **inner}.items():
            if name in renamed and name not in {p.name for p in kernel.entry.parameters}:
                if renamed[name] not in pooled:
                    self._alike(letter, variable, every.get(renamed[name]), renamed)
                    self._check_owner(f"{letter}.{copy}", renamed[name], variable)
                    continue
                pool = module_variables(self.fused).get(named.pool)
                shared = named.launch.shared if named.launch else None
                with _rule("variables", letter):
                    part = part_of(pooled[renamed[name]], variable, pool, shared)
                self.parts[f"{letter}.{copy}", name] = part
                assert pool is not None
                self._check_owner("the pool", named.pool, pool)
                old[POOL] = new[named.pool] = "pool"
        if len(set(renamed.values())) != len(renamed):
            raise _Failed(
                "variables", letter, fused.entry.line, "two variables of the kernel are one in the fused kernel"
            )
        return new, old

    def _check_owner(self, owner: str, name: str, variable: Variable) -> None:
        """Raises `_Failed` where kernels, or copies of one, share a variable of the CTA or of the thread. Arrays
        without a size all begin at one place."""
        if variable.space in (".shared", ".local"):
            other = self.owners.setdefault("" if variable.dims[:1] == ("",) else name, owner)
            if other != owner:
                raise _Failed("variables", owner[0], variable.line, f"`{name}` belongs to {other} and {owner}")

    def _alike(self, letter: str, old: Variable, new: Variable | None, renamed: Mapping[str, str]) -> None:
        """Raises `_Failed` unless a variable is declared as the kernel declares it."""
        init = tuple(Name(renamed.get(p.text, p.text)) if isinstance(p, Name) else p for p in old.init)
        if new is None or _form(new) != (*_form(old)[:-1], init):
            line = new.line if new else 1
            raise _Failed("variables", letter, line, f"`{old}` is not declared as the kernel declares it")

    def _follow(self, projection: Projection) -> Iterator[Established]:
        letter, kernel = projection.letter, projection.kernel
        with _rule("projection", letter):
            projection.check()
        uniform = (n for n, found in projection.decided.items() if self.placements.is_uniform(found))
        projection.fused.uniform.update(uniform)
        yield Established("projection", letter, f"{len(kernel.blocks)} blocks, {len(projection.claims)} instructions")
        with _rule("convergence", letter):
            count = check_convergence(projection)
        yield Established("convergence", letter, f"{count} instructions that threads execute together")


def _form(variable: Variable) -> tuple[object, ...]:
    qualifiers = tuple(q for q in variable.qualifiers if not q.startswith(".align"))
    return variable.space, qualifiers, variable.alignment, variable.dims, variable.init


def module_variables(module: Module) -> dict[str, Variable]:
    """The variables that a module declares outside functions."""
    return {item.name: item for item in module.items if isinstance(item, Variable)}


def body_variables(entry: Function) -> list[Variable]:
    """The variables that an entry's body declares."""
    return [s.variable for s in entry.body or () if isinstance(s, Declaration)]


def _check_clusters(claimed: bool, *entries: Function) -> None:
    for entry in entries:
        if claimed or any("cluster" in d.name for d in entry.directives):
            raise _Failed(
                "placement", "", entry.line, "the checker has no rules for clusters of kernels with own shapes"
            )


def _may_be(own: Step, fused: Step) -> bool:
    """Whether a step can be the kernel's at all: the family of its opcode is the same."""
    return own.facts.base.removesuffix("rier") == fused.facts.base.removesuffix("rier")


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
