"""Arguments of `weave`, and of what it gives, that make no sense whatever the kernels are."""

import gc
from typing import Any

import pytest
from bodies import kernel

import goptx
from goptx.device.assemble import Assembly, RegisterCapWarning
from goptx.errors import InputError
from goptx.weaving.link.link import link

ONE, OTHER = kernel("ret;"), kernel("ret;", "other")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"entries": "k"}, r'entries= takes one name for each kernel, for example entries=\["k", None\]\.'),
        ({"divergence": "lean"}, r"divergence `lean` is unknown; expected one of .*, or None\."),
        ({"entries": ["k"]}, r"entries= names 1 entries for 2 kernels; give one each or None\."),
    ],
)
def test_options_of_weave(options: dict[str, object], message: str) -> None:
    with pytest.raises(InputError, match=message):
        goptx.weave(ONE, OTHER, **options)  # type: ignore[arg-type]


@pytest.mark.parametrize("cap", [0, -1])
def test_caps_of_registers(cap: int) -> None:
    with pytest.raises(InputError, match=rf"max_registers={cap} is no cap; give 1 to 255, or None\."):
        goptx.weave(ONE, OTHER).cubin(max_registers=cap)


def test_caps_that_the_assembler_does_not_keep(monkeypatch: pytest.MonkeyPatch) -> None:
    made = Assembly(b"", 60, 0, 0, 0, 0, 0, 0, "ptxas", "sm_80", "", ())
    monkeypatch.setattr("goptx.device.assemble.assemble_all", lambda *_, **__: [made])
    with pytest.warns(RegisterCapWarning, match=r"`k_other_woven` has 60 registers although the cap is 40 \(ptxas\)"):
        goptx.weave(ONE, OTHER).cubin(max_registers=40)


def test_the_garbage_collector_rests_while_kernels_are_woven(monkeypatch: pytest.MonkeyPatch) -> None:
    enabled: list[bool] = []

    def noted(*given: Any) -> Any:
        enabled.append(gc.isenabled())
        return link(*given)

    monkeypatch.setattr("goptx.weaving.weave.link", noted)
    goptx.weave(ONE, OTHER)
    assert enabled == [False] and gc.isenabled()
    with pytest.raises(InputError):
        goptx.weave(ONE, OTHER, name="1")
    assert gc.isenabled()
    gc.disable()
    try:
        goptx.weave(ONE, OTHER)
        assert not gc.isenabled()  # whoever has disabled it finds it so
    finally:
        gc.enable()
