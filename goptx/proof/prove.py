"""prove(): whether the text of a fused kernel does what the texts of its kernels do.

The checker reads the texts with the parser, asks the opcode table, and shares nothing else with what made the kernel.
docs/proof.md has its rules.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from goptx.proof.certificate import Certificate, Established, Gap, digest
from goptx.proof.convergence import check_convergence
from goptx.proof.formulas import TooManyFormulas
from goptx.proof.kernel_code import NotProved, Program, Step, program_of
from goptx.proof.projection import Projection
from goptx.proof.termination import check_termination
from goptx.proof.terms import Terms
from goptx.proof.waiting import check_waiting
from goptx.proof.witness import Claim, Named, Witness, read_witness
from goptx.ptx.ir import Declaration, Function, Module, Name, Variable
from goptx.ptx.parse import parse

LAUNCHES = "every launch with one grid and block for all"
INDEPENDENT = "the kernels are independent"


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
    owners: dict[str, str] = field(default_factory=dict)  # of the fused kernel's variables

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
        claims = self._claims(fused)
        projections, together = {}, 0
        for named, module in zip(self.witness.kernels, self.kernels, strict=True):
            projection = projections[named.letter] = self._projection(fused, named, module, claims)
            with _rule("projection", named.letter):
                projection.check()
            with _rule("convergence", named.letter):
                together += check_convergence(projection)
        with _rule("waiting", ""):
            waits = check_waiting(fused, projections)
        with _rule("termination", ""):
            loops, ends = check_termination(list(projections.values()))
        established = (
            *_followed(list(projections.values())),
            Established("convergence", "", f"convergence {together} instructions"),
            Established("waiting", "", f"barriers {waits.barriers} in one order"),
            Established("termination", "", f"loops {loops} end"),
        )
        presumed = (INDEPENDENT, *dict.fromkeys((*waits.presumed, *ends)))
        return replace(self.held, established=established, presumed=presumed)

    def _program(self, entry: Function, letter: str) -> Program:
        with _rule("reading", letter):
            return program_of(entry)

    def _claims(self, fused: Program) -> dict[int, tuple[Claim, ...]]:
        return {s.number: self.witness.claims[s.line] for s in fused.steps if s.line in self.witness.claims}

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
        for name in (*module_variables(module), *(f.name for f in module.functions)):
            old[name] = f"{letter} {name}"
            if name in named.symbols:  # otherwise nothing in the fused kernel is the same
                new[named.symbols[name]] = old[name]
        inner = {v.name: v for v in body_variables(kernel.entry)}
        for name in inner:
            new[f"{named.prefix}_{name}"] = old[name] = f"{letter} {name}"
        every = {**module_variables(self.fused), **{v.name: v for v in body_variables(fused.entry)}}
        renamed = {name: twin for twin, both in new.items() for name, its in old.items() if its == both}
        for name, variable in {**module_variables(module), **inner}.items():
            if name in renamed and name not in {p.name for p in kernel.entry.parameters}:
                self._alike(letter, variable, every.get(renamed[name]), renamed)
                self._check_owner(letter, renamed[name], variable)
        if len(set(renamed.values())) != len(renamed):
            raise _Failed(
                "variables", letter, fused.entry.line, "two variables of the kernel are one in the fused kernel"
            )
        return new, old

    def _check_owner(self, letter: str, name: str, variable: Variable) -> None:
        """Raises `_Failed` where kernels share a variable that they do not share alone: those of one module do, and all
        know an external one by its name. Shared arrays without a size all begin at one place."""
        owner = f"kernel {letter}"
        if variable.space in (".const", ".global"):
            module = "" if ".extern" in variable.linkage else self.held.kernels[letter]
            owner = f"`{variable.name}` of {module}"
            if not module and name != variable.name:
                raise _Failed("variables", letter, variable.line, f"`{variable.name}` is known by another name")
        elif variable.dims[:1] == ("",):
            name = ""
        if self.owners.setdefault(name, owner) != owner:
            raise _Failed("variables", letter, variable.line, f"`{variable.name}` is also another kernel's variable")

    def _alike(self, letter: str, old: Variable, new: Variable | None, renamed: Mapping[str, str]) -> None:
        """Raises `_Failed` unless a variable is declared as the kernel declares it."""
        init = tuple(Name(renamed.get(p.text, p.text)) if isinstance(p, Name) else p for p in old.init)
        if new is None or _form(new) != (*_form(old)[:-1], init):
            line = new.line if new else 1
            raise _Failed("variables", letter, line, f"`{old}` is not declared as the kernel declares it")


def _followed(projections: Sequence[Projection]) -> Iterator[Established]:
    """What the projections of all kernels establish."""
    blocks = sum(len(p.kernel.order) for p in projections)
    followed, effects, exchanged, names = (
        sum(map(len, its))
        for its in zip(*((p.followed, p.matched, p.exchanged, p.symbols) for p in projections), strict=True)
    )
    yield Established("projection", "", f"control flow {followed}/{blocks} blocks")
    yield Established("projection", "", f"registers separate ({effects} effects with equal operands)")
    yield Established("variables", "", f"variables separate ({names})")
    yield Established("projection", "", f"memory order {exchanged} pairs exchanged")


def _form(variable: Variable) -> tuple[object, ...]:
    qualifiers = tuple(q for q in variable.qualifiers if not q.startswith(".align"))
    external = ".extern" in variable.linkage
    return external, variable.space, qualifiers, variable.alignment, variable.dims, variable.init


def module_variables(module: Module) -> dict[str, Variable]:
    """The variables that a module declares outside functions."""
    return {item.name: item for item in module.items if isinstance(item, Variable)}


def body_variables(entry: Function) -> list[Variable]:
    """The variables that an entry's body declares."""
    return [s.variable for s in entry.body or () if isinstance(s, Declaration)]


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
        if isinstance(error, TooManyFormulas):
            raise _Failed(self.rule, self.kernel, 1, "the conditions of this kernel are too many to follow") from None
