"""The flags of the command line as arguments of the strategy."""

import argparse
from typing import Any

import pytest
from strategies.dependent_kernels import elementwise

import goptx
from goptx.cli.flags import DEPENDENT, add_flags, given


def _given(arguments: list[str]) -> dict[str, Any]:
    parser = argparse.ArgumentParser()
    add_flags(parser, "dependent", DEPENDENT)
    return given(parser.parse_args(arguments))


@pytest.mark.parametrize(
    ("arguments", "accesses"),
    [
        ([], 6),
        (["--depends", "--same", "A:2=B:0"], 6),
        (["--private", "A:2=B:0", "--same", "A:3=B:n"], 4),
        (["--private", "A:out=B:x", "--same", "A:3=B:3", "--same", "A:1=B:1"], 3),
    ],
)
def test_flags_are_arguments(arguments: list[str], accesses: int) -> None:
    options = _given(arguments)
    assert set(options) == {word.removeprefix("--") for word in arguments if word.startswith("--")}
    ptx = goptx.fuse(elementwise(), elementwise(), strategy="vertical", **options).ptx
    assert sum(word.startswith(("ld.global", "st.global")) for word in ptx.split()) == accesses


def test_a_pair_is_two_parameters() -> None:
    with pytest.raises(goptx.InputError, match="private= takes pairs of parameters"):
        goptx.fuse(elementwise(), elementwise(), strategy="vertical", **_given(["--private", "A:2"]))
