"""The kernels of miners in suite B give published digests, alone and fused, and what numpy and hashlib find."""

import hashlib
import sys
from collections.abc import Mapping, Sequence
from functools import cache
from itertools import combinations
from pathlib import Path
from typing import Any, Literal

import numpy as np
import pytest

import goptx
from goptx import Shape
from goptx.launch.sample_data import sample
from goptx.launch.specification import Launch, read_specification

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT / "benchmarks"))

from suite_b.references import blake2b, blake256, ethash, problem, sha256  # noqa: E402
from suite_b.references.words import SAMPLED_THREADS, Words, roots, sampled  # noqa: E402

KERNELS = ROOT / "benchmarks" / "suite_b" / "kernels"
NAMES = ("ethash", "sha256", "blake256", "blake2b")
ARCHES = ("sm_80", "sm_90")
PAIRS = list(combinations(NAMES, 2))
THREADS = 32
INITIAL = np.array(roots(2, 8, 32), np.uint32)  # the state before the first block of SHA-256 and BLAKE-256

Arguments = dict[str, Any]


def launch_of(name: str, arch: str = "sm_90") -> tuple[Path, Launch]:
    return KERNELS / f"{name}.{arch}.ptx", read_specification(KERNELS / f"{name}.toml")[0].small()


def words(text: bytes, dtype: str) -> Words:
    return np.frombuffer(text, dtype).astype(np.dtype(dtype).newbyteorder("="))


# Published digests --------------------------------------------------------------------------------------

# The SHA-256 example of one block in FIPS 180-4 ("abc"), and the one of two blocks.
SHA_ONE = b"abc", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
SHA_TWO = (
    b"abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq",
    "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1",
)
# Bitcoin's first block: its hash has its bytes in reverse.
GENESIS = (
    bytes.fromhex(
        "0100000000000000000000000000000000000000000000000000000000000000000000003ba3edfd7a7b12b27ac72c3e67768f61"
        "7fc81bc3888a51323a9fb8aa4b1e5e4a29ab5f49ffff001d1dac2b7c"
    ),
    bytes.fromhex("000000000019d6689c085ae165831e934ff763ae46a2a6c172b3f1b60a8ce26f")[::-1].hex(),
)
# The test vectors of the SHA-3 proposal BLAKE: 8 bits and 576 bits, all zero.
BLAKE_ONE = bytes(1), "0ce8d4ef4dd7cd8d62dfded9d4edb0a774ae6a41929a74da23109e8f11139c87"
BLAKE_TWO = bytes(72), "d419bad32d504fb7d44d460c42c5593fe544fa4c135dec31e21bd9abdcc22d41"
# RFC 7693, appendix A: 64 bytes of "abc".
BLAKE2B = (
    b"abc",
    "ba80a53f981c4d0d6a2797b69f12f6e94c212f14685ac4b74b12bb6fdbffa2d1"
    "7d87c5392aab792dc252d5de4533cc9518d38aa8dbf1925ab92386edd4009923",
)
# The test of hashimoto in go-ethereum's consensus/ethash: a cache of 1 KiB from a seed of zeros, a data set of 32 KiB,
# nonce 0; the compressed mix and the digest.
ETHASH = (
    bytes.fromhex("c9149cc0386e689d789a1c2f3d5d169a61a6218ed30e74414dc736e442ef3d1f"),
    "e4073cffaef931d37117cefd9afd27ea0f1cad6a981dd2605c4a1ac97c519800",
    "d3539235ee2e6f8db665c0a72169f55b7f6c605712330b778ec3944f0eb5a557",
)


def padded(message: bytes, last: int = 0) -> list[Words]:
    """The blocks of a message for SHA-256, and for BLAKE-256 with `last` = 1, a bit before the length."""
    text = message + b"\x80" + bytes(-(len(message) + 9) % 64)
    text = text[:-1] + bytes([text[-1] | last]) + (8 * len(message)).to_bytes(8, "big")
    return [words(text[i : i + 64], ">u4") for i in range(0, len(text), 64)]


def block_arguments(name: str, state: Words, block: Words, number: int, last: bool) -> Arguments:
    """For a block of a message, whose word that the first thread replaces by its nonce is that word."""
    chosen: Arguments = {"state": state, "block": block, "first": np.uint32(block[sha256.NONCE]), "tries": np.uint32(1)}
    chosen["digests"] = np.zeros(THREADS * 8, np.uint32)
    if name == "sha256":
        return {**chosen, "passes": np.uint32(2 if last else 1)}
    return {**chosen, "bits": np.uint32(number)}


def blake2b_arguments(message: bytes, size: int) -> Arguments:
    header = words(message.ljust(80, b"\0"), "<u8")
    return {
        "header": header,
        "digests": np.zeros(THREADS * 8, np.uint64),
        "first": header[blake2b.NONCE],
        "parameters": np.uint64(0x01010000 + size),
        "bytes": np.uint32(len(message)),
        "tries": np.uint32(1),
    }


@cache
def pages() -> Words:
    return ethash.data_set(16, 512, bytes(32))


def ethash_arguments(header: bytes) -> Arguments:
    return {
        "dag": pages().ravel(),
        "header": words(header, "<u8"),
        "digests": np.zeros(THREADS * 4, np.uint64),
        "first": np.uint64(0),
        "pages": np.uint32(len(pages())),
        "tries": np.uint32(1),
    }


def published(name: str) -> tuple[Arguments, str]:
    """Arguments of a launch of one warp, whose first thread is to write the digest."""
    if name == "ethash":
        return ethash_arguments(ETHASH[0]), ETHASH[2]
    if name == "blake2b":
        return blake2b_arguments(BLAKE2B[0], 64), BLAKE2B[1]
    message, digest = SHA_ONE if name == "sha256" else BLAKE_ONE
    (block,) = padded(message, int(name == "blake256"))
    return block_arguments(name, INITIAL, block, 8 * len(message), False), digest


def in_order(name: str, arguments: Arguments) -> list[Any]:
    return [arguments[argument.name] for argument in launch_of(name)[1].arguments]


def run(name: str, arguments: Arguments, arch: str = "sm_90") -> str:
    """The digest that the first thread of a warp writes. Those of the others are what the reference gives."""
    goptx.emulate(launch_of(name, arch)[0], 1, THREADS, in_order(name, arguments), races=True)
    return first_digest(name, arguments)


def first_digest(name: str, arguments: Arguments) -> str:
    assert problem(name, arguments, arguments) == ""
    row = arguments["digests"].reshape(THREADS, -1)[0]
    text: str = row.astype(row.dtype.newbyteorder(">" if row.itemsize == 4 else "<")).tobytes().hex()
    return text


@pytest.mark.parametrize(
    ("name", "arch"),
    [
        pytest.param(name, arch, marks=pytest.mark.slow if (name, arch) == ("ethash", "sm_80") else ())
        for name in NAMES
        for arch in ARCHES
    ],
)
def test_published_digests(name: str, arch: str) -> None:
    arguments, digest = published(name)
    assert run(name, arguments, arch) == digest


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "message", "digest", "twice"),
    [
        ("sha256", *SHA_TWO, False),
        ("sha256", *GENESIS, True),
        ("blake256", *BLAKE_TWO, False),
    ],
    ids=["two blocks", "Bitcoin", "two blocks of BLAKE"],
)
def test_messages_of_two_blocks(name: str, message: bytes, digest: str, twice: bool) -> None:
    """A block after the other, from the state that the kernel gave after the one before it."""
    first, second = padded(message, int(name == "blake256"))
    arguments = block_arguments(name, INITIAL, first, 512, False)
    run(name, arguments)
    state = arguments["digests"][:8].copy()
    assert run(name, block_arguments(name, state, second, 8 * len(message), twice)) == digest


def test_the_compressed_mix_of_ethash() -> None:
    header = [word[None] for word in words(ETHASH[0] + bytes(8), "<u8")]
    mix, _ = ethash.hashimoto(pages(), header)
    assert mix.tobytes().hex() == ETHASH[1]


@pytest.mark.slow
@pytest.mark.parametrize("length", [0, 80])
def test_hashlib_finds_the_same(length: int) -> None:
    message = bytes(range(1, length + 1))
    arguments = blake2b_arguments(message, 32)
    assert run("blake2b", arguments)[:64] == hashlib.blake2b(message, digest_size=32).hexdigest()
    state = INITIAL
    for block in padded(message):
        arguments = block_arguments("sha256", state, block, 0, False)
        digest = run("sha256", arguments)
        state = arguments["digests"][:8].copy()
    assert digest == hashlib.sha256(message).hexdigest()


# In the sizes of [check] --------------------------------------------------------------------------------


def alone(name: str, **values: int) -> Arguments:
    file, launch = launch_of(name)
    arguments = {argument.name: sample(argument) for argument in launch.arguments}
    for key, value in values.items():
        arguments[key] = arguments[key].dtype.type(value)
    goptx.emulate(file, launch.grid, launch.block, in_order(name, arguments), races=True, seed=1)
    return arguments


@pytest.mark.parametrize("name", [pytest.param("ethash", marks=pytest.mark.slow), *NAMES[1:]])
def test_every_thread(name: str) -> None:
    arguments = alone(name)
    assert problem(name, arguments, arguments) == ""
    arguments["digests"][-1] ^= 1
    count = len(arguments["digests"]) // (4 if name == "ethash" else 8)
    assert problem(name, arguments, arguments) == f"{name}: 1 of {count} threads differ, at {count - 1}"


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "bits"), [("sha256", 32), ("blake256", 32), ("blake2b", 32), ("blake2b", 64), ("ethash", 64)]
)
def test_nonces_wrap(name: str, bits: int) -> None:
    """At the end of 32 bits, where nonces of 64 bits go on, and at that of 64."""
    arguments = alone(name, first=(1 << bits) - 300, tries=2)
    assert problem(name, arguments, arguments) == ""


@pytest.mark.parametrize(
    "number", [pytest.param(1, marks=pytest.mark.slow), 64, pytest.param(97, marks=pytest.mark.slow)]
)
def test_any_number_of_pages(number: int) -> None:
    """One, a power of two and others are divided by right."""
    arguments = ethash_arguments(ETHASH[0])
    arguments["pages"] = np.uint32(number)
    run("ethash", arguments)


def test_of_many_threads_some_are_compared() -> None:
    assert [*sampled(3)] == [0, 1, 2]
    chosen = sampled(1 << 19)
    assert chosen[0] == 0 and chosen[-1] == (1 << 19) - 1 and len(chosen) > SAMPLED_THREADS / 2


@pytest.mark.parametrize("name", NAMES)
def test_specifications_have_one_shape(name: str) -> None:
    """So that equal halves of a CTA are the kernels' own blocks, and no CTA lacks a partner."""
    launch = read_specification(KERNELS / f"{name}.toml")[0]
    assert (launch.grid, launch.block, launch.tunable) == ((2048,), (256,), False)
    digests = next(argument for argument in launch.arguments if argument.name == "digests")
    assert digests.length == 2048 * 256 * (4 if name == "ethash" else 8)


def test_the_data_set_has_the_size_of_the_first_epoch() -> None:
    """2^30 bytes, less a page, then downwards to a prime number of pages."""
    arguments = {argument.name: argument for argument in read_specification(KERNELS / "ethash.toml")[0].arguments}
    count = arguments["pages"].value
    assert isinstance(count, int) and arguments["dag"].length == count * ethash.PAGE
    prime = [n for n in range(count, 1 << 23) if all(n % d for d in range(2, int(n**0.5) + 1))]
    assert prime == [count]


def test_digits_of_pi() -> None:
    assert blake256.digits_of_pi(2) == [0x243F6A88, 0x85A308D3]


# Fused --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("one", "other", "strategy"),
    [
        pytest.param(*pair, way, marks=() if (*pair, way) == ("sha256", "blake256", "horizontal") else pytest.mark.slow)
        for pair in PAIRS
        for way in ("weave", "horizontal")
    ],
)
def test_published_digests_of_fused_kernels(one: str, other: str, strategy: Literal["weave", "horizontal"]) -> None:
    given: Mapping[str, tuple[Arguments, str]] = {name: published(name) for name in (one, other)}
    files: Sequence[Path] = [launch_of(name)[0] for name in given]
    fused = goptx.fuse(*files, strategy=strategy, shapes=[Shape(1, THREADS)] * 2)
    goptx.emulate(fused, args=[in_order(name, arguments) for name, (arguments, _) in given.items()], races=True)
    for name, (arguments, digest) in given.items():
        assert first_digest(name, arguments) == digest


@pytest.mark.slow
@pytest.mark.parametrize(("one", "other"), PAIRS)
def test_fused_kernels_equal_separate_ones(one: str, other: str) -> None:
    """In their own blocks, every thread."""
    checked = goptx.check(*[launch_of(name)[0] for name in (one, other)], strategy="horizontal", races=True)
    assert checked, checked
