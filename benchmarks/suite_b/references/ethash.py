"""Ethash digests of a header with each thread's nonces (Ethereum's wiki, "Ethash"), exact, and the data set that Ethash
makes of a cache."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np

from suite_b.references import host, taken, words
from suite_b.references.keccak import keccak_256, keccak_512
from suite_b.references.words import Words, filled

PAGE = 32  # words of 32 bits
ACCESSES, PARENTS, CACHE_ROUNDS = 64, 256, 3


def problem(given: Mapping[str, Any], found: Mapping[str, Any]) -> str:
    return words.problem("ethash", given, found, 4, partial(digests, given))


def digests(given: Mapping[str, Any], nonces: Words) -> Sequence[Words]:
    pages = given["dag"].reshape(-1, PAGE)[: int(given["pages"])]
    return hashimoto(pages, [*filled(host(given["header"]), nonces), nonces])[1]


def hashimoto(pages: Any, header: Sequence[Words]) -> tuple[Words, Sequence[Words]]:
    """The compressed mix, in rows of eight words of 32 bits, and the digest. `header`: the digest of a block's header
    and the nonce, five words of 64 bits."""
    seed = keccak_512(header)
    mix = np.tile(_halves(seed), 2)
    first = mix[:, 0].copy()
    for i in range(ACCESSES):
        chosen = fnv(np.uint32(i) ^ first, mix[:, i % PAGE]) % np.uint32(len(pages))
        mix = fnv(mix, taken(pages, chosen))
    four = mix.reshape(len(mix), -1, 4)
    compressed = fnv(fnv(fnv(four[..., 0], four[..., 1]), four[..., 2]), four[..., 3])
    return compressed, keccak_256([*seed, *_joined(compressed)])


def fnv(x: Words, y: Words) -> Words:
    product: Words = x * np.uint32(0x01000193) ^ y
    return product


def data_set(cache_items: int, items: int, seed: bytes) -> Words:
    """Ethash's data set, in pages, made of a cache; an item has 64 bytes, the seed 32."""
    cached, number = _cache(cache_items, seed), np.arange(items, dtype=np.uint32)
    mix = cached[number % np.uint32(cache_items)]
    mix[:, 0] ^= number
    mix = _halves(keccak_512(_joined(mix)))
    for j in range(PARENTS):
        mix = fnv(mix, cached[fnv(number ^ np.uint32(j), mix[:, j % 16]) % np.uint32(cache_items)])
    return _halves(keccak_512(_joined(mix))).reshape(-1, PAGE)


def _cache(items: int, seed: bytes) -> Words:
    """Rows of 16 words of 32 bits."""
    found = [_digest(np.frombuffer(seed, np.uint64))]
    while len(found) < items:
        found.append(_digest(found[-1]))
    for i in range(items * CACHE_ROUNDS):
        own = i % items
        other = int(found[own].view(np.uint32)[0]) % items
        found[own] = _digest(found[own - 1] ^ found[other])
    return np.stack(found).view(np.uint32)


def _digest(message: Words) -> Words:
    return np.concatenate(keccak_512(list(message[:, None])))


def _halves(columns: Sequence[Words]) -> Words:
    """Rows of words of 32 bits."""
    return np.stack(columns, 1).view(np.uint32)


def _joined(rows: Words) -> list[Words]:
    """Columns of words of 64 bits."""
    return list(np.ascontiguousarray(rows).view(np.uint64).T)
