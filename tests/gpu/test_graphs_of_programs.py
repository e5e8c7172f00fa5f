"""Programs of torch with Triton and of CuPy, captured and optimized on a real GPU. Run with -s to see the reports."""

import sys
from pathlib import Path
from typing import Any

import pytest

import goptx
from goptx.device.load import current_device
from goptx.errors import DeviceError

sys.path.append(str(Path(__file__).parents[2] / "benchmarks"))

pytestmark = pytest.mark.gpu


@pytest.fixture
def torch() -> Any:
    found = pytest.importorskip("torch")
    pytest.importorskip("triton")
    if not found.cuda.is_available() or not hasattr(found.cuda.CUDAGraph, "raw_cuda_graph"):
        pytest.skip("torch sees no GPU, or is older than raw_cuda_graph")
    return found


def test_a_tower_of_embedding_bags(torch: Any) -> None:
    from captured.torch_programs import tower

    run, inputs = tower(64, 1000, 64, 6)
    run(*inputs)
    torch.cuda.synchronize()
    graph = torch.cuda.CUDAGraph(keep_graph=True)
    with goptx.collect() as kernels, torch.cuda.graph(graph):
        outputs = run(*inputs)
    fast = goptx.optimize_graph(graph, kernels, tune=False)
    print(fast.report)
    assert fast.report.known == fast.report.nodes == 6
    assert fast.report.dependences == ()
    assert fast.report.fused
    graph.instantiate()
    graph.replay()
    expected = [x.clone() for x in outputs]
    for x in outputs:
        x.zero_()
    fast.replay()
    torch.cuda.synchronize()
    assert all(torch.equal(x, y) for x, y in zip(outputs, expected, strict=True))
    goptx.optimize_graph(graph, kernels).replay()
    torch.cuda.synchronize()
    assert all(torch.equal(x, y) for x, y in zip(outputs, expected, strict=True))


def test_arrays_that_share_memory_one_after_the_other_keep_their_order(torch: Any) -> None:
    """In the private pool, the second sum takes the memory of the first."""
    from captured import triton_kernels as kernels
    from captured.torch_programs import flat

    x = torch.arange(4096, device="cuda").to(torch.bfloat16) % 5
    results = [torch.empty_like(x) for _ in range(2)]

    def run() -> None:
        for i, result in enumerate(results):
            between = flat(kernels.added, x, x if i else results[0])
            kernels.added[(4,)](between, x, result, x.numel(), BLOCK=1024)
            del between

    results[0].zero_()
    run()
    torch.cuda.synchronize()
    graph = torch.cuda.CUDAGraph(keep_graph=True)
    with goptx.collect() as known, torch.cuda.graph(graph):
        run()
    assert known.arrays
    described = goptx.Graph.of(graph, known)
    assert described.nodes[0].parameters[2] == described.nodes[2].parameters[2]
    parallel = goptx.parallelize_graph(graph, known)
    assert (1, 2) in parallel.graph.edges
    graph.instantiate()
    found = []
    for replay in (graph.replay, parallel.replay):
        results[0].zero_()
        replay()
        torch.cuda.synchronize()
        found.append([r.clone() for r in results])
    assert all(torch.equal(a, b) for a, b in zip(*found, strict=True))


def test_products_share_the_sms_with_a_step_of_the_optimizer(torch: Any) -> None:
    """By folded grids, and the same bits; alone by the cost model, and measured."""
    from captured.compiled_programs import tensors_of
    from captured.torch_programs import training

    run, inputs = training()
    run(*inputs)
    torch.cuda.synchronize()
    graph = torch.cuda.CUDAGraph(keep_graph=True)
    with goptx.collect() as kernels, torch.cuda.graph(graph):
        outputs = run(*inputs)
    graph.instantiate()
    changed = [x for x in tensors_of(run) if x.dtype == torch.float32]
    before = [x.clone() for x in changed]
    found = []
    for tune in (None, False, True):
        if tune is None:
            replay = graph.replay
        else:
            fast = goptx.optimize_graph(graph, kernels, tune=tune)
            print(fast.report)
            replay = fast.replay
            assert tune or [group.strategy[:10] for group in fast.report.fused] == ["horizontal"]
        for to, of in zip(changed, before, strict=True):
            to.copy_(of)
        replay()
        torch.cuda.synchronize()
        found.append([x.clone() for x in (*changed, *outputs)])
    assert all(torch.equal(a, b) for other in found[1:] for a, b in zip(found[0], other, strict=True))


def test_arrays_that_are_held_do_not_share_memory(torch: Any) -> None:
    from captured import triton_kernels as kernels
    from captured.torch_programs import flat

    x = torch.arange(4096, device="cuda").to(torch.bfloat16)
    results = [torch.empty_like(x) for _ in range(4)]

    def run() -> None:
        for result in results:
            kernels.added[(4,)](flat(kernels.added, x, x), x, result, x.numel(), BLOCK=1024)

    run()
    torch.cuda.synchronize()
    edges = []
    for hold in (0, 16):
        graph = torch.cuda.CUDAGraph(keep_graph=True)
        with goptx.collect(hold) as known, torch.cuda.graph(graph):
            run()
        edges.append(goptx.parallelize_graph(graph, known).graph.edges)
    assert len(edges[0]) > 4
    assert edges[1] == ((0, 1), (2, 3), (4, 5), (6, 7))


def test_compiled_functions_run_as_compiled_while_arrays_are_held(torch: Any) -> None:
    x = torch.arange(4096, device="cuda").float()
    made = torch.compile(lambda x: (x * 2 + 1).relu())
    made(x)
    torch.cuda.synchronize()
    nodes = []
    for hold in (0, 16):
        graph = torch.cuda.CUDAGraph(keep_graph=True)
        with goptx.collect(hold) as known, torch.cuda.graph(graph):
            made(x)
        nodes.append([node.entry for node in goptx.Graph.of(graph, known).nodes])
    assert nodes[0] == nodes[1]
    assert len(nodes[0]) == 1


def test_a_function_of_torch(torch: Any) -> None:
    from captured.torch_programs import tower

    run, inputs = tower(64, 1000, 64, 6)
    fast = goptx.torch.optimize(run, *inputs)
    print(fast, fast.report)
    assert fast.reason == "" and fast.report is not None
    other = [torch.randint_like(x, 1000) for x in inputs]
    assert all(torch.equal(a, b) for a, b in zip(fast(*other), run(*other), strict=True))
    fewer = [x[:32].contiguous() for x in inputs]
    assert fast(*inputs) is fast.outputs
    run(*fewer)
    assert fast(*fewer) is not fast.outputs


def test_functions_that_cannot_be_optimized_still_run(torch: Any) -> None:
    x = torch.ones(1000, device="cuda")
    weight = torch.full((1000,), 3.0, device="cuda", requires_grad=True)
    waits = goptx.torch.optimize(lambda x: x + float(x.sum()), x)
    assert waits.reason.startswith("it cannot be captured")
    assert waits(x)[0].item() == 1001
    draws = goptx.torch.optimize(lambda x: torch.nn.functional.dropout(x, 0.5), x)
    assert "random numbers" in draws.reason
    assert not torch.equal(draws(x).clone(), draws(x))
    learns = goptx.torch.optimize(lambda x: x * weight, x)
    assert "gradients" in learns.reason
    learns(x).sum().backward()
    assert torch.equal(weight.grad, x)


def test_a_function_of_kernels_without_ptx(torch: Any) -> None:
    x = torch.rand(256, 256, device="cuda")
    fast = goptx.torch.optimize(lambda x: torch.zeros_like(x).add_(x @ x).relu(), x)
    print(fast, fast.report)
    y = torch.rand(256, 256, device="cuda")
    assert torch.equal(fast(y), (y @ y).relu())


def test_a_pipeline_of_cupy() -> None:
    cupy = pytest.importorskip("cupy")
    try:
        current_device()
    except DeviceError as error:
        pytest.skip(str(error))
    from captured.array_programs import images

    start, (out,) = images(64, 48)
    stream = cupy.cuda.Stream(non_blocking=True)
    start(stream)
    stream.synchronize()
    expected = out.copy()
    with goptx.collect() as kernels:
        stream.begin_capture()
        start(stream)
        graph = stream.end_capture()
    for tune in (False, True):
        fast = goptx.optimize_graph(graph, kernels, tune=tune)
        print(fast.report)
        assert fast.report.known == 13
        out[:] = 0
        cupy.cuda.Device().synchronize()
        fast.replay(stream)
        stream.synchronize()
        assert bool((out == expected).all())
