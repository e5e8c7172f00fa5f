"""A certificate: what was proved of a fused kernel, by which rule, and what is presumed. It is plain data, and JSON."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

FORMAT = "goptx certificate 2"


@dataclass(frozen=True, slots=True)
class Established:
    """`rule` is a section of docs/proof.md; `kernel` the letter of the kernel that it was proved for, "" for all."""

    rule: str
    kernel: str
    what: str

    def __repr__(self) -> str:
        return _brief("Established", self.rule, self.kernel, self.what)

    def __str__(self) -> str:
        return f"{self.what} of {self.kernel}" if self.kernel else self.what


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

    fused, kernels: the digests (SHA-256) of the texts, of kernels by their letters. entry, names: what they are called.
    established: what holds, by rule. gaps: empty if the kernel is proved.
    presumed: what the proof rests on that no text says.
    """

    entry: str
    strategy: str
    launches: str
    fused: str
    kernels: Mapping[str, str]
    names: Mapping[str, str] = field(default_factory=dict)
    established: tuple[Established, ...] = ()
    presumed: tuple[str, ...] = ()
    gaps: tuple[Gap, ...] = ()

    @property
    def proved(self) -> bool:
        """Whether the fused kernel does what its kernels do."""
        return not self.gaps

    def __bool__(self) -> bool:
        return self.proved

    def __repr__(self) -> str:
        return _brief("Certificate", self.entry, "proved" if self.proved else "not proved")

    def __str__(self) -> str:
        return self.described(self.entry, self.names)

    def described(self, fused: str, names: Mapping[str, str]) -> str:
        """As text in which the kernels have these names, by their letters."""
        if not self.proved:
            return "\n".join(f"not proved: {fused}, {what}" for what in self.gaps)
        kernels = " and ".join(f"{names[k]} ({k})" if k in names else k for k in self.kernels)
        does = "do" if len(self.kernels) > 1 else "does"
        return "\n".join((
            f"proved: {fused} does what {kernels} {does}, for every input and {self.launches}.",
            f"  {', '.join(map(str, self.established))}",
            *(f"  presumes: {what}" for what in self.presumed),
        ))  # fmt: skip

    def _repr_pretty_(self, printer: Any, cycle: bool) -> None:
        """For notebooks and IPython."""
        printer.text(str(self))

    def lacks(self, stored: Certificate) -> Iterator[str]:
        """What a stored certificate says that this one, which was made of texts now, does not."""
        if stored.fused != self.fused:
            yield "it is of another fused kernel, or of this one before its text was edited"
        for letter in sorted({*stored.kernels, *self.kernels}):
            if stored.kernels.get(letter) != self.kernels.get(letter):
                yield f"its kernel {letter} has another text"
        if not stored.proved:
            yield "it is one of a kernel that is not proved"
        if not self.proved:
            yield f"the text is not proved: {self.gaps[0]}"
            return
        for name in ("entry", "strategy", "launches", "names"):
            if getattr(stored, name) != getattr(self, name):
                yield f"it says of {name} `{getattr(stored, name)}`, the text `{getattr(self, name)}`"
        for missing in dict.fromkeys((e.rule, e.kernel) for e in stored.established):
            if missing not in {(e.rule, e.kernel) for e in self.established}:
                yield f"{missing[0]} is not established{f' of kernel {missing[1]}' if missing[1] else ''}"
        for what in self.presumed:
            if what not in stored.presumed:
                yield f"it does not presume that {what}"

    def to_dict(self) -> dict[str, Any]:
        """For JSON."""
        return {"format": FORMAT, "proved": self.proved, **asdict(self)}

    def to_json(self) -> str:
        """Text that `Certificate.from_json` reads."""
        return json.dumps(self.to_dict(), indent=1) + "\n"

    def _is_plain(self) -> bool:
        """Whether all that it says is text, and lines are numbers."""
        texts = [self.entry, self.strategy, self.launches, self.fused, *self.presumed]
        texts += [*self.kernels.values(), *self.names.values()]
        texts += [text for e in self.established for text in (e.rule, e.kernel, e.what)]
        texts += [text for g in self.gaps for text in (g.rule, g.kernel, g.what)]
        return all(type(t) is str for t in texts) and all(type(g.line) is int for g in self.gaps)

    @classmethod
    def from_json(cls, text: str) -> Certificate:
        """Raises `ValueError` for text that is not a certificate."""
        try:
            held = json.loads(text)
            if held.pop("format") != FORMAT or held.pop("proved") == bool(held["gaps"]):
                raise ValueError
            if not all(type(held[name]) is list for name in ("established", "presumed", "gaps")):
                raise ValueError
            held["established"] = tuple(Established(**one) for one in held["established"])
            held["gaps"] = tuple(Gap(**one) for one in held["gaps"])
            made = cls(**{**held, "presumed": (*held["presumed"],)})
            if not made._is_plain():
                raise ValueError
            return made
        except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
            raise ValueError(f"not a certificate: the text is not of format `{FORMAT}`") from None


def _brief(name: str, *parts: object) -> str:
    """One line of at most 200 characters."""
    text = f"{name}({', '.join(' '.join(str(p).split()) for p in parts)})"
    return text if len(text) <= 200 else f"{text[:196]}...)"


def digest(text: str) -> str:
    """The SHA-256 of a text."""
    return hashlib.sha256(text.encode()).hexdigest()
