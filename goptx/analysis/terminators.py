"""How basic blocks end: where a thread goes next, under which guard, and which registers decide that."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from goptx.ptx.ir import Guard, Name, Operand


@dataclass(frozen=True, slots=True)
class Jump:
    target: str

    def successors(self) -> tuple[str, ...]:
        return (self.target,)

    def kinds(self) -> tuple[str, ...]:
        return ("jump",)

    def reads(self) -> tuple[str, ...]:
        return ()

    def retarget(self, new: dict[str, str]) -> End:
        target = new.get(self.target, self.target)
        return self if target == self.target else Jump(target)


@dataclass(frozen=True, slots=True)
class Branch:
    """To `taken` where `guard` or one of `others` holds, else to `fallen`; `uniform` if all lanes of a warp agree.

    For copies of one kernel: `safe_to_take` if a warp may go to `taken` without effect although none of its lanes has
    to; `lockstep` names what all copies decide alike, "" if they may differ.
    """

    guard: Guard
    taken: str
    fallen: str
    uniform: bool = False
    line: int = field(default=0, compare=False)
    others: tuple[Guard, ...] = ()
    safe_to_take: bool = False
    lockstep: str = ""

    def successors(self) -> tuple[str, ...]:
        return (self.taken, self.fallen)

    def kinds(self) -> tuple[str, ...]:
        return ("taken", "fallen")

    def reads(self) -> tuple[str, ...]:
        return tuple(guard.predicate.text for guard in (self.guard, *self.others))

    def retarget(self, new: dict[str, str]) -> End:
        taken, fallen = new.get(self.taken, self.taken), new.get(self.fallen, self.fallen)
        if taken == fallen:
            return Jump(taken)
        return self if (taken, fallen) == (self.taken, self.fallen) else replace(self, taken=taken, fallen=fallen)


@dataclass(frozen=True, slots=True)
class Switch:
    """`brx.idx`: goes to `targets[index]`."""

    index: Operand
    targets: tuple[str, ...]
    uniform: bool = False
    line: int = field(default=0, compare=False)

    def successors(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(self.targets))

    def kinds(self) -> tuple[str, ...]:
        return tuple("case" for _ in self.successors())

    def reads(self) -> tuple[str, ...]:
        return (self.index.text,) if isinstance(self.index, Name) else ()

    def retarget(self, new: dict[str, str]) -> End:
        return Switch(self.index, tuple(new.get(t, t) for t in self.targets), self.uniform, self.line)


@dataclass(frozen=True, slots=True)
class Stop:
    """The end of a kernel for this thread."""

    def successors(self) -> tuple[str, ...]:
        return ()

    def kinds(self) -> tuple[str, ...]:
        return ()

    def reads(self) -> tuple[str, ...]:
        return ()

    def retarget(self, new: dict[str, str]) -> End:
        return self


End = Jump | Branch | Switch | Stop
