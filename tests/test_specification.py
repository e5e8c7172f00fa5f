"""Launch specifications: those of examples/ fit their kernels, and mistakes are named."""

from math import prod
from pathlib import Path

import pytest

import goptx
from goptx.launch.sample_data import sample
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


KERNEL = ARGUMENT.partition("[[kernel.argument]]")[0]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("kernel = ", "not TOML: Invalid value (at end of document); correct it there."),
        ("x = 1", "no [[kernel]] table"),
        ('[[kernel]]\nfile = "a.ptx"', "a [[kernel]] lacks `grid`, `block`"),
        (ARGUMENT + 'dtype = "int32"', "give `dtype` and either `value` (a scalar) or `length` (an array) of `x`."),
        (ARGUMENT + 'dtype = "int32"\nvalue = 1\nsize = 2', "argument `x`: unknown key `size`; expected dtype"),
        (ARGUMENT + '[[kernel.argument]]\nname = "y"', "(an array) of `x`, `y`."),
        (ARGUMENT + 'dtype = "int32"\nlength = 1', "needs a `generator`"),
        (ARGUMENT + 'dtype = "int32"\nlength = 1\ngenerator = "random"', "generator `random` is not one of"),
        (ARGUMENT + 'dtype = "int32"\nlength = 1\nrole = "both"', "role `both` is not one of"),
        (KERNEL.replace("[1]", "1"), "[[kernel]]: `grid` is one to three whole numbers above 0 in brackets, such as ["),
        (
            KERNEL.replace("[1]", "[0]"),
            "`grid` is one to three whole numbers above 0 in brackets, such as [1024], not '[0",
        ),
        (KERNEL.replace("[1]", "[nan]"), "`grid` is one to three whole numbers above 0"),
        (KERNEL.replace("[32]", "[2048]"), "block=(2048,) has 2048 threads; a CTA has at most 1024."),
        (KERNEL.replace('"a"', "5"), "[[kernel]]: `entry` is a text, not '5'."),
        (KERNEL + "tunable = 1", "[[kernel]]: `tunable` is true or false, not '1'."),
        (KERNEL + "shared = -1", "[[kernel]]: `shared` is a whole number from 0 on, not '-1'."),
        (KERNEL + "dynamic = 1", "[[kernel]]: unknown key `dynamic`; expected argument, block, cubin, entry, file"),
        (KERNEL + "argument = 1", "`argument` is a list of tables, [[kernel.argument]], not '1'."),
        (KERNEL + "[launch]", "spec.toml: unknown key `launch`; expected check, kernel."),
        ("kernel = 1", "`kernel` is a list of tables, [[kernel]], not '1'."),
        ("check = 1\n" + KERNEL, "`check` is a table [check], or [[check]] of each kernel, not '1'."),
        (KERNEL + "[[check]]\n[[check]]", "2 [[check]] tables for 1 kernels; each has at most one."),
        (KERNEL + "[check]\ngrid = 4", "[check]: `grid` is one to three whole numbers above 0"),
        (KERNEL + "[check]\nblock = [4096]", "block=(4096,) has 4096 threads"),
        (KERNEL + "[check]\nlengths = { x = 1.5 }", "`lengths` is a table; in it each name has a whole number from 0"),
        (KERNEL + "[check]\nlengths = { x = 1 }", "[check]: `lengths` names `x`, which is no array of `a`."),
        (KERNEL + "[check]\nvalues = { n = 1 }", "[check]: `values` names `n`, which is no scalar of `a`."),
        (ARGUMENT + 'dtype = "int32"\nvalue = "4"', "argument `x`: `value` is a number, not '4'."),
        (ARGUMENT + "dtype = 32\nvalue = 4", "argument `x`: `dtype` is a text, not '32'."),
        (ARGUMENT + 'dtype = "int32"\nlength = 1\nrange = 9', "`range` is two numbers in brackets, such as [0, 100]"),
    ],
)
def test_mistakes_are_named(tmp_path: Path, text: str, message: str) -> None:
    path = tmp_path / "spec.toml"
    path.write_text(text)
    with pytest.raises(goptx.InputError) as caught:
        read_specification(path)
    assert str(path) in str(caught.value)
    assert message in str(caught.value)


@pytest.mark.parametrize(
    "argument", ['dtype = "int32"\nvalue = 1e400', 'dtype = "int8"\nvalue = 1000', 'dtype = "uint8"\nvalue = nan',
                 'dtype = "int32"\nlength = 4\ngenerator = "integers"\nrange = [9, 0]'],
)  # fmt: skip
def test_values_that_do_not_fit_their_type(tmp_path: Path, argument: str) -> None:
    path = tmp_path / "spec.toml"
    path.write_text(ARGUMENT + argument)
    (given,) = read_specification(path)[0].arguments
    with pytest.raises(goptx.InputError, match=r"argument x: \w+ does not take its value or range: "):
        sample(given)


def test_missing_file(tmp_path: Path) -> None:
    with pytest.raises(goptx.InputError, match="cannot be read"):
        read_specification(tmp_path / "none.toml")
