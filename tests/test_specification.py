"""Launch specifications: those of examples/ fit their kernels, and mistakes are named."""

from math import prod
from pathlib import Path

import pytest

import goptx
from goptx.launch.specification import read_specification

FOLDER = Path(__file__).parents[1] / "examples" / "kernels"
SPECIFICATIONS = sorted(FOLDER.glob("*.toml"))
SUITE_A = ("gelu", "harris", "lud", "micnd", "sort", "stms", "wmma")  # in the paper's launch shape
BYTES = {"float16": 2, "int16": 2, "uint8": 1, "int32": 4, "uint32": 4, "float32": 4}


@pytest.mark.parametrize("path", SPECIFICATIONS, ids=lambda p: p.stem)
def test_examples_fit_their_kernels(path: Path) -> None:
    (launch,) = read_specification(path)
    entry = next(e for e in goptx.read(launch.file).entries if e.name == launch.entry)
    assert len(entry.parameters) == len(launch.arguments)
    for parameter, argument in zip(entry.parameters, launch.arguments, strict=True):
        assert parameter.size == (8 if argument.is_array else BYTES[argument.dtype]), argument.name
    assert launch.grid == (1048576,) or launch.entry not in SUITE_A
    assert launch.block == ((32, 8) if launch.entry in ("stencil", "transpose") else (256,))


@pytest.mark.parametrize("path", SPECIFICATIONS, ids=lambda p: p.stem)
def test_check_sizes_are_small(path: Path) -> None:
    small = read_specification(path)[0].small()
    assert prod(small.grid) == 4
    assert all(a.length <= 65536 for a in small.arguments)
    assert len(SPECIFICATIONS) == 17


ARGUMENT = '[[kernel]]\nfile = "a.ptx"\nentry = "a"\ngrid = [1]\nblock = [32]\n[[kernel.argument]]\nname = "x"\n'


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("kernel = ", "not TOML"),
        ("x = 1", "no [[kernel]] table"),
        ('[[kernel]]\nfile = "a.ptx"', "a [[kernel]] lacks `grid`, `block`"),
        (ARGUMENT + 'dtype = "int32"', "give `dtype` and either `value` (a scalar) or `length` (an array) of `x`."),
        (ARGUMENT + 'dtype = "int32"\nvalue = 1\nsize = 2', "argument `x`: unknown key `size`; expected dtype"),
        (ARGUMENT + '[[kernel.argument]]\nname = "y"', "(an array) of `x`, `y`."),
        (ARGUMENT + 'dtype = "int32"\nlength = 1', "needs a `generator`"),
        (ARGUMENT + 'dtype = "int32"\nlength = 1\ngenerator = "random"', "generator `random` is not one of"),
        (ARGUMENT + 'dtype = "int32"\nlength = 1\nrole = "both"', "role `both` is not one of"),
    ],
)
def test_mistakes_are_named(tmp_path: Path, text: str, message: str) -> None:
    path = tmp_path / "spec.toml"
    path.write_text(text)
    with pytest.raises(goptx.InputError) as caught:
        read_specification(path)
    assert str(path) in str(caught.value)
    assert message in str(caught.value)


def test_missing_file(tmp_path: Path) -> None:
    with pytest.raises(goptx.InputError, match="cannot be read"):
        read_specification(tmp_path / "none.toml")
