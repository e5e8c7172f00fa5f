"""Names, comments, docstrings, messages and documents use the field's words, not a private language.

A word below has a meaning that the literature calls otherwise. Identifiers are split at `_` and at capitals. A line
that needs a word all the same has a trailing comment: `# word: apart, of memory addresses`.
"""

import io
import re
import tokenize
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]

FOLDERS = ("benchmarks", "goptx", "tests")
NOT_OURS = ("goptx/ptx/generated/", "tests/corpus/sources/", "tests/test_words.py")

INSTEAD = {
    "said": "rendered, given",
    "told": "given, known, distinguished",
    "shown": "rendered, proved",
    "kept": "cached, preserved",
    "ahead": "before, above",
    "behind": "after, below",
    "apart": "separate, distinct",
    "nulls": "scratch parameters",
    "rejoin": "reconverge",
    "rejoins": "reconverges",
    "rejoined": "reconverged",
    "rendezvous": "CTA-wide barrier",
    "standstill": "livelock",
    "foresight": "pruning",
    "whereabouts": "place, position",
}
PHRASES = {"one_of": "kernel dispatch", "is none": "is not a", "are none of": "are not"}  # but not "there is none"
LIBRARIES = {("st", "one_of")}  # names of other packages, with what stands before the dot

_PART = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+")
_PROSE = (tokenize.STRING, tokenize.COMMENT, getattr(tokenize, "FSTRING_MIDDLE", tokenize.STRING))
_EXCEPTION = re.compile(r"# word: ([\w ]+),")


def private_words(text: str) -> Iterator[tuple[int, str]]:
    """The line and the word of each private word in Python text."""
    lines = text.splitlines()
    tokens = list(tokenize.generate_tokens(io.StringIO(text).readline))
    for i, token in enumerate(tokens):
        if token.type not in (tokenize.NAME, *_PROSE) or _EXCEPTION.match(token.string):
            continue
        if i > 1 and tokens[i - 1].string == "." and (tokens[i - 2].string, token.string) in LIBRARIES:
            continue
        for number, line in enumerate(token.string.splitlines(), token.start[0]):
            allowed = _EXCEPTION.search(lines[number - 1])
            found = [part.lower() for part in _PART.findall(line) if part.lower() in INSTEAD]
            found += [phrase for phrase in PHRASES if re.search(rf"(?<!there )\b{phrase}\b", line)]
            yield from ((number, word) for word in found if not (allowed and word == allowed[1]))


def private_words_of_document(text: str) -> Iterator[tuple[int, str]]:
    """The same for Markdown, without its code and comments."""
    plain = re.sub(r"^(```|    ).*?$", "", re.sub(r"^```.*?^```$", _emptied, text, flags=re.S | re.M), flags=re.M)
    plain = re.sub(r"`[^`]*`|<!--.*?-->|\]\([^)]*\)", _emptied, plain, flags=re.S)
    for number, line in enumerate(plain.splitlines(), 1):
        yield from ((number, word) for word in re.findall(r"[a-z]+", line.lower()) if word in INSTEAD)


def _emptied(found: re.Match[str]) -> str:
    return "\n" * found[0].count("\n")


def documents() -> list[Path]:
    found = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *(ROOT / "docs").glob("*.md")]
    found += [path for folder in ("examples", "latency_tables") for path in (ROOT / folder).rglob("README.md")]
    return sorted(found)


@pytest.mark.parametrize("path", documents(), ids=lambda path: path.relative_to(ROOT).as_posix())
def test_the_words_of_documents_are_the_fields(path: Path) -> None:
    found = private_words_of_document(path.read_text(encoding="utf-8"))
    assert not [f"{path}:{line}: {word}; write {INSTEAD[word]}" for line, word in found]


@cache
def files() -> list[Path]:
    found = (path for folder in FOLDERS for path in (ROOT / folder).rglob("*.py"))
    return sorted(path for path in found if not path.relative_to(ROOT).as_posix().startswith(NOT_OURS))


@pytest.mark.parametrize("folder", sorted({path.parent.relative_to(ROOT).as_posix() for path in files()}))
def test_the_words_are_the_fields(folder: str) -> None:
    instead = INSTEAD | PHRASES
    own = [path for path in files() if path.parent == ROOT / folder]
    found = [f"{p}:{line}: {word}; write {instead[word]}" for p in own for line, word in private_words(p.read_text())]
    assert not found, "\n".join(found)


def test_every_folder_has_files() -> None:
    assert {path.relative_to(ROOT).parts[0] for path in files()} == set(FOLDERS)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("what_was_said = 1\n", ["said"]),
        ("class KeptOnes: ...\n", ["kept"]),
        ("_KEPT = f(shown=2)\n", ["kept", "shown"]),
        ('"""What lies\nbehind it."""\n', ["behind"]),
        ('x = f"{y} is told apart"\n', ["told", "apart"]),
        ("x = 1  # a number that is none\n", ["is none"]),
        ("x = None  # there is none, is None; a keptness, an aparthotel, unshown\n", []),
        ("x = 1  # word: apart, far apart in memory\n", []),
        ("apart = said = 1  # word: apart, of addresses\n", ["said"]),
        ("x = st.one_of(y)\n", []),
        ("x = one_of(y)\n", ["one_of"]),
    ],
)
def test_private_words_are_found(text: str, words: list[str]) -> None:
    assert [word for _, word in private_words(text)] == words
