"""Constant expressions of integers (PTX ISA 4.5.4 to 4.5.6): C's operators on numbers of 64 bits, with a sign or not.

Where the ISA leaves types open they are those of ptxas 13.0: a remainder has no sign, `?:` has the type of its choice.
"""

from __future__ import annotations

import operator
import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache

from goptx.ptx.ir import whole_number

_TOKEN = re.compile(
    r"\s*(0[xX][0-9a-fA-F]+U?|0[bB][01]+U?|[0-9]+U?|\(\s*\.[su]64\s*\)|<<|>>|<=|>=|==|!=|&&|\|\||[-+*/%<>&|^?:~!()])"
)
_LEVELS = (("||",), ("&&",), ("|",), ("^",), ("&",), ("==", "!="), ("<", "<=", ">", ">="), ("<<", ">>"), ("+", "-"),
           ("*", "/", "%"))  # fmt: skip


@dataclass(frozen=True, slots=True)
class _Number:
    """A value of .s64, or of .u64 if `unsigned`; brought into its range."""

    value: int
    unsigned: bool = False

    def as_type(self, unsigned: bool) -> _Number:
        low = self.value % (1 << 64)
        return _Number(low if unsigned or low < 1 << 63 else low - (1 << 64), unsigned)


@lru_cache(maxsize=4096)
def whole(expression: str) -> int:
    """The value of a constant expression: below 2**64, and negative only if its type is .s64. Raises `ValueError`."""
    try:
        tokens, at = [], 0
        text = expression.strip()
        while at < len(text):
            found = _TOKEN.match(text, at)
            if found is None:
                raise ValueError(text[at:])
            tokens.append(found[1].replace(" ", ""))
            at = found.end()
        return _Parser(tokens).all().value
    except (ValueError, IndexError, ZeroDivisionError, RecursionError):
        raise ValueError(f"`{expression}` is not a constant expression of integers") from None


class _Parser:
    def __init__(self, tokens: list[str]) -> None:
        self.tokens = tokens
        self.at = 0

    def all(self) -> _Number:
        value = self.choice()
        if self.at != len(self.tokens):
            raise ValueError(self.tokens[self.at])
        return value

    def accepts(self, *tokens: str) -> str:
        """The next token, if it is one of these; otherwise ""."""
        if self.at < len(self.tokens) and self.tokens[self.at] in tokens:
            self.at += 1
            return self.tokens[self.at - 1]
        return ""

    def demand(self, token: str) -> None:
        if not self.accepts(token):
            raise ValueError(token)

    def choice(self) -> _Number:
        condition = self.binary(0)
        if not self.accepts("?"):
            return condition
        first = self.choice()
        self.demand(":")
        second = self.choice()
        return first if condition.value else second

    def binary(self, level: int) -> _Number:
        if level == len(_LEVELS):
            return self.unary()
        left = self.binary(level + 1)
        while sign := self.accepts(*_LEVELS[level]):
            left = _BINARY[sign](left, self.binary(level + 1))
        return left

    def unary(self) -> _Number:
        sign = self.accepts("+", "-", "!", "~", "(.s64)", "(.u64)")
        if sign:
            return _UNARY[sign](self.unary())
        if self.accepts("("):
            value = self.choice()
            self.demand(")")
            return value
        token = self.tokens[self.at]
        if not token[0].isdigit():
            raise ValueError(token)
        self.at += 1
        number = whole_number(token)
        return _Number(number).as_type(token.endswith("U") or number >= 1 << 63)


_UNARY: dict[str, Callable[[_Number], _Number]] = {
    "+": lambda a: a,
    "-": lambda a: _Number(-a.value).as_type(a.unsigned),
    "!": lambda a: _Number(int(not a.value)),
    "~": lambda a: _Number(~a.value).as_type(True),
    "(.s64)": lambda a: a.as_type(False),
    "(.u64)": lambda a: a.as_type(True),
}


def _quotient(a: int, b: int) -> int:
    return abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1)


def _alike(operation: Callable[[int, int], int]) -> Callable[[_Number, _Number], _Number]:
    """Arithmetic on two numbers of one type: .u64 if one of them is."""

    def apply(a: _Number, b: _Number) -> _Number:
        unsigned = a.unsigned or b.unsigned
        return _Number(operation(a.as_type(unsigned).value, b.as_type(unsigned).value)).as_type(unsigned)

    return apply


def _compared(operation: Callable[[int, int], bool]) -> Callable[[_Number, _Number], _Number]:
    compare = _alike(operation)
    return lambda a, b: _Number(compare(a, b).value)


def _remainder(a: _Number, b: _Number) -> _Number:
    """Of numbers without sign, as ptxas takes them, whatever their types are."""
    return _Number(a.as_type(True).value % b.as_type(True).value, True)


def _shifted(operation: Callable[[int, int], int]) -> Callable[[_Number, _Number], _Number]:
    """The type is that of the shifted number; of the distance, six bits count."""
    return lambda a, b: _Number(operation(a.value, b.value % 64)).as_type(a.unsigned)


_BINARY: dict[str, Callable[[_Number, _Number], _Number]] = {
    "*": _alike(operator.mul), "/": _alike(_quotient), "%": _remainder,
    "+": _alike(operator.add), "-": _alike(operator.sub), "<<": _shifted(operator.lshift),
    ">>": _shifted(operator.rshift), "<": _compared(operator.lt), "<=": _compared(operator.le),
    ">": _compared(operator.gt), ">=": _compared(operator.ge), "==": _compared(operator.eq),
    "!=": _compared(operator.ne), "&": _alike(operator.and_), "^": _alike(operator.xor), "|": _alike(operator.or_),
    "&&": lambda a, b: _Number(int(bool(a.value and b.value))),
    "||": lambda a, b: _Number(int(bool(a.value or b.value))),
}  # fmt: skip
