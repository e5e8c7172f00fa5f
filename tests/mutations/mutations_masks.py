"""Rules of what strict mode takes for defined, and of masks that name lanes which end, as mutations.py has them."""

from __future__ import annotations

from mutations.mutations import Mutation

EMULATOR = "goptx/emulator"
BITS = "tests/emulator/test_undefined_bits.py"

OF_MASKS = (
    Mutation(
        "a value that lacks a bit lacks all of them",
        f"{EMULATOR}/families.py",
        "    if rule is None or (spoiled and all(f.dtype == np.bool_ for f in some)):",
        "    if some or rule is None:",
        f"{BITS}::test_harmless[local-byte]",
    ),
    Mutation(
        "a byte that lacks a bit lacks all of them",
        f"{EMULATOR}/memory.py",
        "return lost if self.partly is None else lost & ~self.partly[positions]",
        "return lost",
        f"{BITS}::test_harmless[three-bits]",
    ),
    Mutation(
        "an undefined bit of a sum spoils only that bit",
        f"{EMULATOR}/undefined.py",
        "    return [some | (dtype.type(0) - some)]",
        "    return [some]",
        f"{BITS}::test_caught[sum]",
    ),
    Mutation(
        "bits without a value may be stored over those with one",
        f"{EMULATOR}/load_store.py",
        "(lost & ~before != 0) | (lost",
        "(lost & lost == 0) | (lost",
        f"{BITS}::test_caught[stored-over]",
    ),
    Mutation(
        "a function finds in its variables what an earlier call left of a field",
        f"{EMULATOR}/memory.py",
        "        if self.partly is not None:\n            self.partly.reshape(",
        "        if self.partly is not None and instances is None:\n            self.partly.reshape(",
        f"{BITS}::test_a_frame_is_entered_anew",
    ),
)
