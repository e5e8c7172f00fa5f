"""A certificate: what was proved of a fused kernel, by which rule, and what is presumed. It is plain data, and JSON."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

FORMAT = "goptx certificate 1"


@dataclass(frozen=True, slots=True)
class Established:
    """`rule` is a section of docs/proof.md; `kernel` the letter of the kernel that it was proved for, "" for all."""

    rule: str
    kernel: str
    what: str

    def __repr__(self) -> str:
        return _brief("Established", self.rule, self.kernel, self.what)


@dataclass(frozen=True, slots=True)
class Gap:
    """What could not be proved: of which kernel, at which line of the fused kernel, by which rule."""

    rule: str
    kernel: str
    line: int
    what: str

    def __repr__(self) -> str:
        return _brief("Gap", self.rule, self.kernel, self.line, self.what)

    def __str__(self) -> str:
        kernel = f" of kernel {self.kernel}" if self.kernel else ""
        return f"line {self.line}: {self.what} ({self.rule}{kernel})"


@dataclass(frozen=True, slots=True)
class Certificate:
    """What was proved of a fused kernel, for every input and launch that `launches` names.

    fused, kernels: the digests (SHA-256) of the texts, of kernels by their letters.
    established: what holds, by rule. gaps: empty if the kernel is proved.
    presumed: what the proof rests on that no text says.
    """

    entry: str
    strategy: str
    launches: str
    fused: str
    kernels: Mapping[str, str]
    established: tuple[Established, ...] = ()
    presumed: tuple[str, ...] = ()
    gaps: tuple[Gap, ...] = field(default_factory=tuple)

    @property
    def proved(self) -> bool:
        """Whether the fused kernel does what its kernels do."""
        return not self.gaps

    def __bool__(self) -> bool:
        return self.proved

    def __repr__(self) -> str:
        return _brief("Certificate", self.entry, "proved" if self.proved else "not proved")

    def __str__(self) -> str:
        if not self.proved:
            return "\n".join(f"not proved: {self.entry}, {what}" for what in self.gaps)
        kernels = " and ".join(self.kernels)
        lines = [f"proved: {self.entry} does what {kernels} do, for every input and {self.launches}."]
        lines += [f"  {s.rule}{f' of {s.kernel}' if s.kernel else ''}: {s.what}" for s in self.established]
        lines += [f"  presumes: {what}" for what in self.presumed]
        return "\n".join(lines)

    def _repr_pretty_(self, printer: Any, cycle: bool) -> None:
        """For notebooks and IPython."""
        printer.text(str(self))

    def to_dict(self) -> dict[str, Any]:
        """For JSON."""
        return {"format": FORMAT, "proved": self.proved, **asdict(self)}

    def to_json(self) -> str:
        """Text that `Certificate.from_json` reads."""
        return json.dumps(self.to_dict(), indent=1) + "\n"

    @classmethod
    def from_json(cls, text: str) -> Certificate:
        """Raises `ValueError` for text that is not a certificate."""
        held = json.loads(text)
        if not isinstance(held, dict) or held.get("format") != FORMAT:
            raise ValueError(f"not a certificate: the text has no format `{FORMAT}`")
        return cls(
            held["entry"], held["strategy"], held["launches"], held["fused"], held["kernels"],
            tuple(Established(**s) for s in held["established"]), tuple(held["presumed"]),
            tuple(Gap(**s) for s in held["gaps"]),
        )  # fmt: skip


def _brief(name: str, *parts: object) -> str:
    """One line of at most 200 characters."""
    text = f"{name}({', '.join(' '.join(str(p).split()) for p in parts)})"
    return text if len(text) <= 200 else f"{text[:196]}...)"


def digest(text: str) -> str:
    """The SHA-256 of a text."""
    return hashlib.sha256(text.encode()).hexdigest()
