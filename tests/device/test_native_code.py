"""Separate kernels are launched as the machine code of their framework, where that is known."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from bodies import kernel
from interop.objects import CompiledKernel, softmax
from tuning.fake_bench import ARGS, PLUS, SHAPES, TIMES, FakeBench, Pretending

import goptx
from goptx.device import executable
from goptx.device.assemble import assemble, find_ptxas
from goptx.device.assembler_log import sections
from goptx.errors import DeviceError, InputError
from goptx.launch.native_code import NativeCode
from goptx.measuring.bench.questions import Described
from goptx.results.given_kernels import kernels_of
from goptx.strategies.coarsen import coarsen
from goptx.strategies.separate import separate
from goptx.tuning.best import replay
from goptx.tuning.measured import measured

ROOT = Path(__file__).parents[2]
SUITES = ("examples/kernels", "benchmarks/suite_a/natural", "benchmarks/suite_b/kernels", "benchmarks/suite_d")
NATIVE = NativeCode(b"made by nvcc", "plus")
STATE = kernel("ld.global.u32 %r1, [state]; st.global.u32 [state], %r1; ret;", "k").replace(
    ".visible", ".global .u32 state;\n.visible", 1
)


def with_code(text: str, native: NativeCode = NATIVE) -> Any:
    (chosen,) = kernels_of([text], least=1)
    return replace(chosen, native=native)


def natives(made: goptx.Woven) -> list[NativeCode | None]:
    return [launch.native for launch in made.launches]


def triton(**metadata: Any) -> CompiledKernel:
    """Triton's softmax, assembled by Triton."""
    made = softmax()
    made.asm["cubin"] = b"made by Triton"
    for name, value in metadata.items():
        setattr(made.metadata, name, value)
    return made


# Which code a launch has ------------------------------------------------------------------------------------


def test_tritons_own_code_is_launched() -> None:
    made = separate(triton(), PLUS)
    assert natives(made) == [NativeCode(b"made by Triton", "softmax", 2), None]
    assert natives(separate(triton(), PLUS, streams=True)) == natives(made)
    assert natives(goptx.weave(triton(), PLUS)) == [None]


@pytest.mark.parametrize(("sizes", "scratch"), [((0, 0), 2), ((64, 0), 1), ((64, 64), 0), ((0, 64), None)])
def test_scratch_parameters_that_stand_last(sizes: tuple[int, int], scratch: int | None) -> None:
    """Those before an argument cannot be filled."""
    made = triton(global_scratch_size=sizes[0], profile_scratch_size=sizes[1])
    (chosen,) = kernels_of([made], least=1)
    assert (chosen.native and chosen.native.scratch) == scratch


def test_a_kernel_that_triton_did_not_assemble() -> None:
    made = softmax()
    del made.asm["cubin"]
    assert natives(separate(made)) == [None]


def test_where_another_code_is_needed() -> None:
    assert natives(separate(with_code(PLUS))) == [NATIVE]
    assert natives(separate(with_code(PLUS), arch="sm_80")) == [NATIVE], "the one that it is made for"
    assert natives(separate(with_code(PLUS), arch="sm_90")) == [None]
    assert natives(separate(coarsen(with_code(PLUS), 2))) == [None]
    assert natives(separate(with_code(STATE), PLUS)) == [None, None], "its variable would be another one"


# How it is loaded and launched ------------------------------------------------------------------------------


class Kernel:
    def __init__(self, code: bytes, name: str, num_arguments: int) -> None:
        self.code, self.name, self.num_arguments = code, name, num_arguments


@pytest.fixture
def loaded(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """What launchers were made with. Kernels have three parameters."""
    made: list[Any] = []

    class Launcher:
        def __init__(self, kernel: Any, hidden: Sequence[bytes], sizes: Sequence[int], **_: Any) -> None:
            made.append((kernel.code[:4], kernel.name, list(sizes), list(hidden)))

    monkeypatch.setattr(executable, "load_all", lambda code, names: [Kernel(code, name, 3) for name in names])
    monkeypatch.setattr(executable, "current_device", lambda: type("Device", (), {"device_id": 0}))
    monkeypatch.setattr(executable, "device_number", lambda: 0)
    monkeypatch.setattr(executable, "remember", lambda *_: None)
    monkeypatch.setattr(executable, "Launcher", Launcher)
    monkeypatch.setattr(executable, "in_turn", tuple)
    return made


@pytest.mark.skipif(find_ptxas() is None, reason="needs ptxas")
def test_each_kernel_is_loaded_from_its_own_code(loaded: list[Any]) -> None:
    both = separate(with_code(PLUS), TIMES, shapes=SHAPES)
    both.executable.starter(None, None, 0, None, None)
    assert loaded == [(b"made", "plus", [8, 8, 4], []), (b"\x7fELF", "times", [8, 8, 4], [])]
    loaded.clear()
    both.executable.starter(None, None, 0, None, 40)
    both.capped(40).executable.starter(None, None, 0, None, None)
    assert [code for code, *_ in loaded] == [b"\x7fELF"] * 4, "a register cap needs goptx's assembler"


def test_scratch_parameters_are_null(loaded: list[Any], monkeypatch: pytest.MonkeyPatch) -> None:
    text = PLUS.replace("out", "result")
    made = separate(with_code(text, NativeCode(b"made by Triton", "plus", 2)), shapes=SHAPES[:1])
    with pytest.raises(DeviceError, match=r"`plus` takes 3 parameters in its machine code and 5 in its PTX; give both"):
        made.executable.starter(None, None, 0, None, None)
    monkeypatch.setattr(executable, "load_all", lambda code, names: [Kernel(code, names[0], 5)])
    made.executable.starter(None, None, 0, None, None)
    assert loaded == [(b"made", "plus", [8, 8, 4], [bytes(8)] * 2)]


# Where it comes from ----------------------------------------------------------------------------------------


def test_a_launch_specification_names_it(tmp_path: Path) -> None:
    (tmp_path / "plus.ptx").write_text(PLUS)
    (tmp_path / "plus.toml").write_text(
        '[[kernel]]\nfile = "plus.ptx"\ncubin = "plus.cubin"\nentry = "plus"\ngrid = [4]\nblock = [64]\nargument = ['
        '{ name = "in", dtype = "uint32", length = 256, generator = "integers" },'
        '{ name = "out", dtype = "uint32", length = 256, role = "out" }, { name = "n", dtype = "uint32", value = 3 }]'
    )
    with pytest.raises(
        InputError, match=r"plus.cubin: cannot be read \(No such file.*give the path of machine code, or remove `cubin`"
    ):
        measured([tmp_path / "plus.ptx"])
    (tmp_path / "plus.cubin").write_bytes(NATIVE.cubin)
    for what in (measured([], spec=tmp_path / "plus.toml"), measured([tmp_path / "plus.ptx"])):
        assert natives(what.workload.separate) == [NATIVE] and what.workload.has_native


def test_it_is_stored_with_the_result_of_tuning(tmp_path: Path) -> None:
    bench = FakeBench(described_as=Described("Imaginary", "sm_80", "580.1"))  # that it is made for
    best = goptx.tune(
        with_code(PLUS), TIMES, shapes=SHAPES, args=ARGS, executor=Pretending(), benches=[bench], progress=False
    )
    assert best.candidate.strategy == "separate" and natives(best.fused) == [NATIVE, None]
    assert {"graph (assembled)", "separate (assembled)"} < best.ms.keys()
    best.save(tmp_path / "best.json")
    assert natives(replay(tmp_path / "best.json")) == [NATIVE, None]


@pytest.mark.slow
@pytest.mark.skipif(find_ptxas() is None, reason="needs ptxas")
@pytest.mark.parametrize("path", [p for folder in SUITES for p in sorted((ROOT / folder).glob("*.sm_90.ptx"))], ids=str)
def test_of_nvccs_kernels_both_are_the_same_bytes(path: Path) -> None:
    """What nvcc has ptxas make of its PTX is what goptx makes of separate kernels, so the suites need no cubins."""
    text = path.read_text()
    for entry in goptx.read(path).entries:
        nvcc, ours = assemble(text, entry=entry.name).cubin, separate(path, entries=[entry.name]).cubin()
        assert code_of(entry.name, nvcc) == code_of(entry.name, ours) != b""


def code_of(entry: str, cubin: bytes) -> bytes:
    at, size = sections(cubin)[f".text.{entry}"]
    return cubin[at : at + size]
