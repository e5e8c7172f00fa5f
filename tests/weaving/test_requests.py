"""Arguments of `weave`, and of what it gives, that make no sense whatever the kernels are."""

import gc
from functools import partial
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
        ({"entries": 5}, "entries= takes one name for each kernel"),
        ({"arch": 90}, "`90` is not an architecture such as sm_90"),
        ({"name": 5}, "`5` is not a PTX name"),
        ({"latency": 5}, "latency= takes the name of a table, a path or a loaded table, not an object of type int"),
        ({"shapes": 5}, "shapes= takes a goptx.Shape for each of the 2 kernels"),
        ({"same": 5}, r'same= takes a list, for example same=\[\("A:2", "B:0"\)\]; it is 5\.'),
        ({"same": "A:0=B:0"}, "same= takes a list, .* it is 'A:0=B:0'"),
        ({"same": [5]}, r'same= takes pairs of parameters such as \("A:2", "B:0"\) or "A:2=B:0", not 5'),
        ({"divergence": "lean"}, r"divergence `lean` is unknown; expected one of .*, or None\."),
        ({"entries": ["k"]}, r"entries= names 1 entries for 2 kernels; give one each or None\."),
    ],
)
def test_options_of_weave(options: dict[str, object], message: str) -> None:
    with pytest.raises(InputError, match=message):
        goptx.weave(ONE, OTHER, **options)  # type: ignore[arg-type]


def test_parameters_that_share_no_memory_are_a_list() -> None:
    with pytest.raises(InputError, match=r'noalias= takes a list, for example noalias=\["A:1"\]; it is \'A:0\'\.'):
        goptx.fuse(ONE, OTHER, strategy="vertical", noalias="A:0")


@pytest.mark.parametrize("cap", [0, -1, "x", 40.5, True])
def test_caps_of_registers(cap: Any) -> None:
    woven = goptx.weave(ONE, OTHER)
    for capped in (woven.cubin, woven.capped):
        with pytest.raises(InputError, match=rf"max_registers={cap!r} is no cap; give 1 to 255, or None\."):
            capped(max_registers=cap)


def test_arguments_of_a_launch_are_a_sequence_for_each_kernel() -> None:
    message = r"`k_other_woven`: the arguments of kernel A are a sequence, such as \[x, y, n\], not `int`"
    woven: Any = goptx.weave(ONE, OTHER)
    for launch in (partial(woven.launch, None), woven.bind):
        with pytest.raises(InputError, match=message):
            launch(1, [], grid=1, block=32)


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
