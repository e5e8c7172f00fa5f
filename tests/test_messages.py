"""Every message of goptx's errors is in a test.

Of each place in goptx/ that makes an error, the fixed words of the message are read from the source. Three of them in a
row, which no other message has in that order, must stand in a string of some test or in a golden.
"""

import ast
import inspect
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from functools import cache
from pathlib import Path

import pytest

from goptx import errors

TESTS = Path(__file__).parent
SOURCES = TESTS.parent / "goptx"
LEFT_OUT = ("emulator", "device", "ptx/generated")  # faults of running kernels, and messages about a GPU
NO_WITNESS = (TESTS / "random_kernels", Path(__file__))  # a list of messages, and this file
MAKERS = {name for name, made in vars(errors).items() if inspect.isclass(made)} | {"Refused", "at", "warn"}
ROW = 3  # words
HOLE = ""  # the part of a message that depends on the case

Words = tuple[str, ...]


def words(text: str) -> list[str]:
    return re.findall(r"[\w%]+", text)


def fixed_words(message: ast.expr, constants: dict[str, ast.expr]) -> list[str]:
    """The words of a message, with holes between."""
    match message:
        case ast.Constant(str(text)):
            return words(text)
        case ast.JoinedStr(pieces):
            return [word for piece in pieces for word in fixed_words(piece, constants)]
        case ast.BinOp(first, ast.Add(), second):
            return fixed_words(first, constants) + fixed_words(second, constants)
        case ast.FormattedValue(ast.Name(name)) | ast.Name(name) if name in constants:
            return fixed_words(constants[name], constants)
    return [HOLE]


def made_in(path: Path) -> Iterator[tuple[int, Words]]:
    """The lines of a source where an error is made of a message, and the message's words."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    constants = {
        target.id: assigned.value
        for assigned in tree.body
        if isinstance(assigned, ast.Assign)
        for target in assigned.targets
        if isinstance(target, ast.Name)
    }
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and getattr(node.func, "id", getattr(node.func, "attr", "")) in MAKERS:
            found = tuple(word for part in node.args for word in fixed_words(part, constants))
            if any(found):
                yield node.lineno, found


def rows(message: Words) -> Iterator[Words]:
    """Each `ROW` of the words with the holes between them; the whole message if it has fewer words."""
    places = [i for i, word in enumerate(message) if word != HOLE]
    for first, last in zip(places, places[ROW - 1 :] or places[-1:], strict=False):
        yield message[first : last + 1]


def strings_of_tests() -> Iterator[str]:
    for path in sorted(TESTS.rglob("*.py")):
        if not any(path.is_relative_to(out) for out in NO_WITNESS):
            for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
                if isinstance(node, ast.Constant) and isinstance(node.value, str):
                    yield node.value.replace("\\", "")
    for path in sorted((TESTS / "golden").glob("*.txt")):
        yield path.read_text(encoding="utf-8")


@cache
def messages() -> dict[str, Words]:
    """The words of each message, by the place where it is made."""
    return {
        f"{path.relative_to(SOURCES)}:{line}": message
        for path in sorted(SOURCES.rglob("*.py"))
        if not any(path.is_relative_to(SOURCES / out) for out in LEFT_OUT)
        for line, message in made_in(path)
    }


@pytest.fixture(scope="module")
def texts() -> list[str]:
    return [f" {' '.join(words(text))} " for text in strings_of_tests()]


def stands_in(row: Words, texts: Sequence[str]) -> bool:
    longest = f" {max(row, key=len)} "  # a quick test that excludes most strings
    gaps = re.compile("".join(".{0,60}?" if word == HOLE else f" {re.escape(word)}(?= )" for word in row))
    return any(longest in text and gaps.search(text) for text in texts)


def test_each_message_is_in_a_test(texts: Sequence[str]) -> None:
    times = Counter(row for message in set(messages().values()) for row in set(rows(message)))
    without = {}
    for place, message in messages().items():
        own = [row for row in rows(message) if times[row] == 1] or [message]
        if not any(stands_in(row, texts) for row in own):
            without[place] = " ".join(word or "..." for word in message)
    assert without == {}, "no test has words of these"


def test_that_a_message_without_a_test_is_found(texts: Sequence[str]) -> None:
    source = ast.parse('raise CannotWeave(f"{at}: `{code}` is a " "sesquipedalian " + what + " instruction; shun it.")')
    message = next(n for n in ast.walk(source) if isinstance(n, ast.Call)).args[0]
    assert fixed_words(message, {}) == [HOLE, HOLE, *words("is a sesquipedalian"), HOLE, *words("instruction shun it")]
    assert not any(stands_in(row, texts) for row in rows(tuple(fixed_words(message, {}))))
    assert len(messages()) > 150


def test_no_code_cites_what_a_reader_cannot_look_up() -> None:
    """Numbers of rules in pages that are not part of the project, such as `M11` or `contract 2`."""
    cited = re.compile(r"\bM[0-9]{1,2}\b(?![-.0-9 ]*[a-z0-9]*[\"'<\[])|\bcontracts? [0-9]|\b(?:design|methods)\.md")
    found = [
        f"{path.relative_to(SOURCES)}:{number}: {line.strip()}"
        for path in sorted(SOURCES.rglob("*.py"))
        if "generated" not in path.parts and "svg" not in path.parts
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1)
        if cited.search(line)
    ]
    assert found == []
