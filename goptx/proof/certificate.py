"""A certificate: what was shown of a fused kernel, by which rule, and what is presumed. It is plain data, and JSON."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

FORMAT = "goptx certificate 1"


@dataclass(frozen=True, slots=True)
class Shown:
    """`rule` is a section of docs/proof.md; `kernel` the letter of the kernel that it was shown for, "" for all."""

    rule: str
    kernel: str
    what: str


@dataclass(frozen=True, slots=True)
class NotShown:
    """What could not be shown: of which kernel, at which line of the fused kernel, by which rule."""

    rule: str
    kernel: str
    line: int
    what: str

    def __str__(self) -> str:
        kernel = f" of kernel {self.kernel}" if self.kernel else ""
        return f"line {self.line}: {self.what} ({self.rule}{kernel})"


@dataclass(frozen=True, slots=True)
class Certificate:
    """What was shown of a fused kernel, for every input and launch that `launches` names.

    fused, kernels: the digests (SHA-256) of the texts, of kernels by their letters.
    shown: what holds, by rule. not_shown: empty if the kernel is proved.
    presumed: what the proof rests on that no text says.
    """

    entry: str
    strategy: str
    launches: str
    fused: str
    kernels: Mapping[str, str]
    shown: tuple[Shown, ...] = ()
    presumed: tuple[str, ...] = ()
    not_shown: tuple[NotShown, ...] = field(default_factory=tuple)

    @property
    def proved(self) -> bool:
        """Whether the fused kernel does what its kernels do."""
        return not self.not_shown

    def __bool__(self) -> bool:
        return self.proved

    def __repr__(self) -> str:
        return f"Certificate({self.entry!r}, {'proved' if self.proved else f'not proved: {len(self.not_shown)}'})"

    def __str__(self) -> str:
        if not self.proved:
            return "\n".join(f"not proved: {self.entry}, {what}" for what in self.not_shown)
        kernels = " and ".join(self.kernels)
        lines = [f"proved: {self.entry} does what {kernels} do, for every input and {self.launches}."]
        lines += [f"  {s.rule}{f' of {s.kernel}' if s.kernel else ''}: {s.what}" for s in self.shown]
        lines += [f"  presumes: {what}" for what in self.presumed]
        return "\n".join(lines)

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
            tuple(Shown(**s) for s in held["shown"]), tuple(held["presumed"]),
            tuple(NotShown(**s) for s in held["not_shown"]),
        )  # fmt: skip


def digest(text: str) -> str:
    """The SHA-256 of a text."""
    return hashlib.sha256(text.encode()).hexdigest()
