"""What the kernels of tests/constructs/constructs.cu compute, thread by thread, in Python's integers."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

BLOCK = 256
INITIAL = -99  # the initial value of outputs


def s32(value: int) -> int:
    value &= 0xFFFFFFFF
    return value - ((value & 1 << 31) << 1)


@dataclass(frozen=True)
class Launch:
    """The input, `n`, and CTAs in the grid."""

    data: list[int]
    n: int
    ctas: int

    def at(self, i: int) -> int:
        return self.data[i % self.n]

    def of(self, cta: int) -> list[int]:
        """in[I % n] of each thread of a CTA."""
        return [self.at(cta * BLOCK + t) for t in range(BLOCK)]


Model = Callable[[Launch, int], list[int]]  # the outputs of a CTA
MODELS: dict[str, Model] = {}


def by_cta(model: Model) -> Model:
    MODELS[model.__name__] = model
    return model


def by_thread(model: Callable[[Launch, int, int], int]) -> Callable[[Launch, int, int], int]:
    """A model of one thread's work, given its number in the grid and in[I % n]."""
    MODELS[model.__name__] = lambda m, cta: [s32(model(m, i, m.at(i))) for i in range(cta * BLOCK, cta * BLOCK + BLOCK)]
    return model


@by_thread
def straight(m: Launch, i: int, v: int) -> int:
    return v * 3 + 1


@by_thread
def guard(m: Launch, i: int, v: int) -> int:
    return v + i if i < m.n else INITIAL


@by_thread
def guard_with_work(m: Launch, i: int, v: int) -> int:
    return v ^ 0x55 if i < m.n else -7


@by_thread
def if_else(m: Launch, i: int, v: int) -> int:
    if not v & 1:
        return 2 * v - 9
    return v * 12 + (m.at(v & 127) if v & 2 else 0)


@by_thread
def short_circuit(m: Launch, i: int, v: int) -> int:
    if (v & 3 == 1 and m.at(v & 63) > 100) or v & 12 == 4:
        return m.at(v & 255) * 2 + v
    return v


@by_thread
def divergent_loop(m: Launch, i: int, v: int) -> int:
    return sum(m.at(v + k & 1023) >> k for k in range(v & 15))


@by_thread
def loop_with_break(m: Launch, i: int, v: int) -> int:
    total, k = 3, 0
    while k < 20:
        total = s32(total * 5 + k)
        if (total ^ v) % 13 == 0:
            break
        total = s32(total + m.at(total & 511))
        k += 1
    return total + 100 * k


@by_thread
def return_in_loop(m: Launch, i: int, v: int) -> int:
    last = -1
    for k in range(12):
        v = s32(v * 7 + k)
        if v & 31 == 3:
            return last
        last = v
    return v + 1000


@by_thread
def nested_loops(m: Launch, i: int, v: int) -> int:
    total = 0
    for j in range((v & 3) + 1):
        total += sum(k * m.at(k + j) for k in range(j, v & 7))
        if total & 1:
            total += j
    return total


@by_thread
def grid_stride(m: Launch, i: int, v: int) -> int:
    step = m.ctas * BLOCK
    return sum(m.at(k) + k for k in range(i, 2 * step - 77, step))


@by_thread
def choose(m: Launch, i: int, v: int) -> int:
    cases = [v + 10, v * 3, v ^ 99, v - m.at(0), ~v, v << 2]
    return cases[v & 7] if v & 7 < 6 else v


@by_thread
def uniform_switch(m: Launch, i: int, v: int) -> int:
    for k in range(3):
        v = s32([v + 10, v * 3, v ^ 99, v - k, ~v][(i // BLOCK + k) % 5])
    return v


@by_thread
def carry(m: Launch, i: int, v: int) -> int:
    low, high = v * 0x9E3779B9 & 0xFFFFFFFF, m.at(i + 1) * 0x85EBCA6B & 0xFFFFFFFF
    whole = (low | high << 32) + (high | low << 32)
    return (whole & 0xFFFFFFFF) ^ (whole >> 32 & 0xFFFFFFFF) ^ (whole >> 64 << 7)


def twist(a: int, b: int) -> int:
    return s32(a * 3 - b if a > b else b * 5 + a)


@by_thread
def call(m: Launch, i: int, v: int) -> int:
    r = twist(v, 40)
    return twist(r, v) if v & 1 else r


@by_thread
def local_array(m: Launch, i: int, v: int) -> int:
    seen = list(range(8))
    for k in range(12):
        seen[v >> k & 7] += k
    return seen[v & 7] + seen[v >> 3 & 7]


@by_thread
def two_guards(m: Launch, i: int, v: int) -> int:
    if i >= m.n:
        return INITIAL
    return v if v & 4 else v * m.at(v + 1)


@by_cta
def barrier(m: Launch, cta: int) -> list[int]:
    return m.of(cta)[::-1]


@by_cta
def barriers_in_loop(m: Launch, cta: int) -> list[int]:
    totals = [0] * BLOCK
    for k in range(4):
        tile = [m.at(cta * BLOCK + t + k * 31) for t in range(BLOCK)]
        totals = [s32(total * 3 + tile[t * 7 + k & 255]) for t, total in enumerate(totals)]
    return totals


@by_cta
def guard_before_barrier(m: Launch, cta: int) -> list[int]:
    """An output without a partner is its old value plus 1."""
    first = cta * BLOCK
    living = [first + t < m.n for t in range(BLOCK)]
    partner = [m.at(first + (t ^ 1)) if first + (t ^ 1) < m.n else INITIAL for t in range(BLOCK)]
    return [p + 1 if lives else INITIAL for p, lives in zip(partner, living, strict=True)]


@by_cta
def block_reduce(m: Launch, cta: int) -> list[int]:
    return [sum(m.of(cta)) + t for t in range(BLOCK)]


def _votes(values: list[int]) -> int:
    return sum(v & 1 for v in values) * 4 + any(v == 12345 for v in values) * 2 + all(v >= 0 for v in values)


@by_cta
def barrier_vote(m: Launch, cta: int) -> list[int]:
    return [_votes(m.of(cta))] * BLOCK


@by_cta
def guard_before_barrier_vote(m: Launch, cta: int) -> list[int]:
    values = [v for t, v in enumerate(m.of(cta)) if cta * BLOCK + t < m.n - 40]
    return [_votes(values) if t < len(values) else INITIAL for t in range(BLOCK)]


def by_warp(model: Callable[[Launch, int, list[int]], list[int]]) -> None:
    """A model of one warp's work, given its first thread's number in the grid and in[I % n] of its lanes."""

    def outputs(m: Launch, cta: int) -> list[int]:
        values = m.of(cta)
        warps = (model(m, cta * BLOCK + w, values[w : w + 32]) for w in range(0, BLOCK, 32))
        return [s32(v) for warp in warps for v in warp]

    MODELS[model.__name__] = outputs


@by_warp
def warp_reduce(m: Launch, first: int, values: list[int]) -> list[int]:
    return [sum(values)] * 32


@by_warp
def guard_before_vote(m: Launch, first: int, values: list[int]) -> list[int]:
    living = max(0, min(32, m.n - 13 - first))
    lanes = (1 << living) - 1
    odd = sum(1 << lane for lane in range(living) if values[lane] & 1)
    found = [odd + living + (values[lane ^ 1] if lanes >> (lane ^ 1) & 1 else 0) for lane in range(living)]
    return found + [INITIAL] * (32 - living)


@by_warp
def divergent_shuffle(m: Launch, first: int, values: list[int]) -> list[int]:
    return [v + (values[lane ^ 4] if lane & 16 else 0) for lane, v in enumerate(values)]


@by_warp
def warp_uniform_loop(m: Launch, first: int, values: list[int]) -> list[int]:
    for lane in [lane for lane, v in enumerate(values) if v & 1]:
        values = [v + (values[lane] & 0xFF) for v in values]
    return values


@by_warp
def shuffle_after_loop(m: Launch, first: int, values: list[int]) -> list[int]:
    """A running sum over the lanes."""
    for lane, v in enumerate(values):
        k = 0
        while k < (v & 3):
            v = s32(v * 3 + m.at(v & 1023))
            k += 1
        values[lane] = v
    return [sum(values[: lane + 1]) for lane in range(32)]


@by_cta
def atomics(m: Launch, cta: int) -> list[int]:
    values = m.of(cta)
    return [sum(v & 31 == t & 31 for v in values) for t in range(BLOCK)]


@by_cta
def warp_leaves_before_barrier(m: Launch, cta: int) -> list[int]:
    values = m.of(cta)
    stays = [any(v > 960 for v in values[t & ~31 : (t & ~31) + 32]) for t in range(BLOCK)]
    return [values[t ^ 1] + 1 if stays[t] else INITIAL for t in range(BLOCK)]


@by_cta
def loop_between_barriers(m: Launch, cta: int) -> list[int]:
    tile = m.of(cta)
    sums = [sum(tile[t + k & 255] for k in range(v & 7)) for t, v in enumerate(tile)]
    return [sums[t * 5 + 3 & 255] for t in range(BLOCK)]
