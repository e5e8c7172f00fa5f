"""Which assembler is taken, with programs that report a version, refuse a later `.version`, and else are ptxas."""

import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from goptx.cli.installation import examine
from goptx.device.assemble import assemble, assembler_name, find_ptxas
from goptx.device.assemblers import find_assemblers
from goptx.device.assemblers.ptx_versions import newest_ptx, oldest_cuda
from goptx.errors import AssemblyError

REAL = find_ptxas()
needs_ptxas = pytest.mark.skipif(REAL is None, reason="needs ptxas")
KERNEL = ".version {}\n.target sm_90\n.address_size 64\n.visible .entry k()\n{{\nret;\n}}\n"
PROGRAM = """#!/bin/sh
[ "$1" = --version ] && {{ echo "Cuda compilation tools, release, V{version}"; exit 0; }}
for last; do :; done
wanted=$(sed -n 's/^\\.version //p' "$last")
if [ "$(printf '%s\\n' "$wanted" {newest} | sort -V | tail -1)" != {newest} ]; then
    echo "ptxas $last, line 1; fatal   : Unsupported .version $wanted; current version is '{newest}'"; exit 255
fi
case "$*" in *sm_{unknown}*)
    echo "ptxas fatal   : Value 'sm_{unknown}' is not defined for option 'gpu-name'"; exit 255
esac
sed -i 's/^\\.version .*/.version 8.0/' "$last"
exec {real} "$@"
"""
Program = Callable[..., str]


@pytest.fixture
def program(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Program:
    """Makes programs; at first there is none, and no driver, in any place that is searched."""
    monkeypatch.setenv("PATH", "/usr/bin:/bin")  # of the tools that PROGRAM needs
    monkeypatch.setattr(sys, "path", [str(tmp_path / "site"), *(path for path in sys.path if "packages" not in path)])
    for name in ("GOPTX_PTXAS", "CUDA_PATH", "CUDA_HOME"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("GOPTX_CACHE_SIZE", "0")
    monkeypatch.setattr(find_assemblers, "driver_version", lambda: None)
    monkeypatch.setattr(find_assemblers, "nvjitlink_version", lambda: None)

    def make(place: str, version: str, *, unknown: str = "none") -> str:
        newest = newest_ptx([int(part) for part in version.split(".")]) or (99, 0)
        path = tmp_path / place
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(
            PROGRAM.format(version=version, newest=f"{newest[0]}.{newest[1]}", real=REAL or "false", unknown=unknown)
        )
        path.chmod(0o755)
        return str(path)

    return make


def test_programs_that_are_not_ptxas_are_passed_over(
    program: Program, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """A program that prints anything else, and a folder that may not be searched."""
    odd = tmp_path / "odd" / "ptxas"
    odd.parent.mkdir()
    odd.write_bytes(b"#!/bin/sh\nprintf 'caf\\351'\n")
    odd.chmod(0o755)
    own = program("site/nvidia/cu13/bin/ptxas", "13.0.88")
    monkeypatch.setenv("PATH", f"{odd.parent}:/usr/bin:/bin")
    closed = tmp_path / "closed"
    monkeypatch.setattr(sys, "path", [str(closed), *sys.path])
    whole = Path.is_dir

    def is_dir(path: Path) -> bool:
        if closed in path.parents:
            raise PermissionError(13, "Permission denied")
        return whole(path)

    monkeypatch.setattr(Path, "is_dir", is_dir)
    assert find_ptxas() == own


def taken(version: str, arch: str = "sm_90") -> str:
    return assemble(KERNEL.format(version), entry="k", arch=arch).assembler


WHEEL, PACKED, OLDER = "site/nvidia/cu13/bin/ptxas", "site/triton/backends/nvidia/bin/ptxas-blackwell", "old/bin/ptxas"
TORCH = "site/torch/bin/ptxas"


@needs_ptxas
def test_the_lowest_that_takes_the_version_is_taken(program: Program, monkeypatch: pytest.MonkeyPatch) -> None:
    """Those that came with Triton and torch are used where none of the user's own will do."""
    wheel, packed, torch = program(WHEEL, "13.2.9"), program(PACKED, "13.4.59"), program(TORCH, "12.0.1")
    monkeypatch.setenv("CUDA_PATH", str(Path(program(OLDER, "12.8.93")).parents[1]))
    assert [one.path for one in find_assemblers.every_ptxas()] == [find_ptxas(), wheel, torch, packed]
    assert assembler_name() == "ptxas 12.8.93"
    assert [taken(version) for version in ("8.0", "8.7", "8.8", "9.2", "9.3", "9.4")] == [
        "ptxas 12.8.93", "ptxas 12.8.93", "ptxas 13.2.9", "ptxas 13.2.9", "ptxas 13.4.59", "ptxas 13.4.59",
    ]  # fmt: skip


@needs_ptxas
def test_a_later_version_than_any_takes_is_refused_with_the_remedy(program: Program) -> None:
    program(WHEEL, "13.0.88"), program(PACKED, "13.1.7")
    with pytest.raises(AssemblyError) as caught:
        taken("9.4")
    message = str(caught.value)
    assert message.startswith("ptxas 13.1.7 refuses the PTX for sm_90:")
    assert "Unsupported .version 9.4; current version is '9.1'" in message
    assert '`pip install "nvidia-cuda-nvcc>=13.4,<14"`, or name a ptxas of CUDA 13.4 or later in GOPTX_PTXAS' in message
    with pytest.raises(AssemblyError, match="name a later ptxas in GOPTX_PTXAS"):
        taken("99.0")
    assert oldest_cuda((99, 0)) is None


@needs_ptxas
def test_an_unknown_architecture_goes_to_the_next(program: Program) -> None:
    program(WHEEL, "12.0.1", unknown="90"), program(PACKED, "13.4.59")
    assert taken("8.0") == "ptxas 13.4.59"
    program(PACKED.replace("blackwell", "other"), "13.3.1")
    assert taken("8.0") == "ptxas 13.3.1"
    with pytest.raises(AssemblyError, match=r"(?s)sm_2000.*tried: .*13\.4\.59.*name a ptxas that knows sm_2000 in"):
        taken("8.0", arch="sm_2000")


@needs_ptxas
def test_the_named_assembler_is_the_only_one(program: Program, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    named, wheel = program("own/ptxas-13", "13.0.88"), program(WHEEL, "13.4.92")
    monkeypatch.setenv("GOPTX_PTXAS", named)
    assert find_ptxas() == named
    assert taken("9.0") == "ptxas 13.0.88"
    with pytest.raises(
        AssemblyError, match=rf"(?s)Unsupported.*GOPTX_PTXAS forbids the others; unset it for .*{wheel}"
    ):
        taken("9.4")
    monkeypatch.setenv("GOPTX_PTXAS", str(tmp_path / "missing"))
    with pytest.raises(AssemblyError, match=r"GOPTX_PTXAS names `.*`, which is not a program that can be run"):
        find_ptxas()
    monkeypatch.delenv("GOPTX_PTXAS")
    assert assemble(KERNEL.format("9.0"), entry="k", assembler=named).assembler == "ptxas 13.0.88"


@pytest.mark.parametrize(
    ("driver", "order"),
    [
        (None, ["12.9.86", "13.4.92", "13.0.88"]),
        ((13, 4), ["12.9.86", "13.4.92", "13.0.88"]),
        ((13, 0), ["12.9.86", "13.0.88", "13.4.92"]),
        ((12, 0), ["12.9.86", "13.4.92", "13.0.88"]),
        ((11, 8), ["12.9.86", "13.4.92", "13.0.88"]),
    ],
)
def test_what_the_driver_loads_comes_first(
    driver: tuple[int, int] | None, order: list[str], program: Program, monkeypatch: pytest.MonkeyPatch
) -> None:
    """13.0.88 came with Triton."""
    program(WHEEL, "13.4.92"), program("site/nvidia/cuda_nvcc/bin/ptxas", "12.9.86"), program(PACKED, "13.0.88")
    monkeypatch.setattr(find_assemblers, "driver_version", lambda: driver)
    assert [".".join(map(str, one.version)) for one in find_assemblers.every_ptxas()] == order


def test_what_is_not_ptxas_is_passed_over(program: Program, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    wheel = program(WHEEL, "13.0.88")
    monkeypatch.setenv("CUDA_HOME", str(Path(program(OLDER, "12.8")).parents[1]))
    (tmp_path / OLDER).write_text("#!/bin/sh\n")
    assert find_ptxas() == wheel
    with pytest.raises(AssemblyError, match=r"is not ptxas: `--version` printed ''"):
        find_assemblers.ptxas_at(str(tmp_path / OLDER), "CUDA_HOME")


def test_doctor_lists_each_assembler(program: Program, monkeypatch: pytest.MonkeyPatch) -> None:
    wheel, packed = program(WHEEL, "13.0.88"), program(PACKED, "13.4.59")
    unknown = program("site/torch/bin/ptxas", "99.1")
    monkeypatch.setattr(find_assemblers, "nvjitlink_version", lambda: "13.3")

    def listed() -> list[str]:
        return [one.detail for one in examine().findings if one.what in ("ptxas", "nvJitLink") and one.found]

    others = [
        f"13.4.59 in {packed}, takes PTX up to 9.4, found by Triton",
        f"99.1 in {unknown}, found by torch",
    ]
    linker = "13.3, takes PTX up to 9.3, found by cuda-python"
    assert listed() == [f"13.0.88 in {wheel}, takes PTX up to 9.0, found by nvidia-cuda-nvcc", *others, linker]
    monkeypatch.setenv("GOPTX_PTXAS", wheel)
    assert listed() == [
        f"13.0.88 in {wheel}, takes PTX up to 9.0, found by GOPTX_PTXAS",
        *(f"{other} (GOPTX_PTXAS forbids it)" for other in others),
        linker,
    ]


def test_each_release_takes_its_ptx() -> None:
    """As the manual's release history has it."""
    releases = {(9, 0): (6, 0), (10, 2): (6, 5), (11, 8): (7, 8), (12, 5): (8, 5), (12, 6): (8, 5), (12, 9): (8, 8),
                (13, 0): (9, 0), (13, 4): (9, 4)}  # fmt: skip
    assert {release: newest_ptx(release) for release in releases} == releases
    assert (newest_ptx((8, 0)), newest_ptx((14, 0))) == (None, None)
    assert (oldest_cuda((8, 5)), oldest_cuda((9, 4)), oldest_cuda((5, 0))) == ((12, 5), (13, 4), (9, 0))
