import shutil
import subprocess
import sys

import pytest

from goptx.device import assemble as module
from goptx.device.assemble import Assembly, assemble, find_ptxas
from goptx.device.assembler_log import read_usage, sections
from goptx.device.assemblers import find_assemblers
from goptx.errors import AssemblyError, InputError

SPILL_COUNT = 60
HUNGRY = "_Z6hungryPf"


def text(*, maxnreg: int | None = None, maxntid: int | None = None, target: str = "sm_90") -> str:
    """Two entries: `small`, with 256 bytes of shared memory, and one that holds sixty floats at a time."""
    directives = "".join(f".{name} {value}\n" for name, value in (("maxntid", maxntid), ("maxnreg", maxnreg)) if value)
    loads = "\n".join(f"ld.volatile.global.f32 %f{i}, [%rd1+{4 * i}];" for i in range(SPILL_COUNT))
    stores = "\n".join(f"st.volatile.global.f32 [%rd1+{4 * i}], %f{i};" for i in range(SPILL_COUNT))
    return f""".version 8.0
.target {target}
.address_size 64
.visible .entry small(.param .u64 p)
{{
    .reg .u64 %rd<4>;
    .reg .u32 %r<9>;
    .shared .align 4 .b8 room[256];
    ld.param.u64 %rd1, [p];
    mov.u32 %r1, %tid.x;
    mov.u32 %r2, room;
    st.shared.u32 [%r2], %r1;
    bar.sync 0;
    ld.shared.u32 %r3, [%r2];
    st.global.u32 [%rd1], %r3;
    ret;
}}
.visible .entry {HUNGRY}(.param .u64 p)
{directives}{{
    .reg .u64 %rd<4>;
    .reg .f32 %f<{SPILL_COUNT}>;
    ld.param.u64 %rd1, [p];
    {loads}
    {stores}
    ret;
}}
"""


def code(built: Assembly, entry: str) -> bytes:
    """The machine code alone: a cubin also holds the assembler's command line."""
    offset, size = sections(built.cubin)[f".text.{entry}"]
    return built.cubin[offset : offset + size]


def nvjitlink_works() -> bool:
    return find_assemblers.nvjitlink_version() is not None


ASSEMBLERS = [
    pytest.param(
        "ptxas",
        marks=pytest.mark.skipif(find_ptxas() is None, reason="no ptxas on the PATH or in nvidia-cuda-nvcc"),
    ),
    pytest.param(
        "nvjitlink",
        marks=pytest.mark.skipif(not nvjitlink_works(), reason="nvJitLink (cuda-python) is not installed"),
    ),
]
needs_ptxas = pytest.mark.skipif(find_ptxas() is None, reason="no ptxas on the PATH or in nvidia-cuda-nvcc")


@pytest.mark.parametrize("assembler", ASSEMBLERS)
def test_costs_are_those_of_the_entry(assembler: str) -> None:
    small = assemble(text(), entry="small", assembler=assembler)
    hungry = assemble(text(maxnreg=32), entry=HUNGRY, assembler=assembler)
    assert small.cubin.startswith(b"\x7fELF")
    assert (small.shared_bytes, small.barriers, small.stack_bytes) == (256, 1, 0)
    assert (small.spill_store_bytes, small.spill_load_bytes) == (0, 0)
    assert small.registers < 32
    assert hungry.registers == 32
    assert hungry.shared_bytes == 0
    assert hungry.spill_store_bytes >= 4 * (SPILL_COUNT - 32)
    assert hungry.spill_load_bytes >= hungry.spill_store_bytes
    assert hungry.stack_bytes >= hungry.spill_store_bytes
    assert small.constant_bytes >= 8  # the parameter is in bank 0
    assert small.arch == "sm_90"
    assert small.assembler.startswith({"ptxas": "ptxas 1", "nvjitlink": "nvJitLink 1"}[assembler])


@pytest.mark.parametrize("assembler", ASSEMBLERS)
@pytest.mark.parametrize("maxntid", [None, 128])
def test_maxnreg_caps_with_and_without_maxntid(assembler: str, maxntid: int | None) -> None:
    free = assemble(text(maxntid=maxntid), entry=HUNGRY, assembler=assembler)
    capped = assemble(text(maxntid=maxntid, maxnreg=40), entry=HUNGRY, assembler=assembler, max_registers=40)
    assert free.registers > SPILL_COUNT
    assert free.spill_store_bytes == 0
    assert capped.registers <= 40 < free.registers
    assert capped.warnings == ()


@pytest.mark.parametrize("assembler", ASSEMBLERS)
def test_an_exceeded_cap_is_a_warning(assembler: str) -> None:
    without_directive = assemble(text(), entry=HUNGRY, assembler=assembler, max_registers=40)
    assert len(without_directive.warnings) == 1
    assert f"{without_directive.registers} registers" in without_directive.warnings[0]
    assert "cap of 40" in without_directive.warnings[0]
    below_minimum = assemble(text(maxnreg=16), entry=HUNGRY, assembler=assembler, max_registers=16)
    assert below_minimum.registers == 24
    assert len(below_minimum.warnings) == 2  # the assembler's own, and ours


@pytest.mark.parametrize("assembler", ASSEMBLERS)
def test_fmad_off_changes_the_code(assembler: str) -> None:
    ptx = """.version 8.0
.target sm_90
.address_size 64
.visible .entry k(.param .u64 p)
{
    .reg .u64 %rd<2>;
    .reg .f32 %f<6>;
    ld.param.u64 %rd1, [p];
    ld.global.f32 %f1, [%rd1];
    ld.global.f32 %f2, [%rd1+4];
    ld.global.f32 %f3, [%rd1+8];
    mul.f32 %f4, %f1, %f2;
    add.f32 %f5, %f4, %f3;
    st.global.f32 [%rd1], %f5;
    ret;
}
"""
    on, off = (assemble(ptx, entry="k", assembler=assembler, fmad=fmad) for fmad in (True, False))
    default = assemble(ptx, entry="k", assembler=assembler)
    assert code(on, "k") != code(off, "k")
    assert code(on, "k") == code(default, "k")


@pytest.mark.parametrize("assembler", ASSEMBLERS)
def test_refused_text_quotes_the_offending_line(assembler: str) -> None:
    broken = text().replace("bar.sync 0;", "bar.sinc 0;")
    number = broken.splitlines().index("    bar.sinc 0;") + 1
    with pytest.raises(AssemblyError) as caught:
        assemble(broken, entry="small", assembler=assembler)
    message = str(caught.value)
    assert f"line {number}; error" in message
    assert f"{number} | bar.sinc 0;" in message
    assert message.count("| bar.sinc 0;") == 1


@pytest.mark.parametrize("assembler", ASSEMBLERS)
def test_unknown_architecture_entry_and_target(assembler: str) -> None:
    with pytest.raises(AssemblyError, match="sm_20"):
        assemble(text(), entry="small", arch="sm_20", assembler=assembler)
    with pytest.raises(InputError, match=rf"no entry `other`.*{HUNGRY}, small"):
        assemble(text(), entry="other", assembler=assembler)
    with pytest.raises(InputError, match=r"no `\.target`"):
        assemble(text().replace(".target", "// target"), entry="small", assembler=assembler)


@pytest.mark.parametrize("assembler", ASSEMBLERS)
def test_arch_may_be_above_the_target(assembler: str) -> None:
    built: Assembly = assemble(text(target="sm_80"), entry="small", arch="sm_90a", assembler=assembler)
    assert built.arch == "sm_90a"
    assert built.shared_bytes == 256


def test_without_any_assembler_the_error_names_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("GOPTX_PTXAS", raising=False)
    monkeypatch.setattr(find_assemblers, "every_ptxas", list)
    monkeypatch.setattr(find_assemblers, "nvjitlink_version", lambda: None)
    for assembler in (None, "ptxas"):
        with pytest.raises(AssemblyError, match=r"pip install goptx\[ptxas\]"):
            assemble(text(), entry="small", assembler=assembler)
    with pytest.raises(AssemblyError, match=r"pip install goptx\[gpu\]"):
        assemble(text(), entry="small", assembler="nvjitlink")


@needs_ptxas
def test_a_path_forces_the_assembler() -> None:
    path = find_ptxas()
    assert assemble(text(), entry="small", assembler=path).assembler.startswith("ptxas ")
    with pytest.raises(AssemblyError, match="not a program that can be run"):
        assemble(text(), entry="small", assembler="/nowhere/ptxas")
    with pytest.raises(AssemblyError, match="is not ptxas"):
        assemble(text(), entry="small", assembler=shutil.which("true"))


def test_older_logs_and_device_functions_are_read() -> None:
    log = """ptxas info    : 0 bytes gmem, 16 bytes cmem[3]
ptxas info    : Compiling entry function 'k' for 'sm_80'
ptxas info    : Function properties for k
    64 bytes stack frame, 4 bytes spill stores, 8 bytes spill loads
ptxas info    : Function properties for helper
    0 bytes stack frame, 12 bytes spill stores, 16 bytes spill loads
ptxas info    : Used 42 registers, 512+16 bytes smem, 360 bytes cmem[0]
"""
    usage = read_usage(log, "sm_80")
    assert list(usage) == ["k"]
    cost = usage["k"]
    assert (cost.registers, cost.barriers, cost.shared_bytes, cost.stack_bytes) == (42, 0, 528, 64)
    assert (cost.spill_store_bytes, cost.spill_load_bytes) == (16, 24)


def test_importing_the_device_modules_imports_neither_cuda_nor_numpy() -> None:
    code = (
        "import sys, goptx.device.assemble, goptx.device.load, goptx.device.occupancy, goptx.device.sweep\n"
        "print([name for name in ('cuda', 'numpy', 'torch') if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


@needs_ptxas
def test_a_text_that_ptxas_is_too_old_for_goes_to_a_newer_nvjitlink(monkeypatch: pytest.MonkeyPatch) -> None:
    """An older assembler comes first, since its machine code loads on older drivers; one that is named is obeyed."""
    monkeypatch.delenv("GOPTX_PTXAS", raising=False)
    monkeypatch.setenv("GOPTX_CACHE_SIZE", "0")
    newer = text().replace(text().split(".version ")[1].split()[0], "9.9", 1)
    path, log = find_ptxas(), assemble(text(), entry="small").log
    asked: list[str] = []

    def linked(name: str, ptx: str, arch: str, fmad: bool) -> tuple[bytes, str]:
        asked.append(ptx)
        return assemble(text(), entry="small", assembler=path).cubin, log

    monkeypatch.setattr(module, "_run_nvjitlink", linked)
    for version, taken in (("99.1", True), ("12.0", False), (None, False)):
        asked.clear()
        monkeypatch.setattr(find_assemblers, "nvjitlink_version", lambda version=version: version)
        if taken:
            assert assemble(newer, entry="small").assembler == "nvJitLink 99.1"
            assert assemble(text(), entry="small").assembler.startswith("ptxas ")
        else:
            with pytest.raises(AssemblyError, match=r"nsupported \.version 9\.9"):
                assemble(newer, entry="small")
        assert asked == ([newer] if taken else [])
    monkeypatch.setattr(find_assemblers, "nvjitlink_version", lambda: "99.1")
    with pytest.raises(AssemblyError, match=r"nsupported \.version"):
        assemble(newer, entry="small", assembler="ptxas")
    monkeypatch.setenv("GOPTX_PTXAS", str(path))
    with pytest.raises(AssemblyError, match=r"nsupported \.version"):
        assemble(newer, entry="small")
