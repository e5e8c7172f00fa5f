import itertools
import shutil
import subprocess
from pathlib import Path

import pytest

from goptx.device.occupancy import LIMITS, occupancy, sm_limits
from goptx.errors import InputError


@pytest.mark.parametrize(
    ("arch", "registers", "shared", "threads", "ctas", "limited_by"),
    [
        ("sm_80", 32, 0, 256, 8, "warps"),
        ("sm_90", 64, 0, 256, 4, "registers"),
        ("sm_90", 65, 0, 256, 3, "registers"),  # 72 registers a thread after rounding to 256 a warp
        ("sm_90", 255, 0, 128, 2, "registers"),
        ("sm_90", 255, 0, 256, 1, "registers"),
        ("sm_90", 255, 0, 288, 0, "registers"),
        ("sm_90", 16, 0, 32, 32, "ctas"),
        ("sm_75", 16, 0, 32, 16, "ctas"),
        ("sm_86", 32, 0, 512, 3, "warps"),
        ("sm_90", 32, 227 * 1024, 128, 1, "shared"),
        ("sm_90", 32, 227 * 1024 + 1, 128, 0, "shared"),
        ("sm_80", 32, 40 * 1024, 128, 4, "shared"),  # 164 KiB over 41 KiB
        ("sm_70", 32, 48 * 1024, 128, 2, "shared"),  # nothing is reserved before 8.0
        ("sm_90", 32, 0, 1025, 0, "threads"),
        ("sm_120", 32, 0, 64, 24, "warps"),
    ],
)
def test_known_values(arch: str, registers: int, shared: int, threads: int, ctas: int, limited_by: str) -> None:
    found = occupancy(arch, registers, shared, threads)
    assert (found.ctas_per_sm, found.limited_by) == (ctas, limited_by)
    assert found.warps_per_sm == ctas * -(-threads // 32)
    assert found.fraction == found.warps_per_sm / found.max_warps
    assert found.note == ""


def test_threads_are_rounded_up_to_warps() -> None:
    found = occupancy("sm_90", 32, 0, 255)
    assert (found.ctas_per_sm, found.warps_per_sm, found.max_warps, found.fraction) == (8, 64, 64, 1.0)


@pytest.mark.parametrize(
    ("registers", "threads", "launched", "ctas", "limited_by"),
    [
        (64, 128, 512, 5, "registers"),  # 65,536 are enough for 4 that have ended in part, and one whole
        (64, 128, 128, 8, "registers"),
        (32, 128, 512, 13, "warps"),
        (32, 32, 256, 32, "ctas"),
        (96, 128, 1024, 0, "registers"),
        (32, 32, 1056, 0, "threads"),
    ],
)
def test_ctas_of_which_most_warps_end_at_once(
    registers: int, threads: int, launched: int, ctas: int, limited_by: str
) -> None:
    """One begins where there is room for all of its warps."""
    found = occupancy("sm_90", registers, 0, threads, launched=launched)
    assert (found.ctas_per_sm, found.limited_by) == (ctas, limited_by)
    assert found.warps_per_sm == ctas * threads // 32


def test_sixteen_barriers_leave_four_ctas_on_hopper() -> None:
    found = occupancy("sm_90", 32, 0, 64, barriers=16)
    assert (found.ctas_per_sm, found.limited_by) == (4, "barriers")


def test_unknown_architectures() -> None:
    assert sm_limits("sm_90a") == (LIMITS[9, 0], "")
    assert sm_limits("compute_121f") == (LIMITS[12, 1], "")
    limits, note = sm_limits("sm_999")
    newest = max(LIMITS)
    assert limits == LIMITS[newest]
    assert "sm_{}{}".format(*newest) in note
    assert occupancy("sm_999", 32, 0, 128).note == note
    for arch in ("sm_61", "gfx90a", "sm_"):
        with pytest.raises(InputError, match=arch):
            sm_limits(arch)
    with pytest.raises(InputError, match="0 threads"):
        occupancy("sm_90", 32, 0, 0)


CALCULATOR = """
#include <cstdio>
#include <cuda_occupancy.h>
int main() {
    int major, minor, warps, registers, threads, barriers;
    size_t per_sm, reserved, shared;
    while (scanf("%d %d %d %zu %zu %d %zu %d %d", &major, &minor, &warps, &per_sm, &reserved,
                 &registers, &shared, &threads, &barriers) == 9) {
        cudaOccDeviceProp sm;
        sm.computeMajor = major; sm.computeMinor = minor; sm.warpSize = 32; sm.numSms = 1;
        sm.maxThreadsPerBlock = 1024; sm.maxThreadsPerMultiprocessor = 32 * warps;
        sm.regsPerBlock = sm.regsPerMultiprocessor = 65536;
        sm.sharedMemPerBlock = 48 * 1024; sm.sharedMemPerMultiprocessor = per_sm;
        sm.sharedMemPerBlockOptin = per_sm - reserved; sm.reservedSharedMemPerBlock = reserved;
        cudaOccFuncAttributes kernel;
        kernel.maxThreadsPerBlock = 1024; kernel.numRegs = registers;
        kernel.shmemLimitConfig = FUNC_SHMEM_LIMIT_OPTIN;
        kernel.maxDynamicSharedSizeBytes = per_sm - reserved; kernel.numBlockBarriers = barriers;
        cudaOccDeviceState state;
        cudaOccResult result;
        if (cudaOccMaxActiveBlocksPerMultiprocessor(&result, &sm, &kernel, &state, threads, shared)) return 1;
        printf("%d\\n", result.activeBlocksPerMultiprocessor);
    }
}
"""
HEADER = next(iter(sorted(Path("/usr/local").glob("cuda*/include/cuda_occupancy.h"))), None)


@pytest.mark.skipif(HEADER is None or shutil.which("g++") is None, reason="no g++, or no CUDA toolkit in /usr/local")
def test_agrees_with_nvidias_calculator(tmp_path: Path) -> None:
    assert HEADER is not None
    (tmp_path / "calculator.cpp").write_text(CALCULATOR)
    binary = tmp_path / "calculator"
    subprocess.run(["g++", f"-I{HEADER.parent}", "-o", binary, tmp_path / "calculator.cpp"], check=True)
    registers = (16, 24, 33, 40, 48, 65, 80, 96, 128, 168, 255)
    shared = (0, 1, 1000, 20 * 1024, 33 * 1024, 63 * 1024, 99 * 1024, 150 * 1024, 227 * 1024)
    threads = (1, 32, 96, 128, 224, 256, 384, 512, 1000, 1024)
    cases = [
        case
        for case in itertools.product(LIMITS, registers, shared, threads, (1, 16))
        if case[0] != (8, 8) and case[2] <= LIMITS[case[0]].shared_bytes_per_cta
    ]
    lines = []
    for capability, used_registers, used_shared, used_threads, barriers in cases:
        row = LIMITS[capability]
        lines.append(
            f"{capability[0]} {capability[1]} {row.warps} {row.shared_bytes} {row.reserved_shared} "
            f"{used_registers} {used_shared} {used_threads} {barriers}"
        )
    done = subprocess.run([binary], input="\n".join(lines), capture_output=True, text=True, check=True)
    theirs = [int(line) for line in done.stdout.split()]
    ours = [
        occupancy(f"sm_{major}{minor}", regs, used, count, barriers=barriers).ctas_per_sm
        for (major, minor), regs, used, count, barriers in cases
    ]
    assert len(theirs) == len(cases) > 10_000
    differing = [(case, ours, theirs) for case, ours, theirs in zip(cases, ours, theirs, strict=True) if ours != theirs]
    assert differing == []
