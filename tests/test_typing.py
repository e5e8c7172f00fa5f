"""A misspelt policy, strategy or option is an error of a type checker, and the types fit the functions."""

from __future__ import annotations

import inspect
import re
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping
from importlib import import_module
from pathlib import Path
from typing import Any, get_overloads, get_type_hints

import pytest
from mypy import api

import goptx
from goptx import options
from goptx.checking import check_options
from goptx.cli.flags import RESULT, WEAVING
from goptx.region import fusion_options
from goptx.region.fusion import DERIVED
from goptx.strategies import strategy_options
from goptx.strategies.fuse import STRATEGIES
from goptx.weaving import weave_options

ROOT = Path(__file__).parents[1]
RIGHT = [
    'goptx.weave(a, b, policy="paper", slicing=256, divergence="park", placement="front", merge="safe")',
    'goptx.weave(a, b, slicing="adaptive", same=[("A:0", "B:0"), "A:1=B:1"])',
    "goptx.weave(a, b, slicing=None, policy=None, divergence=None)",
    'goptx.can_weave(a, b, entries=["k", None], policy="concat", shapes=[goptx.Shape(4, 32)] * 2)',
    "goptx.fuse(a, b, max_blocks=100)",
    'goptx.fuse(a, b, strategy="weave", merge="paper")',
    'goptx.fuse(a, b, strategy="vertical", depends=True, private=["A:2=B:0"], noalias=["A:1"], unproved="memory")',
    'goptx.fuse(a, b, strategy="horizontal", partition=(128, 384), tunable=[True, False])',
    'goptx.fuse(a, b, strategy="interleave", ratio=[1, 3], same=["A:0=B:0"])',
    'goptx.fuse(a, b, strategy="separate", streams=True, notes=["why"])',
    'goptx.fuse(a, b, strategy="auto", policy="latency", depends=True)',
    'goptx.fuse(a, b, strategy=chosen, arch="sm_90", **anything)',
    'goptx.fuse(a, b, strategy=chosen, arch="sm_90", entries=["k", None], name="w", shapes=None)',
    'goptx.check(a, b, strategy="horizontal", partition=[32, 64], grid=4, block=(16, 2), seed=3, races=True)',
    'goptx.check(a, b, args={"A:0": "f32[64]"}, slicing=None)',
    'goptx.fusion(None, "vertical", capture=True, unproved="memory", assume_local=True)',
    "goptx.fusion(None, max_growth=2.0)",
    'goptx.coarsen(a, 4, "y", policy="paper", slicing=None, name="w")',
    'goptx.batch(a, "A:2", "z", start=3)',
    'goptx.profile(a, b, strategy="auto")',
    'goptx.tune(a, b, strategies=["weave", "separate"])',
]
WRONG = [  # and the code of mypy's error
    ("goptx.waeve(a, b)", "attr-defined"),
    ('goptx.weave(a, b, policy="latncy")', "arg-type"),
    ('goptx.weave(a, b, slicing="adaptve")', "arg-type"),
    ('goptx.weave(a, b, divergence="duplciate")', "arg-type"),
    ('goptx.weave(a, b, placement="frnt")', "arg-type"),
    ('goptx.weave(a, b, merge="papper")', "arg-type"),
    ("goptx.weave(a, b, sliceing=None)", "call-arg"),
    ('goptx.can_weave(a, b, policy="latncy")', "arg-type"),
    ('goptx.can_weave(a, b, placment="front")', "call-arg"),
    ('goptx.fuse(a, b, strategy="vertcal")', "call-overload"),
    ('goptx.fuse(a, b, placment="front")', "call-overload"),
    ('goptx.fuse(a, b, policy="latncy")', "call-overload"),
    ('goptx.fuse(a, b, strategy="vertical", placment="front")', "call-overload"),
    ('goptx.fuse(a, b, strategy="vertical", policy="latency")', "call-overload"),
    ('goptx.fuse(a, b, strategy="vertical", unproved="refused")', "call-overload"),
    ('goptx.fuse(a, b, strategy="horizontal", ratio=(1, 3))', "call-overload"),
    ('goptx.fuse(a, b, strategy="interleave", partition=(128, 128))', "call-overload"),
    ('goptx.fuse(a, b, strategy="separate", placement="front")', "call-overload"),
    ('goptx.fuse(a, b, strategy="auto", merge="paper")', "call-overload"),
    ('goptx.check(a, b, strategy="vertcal")', "call-overload"),
    ('goptx.check(a, b, seeds=[3])', "call-overload"),
    ('goptx.check(a, b, strategy="vertical", partition=[32, 32])', "call-overload"),
    ('goptx.fusion(None, "vertcal")', "call-overload"),
    ('goptx.fusion(None, captured=True)', "call-overload"),
    ('goptx.fusion(None, "weave", unproved="memory")', "call-overload"),
    ('goptx.fusion(None, "vertical", private=["A:2=B:0"])', "call-overload"),
    ('goptx.coarsen(a, 2, "w")', "arg-type"),
    ('goptx.coarsen(a, 2, policy="latncy")', "arg-type"),
    ('goptx.coarsen(a, 2, placement="front")', "call-arg"),
    ('goptx.batch(a, "A:2", axis="w")', "arg-type"),
    ('goptx.profile(a, b, strategy="best")', "arg-type"),
    ('goptx.tune(a, b, strategies=["weave", "vertcal"])', "list-item"),
    ('goptx.tune(a, b, strategies=["auto"])', "list-item"),
    ('goptx.tune(a, b, strategies="weave")', "arg-type"),
]  # fmt: skip
HEAD = """from typing import Any

import goptx
from goptx.options import Strategy


def calls(a: str, b: str, chosen: Strategy, anything: dict[str, Any]) -> None:
"""


@pytest.fixture(scope="module")
def errors(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Mapping[str, list[str]]]:
    """The codes of the errors that mypy reports, by call."""
    calls = [*RIGHT, *(call for call, _ in WRONG)]
    path = tmp_path_factory.mktemp("typing") / "calls.py"
    path.write_text(HEAD + "".join(f"    {call}\n" for call in calls))
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(ROOT)
        patch.setenv("MYPYPATH", str(ROOT))
        out, problem, _ = api.run(["--config-file", "pyproject.toml", "--cache-dir", ".mypy_cache", str(path)])
    assert not problem
    first = HEAD.count("\n") + 1
    found: defaultdict[str, list[str]] = defaultdict(list)
    for line, code in re.findall(r"calls\.py:([0-9]+): error: .*\[([\w-]+)\]$", out, re.MULTILINE):
        found[calls[int(line) - first]].append(code)
    assert sum(map(len, found.values())) == out.count(": error: "), out
    yield found


@pytest.mark.slow
@pytest.mark.parametrize("call", RIGHT)
def test_right_calls_are_accepted(errors: Mapping[str, list[str]], call: str) -> None:
    assert errors.get(call, []) == []


@pytest.mark.slow
@pytest.mark.parametrize(("call", "code"), WRONG)
def test_wrong_calls_are_errors(errors: Mapping[str, list[str]], call: str, code: str) -> None:
    assert set(errors.get(call, [])) == {code}


# the types fit the functions -----------------------------------------------------------------------

NAMES = {
    **vars(options),
    **vars(weave_options),
    **vars(strategy_options),
    **vars(check_options),
    **vars(fusion_options),
}
BY_STRATEGY: list[Callable[..., Any]] = [goptx.fuse, goptx.check, goptx.fusion]


def taken_by_name(function: Callable[..., Any]) -> dict[str, Any]:
    """The keyword-only parameters of a function, with their types."""
    parameters = inspect.signature(function).parameters.values()
    own = {p.name: p.annotation for p in parameters if p.kind is p.KEYWORD_ONLY and p.name != "strategy"}
    return {name: eval(kind, NAMES) for name, kind in own.items()}


def overloads(function: Callable[..., Any]) -> dict[str, dict[str, Any]]:
    """The keyword arguments of a function for each strategy, as its overloads declare them."""
    found = {}
    for one in get_overloads(function):
        parameters = inspect.signature(one).parameters
        (strategy,) = re.findall(r"Literal\['(\w+)'\]", parameters["strategy"].annotation)
        (name,) = re.findall(r"Unpack\[(\w+)\]", parameters["options"].annotation)
        found[strategy] = get_type_hints(NAMES[name])
    return found


@pytest.mark.parametrize("function", BY_STRATEGY)
def test_every_strategy_has_an_overload(function: Callable[..., Any]) -> None:
    assert sorted(overloads(function)) == sorted(STRATEGIES) == sorted((*options.MEASURED_STRATEGIES, "auto"))
    default = inspect.signature(function).parameters["strategy"].default
    first = inspect.signature(get_overloads(function)[0]).parameters["strategy"]
    assert (first.annotation, first.default) == (f"Literal['{default}']", default)


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_the_options_are_those_of_the_strategy(strategy: options.Strategy) -> None:
    own = taken_by_name(getattr(import_module(STRATEGIES[strategy]), strategy))
    assert overloads(goptx.fuse)[strategy] == own
    assert overloads(goptx.check)[strategy] == own | taken_by_name(goptx.check)
    left = {name: kind for name, kind in own.items() if name not in DERIVED}
    assert overloads(goptx.fusion)[strategy] == left | taken_by_name(goptx.fusion)


def test_coarsen_takes_the_options_of_its_command() -> None:
    own = get_type_hints(weave_options.CoarsenOptions)
    assert set(own) == {*WEAVING, *RESULT} - {"merge", "placement"}
    assert own.items() <= taken_by_name(goptx.weave).items()
    (words,) = re.findall(r"\noptions: ([^.]*), as in", inspect.getdoc(goptx.coarsen) or "")
    assert sorted(words.split(", ")) == sorted(own)
