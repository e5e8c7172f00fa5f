"""Rules of what strict mode takes for defined, and of masks that name lanes which end, as mutations.py has them."""

from __future__ import annotations

from mutations.mutations import Mutation

EMULATOR = "goptx/emulator"
BITS = "tests/emulator/test_undefined_bits.py"
OWN_LANES = "goptx/weaving/converge/lane_masks.py"
WEAVING = "tests/weaving/test_masks.py"

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
        f"{EMULATOR}/memory/address_spaces.py",
        "return lost if self.partly is None else lost & ~self.partly[positions]",
        "return lost",
        f"{BITS}::test_harmless[three-bits]",
    ),
    Mutation(
        "an undefined bit of a sum spoils only that bit",
        f"{EMULATOR}/memory/undefined.py",
        "    return [some | (dtype.type(0) - some)]",
        "    return [some]",
        f"{BITS}::test_caught[sum]",
    ),
    Mutation(
        "bits without a value may be stored over those with one",
        f"{EMULATOR}/instructions/load_store.py",
        "(lost & ~before != 0) | (lost",
        "(lost & lost == 0) | (lost",
        f"{BITS}::test_caught[stored-over]",
    ),
    Mutation(
        "a function finds in its variables what an earlier call left of a field",
        f"{EMULATOR}/memory/address_spaces.py",
        "        if self.partly is not None:\n            self.partly.reshape(",
        "        if self.partly is not None and instances is None:\n            self.partly.reshape(",
        f"{BITS}::test_a_frame_is_entered_anew",
    ),
    Mutation(
        "lanes that end are waited for where the kernel is left",
        f"{EMULATOR}/decode.py",
        "        reconvergence = None if join is None or join == EXIT else starts[join]",
        "        reconvergence = None if join is None else starts[join]",
        "tests/emulator/test_warp.py::test_lanes_do_not_wait_for_each_other_before_the_end[near-storing]",
    ),
    Mutation(
        "a mask on a side that ends the kernel may name lanes that go on",
        OWN_LANES,
        "    return facts_of(code.opcode).row.mask is None or str(code.operands[-1]) not in own",
        "    return False",
        f"{WEAVING}::test_lanes_that_end_later_are_not_waited_for[both_meet-active-loop]",
    ),
    Mutation(
        "masks of lanes that leave a loop may name any lanes",
        OWN_LANES,
        "    if source is None or any(",
        "    if source is None:\n        return\n    if any(",
        f"{WEAVING}::test_lanes_that_leave_a_loop_for_the_end_name_others",
    ),
    Mutation(
        "a ballot on what a condition was before names those that come",
        OWN_LANES,
        "        if goes.predicate.text in written(code):\n            return",
        "        if not written(code):\n            return",
        f"{WEAVING}::test_other_masks_are_refused[then-changed]",
    ),
    Mutation(
        "a mask that one of its writers takes from own lanes names own lanes",
        OWN_LANES,
        "if all(is_own(place, own) for",
        "if any(is_own(place, own) for",
        f"{WEAVING}::test_other_masks_are_refused[then-all]",
    ),
)
