"""What kernels do to the memory that their parameters point to, compared with what the emulator observes."""

from collections import defaultdict
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from bodies import HEAD, kernel

from goptx.analysis.values.pointer_effects import pointer_accesses
from goptx.emulator.emulate import emulate
from goptx.emulator.memory.address_spaces import Space
from goptx.errors import EmulationFault, InputError
from goptx.launch.arguments import Access
from goptx.ptx.ir import Function, Module, Variable, whole_number
from goptx.ptx.parse import parse
from goptx.sources.read import read

ROOT = Path(__file__).parents[2]
GENERIC = "ld.param.u64 %rd1, [k_in]; ld.param.u64 %rd2, [k_out]; ld.param.u32 %r1, [k_n];\n"
GLOBAL = GENERIC.replace("%rd", "%rd1") + "cvta.to.global.u64 %rd1, %rd11; cvta.to.global.u64 %rd2, %rd12;\n"


def accessed(body: str, loads: str = GENERIC) -> tuple[Access, Access]:
    """The accesses of a body that finds `in` in %rd1, `out` in %rd2 and `n` in %r1."""
    text = kernel(f".reg .b64 %rd11, %rd12;\n{loads}{body}")
    found = pointer_accesses(parse(text).entries[0])
    assert found["k_n"] == "none"
    return found["k_in"], found["k_out"]


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("ret;", ("none", "none")),
        ("ld.global.u32 %r2, [%rd1];", ("read", "none")),
        ("ld.u32 %r2, [%rd1+8];", ("read", "none")),
        ("ld.const.u32 %r2, [%rd1];", ("read", "none")),
        ("ld.global.nc.v2.u32 {%r2, %r3}, [%rd1];", ("read", "none")),
        ("st.global.u32 [%rd1], %r1; ld.global.u32 %r2, [%rd2];", ("written", "read")),
        ("st.global.u32 [%rd1], 1; ld.global.u32 %r2, [%rd1];", ("both", "none")),
        ("atom.global.add.u32 %r2, [%rd1], 1;", ("both", "none")),
        ("red.global.add.u32 [%rd2], 1;", ("none", "both")),
        ("cp.async.ca.shared.global [tile], [%rd1], 16;", ("read", "none")),
        ("cp.async.bulk.global.shared::cta.bulk_group [%rd2], [tile], 16;", ("none", "written")),
        ("prefetch.global.L2 [%rd1];", ("none", "none")),
        ("discard.global.L2 [%rd1], 128;", ("written", "none")),
        ("wmma.load.c.sync.aligned.m16n16k16.row.s32 {%r2, %r3, %r4, %r5, %r6, %r7, %r8, %r9}, [%rd1], %r1;",
         ("read", "none")),
        ("@%p1 st.global.u32 [%rd2], %r1;", ("none", "written")),
    ],
)  # fmt: skip
def test_instructions(body: str, expected: tuple[Access, Access]) -> None:
    assert accessed(body) == expected


INDEX = "mul.wide.u32 %rd3, %r1, 4; "


@pytest.mark.parametrize("loads", [GENERIC, GLOBAL], ids=("generic", "global"))
@pytest.mark.parametrize(
    "way",
    [
        INDEX + "add.s64 %rd4, %rd1, %rd3;",
        INDEX + "add.s64 %rd4, %rd3, %rd1;",
        INDEX + "sub.s64 %rd4, %rd1, %rd3;",
        "mad.wide.u32 %rd4, %r1, 4, %rd1;",
        "mov.u64 %rd4, %rd1; L: add.s64 %rd4, %rd4, 4; @%p1 bra L;",
        "bra M; L: add.s64 %rd4, %rd5, 4; bra N; M: mov.u64 %rd5, %rd1; bra L; N:",  # used before its definition
        "selp.b64 %rd4, %rd1, 0, %p1;",
        "and.b64 %rd4, %rd1, -16;",
        "mov.b64 {%r2, %r3}, %rd1; shfl.sync.idx.b32 %r4, %r2, 0, 31, -1; mov.b64 %rd4, {%r4, %r3};",
        "{ .reg .b64 %q; mov.u64 %q, %rd1; mov.u64 %rd4, %q; }",
        "cvta.global.u64 %rd4, %rd1;",
        "setp.ne.u64 %p2, %rd2, 0; selp.u64 %rd4, %rd1, %rd1, %p2;",
    ],
)
def test_paths_from_a_parameter_to_an_address(loads: str, way: str) -> None:
    assert accessed(f"{way} ld.global.u32 %r2, [%rd4];", loads) == ("read", "none")


@pytest.mark.parametrize("loads", [GENERIC, GLOBAL], ids=("generic", "global"))
@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("add.s64 %rd4, %rd1, %rd2; st.global.u32 [%rd4], 1;", ("written", "written")),
        ("xor.b64 %rd4, %rd1, %rd2; ld.global.u32 %r2, [%rd4];", ("read", "read")),
        ("selp.b64 %rd4, %rd1, %rd2, %p1; st.global.u32 [%rd4], 1;", ("written", "written")),
        ("mov.u64 %rd4, %rd1; @%p1 mov.u64 %rd4, %rd2; st.global.u32 [%rd4], 1;", ("written", "written")),
        ("mov.u64 %rd4, %rd1; @%p1 bra L; mov.u64 %rd4, %rd2; L: st.global.u32 [%rd4], 1;", ("written", "written")),
    ],
)
def test_an_address_of_two_pointers_touches_both(loads: str, body: str, expected: tuple[Access, Access]) -> None:
    assert accessed(body, loads) == expected


def test_the_distance_of_two_pointers_leads_from_one_to_the_other() -> None:
    body = "sub.s64 %rd3, %rd2, %rd1; add.s64 %rd4, %rd1, %rd3; st.global.u32 [%rd4], 1;"
    assert accessed(body, GLOBAL) == ("written", "written")


@pytest.mark.parametrize(
    "body",
    [
        "st.local.u64 [place], %rd1; ld.local.u64 %rd4, [place];",
        "st.shared.u64 [tile], %rd1; ld.shared.u64 %rd4, [tile+8];",
        "st.global.u64 [cell], %rd1; ld.global.u64 %rd4, [cell];",
        "ld.global.u64 %rd4, [%rd1];",  # a table of pointers
        "ld.global.u64 %rd3, [%rd1]; ld.global.u64 %rd4, [%rd3+8];",  # a list
        "ld.global.u64 %rd3, [%rd1]; st.shared.u64 [tile], %rd3; ld.shared.u64 %rd4, [tile];",
        "mov.u64 %rd4, k_in;",
        "shr.u64 %rd3, %rd1, 4; shl.b64 %rd4, %rd3, 4;",
        "mul.lo.u64 %rd4, %rd1, 1;",
        "atom.shared.exch.b64 %rd4, [tile], %rd1;",
    ],
)
def test_pointers_that_cannot_be_tracked_are_unknown(body: str) -> None:
    text = kernel(f".local .align 8 .b8 place[16];\n{GENERIC}{body} ld.u32 %r2, [%rd4];")
    text = text.replace(".visible", ".global .align 8 .u64 cell;\n.visible", 1)
    assert pointer_accesses(parse(text).entries[0]) == {"k_in": "unknown", "k_out": "none", "k_n": "none"}


CALLED = """.func (.param .b32 r) f(.param .b64 p) { .reg .b32 %x; mov.u32 %x, 0; st.param.b32 [r], %x; ret; }
.visible"""


def test_pointers_that_are_passed_on_are_unknown() -> None:
    call = """{ .param .b64 a; .param .b32 r; st.param.b64 [a], %rd1; call.uni (r), f, (a); ld.param.b32 %r2, [r]; }
        ld.global.u32 %r3, [%rd2];"""
    text = kernel(GENERIC + call).replace(".visible", CALLED, 1)
    assert pointer_accesses(parse(text).entries[0]) == {"k_in": "unknown", "k_out": "read", "k_n": "none"}


def test_what_a_called_function_may_find_in_memory_is_unknown() -> None:
    call = """st.shared.u64 [tile], %rd1;
        { .param .b64 a; .param .b32 r; st.param.b64 [a], 0; call.uni (r), f, (a); ld.param.b32 %r2, [r]; }"""
    text = kernel(GENERIC + call).replace(".visible", CALLED, 1)
    assert pointer_accesses(parse(text).entries[0])["k_in"] == "unknown"


def test_an_unknown_instruction_may_do_anything() -> None:
    with pytest.warns(UserWarning, match="does not know `newer.u64`"):
        assert accessed("newer.u64 %rd1;") == ("unknown", "none")


def wide(body: str, *parameters: str) -> dict[str, Access]:
    """The accesses by name of a kernel with these parameters."""
    declared = ", ".join(f".param {p}" for p in parameters)
    text = f"{HEAD}.visible .entry k({declared})\n{{\n.reg .b64 %rd<9>; .reg .b32 %r<9>; .reg .f64 %fd<9>;\n{body}\n}}"
    return dict(pointer_accesses(parse(text).entries[0]))


@pytest.mark.parametrize(
    ("parameter", "cast"), [(".u64 p", "cvta.to.global.u64"), (".u64 .ptr .global .align 4 p", "mov.b64")]
)
def test_a_64_bit_number_is_not_a_pointer(parameter: str, cast: str) -> None:
    body = f"""
        ld.param.u64 %rd5, [p]; {cast} %rd1, %rd5;
        ld.param.u64 %rd2, [n];
        add.s64 %rd3, %rd1, %rd2;           // bytes
        st.global.u8 [%rd3], %r1;
        mad.lo.s64 %rd4, %rd2, 8, %rd1;     // elements
        st.global.u64 [%rd4], %rd2;         // what is stored is data
    """
    assert wide(body, parameter, ".u64 n") == {"p": "written", "n": "none"}


def test_without_a_hint_either_may_be_the_pointer() -> None:
    body = "ld.param.u64 %rd1, [p]; ld.param.u64 %rd2, [n]; add.s64 %rd3, %rd1, %rd2; st.global.u8 [%rd3], %r1;"
    assert wide(body, ".u64 p", ".u64 n") == {"p": "written", "n": "written"}


def test_loaded_indices_are_not_pointers() -> None:
    body = """
        ld.param.u64 %rd1, [p]; ld.param.u64 %rd2, [at];
        ld.global.u64 %rd3, [%rd2]; shl.b64 %rd4, %rd3, 2; add.s64 %rd5, %rd1, %rd4;
        ld.global.f64 %fd1, [%rd2]; st.global.f64 [%rd5], %fd1;
    """
    assert wide(body, ".u64 p", ".u64 at") == {"p": "written", "at": "read"}


def test_structures_are_unknown_where_they_hold_pointers() -> None:
    body = """
        ld.param.u64 %rd1, [s+8]; st.global.u32 [%rd1], %r1;
        ld.param.u64 %rd2, [sizes]; ld.param.u64 %rd3, [p]; mad.lo.u64 %rd4, %rd2, 4, %rd3; ld.global.u32 %r2, [%rd4];
    """
    found = wide(body, ".align 8 .b8 s[16]", ".align 8 .b8 sizes[8]", ".u64 p")
    assert found == {"s": "unknown", "sizes": "none", "p": "read"}


def test_tensor_maps_are_unknown() -> None:
    body = """
        .shared .align 128 .b8 tile[128]; .shared .align 8 .b64 bar;
        mov.b64 %rd1, m; ld.param.u64 %rd2, [q];
        cp.async.bulk.tensor.1d.shared::cluster.global.mbarrier::complete_tx::bytes [tile], [%rd1, {%r1}], [bar];
        cp.async.bulk.tensor.1d.global.shared::cta.bulk_group [%rd2, {%r1}], [tile];
    """
    assert wide(body, ".align 64 .b8 m[128]", ".u64 q") == {"m": "unknown", "q": "unknown"}


def test_shared_memory_by_generic_addresses_is_the_kernels_own() -> None:
    body = """mov.u32 %r2, tile; cvt.u64.u32 %rd3, %r2; cvta.shared.u64 %rd4, %rd3; st.u32 [%rd4], %r1;
        ld.global.u64 %rd5, [%rd1]; st.global.u64 [%rd2], %rd5;"""
    assert accessed(body) == ("read", "written")


def test_textures_and_surfaces_are_read_and_written_through_their_handles() -> None:
    body = """
        ld.param.u64 %rd1, [t]; tex.1d.v4.s32.s32 {%r1, %r2, %r3, %r4}, [%rd1, {%r5}];
        ld.param.u64 %rd2, [s]; sust.b.1d.b32.trap [%rd2, {%r5}], %r1;
        ld.param.u64 %rd3, [u]; suld.b.1d.b32.trap %r6, [%rd3, {%r5}];
    """
    found = wide(body, ".u64 t", ".u64 s", ".u64 u")
    assert found == {"t": "read", "s": "written", "u": "read"}


def test_addresses_of_32_bits() -> None:
    body = "ld.param.u32 %r1, [p]; ld.param.u32 %r2, [q]; ld.global.u32 %r3, [%r1]; st.global.u32 [%r2], %r3;"
    head = ".version 6.0\n.target sm_50\n.address_size 32\n"
    text = f"{head}.visible .entry k(.param .u32 p, .param .u32 q)\n{{\n.reg .b32 %r<4>;\n{body}\n}}"
    assert pointer_accesses(parse(text).entries[0], 32) == {"p": "read", "q": "written"}


# The emulator as the judge: no load or store goes through a pointer that the analysis does not report -------------

FILES = [
    *sorted((ROOT / "examples" / "kernels").glob("*.sm_80.ptx")),
    *sorted((ROOT / "tests" / "corpus" / "ptx").glob("*.ptx")),
    ROOT / "tests" / "constructs" / "constructs.sm_80.ptx",
]
BYTES = 1 << 16  # of each buffer
ALLOWED: dict[Access, set[str]] = {
    "none": set(), "read": {"load"}, "written": {"store"}, "both": {"load", "store"}, "unknown": {"load", "store"},
}  # fmt: skip


@pytest.fixture
def done(monkeypatch: pytest.MonkeyPatch) -> Iterator[dict[str, set[str]]]:
    """By the emulator's name of a buffer, whether there were loads from it and stores to it."""
    found: dict[str, set[str]] = defaultdict(set)

    def watch(what: str) -> None:
        original = getattr(Space, what)

        def watched(space: Space, addresses: Any, *rest: Any) -> Any:
            for extent in space.extents if space.name == "global" else ():
                if ((addresses >= extent.start) & (addresses < extent.end)).any():
                    found[extent.name].add(what)
            return original(space, addresses, *rest)

        monkeypatch.setattr(Space, what, watched)

    for what in ("load", "store"):
        watch(what)
    yield found


def argument(parameter: Variable, pointer: bool) -> object:
    if parameter.dims:
        return bytes(parameter.size)
    if parameter.type.startswith("f"):
        return 1.5
    if parameter.size == 8 and pointer:
        return np.arange(BYTES // 8, dtype=np.int64) % 16
    return 8


def block(entry: Function) -> tuple[int, ...]:
    """64 threads, or as many as the entry has to have."""
    bounds = {d.name: [whole_number(v) for v in d.values] for d in entry.directives}
    return tuple(bounds.get(".reqntid", [min(64, bounds.get(".maxntid", [64])[0])]))


def run(module: Module, entry: Function, arguments: list[object]) -> None:
    """Runs the kernel until it fails: on made-up data most kernels leave their buffers sooner or later."""
    with suppress(EmulationFault, InputError):
        emulate(module, 2, block(entry), arguments, entry.name, shared=1 << 15, strict=False, max_steps=2000)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
def test_kernels_access_only_what_is_reported(done: dict[str, set[str]]) -> None:
    reading, writing = set(), set()
    for path in FILES:
        module = read(path)
        for entry in module.entries:
            reported = pointer_accesses(entry)
            accessed = tuple(name for name, access in reported.items() if access != "none")
            for pointers in dict.fromkeys([(*reported,), accessed]):
                done.clear()
                run(module, entry, [argument(p, p.name in pointers) for p in entry.parameters])
                for i, parameter in enumerate(entry.parameters):
                    name, what = f"{path.name} {entry.name} {parameter.name}", done[f"A:{i} ({parameter.name})"]
                    assert what <= ALLOWED[reported[parameter.name]], f"{name} is {reported[parameter.name]}"
                    reading |= {name} if "load" in what else set()
                    writing |= {name} if "store" in what else set()
    assert len(reading) > 100 and len(writing) > 100


HALVES = "ld.param.v2.u32 {%r2, %r3}, [k_out]; mov.b64 %rd5, {%r2, %r3}; add.s64 %rd6, %rd5, %rd1; "


@pytest.mark.parametrize(
    "body",
    [
        "sub.s64 %rd3, %rd2, %rd1; cvta.to.global.u64 %rd4, %rd1; add.s64 %rd5, %rd4, %rd3; st.global.u32 [%rd5], %r1;",
        "cvta.to.global.u64 %rd4, %rd1; ld.global.u32 %r2, [%rd4]; sub.s64 %rd3, %rd2, %rd1; add.s64 %rd5, %rd4, %rd3;"
        "add.s64 %rd6, %rd5, 4; st.global.u32 [%rd6], %r2;",
        HALVES + "st.global.u32 [%rd6], %r1;",
    ],
    ids=["distance", "amid it", "halves"],
)
def test_pointers_in_other_forms(body: str) -> None:
    """As a distance to another pointer, to which compilers reduce loops, and as two halves."""
    assert accessed(body)[1] == "written"
