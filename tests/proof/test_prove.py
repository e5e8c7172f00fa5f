"""Certificates: kernels that are woven are proved, and edits that change what they do are not."""

from __future__ import annotations

import ast
import json
import random
import re
from itertools import combinations_with_replacement
from pathlib import Path

import pytest

import goptx
from goptx.checking.certify import prove
from goptx.cli import main as goptx_main_of
from goptx.proof.certificate import Certificate
from goptx.proof.code.read_steps import program_of
from goptx.proof.prove import prove_text
from goptx.proof.sync.varying import varying_branches
from goptx.proof.witness import read_witness
from goptx.ptx.opcodes import Scope

ROOT = Path(__file__).parents[2]
KERNELS = ROOT / "examples" / "kernels"
NAMES = ("harris", "lud", "transpose", "softmax", "sort", "layernorm", "wmma", "scan")
PAIRS = [*combinations_with_replacement(NAMES, 2)]


def kernel(name: str) -> Path:
    return KERNELS / f"{name}.sm_90.ptx"


def woven_text(*names: str) -> str:
    return goptx.weave(*map(kernel, names)).text()


def certificate(text: str, *names: str) -> Certificate:
    return prove_text(text, [goptx.read(kernel(n)) for n in names])


@pytest.fixture(scope="module")
def both() -> str:
    return woven_text("harris", "lud")


@pytest.mark.slow
@pytest.mark.parametrize(("first", "second"), PAIRS)
def test_examples_are_proved(first: str, second: str) -> None:
    made = prove(goptx.weave(kernel(first), kernel(second)))
    assert made, str(made)
    rules = {"projection", "variables", "convergence", "waiting", "termination"}
    assert made.proved and rules == {e.rule for e in made.established}


def test_three_kernels_are_proved() -> None:
    assert certificate(woven_text("harris", "lud", "transpose"), "harris", "lud", "transpose")


@pytest.mark.slow
def test_what_the_checker_has_no_rules_for_is_named() -> None:
    made = prove(goptx.weave(kernel("harris"), kernel("pipeline")))
    assert made


def line_of(text: str, part: str) -> int:
    return next(i for i, line in enumerate(text.splitlines()) if part in line)


def edited(text: str, part: str, by: str) -> str:
    assert part in text
    return text.replace(part, by, 1)


@pytest.mark.parametrize(
    ("part", "by"),
    [
        ("st.shared.f32 [%b_r24], %b_f2;", "st.shared.f32 [%b_r24], %b_f1;"),
        ("@%a_run0 ld.global.nc.u16 %a_rs1", "ld.global.nc.u16 %a_rs1"),
        ("bar.sync 0;", ""),
        ("ld.global.f32 %b_f51", "ld.global.nc.f32 %b_f51"),
        ("not.pred %a_unless, %a_p1;", "mov.pred %a_unless, %a_p1;"),
        ("and.pred %a_run0, %a_run0, %a_unless;", "or.pred %a_run0, %a_run0, %a_unless;"),
        ("add.s32 %b_r17, %b_r16, %b_r15;", "add.s32 %b_r17, %b_r15, %b_r15;"),
        ("setp.ge.u32 %a_p1,", "setp.gt.u32 %a_p1,"),
        ("st.global.f32 [%b_rd8], %b_f52;", "st.global.f32 [%b_rd8+4], %b_f52;"),
        ("mov.pred %a_run0, 1;", "mov.pred %a_run0, 0;"),
        ("b__ZZ3ludE3row[1024]", "b__ZZ3ludE3row[512]"),
        ("_param_5];", "_param_4];"),
        ("@%b_p5 bra.uni", "@!%b_p5 bra.uni"),
        ("mov.u32 %b_r22, b__ZZ3ludE3row;", "mov.u32 %b_r22, b__ZZ3ludE6column;"),
    ],
)  # fmt: skip
def test_edits_are_not_proved(both: str, part: str, by: str) -> None:
    assert certificate(both, "harris", "lud")
    assert not certificate(edited(both, part, by), "harris", "lud")


def test_a_store_must_not_pass_a_barrier(both: str) -> None:
    lines = both.splitlines()
    store, barrier = line_of(both, "st.shared.f32 [%b_r24]"), line_of(both, "bar.sync 0;")
    lines.insert(barrier, lines.pop(store))
    made = certificate("\n".join(lines), "harris", "lud")
    assert "stands before" in str(made) and "which the kernel has before it" in str(made)


def test_an_idle_loop_is_not_proved() -> None:
    text = woven_text("histogram", "lud")
    changed = re.sub(r"and.pred (%a_in[0-9]+), \1, %a_p7;", "", text, count=1)
    assert changed != text
    assert certificate(text, "histogram", "lud")
    assert not certificate(changed, "histogram", "lud")


def test_a_wrong_witness_proves_nothing(both: str) -> None:
    claim = both.index(" // B:", both.index("st.shared.f32 [%b_r20]"))
    wrong = both[:claim] + " // B:71" + both[both.index("\n", claim) :]
    assert not certificate(wrong, "harris", "lud")
    plain = goptx.weave(kernel("harris"), kernel("lud")).ptx
    assert "the text has no witness" in str(certificate(plain, "harris", "lud"))
    assert "it was made of another text" in str(certificate(both, "lud", "harris"))
    assert "it was made of 2 kernels, not 1" in str(certificate(both, "harris"))


@pytest.mark.slow
def test_random_edits_of_instructions_are_not_proved() -> None:
    """Each takes a register of another instruction for one that is read; most change what the kernel does."""
    text = woven_text("transpose", "scan")
    rng = random.Random(5)
    lines = text.splitlines()
    places = [
        i for i, line in enumerate(lines) if "// B:" in line and line.strip().startswith(("add", "shl", "st", "mul"))
    ]
    registers = sorted({w.strip(",;[]") for i in places for w in lines[i].split() if w.startswith("%b_r")})
    proved = 0
    for i in rng.sample(places, 20):
        words = lines[i].split()
        target = next(k for k in range(len(words) - 1, 0, -1) if words[k].strip(",;[]").startswith("%b_r"))
        old = words[target].strip(",;[]")
        new = rng.choice([r for r in registers if r != old and r.rstrip("0123456789") == old.rstrip("0123456789")])
        words[target] = words[target].replace(old, new)
        changed = [*lines[:i], "    " + " ".join(words), *lines[i + 1 :]]
        proved += bool(certificate("\n".join(changed), "transpose", "scan"))
    assert proved == 0


BODY = """
.version 8.0
.target sm_90
.address_size 64
.visible .entry k(.param .u32 n)
{
    .reg .pred %p<4>; .reg .b32 %r<4>;
    mov.u32 %r1, %tid.x;
    ld.param.u32 %r2, [n];
    setp.eq.u32 %p1, %r1, 0;
    @%p1 bra ONE;
    setp.eq.u32 %p2, %r2, 0;
    @%p2 bra OUT;
    mov.u32 %r3, 1;
    bra JOIN;
ONE:
    mov.u32 %r3, 2;
JOIN:
    setp.eq.u32 %p3, %r3, 1;
    @%p3 bra OUT;
    bar.warp.sync -1;
OUT:
    ret;
}
"""


def test_values_differ_where_sides_join_before_all_paths_meet() -> None:
    code = program_of(goptx.read(BODY).entries[0])
    last = {start: code.steps[block[-1]] for start, block in code.blocks.items()}
    for scope in (Scope.WARP, Scope.CTA):
        assert {last[start].guard for start in varying_branches(code, scope)} == {"%p1", "%p3"}


def test_a_certificate_is_json(both: str) -> None:
    made = certificate(both, "harris", "lud")
    assert Certificate.from_json(made.to_json()) == made
    assert json.loads(made.to_json())["proved"] is True
    for wrong in ("{}", "", "[]", made.to_json().replace("true", "false"), made.to_json().replace("gaps", "gap")):
        with pytest.raises(ValueError, match="not a certificate: the text is not of format `goptx certificate 2`"):
            Certificate.from_json(wrong)
    assert len(repr(made)) < 200 and str(made).startswith(
        "proved: harris_lud_woven does what harris (A) and lud (B) do, for every input and"
    )


def test_the_witness_survives_its_text(both: str) -> None:
    witness = read_witness(both)
    assert witness and witness.strategy == "weave" and [k.letter for k in witness.kernels] == ["A", "B"]
    assert read_witness("// goptx witness 1 {") is None


def test_the_command(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = tmp_path / "both.ptx"
    kernels = [str(kernel("harris")), str(kernel("lud"))]
    assert goptx_main_of(["weave", *kernels, "-o", str(out)]) == 0
    assert goptx_main_of(["prove", str(out), "--from", *kernels, "--certificate", str(tmp_path / "c.json")]) == 0
    assert Certificate.from_json((tmp_path / "c.json").read_text())
    assert capsys.readouterr().out.startswith(
        "proved: both.ptx does what harris.sm_90.ptx (A) and lud.sm_90.ptx (B) do"
    )
    out.write_text(edited(out.read_text(), "bar.sync 0;", ""))
    assert goptx_main_of(["prove", str(out), "--from", *kernels, "--json"]) == 4
    captured = capsys.readouterr()
    assert json.loads(captured.out)["proved"] is False
    assert captured.err.startswith("NotProvedError: `harris_lud_woven` is not proved: line ")
    assert goptx_main_of(["weave", *kernels, "-o", str(out), "--no-witness"]) == 0
    assert "goptx witness" not in out.read_text()
    assert goptx_main_of(["prove", str(tmp_path / "none.ptx"), "--from", *kernels]) == 2


def test_the_checker_imports_the_parser_and_the_opcode_table_only() -> None:
    allowed = {"goptx.ptx.ir", "goptx.ptx.parse", "goptx.ptx.opcodes", "goptx.ptx.flatten"}
    for path in (ROOT / "goptx" / "proof").rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ImportFrom) and node.module and node.module.startswith("goptx"):
                assert node.module in allowed or node.module.startswith("goptx.proof."), f"{path}: {node.module}"


def test_each_half_of_a_number_has_a_value() -> None:
    """`mov.b32 {%rs58, %rs59}, %r92;` of a number that follows from the launch. That kernel is not proved."""
    folder = ROOT / "benchmarks" / "unseen" / "kernels"
    kernels = folder / "triton" / "decode_attention.sm_90a.ptx", folder / "nvcc" / "kmeans_assign.sm_90.ptx"
    shapes = [goptx.Shape((96, 16), 128, 1024), goptx.Shape(24576, 256, 3072)]
    made = prove(goptx.fuse(*kernels, strategy="interleave", shapes=shapes))
    assert not made and [gap.rule for gap in made.gaps] == ["projection"]
