"""Kernels that depend on each other, in texts that come to what both access in another order."""

from proof.fused_text import Given, certificate, check

NUMBER = """
ld.param.u64 %d1, [out];
mov.u32 %r1, %tid.x;
mov.u32 %r2, %ctaid.x;
mov.u32 %r3, %ntid.x;
mov.u32 %r6, 0;
"""
TWICE = """
{0}
st.global.u32 [%d2], %r7;
add.u32 %r6, %r6, 1;
setp.lt.u32 %p2, %r6, 2;
@%p2 bra L;
"""
DOUBLE, INCREASE = "mul.lo.u32 %r7, %r7, 2;", "add.u32 %r7, %r7, 2;"


def dependent(code: str) -> Given:
    """Two kernels that differ in what they do with an element."""
    return Given(code.format(DOUBLE), code.format(INCREASE), depends=True)


def both(*lines: int) -> str:
    return "\n".join(f"{letter}{n}" for n in lines for letter in "AB")


def one_after_the_other(letter: str, lines: int, **others: str) -> str:
    """All lines of a kernel, with others in place of some of them."""
    return "\n".join(others.get(f"at{n}", f"{letter}{n}") for n in range(1, lines + 1))


def test_an_element_comes_again_where_its_number_is_the_same_by_two_ways() -> None:
    """What is computed by two ways gets a name where they meet, but it does not count a loop around them."""
    ways = """
    L:
    setp.lt.u32 %p1, %r6, 1;
    @%p1 bra M;
    mad.lo.s32 %r4, %r2, %r3, %r1;
    bra J;
    M:
    mul.lo.s32 %r5, %r2, %r3;
    add.s32 %r4, %r5, %r1;
    J:
    mad.wide.u32 %d2, %r4, 4, %d1;
    ld.global.u32 %r7, [%d2];
    """
    given = dependent(NUMBER + ways + TWICE)
    own = [
        one_after_the_other(
            letter, 21, at6=f"{letter}L:", at8=f"{letter}8: @%{letter.lower()}_p1 bra {letter}M;",
            at10=f"bra {letter}J;", at11=f"{letter}M:", at14=f"{letter}J:",
            at21=f"{letter}21: @%{letter.lower()}_p2 bra {letter}L;",
        )
        for letter in "AB"
    ]  # fmt: skip
    in_one_loop = "\n".join((
        both(1, 2, 3, 4, 5), "AL:", both(7), "A8: @%a_p1 bra AM;", both(9), "bra AJ;", "AM:", both(12, 13), "AJ:",
        both(15), "A16\nA17\nA18\nB16\nB17\nB18", both(19, 20), "A21: @%a_p2 bra AL;",
    ))  # fmt: skip
    check(given, "\n".join(own), in_one_loop, because="in the order of the kernels")


def test_elements_that_loaded_numbers_name() -> None:
    gathered = NUMBER + "mad.wide.u32 %d2, %r1, 4, %d1;\nld.global.u32 %r4, [%d2];\nL:\n"
    gathered += "mad.wide.u32 %d2, %r4, 4, %d1;\nld.global.u32 %r7, [%d2];" + TWICE
    given = dependent(gathered)
    text = "\n".join(
        one_after_the_other(letter, 15, at8=f"{letter}L:", at15=f"{letter}15: @%{letter.lower()}_p2 bra {letter}L;")
        for letter in "AB"
    )
    made = certificate(given, text)
    assert "in the order of the kernels" in str(made), str(made)


def test_what_must_not_wrap_is_presumed_of_ctas() -> None:
    """With 32 threads in a CTA, 2^22 CTAs are fewer than 2^32 threads."""
    own = NUMBER + "mad.lo.s32 %r4, %r2, 1024, %r1;\nmad.wide.u32 %d2, %r4, 4, %d1;\nld.global.u32 %r7, [%d2];\n"
    given = dependent(own + "{0}\nst.global.u32 [%d2], %r7;")
    made = certificate(given, "\n".join(one_after_the_other(letter, 10) for letter in "AB"))
    assert made and "at most 2^32 / 1024 CTAs" in made.presumed, str(made)
