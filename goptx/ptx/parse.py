"""Text to `Module`, through the parser that ANTLR made of grammar/Ptx.g4.

No parse tree is built: when a rule ends, its reader in readers.py makes its value.
"""

from __future__ import annotations

import warnings
from typing import Any

from goptx.errors import PtxSyntaxError, UnknownInstruction
from goptx.garbage import uncollected
from goptx.ptx.address_size import address_bits
from goptx.ptx.declared_names import check_names
from goptx.ptx.generated.PtxParser import PtxParser
from goptx.ptx.ir import Instruction, Item, Module, Scope
from goptx.ptx.opcodes import facts_of
from goptx.ptx.parser_runtime import Parser
from goptx.ptx.readers import READERS

TEXT = "<ptx>"  # the source name of text that does not come from a file


def parse(text: str | bytes, source: str = TEXT) -> Module:
    """The module that `text` spells; `source` names it in messages. Raises `PtxSyntaxError`. Warns with
    `UnknownInstruction` of each opcode about which goptx has no facts."""
    module = as_spelled(text, source)
    check_names(module)
    for opcode, line in _opcodes(module).items():
        if not facts_of(opcode).known:
            warnings.warn(
                f"{source}:{line}: goptx does not know `{opcode}`; it stays unchanged, and counts as reading and "
                "writing everything and needing all threads of its CTA.",
                UnknownInstruction,
                stacklevel=2,
            )
    return module


def as_spelled(text: str | bytes, source: str = TEXT) -> Module:
    """The module that `text` spells, whatever its names declare and its opcodes are. Raises `PtxSyntaxError`."""
    if isinstance(text, bytes):
        try:
            text = text.rstrip(b"\0").decode("utf-8")
        except UnicodeDecodeError as error:
            raise _binary(source, f"byte {error.start} is not UTF-8") from None
    if "\0" in text:
        raise _binary(source, f"byte {text.index(chr(0))} is zero")
    if not text.strip():
        raise PtxSyntaxError(f"{source}: the file is empty; expected PTX text that begins with `.version`.")
    with uncollected():
        parser = Parser(text, source, READERS)
        if parser.token.text != ".version":
            raise PtxSyntaxError(  # the text, which may be anything, is not quoted
                f"{source}:{parser.token.line}:{parser.token.column + 1}: expected `.version` before anything else; "
                "give a file of PTX."
            )
        return _module(parser.module(), parser)


def _opcodes(module: Module) -> dict[str, int]:
    """Each opcode with the line of its first occurrence."""
    opcodes: dict[str, int] = {}
    bodies = [function.body for function in module.functions if function.body is not None]
    while bodies:
        for statement in bodies.pop():
            if isinstance(statement, Instruction):
                opcodes.setdefault(statement.opcode, statement.line)
            elif isinstance(statement, Scope):
                bodies.append(statement.body)
    return opcodes


def _binary(source: str, reason: str) -> PtxSyntaxError:
    return PtxSyntaxError(
        f"{source}: not text ({reason}), so not PTX; a cubin or fat binary holds PTX only if it was built in: "
        "extract it with `cuobjdump -ptx`."
    )


def _module(c: Any, parser: Parser) -> Module:
    version = c.items[0].value
    target: tuple[str, ...] = ()
    address_size: int | None = None
    items: list[Item] = []
    lines: dict[str, int] = {}
    for item in c.items:
        lines.setdefault(item.start.text, item.start.line)
        match type(item):
            case PtxParser.VersionContext:
                version = item.value
            case PtxParser.TargetContext:
                target += item.value
            case PtxParser.AddressSizeContext:
                address_size = item.value
            case _:
                items += item.value
    if not target:
        raise parser.at(parser.token, "the module has no `.target`; is the file cut off?")
    bits = address_bits(items) if address_size is None else address_size
    return Module(version, target, bits, tuple(items), parser.source, lines)
