"""The variables, parameters and functions of the kernels: what each is called in the fused text, that it is declared
there as in its kernel, and that no two of them are one."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from goptx.proof.code.called_functions import View, are_alike, why_not
from goptx.proof.code.kernel_code import NotProved, Program
from goptx.proof.failures import Failed, rule
from goptx.proof.placement.pooled_memory import POOL, Part, part_of
from goptx.proof.witness import Named, Witness
from goptx.ptx.ir import Module, Name, Variable


@dataclass
class Variables:
    """Of the fused text, whose entry is `program`. `parts` are those of the dynamic array, by owner and name; `owners`
    of the fused kernel's variables and parameters; `separate` counts those that are one kernel's."""

    witness: Witness
    fused: Module
    program: Program
    parts: dict[tuple[str, str], Part] = field(default_factory=dict)
    owners: dict[str, str] = field(default_factory=dict)
    separate: int = 0

    def names(self) -> dict[str, str]:
        """What each parameter, variable and function of the fused kernel is called there and in its kernels."""
        inner = (v.name for v in self.program.variables)
        outside = (*module_variables(self.fused), *(f.name for f in self.fused.functions))
        names = (*(p.name for p in self.program.entry.parameters), *outside, *inner)
        hidden = self.witness.launch.hidden if self.witness.launch else {}
        return {**{name: name for name in names}, **{name: f"hidden {role}" for role, name in hidden.items()}}

    def of_kernel(self, named: Named, copy: int, kernel: Program, module: Module, view: View) -> dict[str, str]:
        """What the kernel's parameters and variables are called in the fused kernel. Checks that what has one name is
        declared alike."""
        letter = named.letter
        old: dict[str, str] = {}
        pooled = named.pooled[copy] if copy < len(named.pooled) else {}
        pairs = list(zip(kernel.entry.parameters, named.parameters, strict=False))
        if len(kernel.entry.parameters) != len(named.parameters):
            raise Failed("variables", letter, kernel.entry.line, "the fused kernel has other parameters")
        declared = {p.name: p for p in self.program.entry.parameters}
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
        every = {**module_variables(self.fused), **{v.name: v for v in self.program.variables}}
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
                    raise Failed("variables", letter, variable.line, f"`{name}` is known by another name")
                self._check_owner(letter, named.digest if of_module else f"{letter}.{copy}", old[name], variable)
        old.update(self._functions(named, module, {n: old[n] for n in variables}, view))
        own = [old[name] for name in variables]
        if len({*own}) != len(own) or not declared.keys().isdisjoint(own):
            raise Failed(
                "variables", letter, self.program.entry.line, "two variables of the kernel are one in the fused kernel"
            )
        self.separate += sum(name not in self.witness.named for _, name in pairs) + len(variables)
        return old

    def _functions(self, named: Named, module: Module, variables: Mapping[str, str], view: View) -> dict[str, str]:
        """The functions of the kernel's module that the fused text has, with their names there."""
        its = {f.name: f for f in self.fused.functions}
        mine = {f.name: f for f in module.functions if not f.is_entry and named.symbols.get(f.name) in its}
        while True:
            names = {name: named.symbols[name] for name in mine}
            renamed = {**variables, **names}
            alike = {n: f for n, f in mine.items() if are_alike(f, its[names[n]], renamed, module, view)}
            if len(alike) == len(mine):
                return names
            mine = alike

    def _pooled(self, named: Named, variable: Variable, first: int) -> Part:
        """The part of the dynamic array that a shared array of the kernel is."""
        pool = module_variables(self.fused).get(named.pool)
        with rule("variables", named.letter):
            part = part_of(first, variable, pool, named.launch.shared if named.launch else None)
        assert pool is not None
        self._check_owner(named.letter, "the pool", named.pool, pool)
        return part

    def _check_owner(self, letter: str, owner: str, name: str, variable: Variable) -> None:
        """Raises `Failed` where kernels, or copies of one, share a variable of a CTA or a thread, or kernels of
        several modules one of these. Arrays without a size all begin at one place."""
        where = "" if variable.space == ".shared" and variable.dims[:1] == ("",) else name
        if variable.space == ".shared" and self.witness.launch and self.witness.launch.interleaved:
            where = f"{letter} {where}"  # a CTA is one of a single kernel
        if self.owners.setdefault(where, owner) != owner:
            raise Failed("variables", letter, variable.line, f"`{name}` belongs to another kernel, too")

    def _alike(self, letter: str, old: Variable, new: Variable | None, renamed: Mapping[str, str]) -> None:
        """Raises `Failed` unless a variable is declared as the kernel declares it."""
        init = tuple(Name(renamed.get(p.text, "")) if isinstance(p, Name) else p for p in old.init)
        if new is None or _form(new) != (*_form(old)[:-1], init):
            line = new.line if new else 1
            raise Failed("variables", letter, line, f"`{old}` is not declared as the kernel declares it")

    def check_calls(self, kernel: Program, module: Module, symbols: Mapping[str, str]) -> None:
        """That the checker has rules for the functions that the kernel calls, which the fused text has, too."""
        functions = {f.name: f for f in module.functions}
        repeated = frozenset[int]().union(*kernel.loops.values())
        for step in kernel.steps:
            if not step.facts.calls:
                continue
            name = step.sources[0].names[0]
            what = f"the code of `{name}` is not known"
            if name in functions:
                what = why_not(functions[name], module, again=kernel.block_of[step.number] in repeated)
            if name not in symbols:
                what = what or f"`{name}` is another function in the fused kernel"
            if what:
                raise NotProved(step.line, f"a call: {what}")


def _form(variable: Variable) -> tuple[object, ...]:
    qualifiers = tuple(q for q in variable.qualifiers if not q.startswith(".align"))
    external = ".extern" in variable.linkage
    return external, variable.space, qualifiers, variable.alignment, variable.dims, variable.init


def pointer_alignment(parameter: Variable) -> int:
    """The bytes to which a parameter says that the pointer in it is aligned, 1 where it says nothing."""
    words = " ".join(parameter.qualifiers).split()
    if ".ptr" not in words:
        return 1
    return int(words[words.index(".align") + 1]) if ".align" in words else 4


def module_variables(module: Module) -> dict[str, Variable]:
    """The variables that a module declares outside functions."""
    return {item.name: item for item in module.items if isinstance(item, Variable)}
