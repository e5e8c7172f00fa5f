"""Each refusal names a rule, and each rule has a section of docs/refusals.md under its name."""

import ast
import pickle
import re
import unicodedata
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import get_args

import pytest

from goptx import CannotLink, CannotWeave, DependentKernels
from goptx.errors import Rule, UnmetRule

ROOT = Path(__file__).parents[1]
PAGE = (ROOT / "docs" / "refusals.md").read_text(encoding="utf-8")
RULES = get_args(Rule)
CLASSES = {c.__name__ for c in UnmetRule.__subclasses__()}


def slug(heading: str) -> str:
    """The anchor that mkdocs gives a heading: `markdown.extensions.toc.slugify`."""
    plain = unicodedata.normalize("NFKD", heading).encode("ascii", "ignore").decode("ascii")
    return re.sub(r"[-\s]+", "-", re.sub(r"[^\w\s-]", "", plain).strip().lower())


HEADINGS = re.findall(r"^(#{2,3}) (.+)$", PAGE, re.MULTILINE)
SECTIONS = [title for level, title in HEADINGS if level == "###"]


def refusals_in(tree: ast.AST) -> Iterator[ast.Call]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and getattr(node.func, "id", getattr(node.func, "attr", "")) in CLASSES:
            yield node


def rules_of(refusal: ast.Call) -> list[str]:
    """The rule that a refusal is made with, if it is written out."""
    return [
        word.value.value
        for word in refusal.keywords
        if word.arg == "rule" and isinstance(word.value, ast.Constant) and isinstance(word.value.value, str)
    ]


@cache
def refusals() -> list[tuple[Path, ast.Call]]:
    """Each place of goptx that makes a refusal, with its file."""
    files = sorted((ROOT / "goptx").rglob("*.py"))
    return [(file, found) for file in files for found in refusals_in(ast.parse(file.read_text(encoding="utf-8")))]


def test_each_refusal_names_a_rule() -> None:
    assert [f"{path}:{r.lineno}" for path, r in refusals() if not rules_of(r)] == []
    assert len(refusals()) > 90


def test_a_refusal_without_a_rule_is_found() -> None:
    one, other = refusals_in(ast.parse('raise CannotWeave("no")\nraise goptx.CannotLink("no", rule="barrier-ids")'))
    assert (rules_of(one), rules_of(other)) == ([], ["barrier-ids"])


def test_each_rule_is_used() -> None:
    assert {rule for _, refusal in refusals() for rule in rules_of(refusal)} == set(RULES)


def test_each_rule_has_a_section_and_each_section_is_a_rule() -> None:
    assert list(RULES) == SECTIONS
    assert len(set(RULES)) == len(RULES)


@pytest.mark.parametrize("rule", RULES)
def test_the_anchor_of_a_section_is_the_name_of_its_rule(rule: str) -> None:
    assert slug(rule) == rule
    assert [slug(title) for _, title in HEADINGS].count(rule) == 1


@pytest.mark.parametrize("rule", RULES)
def test_a_section_says_what_is_demanded_why_and_what_to_do(rule: str) -> None:
    section = re.split(r"^##", PAGE.split(f"### {rule}\n")[1], flags=re.MULTILINE)[0]
    demand, *rest = section.strip().split("\n\n")
    assert not demand.startswith(("Why", "What to do"))
    assert [text.partition(":")[0] for text in rest] == ["Why", "What to do"]


def test_the_contents_name_each_rule_under_its_topic() -> None:
    topic, topics = "", dict[str, list[str]]()
    for level, title in HEADINGS:
        topic = title if level == "##" else topic
        if level == "###":
            topics.setdefault(topic, []).append(title)
    rows = re.findall(r"^\| \[(.+?)\]\(#(.+?)\) \| (.+) \|$", PAGE, re.MULTILINE)
    assert {title: re.findall(r"\[([\w-]+)\]\(#\1\)", rules) for title, _, rules in rows} == topics
    assert all(slug(title) == anchor for title, anchor, _ in rows)


def test_links_within_the_page_lead_to_headings() -> None:
    assert set(re.findall(r"\]\(#([\w-]+)\)", PAGE)) <= {slug(title) for _, title in HEADINGS}


@pytest.mark.parametrize("kind", [CannotWeave, CannotLink, DependentKernels])
def test_the_message_ends_with_the_rule(kind: type[UnmetRule]) -> None:
    error = kind("k.ptx:3: no; use yes.", rule="barrier-ids")
    again = pickle.loads(pickle.dumps(error))
    assert str(error) == str(again) == "k.ptx:3: no; use yes. [barrier-ids]"
    assert (error.rule, again.rule, error.message) == ("barrier-ids", "barrier-ids", "k.ptx:3: no; use yes.")
