# mypy: disable-error-code="no-untyped-call,no-untyped-def,untyped-decorator"
"""Makes the graphs of ../programs_as_graphs.ipynb without a GPU: Triton compiles the kernels, addresses are made up.

python examples/graphs/tower.py

On a GPU, `goptx.Graph.of(graph, kernels).save("step.json")` writes the same of any captured program.
"""

import os
import struct
import sys
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path

os.environ["TRITON_DISABLE_LINE_INFO"] = "1"
os.environ.setdefault("TRITON_DEFAULT_FP_FUSION", "1")  # as up to Triton 3.9, without its warning

try:
    import triton
    import triton.language as tl
    from triton.backends.compiler import GPUTarget
    from triton.compiler import ASTSource
except ImportError as error:
    print(f"skipped: {error}; pip install triton")
    sys.exit(77)

from goptx.graph.graph_description import Allocation, Graph, GraphNode, sha_of

SAMPLES, ROWS, DIM = 8, 64, 128
POOLED = (2, 5, 3, 4)  # rows that each bag adds up for a sample
FOLDER = Path(__file__).parent


@triton.jit
def bag(weight, indices, out, pooled, DIM: tl.constexpr):
    """out[sample] is the sum of `pooled` rows of the table."""
    sample = tl.program_id(0)
    columns = tl.arange(0, DIM)
    total = tl.zeros((DIM,), tl.float32)
    for i in range(pooled):
        row = tl.load(indices + sample * pooled + i)
        total += tl.load(weight + row * DIM + columns)
    tl.store(out + sample * DIM + columns, total)


@triton.jit
def norm(x, y, eps, DIM: tl.constexpr):
    """The RMS norm of each row."""
    at = tl.program_id(0) * DIM + tl.arange(0, DIM)
    value = tl.load(x + at)
    tl.store(y + at, value * tl.rsqrt(tl.sum(value * value) / DIM + eps))


@triton.jit
def added(x, y, z, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = i < n
    tl.store(z + i, tl.load(x + i, mask=inside) + tl.load(y + i, mask=inside), mask=inside)


def text_of(kernel, types, **constants):
    """The PTX of a kernel whose parameters have these types; addresses are multiples of 16."""
    names = kernel.arg_names
    signature = dict(zip(names, types, strict=False)) | dict.fromkeys(constants, "constexpr")
    values = {(names.index(name),): value for name, value in constants.items()}
    aligned = {(i,): [["tt.divisibility", 16]] for i, kind in enumerate(types) if kind.startswith("*")}
    source = ASTSource(kernel, signature, values, aligned)
    made = triton.compile(source, target=GPUTarget("cuda", 90, 32), options={"num_warps": 4, "ptx_version": 87})
    return made.asm["ptx"], made.metadata.shared


@dataclass
class Program:
    """What is launched, one after the other. `hold`: no array takes the memory of one that is not needed any more."""

    hold: bool
    nodes: list[GraphNode] = field(default_factory=list)
    sizes: dict[int, int] = field(default_factory=dict)  # of arrays, by their addresses
    free: dict[int, int] = field(default_factory=dict)  # of those that are not needed any more
    texts: dict[str, str] = field(default_factory=dict)

    def array(self, size):
        """As an allocator does: memory that is free and large enough, or else new memory."""
        found = min((at for at, room in self.free.items() if room >= size), default=None)
        if found is not None:
            del self.free[found]
            return found
        at = 0x7F0000000000 + sum(-(-s // 512) * 512 for s in self.sizes.values())
        self.sizes[at] = size
        return at

    def done(self, *arrays):
        if not self.hold:
            self.free |= {at: self.sizes[at] for at in arrays}

    def launch(self, kernel, made, grid, *parameters):
        text, shared = made
        self.texts[sha_of(text)] = text
        own = (*parameters, pointer(0), pointer(0))  # Triton's scratch
        self.nodes.append(
            GraphNode(len(self.nodes), kernel.__name__, (grid, 1, 1), (128, 1, 1), shared, own, sha_of(text))
        )


def pointer(address):
    return struct.pack("<Q", address)


def tower(hold):
    """Each bag is normed and added to what there is."""
    program = Program(hold)
    of_bags = text_of(bag, ["*fp32", "*i32", "*fp32", "i32"], DIM=DIM)
    of_norms = text_of(norm, ["*fp32", "*fp32", "fp32"], DIM=DIM)
    of_sums = text_of(added, ["*fp32", "*fp32", "*fp32", "i32"], BLOCK=1024)
    size, number = SAMPLES * DIM * 4, struct.pack("<i", SAMPLES * DIM)
    inputs = [(program.array(ROWS * DIM * 4), program.array(SAMPLES * pooled * 4)) for pooled in POOLED]
    total = program.array(size)
    for (weight, indices), pooled in zip(inputs, POOLED, strict=True):
        found = program.array(size)
        own = pointer(weight), pointer(indices), pointer(found), struct.pack("<i", pooled)
        program.launch(bag, of_bags, SAMPLES, *own)
        normed = program.array(size)
        program.launch(norm, of_norms, SAMPLES, pointer(found), pointer(normed), struct.pack("<f", 1e-5))
        program.done(found)
        new = program.array(size)
        program.launch(added, of_sums, 1, pointer(total), pointer(normed), pointer(new), number)
        program.done(normed, total)
        total = new
    ids = [node.id for node in program.nodes]
    memory = tuple(Allocation(at, size) for at, size in sorted(program.sizes.items()))
    return Graph(tuple(program.nodes), tuple(pairwise(ids)), memory, program.texts)


if __name__ == "__main__":
    for name, hold in (("tower", False), ("tower_held", True)):
        tower(hold).save(FOLDER / f"{name}.json")
        print(f"{name}.json: {tower(hold)}")
