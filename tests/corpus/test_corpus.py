"""PTX of real compilers (build.py) is parsed, printed as text with the same meaning, and gives the same machine code.

Where the assembler copies its input or line numbers of it into the cubin, everything else in there is equal.
"""

import re
import struct
import subprocess
from collections.abc import Iterator
from dataclasses import replace
from functools import cache
from pathlib import Path

import pytest
from isa.newer import PARTNER

from goptx.device.assemble import find_ptxas
from goptx.errors import CannotWeave
from goptx.ptx.ir import Directive, Module, Section
from goptx.ptx.parse import parse
from goptx.weaving.weave import weave

FOLDER = Path(__file__).parent
COMMITTED = sorted(FOLDER.glob("ptx/*.ptx"))
FILES = [pytest.param(p, id=p.stem) for p in [*COMMITTED, *sorted(FOLDER.glob("more/*.ptx"))]]
PTXAS = find_ptxas()
LOWERED = (9, 0)  # what CI's ptxas takes
every_file = pytest.mark.parametrize("path", FILES)


@cache
def module_of(path: Path) -> Module:
    return parse(path.read_bytes(), path.name)


@every_file
def test_printed_text_reads_as_the_same_module(path: Path) -> None:
    printed = str(module_of(path))
    again = parse(printed)
    assert again == module_of(path)
    assert str(again) == printed


@pytest.mark.slow
@pytest.mark.skipif(PTXAS is None, reason="no ptxas on the PATH or in nvidia-cuda-nvcc, so no machine code to compare")
@every_file
def test_printed_text_gives_the_same_machine_code(path: Path, tmp_path: Path) -> None:
    module = module_of(path)
    relocatable = "rdc" in path.name
    before, after = (assemble(text, module, relocatable, tmp_path) for text in (path.read_text(), str(module)))
    if relocatable or any(isinstance(item, Directive) and item.name == ".file" for item in module.items):
        assert parts(before) == parts(after)
    else:
        assert before == after


def assemble(text: str, module: Module, relocatable: bool, folder: Path) -> bytes:
    assert PTXAS is not None
    (folder / "in.ptx").write_text(text)
    command = [PTXAS, f"-arch={module.target[0]}", "in.ptx", "-o", "out.cubin", *(["-c"] if relocatable else [])]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    if "Unsupported .version" in done.stderr and module.version > LOWERED:  # has nothing that is newer
        lowered = ".version {}.{}".format(*LOWERED)
        return assemble(
            re.sub(r"^\.version .*", lowered, text, flags=re.M), replace(module, version=LOWERED), relocatable, folder
        )
    assert done.returncode == 0, done.stdout + done.stderr
    return (folder / "out.cubin").read_bytes()


@pytest.mark.parametrize("path", [pytest.param(p, id=p.stem) for p in COMMITTED if ".newest." in p.name])
def test_what_triton_writes_when_left_alone_is_woven_or_refused_by_name(path: Path, tmp_path: Path) -> None:
    """Triton 3.9 writes PTX 9.4. Its own ptxas 13.4.59 has assembled all of build.py's, their print, and them woven."""
    assert module_of(path).version == (9, 4)
    if "tcgen05.alloc" in path.read_text():
        with pytest.raises(CannotWeave, match=r"tcgen05\.alloc") as caught:
            weave(path, PARTNER)
        assert caught.value.rule == "exclusive-resources"
    else:
        woven = weave(path, PARTNER).module
        assert woven.version == (9, 4)
        if PTXAS:
            assert assemble(str(woven), woven, False, tmp_path).startswith(b"\x7fELF")


# The parts of a cubin, an ELF file of 64 bits ----------------------------------------------------------

NAMES = (".strtab", ".shstrtab", ".symtab")
OF_THE_TEXT = re.compile(r"nv_debug_(line_sass|ptx_txt|\.shared)")  # PTX itself, its lines, what stands at which line
NO_BITS, NO_CUDA_BITS = 8, 0x7000000A
HEADER, SYMBOL = struct.Struct("<IIQQQQIIQQ"), struct.Struct("<IBBHQQ")


def parts(cubin: bytes) -> tuple[dict[str, tuple[object, ...]], list[tuple[object, ...]]]:
    """The sections by name, and the symbols, without sections of PTX or its line numbers."""
    (table,) = struct.unpack_from("<Q", cubin, 0x28)
    count, names_index = struct.unpack_from("<HH", cubin, 0x3C)
    headers = [HEADER.unpack_from(cubin, table + HEADER.size * i) for i in range(count)]

    def text_at(section: int, offset: int) -> str:
        begin = headers[section][4] + offset
        return cubin[begin : cubin.index(b"\0", begin)].decode()

    def bits(header: tuple[int, ...]) -> bytes:
        return b"" if header[1] in (NO_BITS, NO_CUDA_BITS) else cubin[header[4] : header[4] + header[5]]

    titles = [text_at(names_index, header[0]) for header in headers]
    sections: dict[str, tuple[object, ...]] = {}
    symbols: list[tuple[object, ...]] = []
    for title, header in zip(titles, headers, strict=True):
        if title not in NAMES and not OF_THE_TEXT.search(title):
            sections[title] = (header[1], header[2], header[5], header[8], bits(header))
        if title == ".symtab":
            for name, info, other, section, value, size in SYMBOL.iter_unpack(bits(header)):
                spelled = re.sub(r"^(\$.*__)\d+$", r"\1", text_at(header[6], name))
                home = titles[section] if section < count else section
                if not OF_THE_TEXT.search(spelled):
                    symbols.append((spelled, info, other, home, value, size))
    return sections, sorted(symbols, key=repr)


# The files themselves -----------------------------------------------------------------------------------


def test_committed_files_are_many_and_small() -> None:
    assert len(COMMITTED) >= 50
    assert sum(path.stat().st_size for path in COMMITTED) <= 5_000_000
    assert {path.suffixes[-2] for path in COMMITTED} == {".nvcc", ".nvrtc", ".cupy", ".numba", ".llvm", ".triton"}


PLACES = ("/tmp/goptx-corpus", "/usr/local/cuda-13.0/", "/usr/include/c++/")


def test_committed_files_name_no_folder_of_a_machine() -> None:
    for path in COMMITTED:
        for text in (path.read_text(), *bytes_of_sections(module_of(path))):
            for folder in re.findall(r"(?<![\w./*])/[\w.+-]+/[\w.+/-]*", text):
                assert folder.startswith(PLACES), f"{path.name}: {folder}"


def bytes_of_sections(module: Module) -> Iterator[str]:
    """The text in the bytes of the debug sections, which are written as numbers."""
    for item in module.items:
        if isinstance(item, Section):
            numbers = [int(word, 0) for word in item.words if re.fullmatch(r"\d+|0x[\da-f]+", word)]
            yield "".join(chr(n) if 32 <= n < 127 else "\n" for n in numbers)
