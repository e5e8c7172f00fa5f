"""Integer multiplication: `mul`, `mad` and their 24-bit forms, and the dot products `dp4a` and `dp2a`.

Requires: the contract of `Lanewise`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np

from goptx.emulator.instructions.lanewise import DTYPES, Array, Lanewise

INTEGERS = ("u16", "u32", "u64", "s16", "s32", "s64")
WIDE = {"u16": "u32", "u32": "u64", "s16": "s32", "s32": "s64"}  # the type of exact products

_HALF, _LOW_HALF, _SIGN_BIT = np.uint64(32), np.uint64(0xFFFFFFFF), np.int64(63)
_LOWEST, _HIGHEST = np.int64(-(2**31)), np.int64(2**31 - 1)


def saturate(exact: Array) -> Array:
    """Values outside of s32 become its nearest bound; `exact` is s64."""
    return np.minimum(np.maximum(exact, _LOWEST), _HIGHEST).astype(np.int32)


def high_product(t: str) -> Callable[[Array, Array], Array]:
    """The upper half of the product of two integers of type `t`."""
    if t == "u64":
        return _high_product_u64
    if t == "s64":
        return _high_product_s64
    return _part(t, 8 * DTYPES[t].itemsize)


def _exact_product(wide_type: str) -> Callable[[Array, Array], Array]:
    wide = DTYPES[wide_type]
    return lambda a, b: a.astype(wide) * b.astype(wide)


def _part(t: str, first: int) -> Callable[[Array, Array], Array]:
    """As many bits of the exact product as type `t` has, beginning at bit `first`."""
    dtype, wide = DTYPES[t], DTYPES[WIDE[t]]
    shift = wide.type(first)
    return lambda a, b: (a.astype(wide) * b.astype(wide) >> shift).astype(dtype)


def _high_product_u64(a: Array, b: Array) -> Array:
    """By schoolbook multiplication of 32-bit halves; no sum of these overflows."""
    a_low, a_high, b_low, b_high = a & _LOW_HALF, a >> _HALF, b & _LOW_HALF, b >> _HALF
    middle = a_high * b_low + ((a_low * b_low) >> _HALF)
    high: Array = a_high * b_high + (middle >> _HALF) + ((a_low * b_high + (middle & _LOW_HALF)) >> _HALF)
    return high


def _high_product_s64(a: Array, b: Array) -> Array:
    """Corrects the unsigned product: negative operands were taken as too large by 2**64."""
    unsigned = _high_product_u64(a.view(np.uint64), b.view(np.uint64)).view(np.int64)
    high: Array = unsigned - ((a >> _SIGN_BIT) & b) - ((b >> _SIGN_BIT) & a)
    return high


def _product_24(t: str, first: int) -> Callable[[Array, Array], Array]:
    """32 bits of the product of the lower 24 bits, beginning at bit `first`."""
    product, spare = _part(t, first), DTYPES[t].type(8)
    return lambda a, b: product(a << spare >> spare, b << spare >> spare)


def _plus(product: Callable[[Array, Array], Array]) -> Callable[[Array, Array, Array], Array]:
    return lambda a, b, c: product(a, b) + c


def _plus_saturated(product: Callable[[Array, Array], Array]) -> Callable[[Array, Array, Array], Array]:
    return lambda a, b, c: saturate(product(a, b).astype(np.int64) + c.astype(np.int64))


def _dot(a_part: str, b_part: str, chosen: slice, result: str) -> Callable[[Array, Array, Array], Array]:
    """The products of parts of two registers, added to a third; for b, only the `chosen` parts."""
    a_dtype, b_dtype, dtype = DTYPES[a_part], DTYPES[b_part], DTYPES[result]

    def dot(a: Array, b: Array, c: Array) -> Array:
        a_parts = a[..., None].view(a_dtype).astype(dtype)
        b_parts = b[..., None].view(b_dtype)[..., chosen].astype(dtype)
        total: Array = np.einsum("...i,...i->...", a_parts, b_parts) + c
        return total

    return dot


def _products() -> Iterator[tuple[str, Lanewise]]:
    for t in INTEGERS:
        for mode, product in (("lo", np.multiply), ("hi", high_product(t))):
            yield f"mul.{mode}.{t}", Lanewise((t, t), (t,), product)
            yield f"mad.{mode}.{t}", Lanewise((t, t, t), (t,), _plus(product))
    for t, w in WIDE.items():
        exact = _exact_product(w)
        yield f"mul.wide.{t}", Lanewise((t, t), (w,), exact)
        yield f"mad.wide.{t}", Lanewise((t, t, w), (w,), _plus(exact))
    for t in ("u32", "s32"):
        for mode, first in (("lo", 0), ("hi", 16)):
            product = _product_24(t, first)
            yield f"mul24.{mode}.{t}", Lanewise((t, t), (t,), product)
            yield f"mad24.{mode}.{t}", Lanewise((t, t, t), (t,), _plus(product))
    for name, product in (("mad", high_product("s32")), ("mad24", _product_24("s32", 16))):
        yield f"{name}.hi.sat.s32", Lanewise(("s32", "s32", "s32"), ("s32",), _plus_saturated(product))
    for a in ("u", "s"):
        for b in ("u", "s"):
            c = "u32" if a == b == "u" else "s32"
            types, lanes = f"{a}32.{b}32", ((f"{a}32", f"{b}32", c), (c,))
            yield f"dp4a.{types}", Lanewise(*lanes, _dot(f"{a}8", f"{b}8", slice(None), c))
            yield f"dp2a.lo.{types}", Lanewise(*lanes, _dot(f"{a}16", f"{b}8", slice(2), c))
            yield f"dp2a.hi.{types}", Lanewise(*lanes, _dot(f"{a}16", f"{b}8", slice(2, 4), c))


PRODUCTS: dict[str, Lanewise] = dict(_products())
