"""Names, symbols, resources and launch bounds of kernels that become one module."""

import re
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from bodies import HEAD, kernel

import goptx
from goptx.errors import CannotLink, CannotWeave, GoptxError, InputError
from goptx.ptx.ir import Function, Registers, Variable
from goptx.results.fused_kernel import Woven

Assembles = Callable[[Woven], None]


def module(items: str = "", body: str = "", name: str = "k") -> str:
    """A module with these items and one entry that runs `body` and stores %tid.x."""
    store = f"ld.param.u64 %rd1, [{name}_out]; mov.u32 %r1, %tid.x; st.global.u32 [%rd1], %r1; ret;"
    return kernel(f"{body}\n{store}", name).replace(HEAD, HEAD + items)


def function(name: str, body: str) -> str:
    return f".func {name}(.param .u32 x)\n{{\n.reg .b32 %r<4>;\nld.param.u32 %r1, [x];\n{body}\nret;\n}}\n"


def call(name: str) -> str:
    return f"{{ .param .b32 p; st.param.b32 [p], 5; call.uni {name}, (p); }}\n"


COUNTER = ".global .align 4 .u32 counter;\n"
COUNT = "red.global.add.u32 [counter], 1;"


def lines(woven: Woven, *words: str) -> list[str]:
    """The lines of the woven PTX that hold all the words, without indentation."""
    return [text.strip() for text in woven.ptx.splitlines() if all(w in text for w in words)]


def declared(woven: Woven) -> list[str]:
    entry = woven.module.entries[0]
    return [n for s in entry.body or () if isinstance(s, Registers) for n, _ in s.names]


SUMS = """
.shared .align 4 .b8 sums[256];
.func put(.param .u32 x) { .reg .b32 %r<5>; ld.param.u32 %r1, [x]; mov.u32 %r2, %tid.x; mov.u32 %r3, sums;
    mad.lo.u32 %r3, %r2, 4, %r3; st.shared.u32 [%r3], %r1; ret; }
"""  # of the module, and a function that writes there


def test_kernels_of_one_module_have_shared_memory_of_their_own(assembles: Assembles) -> None:
    body = """ld.param.u64 %rd1, [k_in]; ld.param.u64 %rd2, [k_out]; mov.u32 %r1, %tid.x; mul.wide.u32 %rd3, %r1, 4;
        add.s64 %rd1, %rd1, %rd3; add.s64 %rd2, %rd2, %rd3; ld.global.u32 %r2, [%rd1];
        { .param .b32 p; st.param.b32 [p], %r2; call.uni put, (p); }
        xor.b32 %r3, %r1, 32; mov.u32 %r4, sums; mad.lo.u32 %r4, %r3, 4, %r4; bar.sync 0; ld.shared.u32 %r5, [%r4];
        st.global.u32 [%rd2], %r5; ret;"""
    text = kernel(body).replace(HEAD, HEAD + SUMS)
    woven = goptx.weave(text, text)
    assert lines(woven, ".shared", "sums") == [
        ".shared .align 4 .b8 sums[256];", ".shared .align 4 .b8 sums_b[256];"
    ]  # fmt: skip
    assert lines(woven, "call.uni put") == ["call.uni put, (p);", "call.uni put_b, (p);"]
    given = [np.arange(64, dtype=np.int32) * factor for factor in (3, 5)]
    outs = [np.zeros(64, np.int32) for _ in range(2)]
    goptx.emulate(woven, 1, 64, [[x, out, np.uint32(64)] for x, out in zip(given, outs, strict=True)], races=True)
    assert [out.tolist() for out in outs] == [x[np.arange(64) ^ 32].tolist() for x in given]
    assembles(woven)


def test_shared_memory_that_one_kernel_of_a_module_uses_keeps_its_name() -> None:
    text = module(".shared .b32 one;\n.shared .b32 two;\n", "st.shared.u32 [one], 1;")
    both = text + module("", "st.shared.u32 [two], 1;", "other").replace(HEAD, "")
    woven = goptx.weave(both, both, entries=["k", "other"])
    assert {line.split()[-1] for line in lines(woven, ".shared .b32")} == {"one;", "two;"}


# names -------------------------------------------------------------------------------------------------


def test_one_kernel_twice(assembles: Assembles) -> None:
    text = module(COUNTER, f"{COUNT} bra NEXT; NEXT: st.shared.u32 [tile], 1;")
    woven = goptx.weave(text, text)
    assert len(declared(woven)) == len(set(declared(woven)))
    assert {"%a_p", "%b_p", "%a_r", "%b_r"} <= set(declared(woven))
    assert lines(woven, ".shared .align") == [
        ".shared .align 4 .b8 a_tile[1024];", ".shared .align 4 .b8 b_tile[1024];"
    ]  # fmt: skip
    assert lines(woven, ".global", "counter;") == [COUNTER.strip()]  # one module has one state
    assert len(lines(woven, "red.global.add.u32 [counter], 1;")) == 2
    assert woven.name == "k_woven"
    assembles(woven)


def test_parameters_come_in_the_order_of_the_kernels(assembles: Assembles) -> None:
    woven = goptx.weave(module(), module(name="other"))
    assert woven.name == "k_other_woven"
    assert [(p.kernel, p.original, p.type, p.size) for p in woven.params] == [
        ("A", "k_in", "u64", 8), ("A", "k_out", "u64", 8), ("A", "k_n", "u32", 4),
        ("B", "other_in", "u64", 8), ("B", "other_out", "u64", 8), ("B", "other_n", "u32", 4),
    ]  # fmt: skip
    assert [p.name for p in woven.params] == [v.name for v in woven.module.entries[0].parameters]
    assert len({p.name for p in woven.params}) == 6
    assembles(woven)


def test_the_woven_entry_bears_the_name_asked_for(assembles: Assembles) -> None:
    woven = goptx.weave(module(), module(name="other"), name="both_of$them")
    assert woven.module.entries[0].name == woven.name == "both_of$them"
    assembles(woven)


def test_names_of_inner_scopes_stay_separate(assembles: Assembles) -> None:
    body = "{ .reg .b32 %t; mov.u32 %t, 1; st.shared.u32 [tile], %t; } { .reg .b32 %t; mov.u32 %t, 2; }"
    woven = goptx.weave(module("", body), module("", body, "other"))
    assert len(set(re.findall(r"mov\.u32 (%\w+), [12];", woven.ptx))) == 4
    assembles(woven)


def test_a_global_that_looks_like_a_prefix(assembles: Assembles) -> None:
    woven = goptx.weave(
        module(".global .u32 a_r1;\n", "red.global.add.u32 [a_r1], 1;"),
        module(".global .u32 b_tile;\n", "red.global.add.u32 [b_tile], 1;", "other"),
    )
    assert len(lines(woven, "red.global.add.u32 [a_r1], 1;")) == 1
    assert len(lines(woven, "red.global.add.u32 [b_tile], 1;")) == 1
    assembles(woven)


def test_variables_of_a_kernel_named_after_clusters_are_not_clusters(assembles: Assembles) -> None:
    text = module("", "st.shared.u32 [clusters], 1; mov.u32 %cluster, 2;", "cluster")
    text = text.replace("tile[", "clusters[").replace(".shared .align", ".reg .b32 %cluster;\n.shared .align")
    assembles(goptx.weave(text, text))


@pytest.mark.parametrize("register", ["%run0", "%run<4>"])
def test_registers_that_bear_the_name_of_one_that_goptx_adds(register: str, assembles: Assembles) -> None:
    body = "ld.param.u32 %r2, [k_n]; mov.u32 %r3, %tid.x; setp.ge.u32 %run0, %r3, %r2; @%run0 ret;"
    assembles(goptx.weave(module("", f".reg .pred {register};\n{body}"), module(name="other")))


def test_a_label_that_bears_the_name_of_a_block_that_goptx_adds() -> None:
    body = """
        mov.u32 %r5, %tid.x;
        TOP: add.u32 %r5, %r5, 32; setp.lt.u32 %p1, %r5, 100; @%p1 bra TOP;
        {label}: add.u32 %r5, %r5, 1; setp.lt.u32 %p1, %r5, 200; @%p1 bra {label};
    """
    plain, clash = (goptx.weave(module("", body.format(label=x)), module(name="o")).ptx for x in ("L", "TOP_enter"))
    assert clash == plain


# symbols -----------------------------------------------------------------------------------------------


def test_kernels_of_one_module_share_its_state(assembles: Assembles) -> None:
    first, second = module(COUNTER, COUNT), module("", COUNT, "other").replace(HEAD, "")
    woven = goptx.weave(first + second, first + second, entries=["k", "other"])
    assert lines(woven, ".global", "counter;") == [COUNTER.strip()]
    assert len(lines(woven, COUNT)) == 2
    assembles(woven)


def test_globals_of_different_modules_are_different(assembles: Assembles) -> None:
    pointer = ".global .u64 where = counter;\n"
    use = "ld.global.u64 %rd2, [where]; red.global.add.u32 [counter+0], 1;"
    woven = goptx.weave(module(COUNTER + pointer, use), module(COUNTER + pointer, use, "other"))
    assert lines(woven, ".global .align") == [COUNTER.strip(), COUNTER.strip().replace("counter", "counter_b")]
    assert lines(woven, ".global .u64") == [".global .u64 where = counter;", ".global .u64 where_b = counter_b;"]
    assert len(lines(woven, "red.global.add.u32 [counter+0], 1;")) == 1
    assert len(lines(woven, "red.global.add.u32 [counter_b+0], 1;")) == 1
    assert len(lines(woven, "%b_rd2, [where_b];")) == 1
    assembles(woven)


@pytest.mark.parametrize("both_in", [0, 1])
def test_a_new_name_is_a_free_one(both_in: int, assembles: Assembles) -> None:
    two = COUNTER + COUNTER.replace("counter", "counter_b"), f"{COUNT} red.global.add.u32 [counter_b], 7;"
    one = COUNTER, COUNT
    texts = [module(*(two if both_in == k else one), name) for k, name in enumerate(("k", "other"))]
    woven = goptx.weave(*texts)
    assert len(lines(woven, ".global .align")) == 3
    targets = re.findall(r"red\.global\.add\.u32 \[(\w+)\]", woven.ptx)
    assert len(set(targets)) == 3
    assembles(woven)


def test_what_no_kernel_needs_is_left_out(assembles: Assembles) -> None:
    items = COUNTER + ".const .u32 table[2] = {1, 2};\n" + function("unused", COUNT)
    woven = goptx.weave(module(items), module(items, "ld.const.u32 %r2, [table+4];", "other"))
    assert not lines(woven, "counter")
    assert not lines(woven, "unused")
    assert len(lines(woven, ".const .u32 table")) == 1
    assembles(woven)


def test_an_equal_device_function_of_both_stands_once(assembles: Assembles) -> None:
    pure = function("pure", "add.u32 %r2, %r1, 1;")
    woven = goptx.weave(module(pure, call("pure")), module(pure, call("pure"), "other"))
    assert lines(woven, ".func") == [".func pure("]
    assert len(lines(woven, "call.uni pure, (p);")) == 2
    assembles(woven)


def test_different_functions_of_one_name_both_stay_and_calls_follow(assembles: Assembles) -> None:
    texts = []
    for step, name in ((1, "k"), (2, "other")):
        items = function("inner", f"add.u32 %r2, %r1, {step};") + function("outer", call("inner") + f"// {step}\n")
        items = items.replace("// ", "mov.u32 %r2, ").replace(f", {step}\n", f", {step};\n")
        texts.append(module(items, call("outer"), name))
    woven = goptx.weave(*texts)
    assert lines(woven, ".func") == [".func inner(", ".func outer(", ".func inner_b(", ".func outer_b("]
    bodies = {f.name: str(f) for f in woven.module.functions}
    assert "call.uni inner_b, (p);" in bodies["outer_b"]
    assert "call.uni inner, (p);" in bodies["outer"]
    assert "add.u32 %r2, %r1, 2;" in bodies["inner_b"]
    assert len(lines(woven, "call.uni outer_b, (p);")) == 1
    assembles(woven)


def test_a_function_that_asks_which_thread_it_is_belongs_to_its_kernel(assembles: Assembles) -> None:
    asks = function("asks", "mov.u32 %r2, %tid.x;")
    woven = goptx.weave(module(asks, call("asks")), module(asks, call("asks"), "other"))
    assert lines(woven, ".func") == [".func asks(", ".func asks_b("]
    assembles(woven)


def test_a_function_with_module_state_belongs_to_its_module() -> None:
    bump = COUNTER + function("bump", COUNT)
    woven = goptx.weave(module(bump, call("bump")), module(bump, call("bump"), "other"))
    assert sorted(lines(woven, "red.global")) == [COUNT, COUNT.replace("counter", "counter_b")]


def test_a_function_that_calls_a_different_one_is_different() -> None:
    outer = function("outer", call("inner"))
    texts = [
        module(function("inner", f"add.u32 %r2, %r1, {step};") + outer, call("outer"), name)
        for step, name in ((1, "k"), (2, "other"))
    ]
    woven = goptx.weave(*texts)
    bodies = [str(f) for f in woven.module.functions if f.name.startswith("outer")]
    assert len(bodies) == 2
    assert "inner_b" in bodies[1]


@pytest.mark.parametrize("in_both", [False, True])
def test_a_function_declared_before_its_definition(in_both: bool, assembles: Assembles) -> None:
    items = ".func pure(.param .u32 x);\n" + function("pure", "add.u32 %r2, %r1, 1;")
    first = module(items, call("pure"))
    woven = goptx.weave(first, module(items, call("pure"), "other") if in_both else module(name="other"))
    assert sum(1 for f in woven.module.functions if f.body is not None and f.name == "pure") == 1
    assembles(woven)


def test_a_function_declared_before_in_one_module_woven_with_itself(assembles: Assembles) -> None:
    text = module(".func pure(.param .u32 x);\n" + function("pure", "add.u32 %r2, %r1, 1;"), call("pure"))
    assembles(goptx.weave(text, text))


VPRINTF = ".extern .func (.param .b32 result) vprintf (.param .b64 format, .param .b64 values);\n"
PRINT = """{ .param .b64 f; .param .b64 v; .param .b32 q; st.param.b64 [f], 0; st.param.b64 [v], 0;
    call.uni (q), vprintf, (f, v); }
"""


def test_external_functions_are_declared_once(assembles: Assembles) -> None:
    woven = goptx.weave(module(VPRINTF, PRINT), module(VPRINTF, PRINT, "other"))
    assert len(lines(woven, ".extern")) == 1
    assert len(lines(woven, "vprintf, (f, v);")) == 2
    assembles(woven)


# resources ---------------------------------------------------------------------------------------------

DYNAMIC = ".extern .shared .align 16 .b8 pool[];\n"


def shared(size: int, name: str = "k", body: str = "st.shared.u32 [tile], 1;") -> str:
    return module("", body, name).replace("tile[1024]", f"tile[{size}]")


def test_symbols_are_found_by_their_old_names(assembles: Assembles) -> None:
    """The variables and functions of the fused module, without what a kernel does not need."""
    body = f"{COUNT} {call('f')}"
    items = COUNTER + ".global .u32 unused;\n" + function("f", "red.global.add.u32 [counter], 2;")
    woven = goptx.weave(module(items, body), module(items, body, "other"))
    assert woven.symbols == {
        "A": {"counter": "counter", "f": "f"}, "B": {"counter": "counter_b", "f": "f_b"}
    }  # fmt: skip
    held = {i.name for i in woven.module.items if isinstance(i, Function | Variable)}
    assert held - {woven.name} == {new for names in woven.symbols.values() for new in names.values()}
    assembles(woven)


def test_a_module_woven_with_itself_has_one_state() -> None:
    text = module(COUNTER + SUMS, f"{COUNT} st.shared.u32 [sums], 1; {call('put')}")
    woven = goptx.weave(text, text)
    assert woven.symbols == {
        "A": {"counter": "counter", "sums": "sums", "put": "put"},
        "B": {"counter": "counter", "sums": "sums_b", "put": "put_b"},
    }


def test_symbols_follow_cloned_functions() -> None:
    """A function alike in both kernels, of which each has a copy for its own shape; and shared memory that is not
    there any more, because it lies in the one dynamic array."""
    items = DYNAMIC + ".global .u32 last;\n" + function("f", "mov.u32 %r2, %ntid.x; st.global.u32 [last], %r2;")
    body = f"st.shared.u32 [pool], 1; {call('f')}"
    shapes = [goptx.Shape(4, 64, 128), goptx.Shape(4, 32, 256)]
    woven = goptx.weave(module(items, body), module(items, body, "other"), shapes=shapes)
    assert woven.symbols == {
        "A": {"last": "last", "f": "f_a"},
        "B": {"last": "last_b", "f": "f_b_b"},
    }
    assert len(lines(woven, ".func f_a(")) == len(lines(woven, ".func f_b_b(")) == 1


def test_inlined_functions_are_not_symbols() -> None:
    text = module(function("f", "bar.sync 0;"), call("f"))
    assert goptx.weave(text, module(name="other")).symbols == {"A": {}, "B": {}}


def test_static_shared_memory_adds_up_to_48_kib(assembles: Assembles) -> None:
    woven = goptx.weave(shared(24 << 10), shared(24 << 10, "other"))
    assembles(woven)
    assert woven.resources().shared_bytes == 48 << 10


def test_static_shared_memory_is_padded() -> None:
    with pytest.raises(CannotLink, match="49155 bytes of static shared memory"):
        goptx.weave(shared((24 << 10) - 15), shared((24 << 10) + 15, "other"))


def test_one_dynamic_shared_array(assembles: Assembles) -> None:
    woven = goptx.weave(module(DYNAMIC, "st.shared.u32 [pool], 1;"), module(name="other"))
    assert lines(woven, ".extern") == [DYNAMIC.strip()]
    assembles(woven)
    unused = goptx.weave(module(DYNAMIC, "st.shared.u32 [pool], 1;"), module(DYNAMIC, "", "other"))
    assembles(unused)


def test_dynamic_shared_memory_of_a_callee_counts() -> None:
    through = module(DYNAMIC + function("fill", "st.shared.u32 [pool], 1;"), call("fill"))
    with pytest.raises(CannotLink, match="dynamic shared memory"):
        goptx.weave(through, module(DYNAMIC, "st.shared.u32 [pool], 2;", "other"))


def wide(size: int, version: str = "8.0", name: str = "k") -> str:
    text = module(name=name).replace(f".param .u32 {name}_n", f".param .u32 {name}_n, .param .align 8 .b8 big[{size}]")
    return text.replace(".version 8.0", f".version {version}")


def test_parameters_add_up_to_what_the_version_allows(assembles: Assembles) -> None:
    assembles(goptx.weave(wide(4096 - 56), module(name="other")))  # 24 and 24 bytes beside it, the last 4 unpadded
    assembles(goptx.weave(wide(8000, "8.1"), module(name="other")))


def test_resources_beyond_the_limits_are_refused() -> None:
    with pytest.raises(CannotLink, match="49156 bytes of static shared memory"):
        goptx.weave(shared((24 << 10) + 4), shared(24 << 10, "other"))
    first = module(DYNAMIC, "st.shared.u32 [pool], 1;")
    for name in ("pool", "mine"):
        second = module(DYNAMIC.replace("pool", name), f"st.shared.u32 [{name}], 1;", "other")
        with pytest.raises(CannotLink, match="dynamic shared memory"):
            goptx.weave(first, second)
    for version, limit in (("8.0", 4096), ("8.1", 32764)):
        with pytest.raises(CannotLink, match=f"allows {limit}"):
            goptx.weave(wide(limit - 40, version), module(name="other"))


# launch bounds -----------------------------------------------------------------------------------------


def bounded(directives: str, name: str = "k") -> str:
    return module(name=name).replace(")\n{", f")\n{directives}\n{{", 1)


@pytest.mark.parametrize(
    ("first", "second", "result"),
    [
        (".maxntid 256, 1, 1", ".maxntid 128, 1, 1", [".maxntid 128, 1, 1"]),
        (".maxntid 16, 16", "", [".maxntid 16, 16, 1"]),
        ("", ".reqntid 128", [".reqntid 128, 1, 1"]),
        (".reqntid 64, 2", ".reqntid 64, 2, 1", [".reqntid 64, 2, 1"]),
        (".reqntid 128", ".maxntid 256", [".reqntid 128, 1, 1"]),
        (
            ".maxntid 128\n.minnctapersm 4",
            ".maxntid 128\n.minnctapersm 2",
            [".maxntid 128, 1, 1", ".minnctapersm 2"],
        ),
        ("", "", []),
    ],
)
def test_launch_bounds_hold_for_both(first: str, second: str, result: list[str], assembles: Assembles) -> None:
    for texts in ((bounded(first), bounded(second, "o")), (bounded(second), bounded(first, "o"))):
        woven = goptx.weave(*texts)
        assert [str(d) for d in woven.module.entries[0].directives] == result
        assert not woven.report.notes
        assembles(woven)


@pytest.mark.parametrize(
    ("first", "second", "note"),
    [
        (".maxntid 128\n.minnctapersm 4", ".maxntid 128", r"\.minnctapersm is stated by 1 of 2 kernels and left out"),
        (".maxnreg 32", "", r"\.maxnreg .* left out"),
        (".maxnreg 32", ".maxnreg 64", r"\.maxnreg .* left out"),
        ('.pragma "nounroll";', "", r'<ptx>:\d+: kernel A \(`k`\): `\.pragma "nounroll";` is left out'),
    ],
)
def test_what_is_left_out_of_the_bounds_is_noted(first: str, second: str, note: str, assembles: Assembles) -> None:
    woven = goptx.weave(bounded(first), bounded(second, "o"))
    assert len(woven.report.notes) == 1
    assert re.search(note, woven.report.notes[0])
    assert not {".maxnreg", ".minnctapersm"} & {d.name for d in woven.module.entries[0].directives}
    assembles(woven)


@pytest.mark.parametrize("text", ["used_bytes_mask 0x0F", "frequency 5", "enable_smem_spilling"])
def test_pragmas_that_speak_of_the_kernel_alone_are_left_out(text: str, assembles: Assembles) -> None:
    """They would stand before another instruction, or in a block that runs more often."""
    pragma = f'.pragma "{text}";'
    loop = (
        f'L: .pragma "nounroll";\n{pragma} ld.global.u32 %r2, [%rd1]; add.u32 %r3, %r3, %r2; setp.lt.u32 %p1, %r3, 9;'
    )
    woven = goptx.weave(module("", f"ld.param.u64 %rd1, [k_in]; {loop} @%p1 bra L;"), module(name="other"))
    assert lines(woven, ".pragma") == ['.pragma "nounroll";']
    (note,) = woven.report.notes
    assert re.search(rf"<ptx>:\d+: kernel A \(`k`\): `{pragma}` is left out", note)
    assembles(woven)


def test_pragmas_of_a_module_are_left_out_with_a_note() -> None:
    text = module('.pragma "nounroll";\n')
    assert goptx.weave(text, text).report.notes == ('<ptx>:4: `.pragma "nounroll";` is left out',)


def test_pragmas_of_functions_stay() -> None:
    text = module(function("f", 'L: .pragma "nounroll"; setp.lt.u32 %p1, %r1, 9; @%p1 bra L;'), call("f"))
    assert len(lines(goptx.weave(text, module(name="other")), ".pragma")) == 1


# which entry -------------------------------------------------------------------------------------------

TWO = module() + module(name="second").replace(HEAD, "")


def test_a_module_with_several_entries_needs_a_name(tmp_path: Path, assembles: Assembles) -> None:
    path = tmp_path / "two.ptx"
    path.write_text(TWO)
    with pytest.raises(InputError, match=r"two\.ptx:.* the module has .*`k`, `second`; name one .*--entry"):
        goptx.weave(path, module())
    with pytest.raises(InputError, match=r"two\.ptx:.* no entry `third`; the module has .*`k`, `second`"):
        goptx.weave(path, module(), entries=["third", None])
    assembles(goptx.weave(path, module(), entries=["second", None]))


def test_a_module_without_entries_is_refused() -> None:
    with pytest.raises(InputError, match=r"no entry; .*nothing to weave"):
        goptx.weave(HEAD + function("f", ""), module())


@pytest.mark.parametrize("name", ["1st", "two words", "kernel-b", "kernél", "_", "%", "x;", "x\n"])
def test_a_name_that_is_not_valid_in_ptx(name: str) -> None:
    with pytest.raises(InputError, match=r"is no PTX name; use letters, digits, `_` and `\$`"):
        goptx.weave(module(), module(name="other"), name=name)


def test_a_name_that_a_symbol_has() -> None:
    with pytest.raises((InputError, CannotLink), match="counter"):
        goptx.weave(module(COUNTER, COUNT), module(name="other"), name="counter")


# refusals ----------------------------------------------------------------------------------------------

SEPARATE = "use separate launches"


def hopper(text: str) -> str:
    return text.replace("sm_80", "sm_90a")


def instruction(text: str) -> str:
    return hopper(module("", f"\n{text}  // culprit\n"))


def in_function(text: str) -> str:
    locals_ = ".reg .pred %p<2>; .reg .b64 %rd<2>;\n"
    return hopper(module(function("f", f"{locals_}{text}  // culprit\n"), call("f")))


CLUSTER_OF_4 = ".reqnctapercluster 4"


def clustered(body: str, name: str = "k") -> str:
    return hopper(module("", body, name)).replace(")\n{", f")\n{CLUSTER_OF_4}\n{{", 1)


REFUSALS = [
    # kind of error, first kernel, second kernel, words of the message; a line `// culprit` must be named
    pytest.param(
        CannotWeave, instruction("novel.op.u32 %r2, %r3;"), instruction("novel.op.u32 %r3, %r4;"),
        f"`novel.op.u32 %.*`novel.op.u32 %.*` are not instructions that goptx knows, so nothing .*{SEPARATE}",
        id="new in both",
    ),
    *(
        pytest.param(CannotWeave, instruction(text), "", f"cluster, whose shape is not known; .*{SEPARATE}", id=text)
        for text in (
            "barrier.cluster.arrive;", "mov.u32 %r2, %cluster_ctaid.x;", "ld.shared::cluster.u32 %r2, [%r3];",
            "mapa.shared::cluster.u32 %r2, %r3, %r4;", "getctarank.shared::cluster.u32 %r2, %r3;",
            "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster "
            "[%r2], [%rd1], 16, [%r3], %r4;",
        )
    ),
    pytest.param(
        CannotWeave, in_function("mov.u32 %r2, %cluster_ctaid.x;"), "", f"shape is not known; .*{SEPARATE}",
        id="cluster in function",
    ),
    pytest.param(
        CannotWeave, clustered("barrier.cluster.wait;  // culprit"), clustered("barrier.cluster.wait;", "o"),
        f"the barrier of the cluster, of which there is one, .*{SEPARATE}", id="cluster barrier in both",
    ),
    pytest.param(
        CannotWeave, hopper(bounded(".reqnctapercluster 2, 1, 1  // culprit")), hopper(bounded(CLUSTER_OF_4, "o")),
        f"states `.reqnctapercluster 2, 1, 1` and .* states `.reqnctapercluster 4`: woven kernels share one "
        f"cluster; {SEPARATE}", id="cluster shapes",
    ),
    pytest.param(
        CannotWeave, hopper(bounded(".blocksareclusters  // culprit")), "",
        f"`.blocksareclusters` cannot be kept.*{SEPARATE}", id="blocks are clusters",
    ),
    *(
        pytest.param(CannotWeave, instruction(text), "", f"` cannot be woven: {why}.*{SEPARATE}", id=text)
        for text, why in (
            ("setmaxnreg.inc.sync.aligned.u32 64;", "share its pool of registers"),
            ("setmaxnreg.dec.sync.aligned.u32 32;", "share its pool of registers"),
            ("tcgen05.wait::ld.sync.aligned;", "tensor memory"),
            ("clusterlaunchcontrol.try_cancel.async.b128 [%r2], [%r3];", "a CTA that has not begun"),
            ("brkpt;", "a breakpoint"),
        )
    ),
    *(
        pytest.param(
            CannotWeave, in_function(f"mov.b32 %r3, x;\n{text}"), "",
            "device function `f` cannot be kept .*computes the addresses of its parameters.*; inline the function",
            id=f"hidden {text}",
        )
        for text in (
            "bar.sync 0;", "bar.warp.sync -1;", "novel.op %r1;", "mbarrier.arrive.shared.b64 _, [%r1];",
            "griddepcontrol.wait;", "L: mbarrier.test_wait.shared.b64 %p1, [%r1], %rd1; @!%p1 bra L;",
        )
    ),
    pytest.param(
        CannotWeave, in_function(f"{call('f')} bar.sync 0;"), "", "device function `f` .*it calls itself.*; inline the",
        id="barrier in a function that calls itself",
    ),
    pytest.param(
        CannotWeave, hopper(module(function("f", "bar.sync 0;  // culprit\n"), "mov.u64 %rd3, f;")), "",
        "device function `f` .*called through a pointer.*; inline the", id="barrier of a callee by pointer",
    ),
    pytest.param(
        CannotWeave, in_function("L: ld.volatile.global.u32 %r2, [%rd1]; setp.eq.u32 %p1, %r2, 0; @%p1 bra L;"), "",
        rf"may wait for other CTAs.*{SEPARATE}", id="spin in function",
    ),
    pytest.param(
        CannotWeave,
        in_function("mov.b32 %r3, x; L: ld.volatile.global.u32 %r2, [%rd1]; setp.eq.u32 %p1, %r2, 0; @%p1 bra L;"), "",
        rf"in the device function `f` .*may wait for other CTAs.*{SEPARATE}", id="hidden spin",
    ),
    *(
        pytest.param(
            CannotWeave, module(function("f", ""), call("f").replace("call.uni", f"{text}  // culprit\n call.uni")), "",
            "stands in the braces of a call, which are moved whole; put it outside", id=f"beside a call {text}",
        )
        for text in ("bar.sync 0;", "activemask.b32 %r1;", "mbarrier.arrive.shared.b64 _, [tile];")
    ),
    pytest.param(
        CannotWeave,
        bounded(".reqntid 128").replace(".visible", ".visible/* culprit */"),
        bounded(".reqntid 256", "o"),
        "requires 128x1x1 and .* requires 256x1x1 threads",
        id="reqntid",
    ),
    pytest.param(
        CannotWeave,
        bounded(".reqntid 256").replace(".visible", ".visible/* culprit */"),
        bounded(".maxntid 128", "o"),
        "requires .*256.* threads, kernel B allows .*128",
        id="reqntid above maxntid",
    ),
    pytest.param(
        CannotWeave,
        module("", "bar.sync 16; /* culprit */"),
        "",
        r"`bar.sync 16;` has no barrier id from 0 to 15; write it as a plain number",
        id="barrier id",
    ),
    pytest.param(
        CannotLink, shared((24 << 10) + 4), shared(24 << 10, "o"), "49156 bytes of static .*make one", id="shared",
    ),
    pytest.param(
        CannotLink, module(DYNAMIC, "st.shared.u32 [pool], 1;"), module(DYNAMIC, "st.shared.u32 [pool], 1;", "o"),
        "dynamic shared memory.*make one of them static", id="dynamic",
    ),
    pytest.param(
        CannotLink, module(DYNAMIC, "st.shared.u32 [pool], 1;"),
        module(DYNAMIC.replace("pool", "other"), "st.shared.u32 [other], 1;", "o"),
        "dynamic shared memory.*make one of them static", id="dynamic of two names",
    ),
    pytest.param(
        CannotLink, wide(4096 - 40), module(name="o"), "bytes of parameters, PTX 8.0 allows 4096; pass",
        id="parameters",
    ),
    pytest.param(
        CannotLink, wide(32764 - 40, "8.1"), module(name="o"), "bytes of parameters, PTX 8.1 allows 32764; pass",
        id="parameters of 8.1",
    ),
    pytest.param(
        CannotLink,
        module(VPRINTF.replace(".b64 values", ".b32 values"), PRINT.replace(".b64 v;", ".b32 v;")),
        module(f"/* culprit */ {VPRINTF}", PRINT, "o"),
        "`vprintf` is declared differently .*declare both alike",
        id="extern",
    ),
    pytest.param(CannotLink, module(".reg .u32 g;\n"), "", r"registers of the whole module", id="module registers"),
]  # fmt: skip


@pytest.mark.filterwarnings("ignore::goptx.errors.UnknownInstruction")
@pytest.mark.parametrize(("kind", "first", "second", "words"), REFUSALS)
def test_refusals_name_file_line_and_remedy(
    kind: type[GoptxError], first: str, second: str, words: str, tmp_path: Path
) -> None:
    paths = [tmp_path / "first.ptx", tmp_path / "second.ptx"]
    other = module(name="other")
    texts = [first, second or (hopper(other) if "sm_90a" in first else other)]
    for path, text in zip(paths, texts, strict=True):
        path.write_text(text)
    with pytest.raises(kind) as caught:
        goptx.weave(*paths)
    message = str(caught.value)
    assert type(caught.value) is kind
    assert re.search(words, message)
    culprits = [
        f"{path}:{number}:"
        for path, text in zip(paths, texts, strict=True)
        for number, line in enumerate(text.splitlines(), 1)
        if "culprit" in line
    ]
    assert all(c in message for c in culprits)
    assert any(str(path) in message for path in paths)


def test_every_name_of_the_woven_module_is_defined_once() -> None:
    woven = goptx.weave(module(COUNTER, COUNT), module(COUNTER, COUNT, "other"))
    names = [i.name for i in woven.module.items if isinstance(i, Function | Variable)]
    assert len(names) == len(set(names)) == 3
