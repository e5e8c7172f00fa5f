"""Triton kernels: matrix product by pointers and by tensor descriptors, softmax, layer norm, attention, and small change."""

import triton
import triton.language as tl


@triton.jit
def matmul(a, b, c, m, n, k, stride_a, stride_b, stride_c, TILE_M: tl.constexpr, TILE_N: tl.constexpr, TILE_K: tl.constexpr):
    rows = tl.program_id(0) * TILE_M + tl.arange(0, TILE_M)
    columns = tl.program_id(1) * TILE_N + tl.arange(0, TILE_N)
    inner = tl.arange(0, TILE_K)
    at_a = a + rows[:, None] * stride_a + inner[None, :]
    at_b = b + inner[:, None] * stride_b + columns[None, :]
    total = tl.zeros((TILE_M, TILE_N), dtype=tl.float32)
    for i in range(0, tl.cdiv(k, TILE_K)):
        left = tl.load(at_a, mask=inner[None, :] < k - i * TILE_K, other=0.0)
        right = tl.load(at_b, mask=inner[:, None] < k - i * TILE_K, other=0.0)
        total = tl.dot(left, right, total)
        at_a += TILE_K
        at_b += TILE_K * stride_b
    inside = (rows[:, None] < m) & (columns[None, :] < n)
    tl.store(c + rows[:, None] * stride_c + columns[None, :], total.to(c.dtype.element_ty), mask=inside)


@triton.jit
def matmul_by_descriptors(a, b, c, m, n, k, TILE_M: tl.constexpr, TILE_N: tl.constexpr, TILE_K: tl.constexpr):
    tiles_a = tl.make_tensor_descriptor(a, (m, k), (k, 1), (TILE_M, TILE_K))
    tiles_b = tl.make_tensor_descriptor(b, (n, k), (k, 1), (TILE_N, TILE_K))
    tiles_c = tl.make_tensor_descriptor(c, (m, n), (n, 1), (TILE_M, TILE_N))
    row = tl.program_id(0) * TILE_M
    column = tl.program_id(1) * TILE_N
    total = tl.zeros((TILE_M, TILE_N), dtype=tl.float32)
    for i in range(0, k, TILE_K):
        total = tl.dot(tiles_a.load([row, i]), tiles_b.load([column, i]).T, total)
    tiles_c.store([row, column], total.to(tl.float16))


@triton.jit
def softmax(out, x, stride, columns, TILE: tl.constexpr):
    row = tl.program_id(0)
    at = tl.arange(0, TILE)
    values = tl.load(x + row * stride + at, mask=at < columns, other=-float("inf"))
    values = tl.exp(values - tl.max(values, axis=0))
    tl.store(out + row * stride + at, values / tl.sum(values, axis=0), mask=at < columns)


@triton.jit
def layer_norm(x, out, weight, bias, mean, deviation, stride, columns, epsilon, TILE: tl.constexpr):
    row = tl.program_id(0)
    total = tl.zeros([TILE], dtype=tl.float32)
    squares = tl.zeros([TILE], dtype=tl.float32)
    for begin in range(0, columns, TILE):
        at = begin + tl.arange(0, TILE)
        value = tl.load(x + row * stride + at, mask=at < columns, other=0.0).to(tl.float32)
        total += value
        squares += value * value
    average = tl.sum(total, axis=0) / columns
    scale = tl.rsqrt(tl.sum(squares, axis=0) / columns - average * average + epsilon)
    tl.store(mean + row, average)
    tl.store(deviation + row, scale)
    for begin in range(0, columns, TILE):
        at = begin + tl.arange(0, TILE)
        value = tl.load(x + row * stride + at, mask=at < columns, other=0.0).to(tl.float32)
        factor = tl.load(weight + at, mask=at < columns)
        shift = tl.load(bias + at, mask=at < columns)
        tl.store(out + row * stride + at, (value - average) * scale * factor + shift, mask=at < columns)


@triton.jit
def attention(q, k, v, out, scale, length, stride, CAUSAL: tl.constexpr, ROWS: tl.constexpr, KEYS: tl.constexpr, WIDTH: tl.constexpr):
    rows = tl.program_id(0) * ROWS + tl.arange(0, ROWS)
    keys = tl.arange(0, KEYS)
    lanes = tl.arange(0, WIDTH)
    base = tl.program_id(1) * length * stride
    query = tl.load(q + base + rows[:, None] * stride + lanes[None, :], mask=rows[:, None] < length, other=0.0)
    largest = tl.full([ROWS], float("-inf"), dtype=tl.float32)
    weights = tl.zeros([ROWS], dtype=tl.float32)
    total = tl.zeros([ROWS, WIDTH], dtype=tl.float32)
    end = tl.minimum((tl.program_id(0) + 1) * ROWS, length) if CAUSAL else length
    for begin in range(0, end, KEYS):
        at = begin + keys
        key = tl.load(k + base + at[None, :] * stride + lanes[:, None], mask=at[None, :] < length, other=0.0)
        score = tl.dot(query, key) * scale
        seen = at[None, :] < length
        if CAUSAL:
            seen = seen & (rows[:, None] >= at[None, :])
        score = tl.where(seen, score, float("-inf"))
        new = tl.maximum(largest, tl.max(score, 1))
        shrink = tl.exp2(largest - new)
        weight = tl.exp2(score - new[:, None])
        value = tl.load(v + base + at[:, None] * stride + lanes[None, :], mask=at[:, None] < length, other=0.0)
        weights = weights * shrink + tl.sum(weight, 1)
        total = tl.dot(weight.to(value.dtype), value, total * shrink[:, None])
        largest = new
    total = total / weights[:, None]
    tl.store(out + base + rows[:, None] * stride + lanes[None, :], total.to(out.dtype.element_ty), mask=rows[:, None] < length)


@triton.jit
def scan_and_sort(x, out, counts, n, TILE: tl.constexpr):
    at = tl.program_id(0) * TILE + tl.arange(0, TILE)
    value = tl.load(x + at, mask=at < n, other=0)
    running = tl.cumsum(value, axis=0)
    ordered = tl.sort(value)
    tl.atomic_add(counts + (value & 31), 1, mask=at < n)
    tl.atomic_max(counts + 32, tl.max(running, axis=0), sem="relaxed", scope="gpu")
    old = tl.atomic_cas(counts + 33, 0, 1)
    noise = tl.rand(old, at) + tl.randn(7, at)
    tl.device_print("sum", tl.sum(value, axis=0))
    tl.debug_barrier()
    tl.store(out + at, (running + ordered).to(tl.float32) * noise, mask=at < n)


# Of each kernel to build: types of the parameters, constants, options.
POINTERS = {"fp16": "*fp16", "bf16": "*bf16", "fp8": "*fp8e4nv"}


def product(kind: str, sixteen_bits_out: str = "fp16") -> dict[str, str]:
    numbers = dict.fromkeys("m n k stride_a stride_b stride_c".split(), "i32")
    return {"a": POINTERS[kind], "b": POINTERS[kind], "c": f"*{sixteen_bits_out}", **numbers}


ROWS = dict.fromkeys(("x", "out", "weight", "bias", "mean", "deviation"), "*fp32") | {
    "stride": "i32", "columns": "i32", "epsilon": "fp32",
}  # fmt: skip
HEADS = dict.fromkeys("qkv", "*fp16") | {"out": "*fp16", "scale": "fp32", "length": "i32", "stride": "i32"}
DESCRIBED = {"a": "*fp16", "b": "*fp16", "c": "*fp16", "m": "i32", "n": "i32", "k": "i32"}
SQUARE = {"TILE_M": 64, "TILE_N": 64, "TILE_K": 32}
LARGE = {"TILE_M": 128, "TILE_N": 128, "TILE_K": 64}
KERNELS = {
    "matmul": (matmul, product("fp16"), SQUARE, {}),
    "matmul_large": (matmul, product("fp16"), LARGE, {"num_warps": 8, "num_stages": 4}),
    "matmul_bf16": (matmul, product("bf16", "fp32"), SQUARE, {"num_warps": 2}),
    "matmul_fp8": (matmul, product("fp8"), LARGE, {}),
    "matmul_by_descriptors": (matmul_by_descriptors, DESCRIBED, LARGE, {"num_warps": 4}),
    "softmax": (softmax, {"out": "*fp32", "x": "*fp32", "stride": "i32", "columns": "i32"}, {"TILE": 1024}, {}),
    "layer_norm": (layer_norm, ROWS, {"TILE": 512}, {"num_warps": 4}),
    "attention": (attention, HEADS, {"CAUSAL": True, "ROWS": 64, "KEYS": 32, "WIDTH": 64}, {}),
    "scan_and_sort": (scan_and_sort, {"x": "*i32", "out": "*fp32", "counts": "*i32", "n": "i32"}, {"TILE": 256}, {}),
}
