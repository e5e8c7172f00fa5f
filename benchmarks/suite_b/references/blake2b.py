"""BLAKE2b states after a header with each thread's nonces (RFC 7693), exact."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np

from suite_b.references import host, words
from suite_b.references.blake import ORDER, mix
from suite_b.references.words import Words, filled, roots, with_nonces

NONCE, ROUNDS, ROTATIONS = 4, 12, (32, 24, 16, 63)  # the nonce's word in the header


def problem(given: Mapping[str, Any], found: Mapping[str, Any]) -> str:
    return words.problem("blake2b", given, found, 8, partial(digests, given))


def digests(given: Mapping[str, Any], nonces: Words) -> Sequence[Words]:
    message = with_nonces(np.concatenate([host(given["header"]), np.zeros(6, np.uint64)]), NONCE, nonces)
    initial, length = roots(2, 8, 64), int(given["bytes"])
    state = filled([initial[0] ^ int(given["parameters"]), *initial[1:]], nonces)
    last = [initial[4] ^ length, initial[5], ~initial[6] % (1 << 64), initial[7]]
    v = [*state, *filled([*initial[:4], *last], nonces)]
    for order in (ORDER * 2)[:ROUNDS]:
        mix(v, [message[x] for x in order], ROTATIONS)
    return [h ^ x ^ y for h, x, y in zip(state, v[:8], v[8:], strict=True)]
