"""Hypothesis strategies of the values in goptx/ptx/ir.py, as the reader makes them of some text."""

from typing import TypeVar

from hypothesis import strategies as st

from goptx.ptx.ir import (
    Address,
    Arguments,
    Declaration,
    Directive,
    Element,
    Expression,
    Function,
    Guard,
    Immediate,
    Instruction,
    Item,
    Label,
    Module,
    Name,
    Negated,
    Operand,
    Pair,
    Prototype,
    Registers,
    Scope,
    Section,
    Statement,
    Sum,
    Variable,
    Vector,
)

Parts = tuple[Name | str, ...]
LETTERS = "abcXYZ_$"


def merged(parts: Parts) -> Parts:
    """The parts with no two texts side by side."""
    found: list[Name | str] = []
    for part in parts:
        if found and isinstance(part, str) and isinstance(found[-1], str):
            found[-1] += part
        else:
            found.append(part)
    return tuple(found)


T = TypeVar("T", covariant=True)


def tuples(strategy: st.SearchStrategy[T], least: int = 0, most: int = 3) -> st.SearchStrategy[tuple[T, ...]]:
    return st.lists(strategy, min_size=least, max_size=most).map(tuple)


# Names, numbers and expressions ---------------------------------------------------------------------

WORDS = st.builds(
    lambda sigil, first, rest: sigil + first + rest,
    st.sampled_from(["", "%"]),
    st.sampled_from(LETTERS),
    st.text(LETTERS + "0123456789", max_size=6),
)
PLAIN = WORDS.map(Name)
NAMES = PLAIN | st.builds(lambda name, part: Name(f"{name}.{part}"), WORDS, st.sampled_from(["x", "w", "b0", "h10"]))
INTEGERS = st.integers(0, 2**64 - 1).flatmap(lambda n: st.sampled_from([str(n), f"{n}U", hex(n), bin(n), f"0{n:o}"]))
FLOATS = (
    st.integers(0, 2**32 - 1).map("0f{:08X}".format)
    | st.integers(0, 2**64 - 1).map("0d{:016x}".format)
    | st.sampled_from(["1.", ".5", "1.5e-3", "2e10", "0.0"])
)
NUMBERS = INTEGERS | FLOATS
SIGNS = st.text("-+~!", min_size=1, max_size=2)
OPERATORS = st.sampled_from([*"+ - * / << >> < > <= >= == != & | ^ && || ? :".split(), "% "])


def _deeper(terms: st.SearchStrategy[Parts]) -> st.SearchStrategy[Parts]:
    inner = st.builds(lambda first, tail: (*first, *tail), terms, tails(terms, 0))
    return (
        st.builds(lambda signs, parts: (f"{signs}(", *parts, ")"), SIGNS | st.just(""), inner)
        | st.builds(lambda cast, term: (f"({cast})", *term), st.sampled_from([".s64", ".u64"]), terms)
        | st.builds(lambda mask, parts: (mask, "(", *parts, ")"), INTEGERS, inner)
        | st.builds(lambda name, parts: (name, "(", *parts, ")"), PLAIN, inner)
    )


def tails(terms: st.SearchStrategy[Parts], least: int = 1) -> st.SearchStrategy[Parts]:
    one = st.builds(lambda operator, term: (operator, *term), OPERATORS, terms)
    return st.lists(one, min_size=least, max_size=3).map(lambda found: tuple(part for parts in found for part in parts))


TERMS: st.SearchStrategy[Parts] = st.recursive(
    NUMBERS.map(lambda n: (n,))
    | st.builds(lambda signs, n: (signs + n,), SIGNS, NUMBERS)
    | NAMES.map(lambda n: (n,))
    | st.builds(lambda signs, n: (signs, n), SIGNS, NAMES),
    _deeper,
    max_leaves=4,
)
TAILS = tails(TERMS)
NAMED_TAILS = TAILS.filter(lambda parts: any(isinstance(part, Name) for part in parts))
PLAIN_TAILS = tails(NUMBERS.map(lambda n: (n,)), 0)


def _is_pair(parts: Parts) -> bool:
    return len(parts) == 2 and parts[0] == "|" and isinstance(parts[1], Name)


# The beginning of an operand within an expression, as parts.
STARTS: st.SearchStrategy[Parts] = st.builds(
    lambda name, tail: (name, *tail), NAMES, TAILS.filter(lambda t: not _is_pair(t)) | st.just(())
) | st.builds(lambda number, tail: (number, *tail), NUMBERS, PLAIN_TAILS | NAMED_TAILS)


def _begun(starts: st.SearchStrategy[Parts]) -> st.SearchStrategy[Parts]:
    return (
        st.builds(lambda sign, parts: (sign, *parts), st.sampled_from("-+~!"), starts)
        | st.builds(lambda parts, tail: ("(", *parts, ")", *tail), starts, TAILS | st.just(()))
        | st.builds(lambda cast, parts: (f"({cast})", *parts), st.sampled_from([".s64", ".u64"]), starts)
    )


EXPRESSIONS: st.SearchStrategy[Parts] = st.recursive(_begun(STARTS), _begun, max_leaves=3)


def _expression(parts: Parts) -> Operand:
    if not any(isinstance(part, Name) for part in parts):
        return Immediate("".join(map(str, parts)))
    if len(parts) == 2 and parts[0] == "!" and isinstance(parts[1], Name):
        return Negated(parts[1])
    return Expression(merged(parts))


# Operands -------------------------------------------------------------------------------------------

CONSTANTS: st.SearchStrategy[Operand] = (
    st.builds(lambda number, tail: Immediate(number + "".join(map(str, tail))), NUMBERS, PLAIN_TAILS)
    | st.builds(lambda number, tail: Sum(Immediate(number), merged(tail)), NUMBERS, NAMED_TAILS)
    | st.builds(lambda name, tail: Sum(name, merged(tail)), NAMES, TAILS.filter(lambda t: not _is_pair(t)))
    | EXPRESSIONS.map(_expression)
)
SIMPLE: st.SearchStrategy[Operand] = NAMES | CONSTANTS
VECTORS = st.builds(Vector, tuples(SIMPLE, 0, 4))
OPERANDS: st.SearchStrategy[Operand] = (
    SIMPLE
    | VECTORS
    | st.builds(Element, NAMES, SIMPLE)
    | st.builds(Negated, NAMES)
    | st.builds(Pair, NAMES | VECTORS, PLAIN)
    | st.builds(Address, tuples(SIMPLE | VECTORS, 1))
)

# Statements -----------------------------------------------------------------------------------------

MODIFIERS = "b32 v4 shared::cta 2d sync const[2] 16x64b alias global weak L2::cache_hint mbarrier::complete_tx::bytes"
OPCODES = st.lists(st.sampled_from(MODIFIERS.split()), max_size=4).map(lambda words: ".".join(["ld", *words]))
GUARDS = st.none() | st.builds(Guard, PLAIN, st.booleans())
LISTS = st.builds(Arguments, tuples(OPERANDS))
CALLS = st.builds(
    lambda results, callee, rest: Instruction("call.uni", (*results, callee, *rest)),
    tuples(LISTS, 0, 1),
    PLAIN,
    st.just(()) | st.builds(lambda given, prototype: (given, *prototype), LISTS, tuples(PLAIN, 0, 1)),
)
INSTRUCTIONS = st.builds(Instruction, OPCODES, tuples(OPERANDS, 0, 4), GUARDS) | CALLS
REGISTERS = st.builds(
    Registers,
    st.sampled_from([(".b32",), (".v4", ".f32"), (".pred",)]),
    tuples(st.tuples(WORDS, st.none() | st.integers(1, 99)), 1),
)
EXPRESSION_PARTS = st.builds(lambda first, tail: (*first, *tail), TERMS, tails(TERMS, 0))
FIELDS = st.builds(lambda field, value: (field, " = ", value), WORDS, WORDS | INTEGERS)


def _braces(parts: list[Parts]) -> Parts:
    return ("{", *(p for i, part in enumerate(parts) for p in ((", ", *part) if i else part)), "}")


INITIALISERS: st.SearchStrategy[Parts] = st.recursive(
    EXPRESSION_PARTS | FIELDS, lambda parts: st.lists(parts, max_size=3).map(_braces), max_leaves=5
)
ATTRIBUTES = st.sampled_from([".attribute(.managed)", ".attribute(.unified(0x1, 2), .managed)"])
QUALIFIERS = tuples(
    st.sampled_from([".u32", ".b8", ".v4", ".ptr", ".global", ".const[3]", ".texref", ".align 16"]) | ATTRIBUTES, 0, 4
)
SPACES = st.sampled_from(".global .shared .const .local .param .tex .const[10]".split())
DIMENSIONS = tuples(INTEGERS | st.just(""), 0, 2)
LINKAGES = tuples(st.sampled_from([".visible", ".extern", ".weak", ".common"]), 0, 2)
VARIABLES = st.builds(Variable, SPACES, QUALIFIERS, WORDS, DIMENSIONS, INITIALISERS | st.just(()), LINKAGES)
PARAMETERS = st.builds(Variable, SPACES | st.just(".reg"), QUALIFIERS, WORDS, DIMENSIONS) | st.builds(
    Variable, SPACES, QUALIFIERS
)
TEXTS = st.text("abc ,;{}/*%\\", max_size=8).map('"{}"'.format)
PRAGMAS = st.builds(Directive, st.just(".pragma"), tuples(TEXTS, 1))
LOCATIONS = st.sampled_from(["1 2 3", "1 2 3, function_name L+4, inlined_at 4 5 6", "7 8 9, function_name $L"])
MARKS = (
    PRAGMAS
    | st.builds(Directive, st.just(".loc"), st.tuples(LOCATIONS))
    | st.builds(Directive, st.sampled_from([".branchtargets", ".calltargets"]), tuples(WORDS, 1))
)
EXTENTS = st.integers(1, (1 << 32) - 1).map(str)
ABOUT = (
    st.builds(Directive, st.just(".maxntid"), tuples(EXTENTS, 1, 3))
    | st.builds(Directive, st.sampled_from([".noreturn", ".abi_preserve"]), tuples(INTEGERS))
    | PRAGMAS
)
PROTOTYPES = st.builds(Prototype, tuples(PARAMETERS, 0, 1), WORDS, tuples(PARAMETERS), tuples(ABOUT))
BODIES: st.SearchStrategy[tuple[Statement, ...]] = st.recursive(
    tuples(
        INSTRUCTIONS | REGISTERS | st.builds(Label, WORDS) | MARKS | PROTOTYPES | VARIABLES.map(Declaration), most=5
    ),
    lambda bodies: tuples(INSTRUCTIONS | bodies.map(Scope)),
    max_leaves=6,
)

# Modules --------------------------------------------------------------------------------------------

FUNCTIONS = st.builds(
    Function,
    st.just(".func"),
    WORDS,
    tuples(PARAMETERS),
    tuples(PARAMETERS, 0, 2),
    st.builds(lambda before, after: before + after, tuples(st.builds(Directive, ATTRIBUTES), 0, 1), tuples(ABOUT)),
    BODIES | st.none(),
    LINKAGES,
)
ENTRIES = st.builds(
    Function, st.just(".entry"), WORDS, tuples(PARAMETERS), st.just(()), tuples(ABOUT), BODIES | st.none(), LINKAGES
)
SECTIONS = st.builds(
    Section,
    st.sampled_from([".debug_info", "mine"]),
    tuples(st.sampled_from([".b8", ".b64", "1", "0x2", ",", "label", ":", "-", "+", ".debug_str", '"a"']), 0, 9),
)
DATA = st.builds(Directive, st.just("@@DWARF"), st.tuples(st.text('.byte 0x1,"', max_size=9).map(str.strip)))
FILES = st.builds(Directive, st.just(".file"), st.tuples(INTEGERS, TEXTS | TEXTS.map("{}, 1, 2".format)))
ALIASES = st.builds(Directive, st.just(".alias"), st.tuples(WORDS, WORDS))
ITEMS: st.SearchStrategy[Item] = (
    VARIABLES | FUNCTIONS | ENTRIES | SECTIONS | DATA | FILES | ALIASES | PRAGMAS | REGISTERS
)
TARGETS = tuples(st.sampled_from(["sm_10", "sm_90a", "debug", "texmode_independent"]), 1)
MODULES = st.builds(
    Module, st.tuples(st.integers(2, 12), st.integers(3, 12)), TARGETS, st.sampled_from([32, 64]), tuples(ITEMS)
)
