"""Flattening: every name of a body becomes unique, and each use still refers to the same thing."""

from goptx.ptx.flatten import FlatBody, flatten
from goptx.ptx.ir import Function
from goptx.ptx.parse import parse


def flat(body: str, symbols: dict[str, str] | None = None) -> FlatBody:
    """The body, each name of its outermost scope with `a_` before it (after the sigil, as the linker does)."""
    (entry,) = parse(f".version 8.0\n.target sm_90\n.entry k()\n{{\n{body}\n}}").items
    assert isinstance(entry, Function) and entry.body is not None

    def rename(name: str) -> str:
        return f"%a_{name[1:]}" if name.startswith("%") else f"a_{name}"

    return flatten(entry.body, rename, symbols)


def code(body: str, symbols: dict[str, str] | None = None) -> list[str]:
    return [str(statement) for statement in flat(body, symbols).code]


def test_names_of_the_body_are_renamed_wherever_they_stand() -> None:
    result = flat(
        ".reg .b32 %x;\n.reg .pred p, q;\n.shared .b32 room;\n"
        "@!p setp.eq.and.s32 p|q, %x, 0, !q;\nmov.b64 %x, {%x, _};\nst.shared.b32 [room+4], %x;\nL: bra L;"
    )
    assert [str(r) for r in result.registers] == [".reg .b32 %a_x;", ".reg .pred a_p, a_q;"]
    assert [str(v) for v in result.variables] == [".shared .b32 a_room;"]
    assert [str(c) for c in result.code] == [
        "@!a_p setp.eq.and.s32 a_p|a_q, %a_x, 0, !a_q;",
        "mov.b64 %a_x, {%a_x, _};",
        "st.shared.b32 [a_room+4], %a_x;",
        "a_L:",
        "bra a_L;",
    ]


def test_undeclared_names_stay() -> None:
    assert code("mov.u32 %r1, %tid.x;\ncall f, (x);") == ["mov.u32 %r1, %tid.x;", "call f, (x);"]


def test_symbols_are_renamed_unless_the_body_has_the_name_too() -> None:
    assert code("ld.param.u64 %x, [k_param_0];", {"k_param_0": "w_param_3"}) == ["ld.param.u64 %x, [w_param_3];"]
    assert code(".shared .b8 table;\nmov.u32 %x, table;", {"table": "other"}) == ["mov.u32 %x, a_table;"]


def test_inner_scope_shadows_the_outer_until_it_ends() -> None:
    body = (
        ".reg .b32 x, y;\nmov.b32 x, y;\n{\n.reg .b32 x;\nmov.b32 x, y;\n{\n.reg .b32 y;\nmov.b32 x, y;\n}\n"
        "mov.b32 x, y;\n}\nmov.b32 x, y;"
    )
    result = flat(body)
    assert [str(r) for r in result.registers] == [".reg .b32 a_x, a_y;", ".reg .b32 a_x_s1;", ".reg .b32 a_y_s2;"]
    assert [str(c) for c in result.code] == [
        "mov.b32 a_x, a_y;",
        "mov.b32 a_x_s1, a_y;",
        "mov.b32 a_x_s1, a_y_s2;",
        "mov.b32 a_x_s1, a_y;",
        "mov.b32 a_x, a_y;",
    ]


def test_sibling_scopes_get_suffixes_of_their_own() -> None:
    body = "{\n.reg .b32 t;\nL: mov.b32 t, 1;\nbra L;\n}\n{\n.reg .b32 t;\nL: mov.b32 t, 2;\nbra L;\n}"
    assert code(body) == [
        "a_L_s1:",
        "mov.b32 a_t_s1, 1;",
        "bra a_L_s1;",
        "a_L_s2:",
        "mov.b32 a_t_s2, 2;",
        "bra a_L_s2;",
    ]


def test_label_after_its_branch_is_found() -> None:
    assert code("bra L;\n{ bra L; }\nL: ret;") == ["bra a_L;", "bra a_L;", "a_L:", "ret;"]


def test_numbered_registers_are_distinguished_by_their_ranges() -> None:
    """`%r10` is the last of `%r<11>`, even beside `%r1<2>`: ptxas too takes the shortest stem."""
    result = flat(".reg .b32 %r<11>;\n.reg .b64 %r1<2>;\nmov.b32 %r10, %r0;")
    assert [str(r) for r in result.registers] == [".reg .b32 %a_r<11>;", ".reg .b64 %a_r1_<2>;"]
    assert [str(c) for c in result.code] == ["mov.b32 %a_r10, %a_r0;"]
    result = flat(".reg .b32 %r<10>;\n.reg .b64 %r1<2>;\nmov.b32 %r9, %r1;\nmov.b64 %r10, %r11;")
    assert [str(r) for r in result.registers] == [".reg .b32 %a_r<10>;", ".reg .b64 %a_r1_<2>;"]
    assert [str(c) for c in result.code] == ["mov.b32 %a_r9, %a_r1;", "mov.b64 %a_r1_0, %a_r1_1;"]


def test_number_beyond_a_range_or_with_zeros_before_it_is_another_name() -> None:
    assert code(".reg .b32 %r<3>;\nmov.b32 %r2, %r3;\nmov.b32 %r02, 1;") == ["mov.b32 %a_r2, %r3;", "mov.b32 %r02, 1;"]


def test_inner_range_shadows_only_the_numbers_it_holds() -> None:
    body = ".reg .b32 %r<5>;\n{\n.reg .b32 %r<2>;\nmov.b32 %r1, %r4;\n}\nmov.b32 %r1, %r4;"
    result = flat(body)
    assert [str(r) for r in result.registers] == [".reg .b32 %a_r<5>;", ".reg .b32 %a_r_s1_<2>;"]
    assert [str(c) for c in result.code] == ["mov.b32 %a_r_s1_1, %a_r4;", "mov.b32 %a_r1, %a_r4;"]


def test_single_register_with_a_number() -> None:
    assert code(".reg .b32 %r<2>, %r7;\nmov.b32 %r7, %r1;") == ["mov.b32 %a_r7, %a_r1;"]


def test_vector_components_follow_their_register() -> None:
    assert code(".reg .v4 .f32 v;\n.reg .v2 .f32 %w<3>;\nmov.f32 v.x, %w2.y;\nmov.u32 v.z, %tid.x;") == [
        "mov.f32 a_v.x, %a_w2.y;",
        "mov.u32 a_v.z, %tid.x;",
    ]


def test_jump_table_and_its_labels() -> None:
    assert code("ts: .branchtargets L, M;\nbrx.idx %r1, ts;\nL: M: ret;") == [
        "a_ts:",
        ".branchtargets a_L, a_M;",
        "brx.idx %r1, a_ts;",
        "a_L:",
        "a_M:",
        "ret;",
    ]


def test_call_scope_stays_whole_with_its_own_names() -> None:
    body = (
        ".reg .b32 %r<3>, p;\n{\n.reg .b32 t;\n.param .b32 p;\nst.param.b32 [p], %r1;\n.param .b32 out;\n"
        "call (out), f, (p);\nld.param.b32 t, [out];\nmov.b32 %r2, t;\n}\nmov.b32 p, %r2;"
    )
    result = flat(body, {"f": "f_b"})
    assert [str(r) for r in result.registers] == [".reg .b32 %a_r<3>, a_p;"]
    assert result.variables == ()
    assert [str(c) for c in result.code] == [
        "{\n.reg .b32 t;\n.param .b32 p;\nst.param.b32 [p], %a_r1;\n.param .b32 out;\n"
        "call (out), f_b, (p);\nld.param.b32 t, [out];\nmov.b32 %a_r2, t;\n}",
        "mov.b32 a_p, %a_r2;",
    ]


def test_scope_with_a_parameter_of_a_call_within_it_stays_whole_too() -> None:
    (whole,) = code(".reg .b32 x;\n{\n.param .b32 t;\n{\ncall f, (t);\n}\nst.param.b32 [t], x;\n}")
    assert whole == "{\n.param .b32 t;\n{\ncall f, (t);\n}\nst.param.b32 [t], a_x;\n}"


def test_other_scopes_around_a_call_scope_dissolve() -> None:
    found = code(".reg .b32 x;\n{\n.reg .b32 t;\n{\ncall f, (x);\n}\nmov.b32 t, x;\n}")
    assert found == ["{\ncall f, (a_x);\n}", "mov.b32 a_t_s1, a_x;"]


def test_directives_and_pragmas_keep_their_place() -> None:
    assert code('L:\n.pragma "nounroll";\n.loc 1 2 3\nret;') == ["a_L:", '.pragma "nounroll";', ".loc 1 2 3", "ret;"]
