"""Dynamic shared memory of kernels woven for shapes of their own: separate, aligned, and as large as they ask."""

import re
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest
from weaving.compared import outputs, same
from weaving.shaped_kernels import KERNELS, kernel, stored
from weaving.test_shapes import weave

import goptx
from goptx import CannotLink, CannotWeave, InputError, Shape
from goptx.results.fused_kernel import Woven

Assembles = Callable[[Woven], None]
KNOWN = (Shape(3, 48, 1000), Shape(2, 100, 5000))


def arrays(woven: Woven) -> list[str]:
    return re.findall(r"\.extern \.shared (.*);", woven.ptx)


@pytest.mark.parametrize("unknown", [(), (0,), (1,), (0, 1)])
def test_both_use_dynamic_memory(unknown: Sequence[int], assembles: Assembles) -> None:
    given = [Shape(s.grid, s.block, None if i in unknown else s.shared) for i, s in enumerate(KNOWN)]
    woven = weave("dynamic", "dynamic", *given)
    same(("dynamic", "dynamic"), KNOWN, woven)
    assert arrays(woven) == [".align 1024 .b8 dynamic_woven_shared[]"]
    assert [p.role for p in woven.params if p.role] == [f"{'AB'[i]}.shared" for i in unknown]
    assembles(woven)


def test_parts_begin_at_multiples_of_1024_bytes() -> None:
    woven = weave("dynamic", "dynamic", *KNOWN)
    assert woven.shape == Shape(3, 100, 1024 + 5000)
    begin = re.findall(r"mov\.u64 %(.)_rd5, dynamic_woven_shared\+(\d+);", woven.ptx)
    assert set(begin) == {("a", "0"), ("b", "1024")}
    swapped = weave("dynamic", "dynamic", Shape(3, 48, None), KNOWN[1])
    assert "dynamic_woven_shared+5120" in swapped.ptx  # what is known comes first
    assert swapped.shape == Shape(3, 100, None)


def test_one_kernel_alone_keeps_its_arrays() -> None:
    woven = weave("dynamic", "tiled", Shape(4, 33, 600), Shape(4, 64))
    assert sorted(arrays(woven)) == [".align 16 .b32 first[]", ".align 8 .b8 second[]"]
    assert woven.shape == Shape(4, 64, 600)


@pytest.mark.parametrize("order", [1, -1])
def test_memory_that_a_kernel_asks_for_without_an_array_stays(order: int) -> None:
    """It may be asked for to have fewer CTAs on an SM; %dynamic_smem_size tells of it."""
    names = ("registers", "dynamic")[::order]
    shapes = (Shape(4, 33, 600), Shape(2, 64, 700))[::order]
    woven = weave(*names, *shapes)  # type: ignore[arg-type]
    assert woven.shape == Shape(4, 64, 1024 + (700 if order == 1 else 600))
    same(names, shapes, woven)


def test_arrays_of_one_name_may_be_declared_differently(assembles: Assembles) -> None:
    other = KERNELS["dynamic"].replace(
        ".extern .shared .align 16 .b32 first[]", ".extern .shared .align 32 .b8 first[]"
    )
    woven = weave("dynamic", other, *KNOWN)
    same(("dynamic", other), KNOWN, woven)
    assembles(woven)


def static(size: int, name: str = "k") -> str:
    """A kernel with two static arrays, the first and the last word of each written by one thread and read by all."""
    body = f"""
        setp.eq.u32 %p1, %r1, 0; mov.u32 %r50, big; @%p1 st.shared.u32 [big], %r5;
        @%p1 st.shared.u32 [%r50+{size - 4}], 77;
        @%p1 st.shared.u32 [small+8], 99; bar.sync 0; ld.shared.u32 %r51, [big]; ld.shared.u32 %r52, [big+{size - 4}];
        ld.shared.u32 %r53, [small+8]; mov.u32 %r54, small+4; ld.shared.u32 %r55, [%r54+4];
    """
    variables = f".shared .align 16 .b8 big[{size}]; .shared .align 8 .b8 small[12];"
    return kernel(name, body + stored(["%r51", "%r52", "%r53", "%r55"]), variables)


def test_static_memory_above_48_kib_is_carved_from_the_dynamic(assembles: Assembles) -> None:
    texts, shapes = (static(40000), static(30000, "other")), (Shape(2, 33), Shape(3, 64))
    with pytest.raises(CannotLink, match=r"bytes of static shared memory.*\(shapes=, --shape\)"):
        goptx.weave(*texts)
    woven = weave(*texts, *shapes)
    assert woven.shape == Shape(3, 64, 40 * 1024 + 30012)
    assert woven.resources().shared_bytes == 0
    same(texts, shapes, woven)
    assembles(woven)


def test_dynamic_arrays_lie_after_carved_ones(assembles: Assembles) -> None:
    large = KERNELS["dynamic"].replace("fixed[40]", "fixed[30000]")
    shapes = (Shape(2, 33, 600), Shape(3, 64, 5000))
    woven = weave(large, large, *shapes)
    assert woven.shape == Shape(3, 64, (30 + 1 + 30) * 1024 + 5000)
    same((large, large), shapes, woven)
    assembles(woven)


def test_a_device_function_names_a_dynamic_array(assembles: Assembles) -> None:
    shapes = Shape(3, 48, 300), Shape(2, 40, 400)
    woven = weave("calling", "calling", *shapes)
    names = [f.name for f in woven.module.functions if f.body and not f.is_entry]
    assert names == ["plain", "outer_a", "outer_b", "place_a", "place_b"]
    same(("calling", "calling"), shapes, woven)
    assembles(woven)


# refused ------------------------------------------------------------------------------------------------


def test_a_device_function_cannot_wait_for_a_size() -> None:
    with pytest.raises(
        CannotWeave, match=r"kernel B .*device function `place` depends on A\.shared, .*known at launch"
    ):
        weave("calling", "calling", Shape(3, 48, None), Shape(3, 48, None))


def test_more_than_a_cta_has() -> None:
    shapes = Shape(1, 32, 120 * 1024), Shape(1, 32, 110 * 1024)
    with pytest.raises(InputError, match="need 235520 bytes of dynamic shared memory; a CTA has at most 232448"):
        weave("dynamic", "dynamic", *shapes)
    woven = weave("dynamic", "dynamic", Shape(1, 32, None), Shape(1, 32, None))
    with pytest.raises(InputError, match="need 235520 bytes"):
        goptx.emulate(woven, args=[[outputs(s), 0] for s in shapes], shapes=shapes)


@pytest.mark.parametrize("unknown", [False, True])
@pytest.mark.parametrize(
    "instruction", ["ld.shared.u32 %r60, first[4];", "mov.u32 %r60, first+4*2;", "mov.u32 %r60, -(first);"]
)
def test_an_address_that_cannot_be_moved(instruction: str, unknown: bool) -> None:
    text = KERNELS["dynamic"].replace("bar.sync 0;", f"bar.sync 0; {instruction}")
    sizes: Any = (None, None) if unknown else (1000, 1000)
    with pytest.raises(CannotWeave, match=r"<ptx>:\d+: kernel B .*a shared variable stands where .*\(mov\)"):
        weave("dynamic", text, Shape(1, 32, sizes[0]), Shape(1, 32, sizes[1]))


def test_totals_are_in_units_of_the_architecture() -> None:
    text = kernel("k", "mov.u32 %r50, %total_smem_size;" + stored(["%r50"]), ".shared .b8 tile[100];")
    for arch, total in (("sm_90", 896), ("sm_75", 1024)):
        own = text.replace("sm_90", arch)
        shape, out = Shape(1, 1, 700), [np.zeros(24, np.uint32) for _ in range(2)]
        woven = goptx.weave(own, own, shapes=[shape, Shape(1, 1, 9)], latency="sm_80")
        goptx.emulate(own, 1, 1, [out[0], 0], shared=700)
        goptx.emulate(woven, args=[[out[1], 0], [outputs(shape), 0]])
        assert out[0][0] == out[1][0] == total
