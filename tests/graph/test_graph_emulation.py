"""Graphs on the emulator: kernels see the addresses of the graph, and memory goes on from node to node."""

from dataclasses import replace

import numpy as np
import pytest
from graph.graph_kernels import BASE, SIZE, N, added, buffer, chain, counter, indirect, launch, opaque, scaled, u64

import goptx
from goptx.errors import EmulationFault, InputError
from goptx.graph.graph_description import Allocation, Graph, sha_of

X = np.arange(N, dtype=np.uint32)
DIAMOND = chain(scaled(0, 0, 1), scaled(1, 0, 2, constant=5), added(2, 1, 2, 3))


def words(memory: np.ndarray) -> list[int]:
    return [int(n) for n in memory.view(np.uint32)]


def test_a_graph_computes_what_its_kernels_do() -> None:
    done = goptx.emulate_graph(DIAMOND, {buffer(0): X})
    assert words(done.memory[buffer(3)]) == list(8 * X + 2)
    assert list(done.launches) == [0, 1, 2]
    assert done.launches[2].issued == done.launches[2].kernels["A"].issued > 0


def test_what_is_given_is_not_changed() -> None:
    x = np.zeros(N, np.uint32)
    goptx.emulate_graph(chain(scaled(0, 0, 0)), {buffer(0): x})
    assert not x.any()


def test_memory_may_be_bytes_and_begin_within_an_allocation() -> None:
    done = goptx.emulate_graph(chain(scaled(0, 0, 1)), {buffer(0) + 8: b"\x05\0\0\0"})
    assert words(done.memory[buffer(1)])[:4] == [1, 1, 16, 1]


@pytest.mark.parametrize("seed", range(1, 5))
def test_an_order_that_the_edges_allow_gives_the_same(seed: int) -> None:
    expected = goptx.emulate_graph(DIAMOND, {buffer(0): X}).memory
    found = goptx.emulate_graph(goptx.parallelize_graph(DIAMOND), {buffer(0): X}, seed=seed).memory
    assert all(np.array_equal(found[address], expected[address]) for address in expected)


def test_an_order_that_does_not_matter_is_changed() -> None:
    orders = {
        tuple(goptx.emulate_graph(goptx.parallelize_graph(DIAMOND), {buffer(0): X}, seed=seed).launches)
        for seed in range(1, 8)
    }
    assert orders == {(0, 1, 2), (1, 0, 2)}


def test_variables_of_a_module_go_on() -> None:
    graph = chain(*(launch(i, counter(), "count", u64(buffer(i)), grid=1, block=1) for i in range(3)))
    done = goptx.emulate_graph(graph)
    assert [words(done.memory[buffer(i)])[0] for i in range(3)] == [1, 2, 3]


def test_addresses_in_memory_are_those_of_the_graph() -> None:
    graph = chain(launch(0, indirect(), "indirect", u64(buffer(0)), grid=1, block=1))
    done = goptx.emulate_graph(graph, {buffer(0): u64(buffer(1) + 4)})
    assert words(done.memory[buffer(1)])[:3] == [0, 1, 0]


@pytest.mark.parametrize("address", [0x1000, 0x10000000, 0x302000000, 0x100000000000, 0x700000000000, BASE])
def test_allocations_may_lie_anywhere(address: int) -> None:
    node, text = launch(0, indirect(), "indirect", u64(address), grid=1, block=1)
    graph = Graph((node,), (), (Allocation(address, 16),), {str(node.ptx): text})
    assert words(goptx.emulate_graph(graph, {address: u64(address + 8)}).memory[address])[2] == 1


def test_generic_addresses_may_lie_anywhere() -> None:
    address = 0x100000000000
    text = indirect().replace("ld.global", "ld").replace("st.global", "st")
    node, text = launch(0, text, "indirect", u64(address), grid=1, block=1)
    graph = Graph((node,), (), (Allocation(address, 16),), {str(node.ptx): text})
    assert words(goptx.emulate_graph(graph, {address: u64(address + 8)}).memory[address])[2] == 1


def test_an_address_of_the_emulator_is_refused() -> None:
    node, text = scaled(0, 0, 1)
    graph = Graph((node,), (), (Allocation(0x10000000000, 16),), {str(node.ptx): text})
    with pytest.raises(InputError, match="its own shared addresses"):
        goptx.emulate_graph(graph)


def test_an_access_beyond_an_allocation_names_the_node() -> None:
    graph = chain(scaled(0, 0, 1), scaled("late", 0, 1, n=N + 1, grid=3))
    with pytest.raises(
        EmulationFault, match=r"node 'late': .*nearest is the allocation at 0x7f0000000000 of 1024"
    ) as at:
        goptx.emulate_graph(graph)
    assert at.value.kind == "out of bounds"


@pytest.mark.parametrize(
    ("graph", "memory", "message"),
    [
        (chain(opaque(0)), {}, "node 0: a kernel node without PTX cannot be emulated"),
        (chain(opaque(0, kind="host")), {}, "node 0: a host node"),
        (DIAMOND, [X], "memory takes contents by address, not `list`"),
        (DIAMOND, {12: X}, "no allocation of the graph has the address 0xc"),
        (DIAMOND, {buffer(0): bytes(SIZE + 1)}, "1025 bytes from .* are more than its allocation has, 1024"),
        (DIAMOND, {buffer(0): [1]}, "takes a numpy array or bytes, not `list`"),
        (chain(more=[Allocation(1 << 40, 1 << 31)], buffers=0), {}, "more than 1073741824 bytes"),
    ],
)
def test_bad_input_is_refused(graph: Graph, memory: dict[int, object], message: str) -> None:
    with pytest.raises(InputError, match=message):
        goptx.emulate_graph(graph, memory)


def test_a_seed_is_a_number_from_0_on() -> None:
    with pytest.raises(InputError, match="seed=-1 is not a whole number from 0 on"):
        goptx.emulate_graph(DIAMOND, seed=-1)


def test_a_launch_with_much_shared_memory_is_refused() -> None:
    node, text = scaled(0, 0, 1)
    text = text.replace("    .reg .pred %p;", "    .reg .pred %p;\n    .shared .align 4 .b8 tile[1024];", 1)
    large = replace(node, shared=227 * 1024, ptx=sha_of(text))
    with pytest.raises(InputError, match="node 0: 233472 bytes of shared memory are more than a CTA has"):
        goptx.emulate_graph(chain((large, text)))


def test_a_launch_that_its_entry_forbids_is_refused() -> None:
    node, text = scaled(0, 0, 1)
    text = text.replace("{\n", ".reqntid 32, 1, 1\n{\n", 1)
    with pytest.raises(InputError, match="contradicts"):
        goptx.emulate_graph(chain(launch(0, text, node.entry, *node.parameters)))
