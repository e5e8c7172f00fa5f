"""What the references of the four hash kernels have in common. Words are arrays with an element for each nonce."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache
from itertools import count, islice
from typing import Any

import numpy as np

from suite_b.references import host, taken

SAMPLED_THREADS = 512  # whose digests are computed, of more
Words = np.ndarray[Any, np.dtype[Any]]
Hash = Callable[[Words], Sequence[Words]]


def problem(kernel: str, given: Mapping[str, Any], found: Mapping[str, Any], words: int, digests: Hash) -> str:
    """What differs in the exclusive or of the digests of each thread's nonces, or "". `words`: of a digest; `digests`
    gives those of many nonces."""
    rows = found["digests"].reshape(-1, words)
    threads, tries = len(rows), int(given["tries"])
    chosen = sampled(threads)
    dtype = given["first"].dtype.type
    nonces = given["first"] + chosen.astype(dtype) + np.arange(tries, dtype=dtype)[:, None] * dtype(threads)
    each = np.stack(digests(nonces.ravel()), -1).reshape(tries, len(chosen), words)
    differs = np.flatnonzero((taken(rows, chosen) != np.bitwise_xor.reduce(each)).any(1))
    return f"{kernel}: {len(differs)} of {len(chosen)} threads differ, at {chosen[differs[0]]}" if len(differs) else ""


def sampled(threads: int) -> Words:
    """The numbers of all threads, or of some, drawn by a fixed seed, the first and the last among them."""
    if threads <= SAMPLED_THREADS:
        return np.arange(threads)
    drawn = np.random.default_rng(1).integers(0, threads, SAMPLED_THREADS)
    return np.unique(np.concatenate([[0, threads - 1], drawn]))


def filled(words: Iterable[Any], like: Words) -> list[Words]:
    """Each word for every nonce."""
    return [np.full_like(like, word) for word in words]


def with_nonces(words: Any, place: int, nonces: Words) -> list[Words]:
    """A message whose word in that place is the nonce."""
    message = filled(host(words), nonces)
    message[place] = nonces
    return message


def rotated(x: Words, right: int) -> Words:
    """Each word rotated to the right."""
    bits = 8 * x.itemsize
    return x if right % bits == 0 else x >> x.dtype.type(right % bits) | x << x.dtype.type(-right % bits)


@cache
def roots(degree: int, number: int, bits: int) -> list[int]:
    """The first bits after the point of the square (2) or cube (3) roots of the first primes."""
    primes = (n for n in count(2) if all(n % d for d in range(2, n)))
    return [_root(prime << degree * bits, degree) % (1 << bits) for prime in islice(primes, number)]


def _root(n: int, degree: int) -> int:
    """The largest whole number whose power is not above n."""
    found = 0
    for bit in reversed(range(n.bit_length() // degree + 1)):
        if (found | 1 << bit) ** degree <= n:
            found |= 1 << bit
    return found
