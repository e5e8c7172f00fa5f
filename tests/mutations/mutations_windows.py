"""Rules of the numbers that threads of a warp or CTA share, each to be broken; see run.py."""

from mutations.mutations import Mutation

WINDOWS = "goptx/analysis/values/windows.py"
UNIFORMITY = "goptx/analysis/uniformity.py"
TESTS = "tests/analysis/test_windows_in_kernels.py"
VERSIONS, OF_VERSIONS = "goptx/analysis/versions.py", "tests/analysis/test_versions.py"

OF_WINDOWS = (
    Mutation(
        "a comparison with the number after a multiple of 32 is the same in a warp",
        WINDOWS,
        "return first + (distance - first) % modulus >= one.spread",
        "return first + (distance - first) % modulus >= one.spread - 1",
        f"{TESTS}::test_comparisons[u32]",
    ),
    Mutation(
        "a signed division rounds a negative base like others",
        WINDOWS,
        "return not signed or all(w.most >> (bits - 1) == 0 for w in windows)",
        "return True",
        f"{TESTS}::test_a_signed_division_needs_a_base_that_is_not_negative",
    ),
    Mutation(
        "lanes are counted along x in blocks of two axes",
        WINDOWS,
        "if threads is None or (rows, planes) != (1, 1):",
        "if threads is None:",
        f"{TESTS}::test_other_numbers_of_threads_have_no_window",
    ),
    Mutation(
        "numbers that wrap are multiples of what they were",
        WINDOWS,
        "modulus, most = gcd(modulus, 1 << bits), (1 << bits) - 1",
        "modulus, most = modulus, (1 << bits) - 1",
        f"{TESTS}::test_what_is_the_same_in_a_cta",
    ),
    Mutation(
        "a window holds where lanes diverge",
        UNIFORMITY,
        "warp = _window([m.warp for m in made]) if base <= Uniformity.WARP else None",
        "warp, base = _window([m.warp for m in made]), min(base, Uniformity.WARP)",
        f"{TESTS}::test_a_window_is_lost_under_divergent_control",
    ),
    Mutation(
        "where paths meet, a register holds what it did before they parted",
        VERSIONS,
        "if block in self._meeting(register):",
        "if False:",
        f"{OF_VERSIONS}::test_paths_that_lead_to_different_versions_meet",
    ),
    Mutation(
        "paths meet only where those that write the register first do",
        VERSIONS,
        "                waiting += more\n",
        "",
        f"{OF_VERSIONS}::test_paths_meet_again_after_they_have_met",
    ),
    Mutation(
        "a guarded instruction replaces a value",
        "goptx/analysis/dataflow.py",
        "return frozenset() if _preserves(code) else sets(code)",
        "return frozenset() if isinstance(code, Scope) else sets(code)",
        f"{OF_VERSIONS}::test_the_value_before_counts_where_a_guard_may_keep_it",
    ),
    Mutation(
        "what a region writes is not seen",
        VERSIONS,
        "return [frozenset().union(*map(sets, block.instructions()))]",
        "return []",
        f"{OF_VERSIONS}::test_what_a_region_writes_is_divergent_after_it",
    ),
    Mutation(
        "lanes of different iterations keep the promise of one",
        "goptx/weaving/emit/reconverge.py",
        "if len(again) > 1 and any(map(_may_part, again)):",
        "if len(again) > 9 and any(map(_may_part, again)):",
        "tests/proof/test_synchronization.py::test_kernels_that_wait_are_proved[one_lane_copies-producers_and_consumers]",
    ),
    Mutation(
        "the proof takes any load for a constant",
        "goptx/proof/sync/varying.py",
        "constant = facts.read_only or (",
        'constant = row.access == "l" or (',
        "tests/proof/test_attacks.py::test_a_branch_by_thread_numbers_around_a_barrier_is_not_presumed",
    ),
    Mutation(
        "a conversion to 32 bits leaves no more than these in a register",
        WINDOWS,
        'if made and facts.copies and facts.types[0] == "s32" and made.most >> 31:',
        "if False:",
        f"{TESTS}::test_a_conversion_may_extend_a_sign_into_a_wider_register",
    ),
    Mutation(
        "the proof takes the low half of a product for a comparison",
        "goptx/proof/sync/varying.py",
        'words[0] != "setp" or ',
        "",
        "tests/proof/test_attacks.py::test_a_product_is_not_a_comparison_with_a_multiple_of_the_warps_size",
    ),
    Mutation(
        "loops are counted by what they decide themselves",
        "goptx/analysis/values/thread_values.py",
        " and around[0] not in self._counting",
        "",
        "tests/strategies/test_launch_trips.py::test_loops_that_decide_about_each_other_are_not_counted",
    ),
)
