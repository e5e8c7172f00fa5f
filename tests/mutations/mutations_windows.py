"""Rules of the numbers that threads of a warp or CTA share, each to be broken; see run.py."""

from mutations.mutations import Mutation

WINDOWS = "goptx/analysis/values/windows.py"
UNIFORMITY = "goptx/analysis/uniformity.py"
TESTS = "tests/analysis/test_windows_in_kernels.py"

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
)
