"""`wgmma` with more sums than a thread has registers when a fused kernel begins."""

import re
from dataclasses import dataclass

import pytest
from strategies.products import BYTES, CASES, OTHER, TILES, Case, descriptor, kernel

from goptx import CannotWeave, Shape
from goptx.analysis.build_cfg import flow_as_written
from goptx.analysis.registers.register_demand import BELOW_SUMS
from goptx.cost.hardware import machine_of
from goptx.cost.units.tensor_cores import lines_read, tensor_cycles
from goptx.latency.slots import moved_bytes
from goptx.ptx.ir import Instruction, Name, Vector
from goptx.ptx.parse import parse
from goptx.results.fused_kernel import Woven
from goptx.strategies.horizontal import horizontal
from goptx.weaving.folding.divided_products import FEWEST_COLUMNS, pieces_for, possible_pieces

MANY, FEW = (168, 112), (168, 40)  # registers of each kernel; those at entry: 128, 72
POSSIBLE = {256: (1, 2, 4), 192: (1, 2, 3), 128: (1, 2)}
PRODUCTS = re.compile(r"wgmma\.mma_async\S*\.m64n(\d+)k\d+\S* \{([^}]*)\}, (\{[^}]*\}|\S+), (\S+), ([^;]*);")


@dataclass
class Piece:
    """One `wgmma` of a text: its columns, sums, A, what follows B, and how far B's descriptor is from the kernel's."""

    columns: int
    sums: list[str]
    a: str
    rest: str
    further: int


def fused(case: Case, registers: tuple[int, int], arch: str = "sm_90a", threads: int = 384) -> Woven:
    texts = [text.replace("sm_90a", arch) for text in (kernel(case), OTHER)]
    shapes = [Shape(4, 128, BYTES), Shape(64, threads)]
    return horizontal(*texts, shapes=shapes, fold="ticket", role_registers=registers, arch=arch)


def pieces(ptx: str, case: Case) -> list[Piece]:
    found, fields = [], descriptor(case)
    for columns, sums, a, b, rest in PRODUCTS.findall(ptx):
        added = re.search(rf"add\.s64 {b}, \S+, (\d+);", ptx)
        scaled = re.search(rf"bfe\.u64 (\S+), (\S+), 32, 14;\s*mad\.lo\.s64 {b}, \1, (\d+), \2;", ptx)
        further = int(added[1]) if added else int(scaled[3]) * (fields >> 32 & 0x3FFF) if scaled else 0
        found.append(Piece(int(columns), sums.split(", "), a, rest, further))
    return found


def address(case: Case, column: int) -> int:
    """Where the first element of a column of B begins, in bytes, before the pattern is applied: the canonical layouts
    of the manual."""
    fields = descriptor(case)
    leading, stride = ((fields >> bit & 0x3FFF) << 4 for bit in (16, 32))
    if not case.transposed:
        row = 16 if not case.swizzle else 256 >> case.swizzle
        return column // 8 * stride + column % 8 * row
    if not case.swizzle:
        return column // 8 * stride + column % 8 * 2
    wide = 128 >> case.swizzle  # columns of a pattern
    return column // wide * leading + column % wide * 2


@pytest.mark.parametrize("case", CASES, ids=str)
@pytest.mark.parametrize("registers, room", [(MANY, 128), (FEW, 72)], ids=["two", "four"])
def test_the_pieces_are_the_product(case: Case, registers: tuple[int, int], room: int) -> None:
    """Of each column the same sums, and the same place in shared memory; no piece has more sums than there is room
    for, and none is smaller than needed."""
    whole, *none = pieces(kernel(case), case)
    assert not none
    made = fused(case, registers)
    found = pieces(made.ptx, case)
    assert len(found) == next(n for n in POSSIBLE[case.n] if len(whole.sums) // n + BELOW_SUMS <= room)
    assert {piece.columns * len(found) for piece in found} == {case.n}
    per_column = len(whole.sums) / case.n
    for number, piece in enumerate(found):
        first = number * piece.columns
        expected = whole.sums[int(first * per_column) : int((first + piece.columns) * per_column)]
        assert [name.replace("%a_", "%") for name in piece.sums] == expected
        assert (piece.a.replace("%a_", "%"), piece.rest.replace("%a_", "%")) == (whole.a, whole.rest)
        for column in range(piece.columns):
            assert address(case, column) + 16 * piece.further == address(case, first + column)
    notes = [note for note in made.report.notes if "`wgmma` of" in note]
    assert len(notes) == (len(found) > 1)
    if notes:
        assert f"{case.n} columns into pieces of {case.n // len(found)}: a thread has {room} registers" in notes[0]


def test_what_fits_stays_as_it_is() -> None:
    assert len(pieces(fused(CASES[0], (168, 160), threads=128).ptx, CASES[0])) == 1


@pytest.mark.parametrize(
    "case, arch",
    [(Case(256, transposed=True, loaded=True), "sm_90a"), (Case(96), "sm_90a"), (Case(256), "sm_90")],
    ids=["unknown", "narrow", "not moved"],
)
def test_what_cannot_be_divided_is_refused(case: Case, arch: str) -> None:
    """Where columns lie is not known; the pieces would be too narrow; the target cannot move registers."""
    with pytest.raises(CannotWeave, match="a `wgmma` of the kernel takes") as refused:
        fused(case, FEW, arch)
    assert refused.value.rule == "launch-bounds"


def products(case: Case) -> list[Instruction]:
    flow = flow_as_written(parse(kernel(case)).entries[0].body or (), "test")
    return [i for i in flow.instructions() if i.opcode.startswith("wgmma.mma")]


def test_how_many_pieces_are_possible() -> None:
    flows = {n: flow_as_written(parse(kernel(Case(n))).entries[0].body or (), "test") for n in (*POSSIBLE, 96, 8)}
    assert {n: possible_pieces(flow) for n, flow in flows.items()} == {**POSSIBLE, 96: (1,), 8: (1,)}
    assert FEWEST_COLUMNS == 64 and TILES % 16 == 0
    assert [pieces_for(128, room, (1, 2, 4)) for room in (154, 153, 90, 89, 24)] == [1, 2, 2, 4, 4]
    assert pieces_for(128, 64, (1, 2)) == 2


def test_what_a_product_takes() -> None:
    """An H200 multiplies 64 x 256 by 16 halves in 128 cycles, of doubles and bytes half and twice as many; A and B are
    2 and 8 KB, of which each warp reads a quarter."""
    machine = machine_of("sm_90a")
    (whole,) = products(Case(256))
    (small,) = products(Case(128, in_registers=True))
    assert tensor_cycles(whole.opcode, machine) == 128 and lines_read(whole) == (4, 16)
    assert tensor_cycles(small.opcode, machine) == 64 and lines_read(small) == (0, 8)
    assert isinstance(small.operands[1], Vector)
    for element in ("tf32", "e4m3"):
        (other,) = products(Case(256, element=element))
        assert tensor_cycles(other.opcode, machine) == 128 and lines_read(other) == (4, 16)
    half = "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32"
    sparse = "mma.sp.sync.aligned.m16n8k32.row.col.f32.f16.f16.f32"
    assert tensor_cycles(half, machine) == tensor_cycles(sparse, machine) == pytest.approx(5.98, rel=0.01)
    assert tensor_cycles("wmma.mma.sync.aligned.row.col.m16n16k16.f16.f16", machine) == pytest.approx(11.94, rel=0.01)
    assert tensor_cycles(half, machine_of("sm_80")) == 8
    assert not any(tensor_cycles(o, machine) for o in ("add.f32", "wmma.load.a.sync.aligned.row.m16n16k16.f16"))


@pytest.mark.parametrize(
    ("opcode", "each"),
    [
        ("wmma.load.a.sync.aligned.row.m16n16k16.f16", 16),  # 512 bytes, of which lanes hold each twice
        ("wmma.load.b.sync.aligned.col.m8n32k16.f16", 32),
        ("wmma.load.c.sync.aligned.row.m16n16k16.f32", 32),
        ("wmma.store.d.sync.aligned.row.m32n8k16.f16", 16),
        ("wmma.load.a.sync.aligned.row.m8n8k32.s4", 4),
        ("ld.global.v4.f32", 16),
    ],
)
def test_bytes_of_a_lane(opcode: str, each: int) -> None:
    assert moved_bytes(Instruction(opcode, (Vector((Name("%r1"),) * 8), Name("%rd1")))) == each
