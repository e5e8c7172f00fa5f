"""auto: which strategy takes the kernels, and what is reported of those that do not."""

import logging
from pathlib import Path
from typing import Any

import pytest
from bodies import kernel
from strategies.dependent_kernels import INDEX, elementwise

import goptx
from goptx import InputError, Shape
from goptx.cli import main

EXAMPLES = Path(__file__).parents[2] / "examples" / "kernels"
HARRIS, LUD = (EXAMPLES / f"{name}.sm_90.ptx" for name in ("harris", "lud"))
FORWARDED = [("A:2", "B:0")]
SHIFTED = elementwise(before="add.s32 %r8, %r4, 32;", read="%r8")
SPIN = "SPIN: ld.acquire.gpu.global.u32 %r9, [%rd1]; setp.eq.u32 %p1, %r9, 0; @%p1 bra SPIN;"
CLUSTER = "barrier.cluster.arrive; barrier.cluster.wait; ret;"


def auto(*sources: Any, **options: Any) -> goptx.Woven:
    return goptx.fuse(*sources, strategy="auto", **options)


def test_independent_kernels_are_woven(caplog: pytest.LogCaptureFixture) -> None:
    made = auto(HARRIS, LUD, policy="paper", max_growth=4.0)
    assert made.strategy == "weave" and made.ptx == goptx.weave(HARRIS, LUD, policy="paper", max_growth=4.0).ptx
    assert not caplog.records


@pytest.mark.slow
def test_the_table_of_the_document_is_that_of_the_report() -> None:
    printed = (EXAMPLES.parents[1] / "docs" / "strategies.md").read_text(encoding="utf-8").partition("\nchosen: ")[2]
    decision = auto(EXAMPLES / "gelu.sm_90.ptx", HARRIS, shapes=[Shape(1048576, 256)] * 2).report.decision
    assert str(decision).startswith("chosen: " + printed.partition("...")[0])


def test_what_cannot_be_woven_is_vertical(caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuses(*sources: Any, **options: Any) -> goptx.Woven:
        raise goptx.CannotWeave("not these", rule="barrier-ids")

    monkeypatch.setattr("goptx.strategies.auto.weave", refuses)
    caplog.set_level(logging.INFO)
    made = auto(HARRIS, EXAMPLES / "stms.sm_90.ptx")
    assert made.strategy == "vertical" and made.report.notes[-1] == "not weave: not these [barrier-ids]"
    logged = [(r.name, r.levelname, r.message) for r in caplog.records]
    assert logged == [("goptx", "INFO", "not weave: not these [barrier-ids]")]


def test_what_nothing_takes_is_separate(caplog: pytest.LogCaptureFixture) -> None:
    made = auto(kernel(SPIN, "one"), kernel("ret;", "two"))
    assert made.strategy == "separate"
    (note,) = made.report.notes  # each reason once
    assert note.startswith("not weave, vertical: <ptx>") and "the loop may wait for other CTAs" in note
    (record,) = (r for r in caplog.records if r.levelno == logging.WARNING)
    assert record.name == "goptx" and record.message.startswith("not fused: weave, vertical: <ptx>:")


def test_kernels_that_depend_on_each_other_are_vertical() -> None:
    made = auto(elementwise(), elementwise(), depends=True, same=FORWARDED)
    assert made.strategy == "vertical" and made.depends and not made.report.notes
    assert auto(elementwise(), SHIFTED, depends=True, same=FORWARDED).strategy == "separate"
    assert auto(elementwise(), SHIFTED, depends=True, same=FORWARDED, assume_local=True).strategy == "vertical"


@pytest.mark.parametrize("kind", ["private", "local"])
def test_temporaries_that_cannot_be_internalised_stay_in_memory(kind: str) -> None:
    bounds = [("A:3", "B:3")]
    shapes = [Shape(2, 64)] * 2
    internalised = auto(elementwise(), elementwise(), same=bounds, shapes=shapes, **{kind: FORWARDED})
    assert internalised.strategy == "vertical" and internalised.ptx.count("st.global") == 1
    made = auto(elementwise(), elementwise(), shapes=shapes, **{kind: FORWARDED})  # bounds that may differ
    assert made.strategy == "vertical" and made.ptx.count("st.global") == 2
    assert any(
        note.startswith(f"the {kind} buffer A:2 (out), B:0 (x) is left in memory: ") for note in made.report.notes
    )
    (temporary,) = made.report.temporaries
    assert (temporary.where, temporary.declared) == ("memory", kind) and "name bounds that are equal" in temporary.why
    shifted = auto(elementwise(), SHIFTED, same=bounds, shapes=shapes, **{kind: FORWARDED})
    assert shifted.strategy == "separate"
    (note,) = shifted.report.notes
    assert note.startswith("not vertical: ") and "different CTAs" in note
    assert ("not proved to be equal" in note and "; and in memory: " in note) == (kind == "private")


def test_what_is_too_large_together_is_separate() -> None:
    large = kernel("mov.u32 %r1, pool; st.shared.u32 [%r1], 1; ret;").replace(
        ".visible .entry", ".extern .shared .align 16 .b8 pool[];\n.visible .entry"
    )
    shapes = [Shape(1, 32, 200_000)] * 2
    with pytest.raises(InputError, match="bytes of dynamic shared memory; a CTA has at most"):
        goptx.weave(large, large, shapes=shapes)
    assert auto(large, large, shapes=shapes).strategy == "separate"


def test_what_is_asked_for_wrongly_is_an_error() -> None:
    with pytest.raises(InputError, match="policy `best` is unknown"):
        auto(HARRIS, LUD, policy="best")
    with pytest.raises(InputError, match="same `A:9`"):
        auto(elementwise(), elementwise(), depends=True, same=[("A:9", "B:0")])
    with pytest.raises(InputError, match="two to 26 kernels, got 1"):
        auto(HARRIS)
    with pytest.raises(InputError, match=r"separate\(\) takes one to 26 kernels, got 0"):
        goptx.fuse(strategy="separate")


def test_the_command(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    for name, text in (("one", kernel(SPIN, "one")), ("two", kernel("ret;", "two"))):
        (tmp_path / f"{name}.ptx").write_text(text)
    assert main(["fuse", *(str(tmp_path / f"{n}.ptx") for n in ("one", "two")), "--strategy", "auto", "--report"]) == 0
    output, errors = capsys.readouterr()
    assert output.count(".visible .entry") == 2
    assert "note: not weave, vertical: " in errors and errors.startswith(" ")  # the log does not appear here
    assert main(["fuse", str(HARRIS), str(LUD), "--strategy", "auto"]) == 0
    assert capsys.readouterr().out == goptx.weave(HARRIS, LUD, slicing=None).text()


# What auto passes to vertical -------------------------------------------------------------------------------


def test_buffers_that_are_declared_noalias() -> None:
    """B reads elsewhere in a buffer, which may be the one that A writes, unless the caller denies it."""
    options: dict[str, Any] = {"strategy": "vertical", "depends": True}
    with pytest.raises(goptx.CannotWeave, match=r"A:2 \(out\) and B:0 \(x\)"):
        goptx.fuse(elementwise(), SHIFTED, **options)
    with pytest.raises(goptx.CannotWeave, match=r"A:2 \(out\) and B:[01] \([xy]\)"):
        goptx.fuse(elementwise(), SHIFTED, noalias=["B:2"], **options)
    for names in (["A:2"], ["B:0", "B:y"], ["A:0", "A:1", "A:2", "B:0", "B:1", "B:2"]):
        goptx.fuse(elementwise(), SHIFTED, noalias=names, **options)
    with pytest.raises(goptx.CannotWeave, match=r"A:2 \(out\)"):  # parameters that are named as one stay one
        goptx.fuse(elementwise(), SHIFTED, noalias=["A:2", "B:0", "B:1"], same=FORWARDED, **options)
    with pytest.raises(InputError, match=r"noalias `B:z`: kernel B .* has no such parameter"):
        goptx.fuse(elementwise(), SHIFTED, noalias=["B:z"], **options)


def test_shapes_of_several_axes_are_refused_where_it_matters() -> None:
    mirrored = elementwise(
        "sub.f32", guard="", read="%r9",
        index=f"{INDEX} sub.s32 %r8, %r2, %r3; sub.s32 %r8, %r8, 1; mad.lo.s32 %r9, %r1, %r2, %r8;",
    )  # fmt: skip
    for shape in (Shape(2, (8, 4)), Shape((2, 2), 32)):
        with pytest.raises(goptx.CannotWeave, match=r"kernel A .*in grids and blocks along x only, and the shape"):
            goptx.fuse(elementwise(), mirrored, strategy="vertical", depends=True, same=FORWARDED, shapes=[shape] * 2)
        goptx.fuse(elementwise(), mirrored, strategy="vertical", shapes=[shape] * 2)
