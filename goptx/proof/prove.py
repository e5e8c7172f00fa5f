"""prove(): whether the text of a fused kernel does what the texts of its kernels do.

The checker reads the texts with the parser, asks the opcode table, and shares nothing else with what made the kernel.
docs/proof.md has its rules.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import prod

from goptx.proof.certificate import Certificate, Established, Gap, digest
from goptx.proof.kernel_code import NotProved, Program, Step, program_of
from goptx.proof.projection import Projection
from goptx.proof.sync.convergence import check_convergence, diverging_branches
from goptx.proof.sync.termination import check_termination
from goptx.proof.sync.waiting import check_waiting
from goptx.proof.terms import Terms
from goptx.proof.witness import Claim, Named, Witness, read_witness
from goptx.ptx.ir import Directive, Function, Module, Name, Variable, whole_number
from goptx.ptx.parse import parse

MOST = 1024  # threads of a CTA
LAUNCHES = "every launch with one grid and block for all"


def prove_text(fused: str, modules: Sequence[Module]) -> Certificate:
    """A certificate for the text of a fused kernel and the modules of its kernels, in the order of their letters.

    Raises `PtxSyntaxError` where the text is not PTX."""
    witness = read_witness(fused)
    module = parse(fused)
    digests = [digest(str(m)) for m in modules]
    letters = [chr(ord("A") + i) for i in range(len(modules))]
    held = Certificate(
        witness.entry if witness else "", witness.strategy if witness else "",
        (witness.shapes or LAUNCHES) if witness else "", digest(fused), dict(zip(letters, digests, strict=True)),
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
    owners: dict[str, str] = field(default_factory=dict)  # of the fused kernel's variables and parameters

    def certificate(self) -> Certificate:
        try:
            return self._established()
        except _Failed as error:
            return replace(self.held, gaps=(error.what,))

    def _established(self) -> Certificate:
        entry = next((e for e in self.fused.entries if e.name == self.witness.entry), None)
        if entry is None:
            raise _Failed("witness", "", 1, f"there is no entry `{self.witness.entry}`")
        if self.witness.shapes:
            raise _Failed(
                "strategy", "", entry.line, "the checker has no rules for kernels with shapes of their own yet"
            )
        if self.witness.strategy != "weave":
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
        with _rule("variables", ""):
            self._check_entry(entry)
        established: list[Established] = []
        projections = {}
        for named, module in zip(self.witness.kernels, self.kernels, strict=True):
            projection = self._projection(fused, named, module, claims)
            projections[named.letter] = projection
            with _rule("projection", named.letter):
                projection.check()
            what = f"{len(projection.kernel.blocks)} blocks, {len(projection.claims)} instructions"
            established.append(Established("projection", named.letter, what))
        with _rule("projection", ""):
            for step in fused.steps:
                if step.facts.base == "brx" and not any(step.number in p.indexed for p in projections.values()):
                    raise NotProved(step.line, f"`{step.statement}` may have an index that is beyond its targets")
        diverging = diverging_branches(projections.values())
        for letter, projection in projections.items():
            with _rule("convergence", letter):
                count = check_convergence(projection, diverging)
            established.append(
                Established("convergence", letter, f"{count} instructions that threads execute together")
            )
        with _rule("waiting", ""):
            waits = check_waiting(fused, projections)
        with _rule("termination", ""):
            loops = check_termination(list(projections.values()))
        established.append(Established("termination", "", f"{loops} loops get on"))
        established.append(Established("waiting", "", f"{waits.barriers} barriers, passed in one order"))
        independent = "the kernels are independent: what is checked of their arguments at launch"
        return replace(
            self.held, established=tuple(established), presumed=(independent, *dict.fromkeys(waits.presumed))
        )

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
            if len({c.kernel for c in its}) > 1 and "s" in step.facts.row.access:
                raise NotProved(step.line, f"`{step.statement}` belongs to several kernels")
        return found

    def _check_entry(self, entry: Function) -> None:
        """That the fused kernel has the kernels' parameters in order, can be launched as they can, and that names mean
        what they mean in the kernels where the target decides it."""
        names = [name for named in self.witness.kernels for name in named.parameters]
        if [p.name for p in entry.parameters if p.name in names] != names:
            raise NotProved(entry.line, "the fused kernel does not have the parameters of its kernels in their order")
        own = [
            e for m, n in zip(self.kernels, self.witness.kernels, strict=True) for e in m.entries if e.name == n.entry
        ]
        bounds = [{d for d in e.directives if d.name in (".reqntid", ".maxntid")} for e in (entry, *own)]
        if not bounds[0] <= set().union(*bounds[1:]):
            raise NotProved(entry.line, "its bounds exclude launches that the kernels allow")
        if any(its and min(map(_threads, bounds[0]), default=MOST) > min(map(_threads, its)) for its in bounds[1:]):
            raise NotProved(entry.line, "it allows launches that a kernel does not allow")
        for kernel in own:
            mine, its = ([str(d) for d in e.directives if "cluster" in d.name] for e in (entry, kernel))
            if mine != its:
                raise NotProved(entry.line, f"`{kernel.name}` is launched in other clusters")
        if any(
            m.target[1:] != self.fused.target[1:] or m.address_size != self.fused.address_size for m in self.kernels
        ):
            raise NotProved(1, "the kernels are made for another target")

    def _projection(
        self, fused: Program, named: Named, module: Module, claims: Mapping[int, tuple[Claim, ...]]
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
            lines = [c.line for c in its if c.kernel == letter]
            step = fused.steps[number]
            if not lines:
                foreign.add(number)
            elif step.is_branch:
                branches[number] = tuple(s.number for line in lines for s in by_line.get(line, ()) if s.is_branch)
            elif found := tuple(s.number for line in lines for s in by_line.get(line, ()) if _may_be(s, step)):
                mine[number] = found
        symbols, kernel_symbols = self._symbols(fused, named, kernel, module)
        return Projection(
            self.terms, fused, kernel, mine, symbols, kernel_symbols, frozenset(foreign), branches, letter
        )

    def _symbols(
        self, fused: Program, named: Named, kernel: Program, module: Module
    ) -> tuple[dict[str, str], dict[str, str]]:
        """What parameters and variables are called in the fused kernel and in the kernel, by one name for both. Checks
        that what has one name is declared alike."""
        letter = named.letter
        new: dict[str, str] = {}
        old: dict[str, str] = {}
        pairs = list(zip(kernel.entry.parameters, named.parameters, strict=False))
        if len(kernel.entry.parameters) != len(named.parameters):
            raise _Failed("variables", letter, kernel.entry.line, "the fused kernel has other parameters")
        declared = {p.name: p for p in fused.entry.parameters}
        for i, (variable, name) in enumerate(pairs):
            self._alike(letter, variable, declared.get(name), {})
            new[name] = old[variable.name] = f"parameter {letter} {i}"
        for name in module_variables(module):
            if name in named.symbols:
                new[named.symbols[name]] = old[name] = f"{letter} {name}"
        inner = {v.name: v for v in kernel.variables}
        for name in inner:
            new[f"{named.prefix}_{name}"] = old[name] = f"{letter} {name}"
        every = {**module_variables(self.fused), **{v.name: v for v in fused.variables}}
        renamed = {name: twin for twin, both in new.items() for name, its in old.items() if its == both}
        for name, variable in {**module_variables(module), **inner}.items():
            if name in renamed and name not in {p.name for p in kernel.entry.parameters}:
                self._alike(letter, variable, every.get(renamed[name]), renamed)
                self._check_owner(named, variable, renamed[name])
        if len(set(renamed.values())) != len(renamed):
            raise _Failed(
                "variables", letter, fused.entry.line, "two variables of the kernel are one in the fused kernel"
            )
        return new, old

    def _alike(self, letter: str, old: Variable, new: Variable | None, renamed: Mapping[str, str]) -> None:
        """Raises `_Failed` unless a variable is declared as the kernel declares it."""
        init = tuple(Name(renamed.get(p.text, "")) if isinstance(p, Name) else p for p in old.init)
        if new is None or _form(new) != (*_form(old)[:-1], init):
            line = new.line if new else 1
            raise _Failed("variables", letter, line, f"`{old}` is not declared as the kernel declares it")

    def _check_owner(self, named: Named, variable: Variable, name: str) -> None:
        """Raises `_Failed` where kernels share a variable of a CTA or a thread, or kernels of several modules one of
        these. Arrays without a size all begin at one place."""
        of_module = variable.space in (".global", ".const")
        where = "" if variable.space == ".shared" and variable.dims[:1] == ("",) else name
        owner = named.digest if of_module else named.letter
        if self.owners.setdefault(where, owner) != owner:
            raise _Failed("variables", named.letter, variable.line, f"`{name}` belongs to another kernel, too")


def _threads(directive: Directive) -> int:
    return prod(map(whole_number, directive.values))


def _form(variable: Variable) -> tuple[object, ...]:
    qualifiers = tuple(q for q in variable.qualifiers if not q.startswith(".align"))
    return variable.space, qualifiers, variable.alignment, variable.dims, variable.init


def module_variables(module: Module) -> dict[str, Variable]:
    """The variables that a module declares outside functions."""
    return {item.name: item for item in module.items if isinstance(item, Variable)}


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
