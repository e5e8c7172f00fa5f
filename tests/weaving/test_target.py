"""The `.version`, `.target` and address size that two modules can share."""

import re
from collections.abc import Callable
from pathlib import Path

import pytest
from bodies import kernel

import goptx
from goptx.errors import CannotLink, InputError
from goptx.results.fused_kernel import Woven

pytestmark = pytest.mark.filterwarnings("ignore:no latency table")
Assembles = Callable[[Woven], None]
BODY = "mov.u32 %r1, %tid.x; st.shared.u32 [tile], %r1; ret;"


def module(target: str = "sm_80", version: str = "8.0", bits: int = 64, name: str = "k") -> str:
    text = kernel(BODY, name).replace("sm_80", target).replace(".version 8.0", f".version {version}")
    return text.replace(".address_size 64", f".address_size {bits}")


@pytest.mark.parametrize(
    ("first", "second", "arch", "target", "version"),
    [
        # first module, second module, arch=, target and version of the fused module
        (("sm_80", "7.0"), ("sm_80", "8.0"), None, "sm_80", "8.0"),
        (("sm_75", "7.5"), ("sm_80", "7.1"), None, "sm_80", "7.5"),
        (("sm_80", "7.0"), ("sm_90", "7.8"), None, "sm_90", "7.8"),
        (("sm_80", "9.0"), ("sm_90", "8.0"), None, "sm_90", "9.0"),
        (("sm_90a", "8.0"), ("sm_80", "7.0"), None, "sm_90a", "8.0"),
        (("sm_90a", "8.0"), ("sm_90", "7.8"), None, "sm_90a", "8.0"),
        (("sm_90a", "8.0"), ("sm_90a", "8.1"), None, "sm_90a", "8.1"),
        (("sm_90", "8.0"), ("sm_100a", "8.6"), None, "sm_100a", "8.6"),
        (("sm_100f", "8.8"), ("sm_103a", "8.8"), None, "sm_103a", "8.8"),
        (("sm_80", "7.0"), ("sm_80", "7.0"), "sm_90", "sm_90", "7.8"),
        (("sm_80", "7.0"), ("sm_75", "7.0"), "sm_90a", "sm_90a", "8.0"),
        (("sm_80", "7.0"), ("sm_80", "7.0"), "sm_100", "sm_100", "8.6"),
        (("sm_80", "7.0"), ("sm_80", "7.0"), "sm_120", "sm_120", "8.7"),
        (("sm_100f", "8.8"), ("sm_100f", "8.8"), "sm_103a", "sm_103a", "8.8"),
        (("sm_100f", "8.8"), ("sm_103", "8.8"), None, "sm_103f", "8.8"),
        (("sm_80", "7.0"), ("sm_88", "9.0"), None, "sm_88", "9.0"),
        (("sm_120f", "8.8"), ("sm_120", "8.8"), "sm_121a", "sm_121a", "8.8"),
        (("sm_60", "6.0"), ("sm_50", "5.0"), "sm_80", "sm_80", "7.0"),
        (("sm_80, debug", "7.0"), ("sm_80", "7.0"), None, "sm_80", "7.0"),
    ],
)
def test_the_highest_target_and_a_version_that_knows_it(
    first: tuple[str, str], second: tuple[str, str], arch: str | None, target: str, version: str, assembles: Assembles
) -> None:
    for one, other in ((first, second), (second, first)):
        woven = goptx.weave(module(*one), module(*other, name="o"), arch=arch)
        assert woven.ptx.startswith(f".version {version}\n.target {target}\n.address_size 64\n")
        assembles(woven)


def test_targets_that_only_a_later_assembler_knows() -> None:
    family = goptx.weave(module("sm_100f", "8.8"), module("sm_107", "9.4", name="o"))
    assert family.ptx.startswith(".version 9.4\n.target sm_107f\n")
    assert goptx.weave(module("sm_90", "8.0"), module("sm_80", "8.0", name="o"), arch="sm_107").module.version == (9, 4)


def test_code_for_a_family_runs_on_each_member_with_its_own_features(assembles: Assembles) -> None:
    texts = module("sm_100f", "8.8"), module("sm_100a", "8.8", name="o")
    assembles(goptx.weave(*texts, arch="sm_100a"))


def test_a_family_beside_one_of_its_members(assembles: Assembles) -> None:
    woven = goptx.weave(module("sm_100f", "8.8"), module("sm_100a", "8.8", name="o"))
    assert woven.module.target[0] == "sm_100a"
    assembles(woven)


def test_a_version_below_what_goptx_inserts_is_raised() -> None:
    woven = goptx.weave(module("sm_60", "5.0"), module("sm_60", "5.0", name="o"), arch="sm_70")
    assert woven.module.version == (6, 0)


@pytest.mark.parametrize(
    ("first", "second", "arch", "culprit", "words"),
    [
        (("sm_90a",), ("sm_100a", "8.6"), None, 0, r"sm_90a does not suit sm_100a .*compile all kernels for one"),
        (("sm_90a",), ("sm_100", "8.6"), None, 0, r"sm_90a does not suit sm_100 .*suffix"),
        (("sm_80",), ("sm_90a",), "sm_90", 1, r"sm_90a does not suit sm_90 .*suffix"),
        (("sm_90a",), ("sm_90a",), "sm_100a", 0, r"sm_90a does not suit sm_100a .*suffix"),
        (("sm_100f", "8.8"), ("sm_120a", "8.8"), None, 0, r"sm_100f does not suit sm_120a"),
        (("sm_80",), ("sm_90",), "sm_80", 1, r"sm_90 does not suit sm_80 .*runs upward only.*compile all kernels"),
        (("sm_80",), ("sm_80",), "sm_75", 0, r"sm_80 does not suit sm_75 .*runs upward only"),
        (("compute_80",), ("sm_80",), None, 0, r"unknown target `compute_80`; expected sm_NN"),
        (("sm_80", "8.0", 32), ("sm_80",), None, 0, r"32-bit.* 64-bit addresses; compile both for the same"),
        pytest.param(
            ("sm_60",), ("sm_61",), None, 1, r"weaving needs sm_70 or later .*give arch=, for example sm_70"
        ),
        pytest.param(
            ("sm_80, texmode_independent",), ("sm_80",), None, 0, "texmode_independent.*compile both alike"
        ),
    ],
)  # fmt: skip
def test_what_cannot_be_shared_is_refused(
    first: tuple[str, str, int],
    second: tuple[str, str, int],
    arch: str | None,
    culprit: int,
    words: str,
    tmp_path: Path,
) -> None:
    paths = [tmp_path / "first.ptx", tmp_path / "second.ptx"]
    paths[0].write_text(module(*first))
    paths[1].write_text(module(*second, name="o"))
    with pytest.raises(CannotLink) as caught:
        goptx.weave(*paths, arch=arch)
    assert re.search(words, str(caught.value))
    assert str(paths[culprit]) in str(caught.value)


@pytest.mark.parametrize("arch", ["90", "sm90", "hopper", "sm_", "sm_90b", "compute_90", ""])
def test_an_arch_that_is_none(arch: str) -> None:
    with pytest.raises(InputError, match=re.escape(f"`{arch}` is not an architecture such as sm_90")):
        goptx.weave(module(), module(name="o"), arch=arch)


def test_32_bit_modules(assembles: Assembles) -> None:
    """Woven alike; ptxas 13 assembles no 32-bit code, so that is not tried."""
    woven = goptx.weave(module(bits=32), module(bits=32, name="o"))
    assert woven.module.address_size == 32
