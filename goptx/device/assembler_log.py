"""Reads the assembler's report about one entry: the `-v` log of ptxas or nvJitLink, and the cubin's ELF sections.

Requires the log of a successful `-v` (ptxas) or `-verbose` (nvJitLink) run. Both print the same lines for the assembly
itself; nvJitLink adds one final line per entry after linking, which overrides them.
"""

import re
import struct
from dataclasses import dataclass

_COMPILING = re.compile(r"Compiling entry function '([^']+)'")
_PROPERTIES = re.compile(r"Function properties for (?:'(?P<linked>[^']+)':?|(?P<name>\S+))")
_FRAME = re.compile(r"(\d+) bytes stack frame, (\d+) bytes spill stores, (\d+) bytes spill loads")
_REGISTERS = re.compile(r"\bused (\d+) registers", re.IGNORECASE)
_BARRIERS = re.compile(r"\bused (\d+) barriers", re.IGNORECASE)
_STACK = re.compile(r"(\d+) bytes cumulative stack size|(\d+) stack\b")
_SHARED = re.compile(r"(\d+)(?:\+(\d+))? bytes smem")
_WARNING = re.compile(r"\bwarning\s*: *(.*\S)")
_DIAGNOSTIC = re.compile(r"\bline (\d+); *(?:error|fatal)\b")
_SERIALIZED = re.compile(r"\((C751[0-4])\)\s*(.*\S)")
_MAX_QUOTED = 10

_SM90_RESERVED_SHARED = 1024
"""Bytes that the driver reserves per CTA; nvJitLink 13 counts them as the kernel's own on sm_90 only."""


@dataclass(slots=True)
class Usage:
    """The resources of one entry: registers per thread and barriers per CTA; spills, stack and shared memory in bytes.

    Spills include those of the device functions that ptxas lists under the entry.
    """

    registers: int = 0
    barriers: int = 0
    spill_store_bytes: int = 0
    spill_load_bytes: int = 0
    stack_bytes: int = 0
    shared_bytes: int = 0


def read_usage(log: str, arch: str) -> dict[str, Usage]:
    """Usage per entry (mangled name as in the PTX) of a verbose log; `arch` as given to the assembler."""
    usage: dict[str, Usage] = {}
    section = ""  # the entry whose lines these are
    function = ""  # the function with the next properties, `section` or one that it calls
    linked = False
    for line in log.splitlines():
        if compiling := _COMPILING.search(line):
            section = function = compiling[1]
            linked = False
            usage[section] = Usage()
        elif properties := _PROPERTIES.search(line):
            if properties["linked"]:
                section, linked = properties["linked"], True
            function = properties["linked"] or properties["name"]
        elif (frame := _FRAME.search(line)) and section in usage:
            entry = usage[section]
            entry.spill_store_bytes += int(frame[2])
            entry.spill_load_bytes += int(frame[3])
            if function == section:
                entry.stack_bytes = int(frame[1])
        elif registers := _REGISTERS.search(line):
            entry = usage.setdefault(section, Usage())
            entry.registers = int(registers[1])
            if barriers := _BARRIERS.search(line):
                entry.barriers = int(barriers[1])
            if stack := _STACK.search(line):
                entry.stack_bytes = int(stack[1] or stack[2])
            if shared := _SHARED.search(line):
                entry.shared_bytes = int(shared[1]) + int(shared[2] or 0)
                if linked and arch.startswith("sm_90") and entry.shared_bytes >= _SM90_RESERVED_SHARED:
                    entry.shared_bytes -= _SM90_RESERVED_SHARED
    usage.pop("", None)
    return usage


def read_warnings(log: str) -> tuple[str, ...]:
    """The assembler's own warnings, without its prefix, in order, without repetition."""
    return tuple(dict.fromkeys(_WARNING.findall(log)))


def read_serialized(log: str) -> str:
    """The first remark that `wgmma` instructions are serialized (C7510 to C7514), "" if there is none: they then wait
    for each other, which can take ten times as long. ptxas gives it as information, not as a warning."""
    found = _SERIALIZED.search(log)
    return f"{found[1]}: {found[2]}" if found else ""


def quote_diagnostics(log: str, ptx: str) -> str:
    """The log with each `line N; error` followed by that line of the PTX (the first ten of them)."""
    source = ptx.splitlines()
    quoted: list[str] = []
    numbers: set[int] = set()
    for line in log.replace("\0", "").splitlines():
        if not line.strip():
            continue
        quoted.append(line.rstrip())
        found = _DIAGNOSTIC.search(line)
        number = int(found[1]) if found else 0
        if 0 < number <= len(source) and number not in numbers and len(numbers) < _MAX_QUOTED:
            numbers.add(number)
            quoted.append(f"{number:>6} | {source[number - 1].strip()}")
    return "\n".join(quoted)


def sections(cubin: bytes) -> dict[str, tuple[int, int]]:
    """Offset and size in bytes of each named section of a cubin (a 64-bit little-endian ELF file)."""
    if cubin[:6] != b"\x7fELF\x02\x01":
        return {}
    (table,) = struct.unpack_from("<Q", cubin, 0x28)
    width, count, names = struct.unpack_from("<HHH", cubin, 0x3A)
    headers = [struct.unpack_from("<I20xQQ", cubin, table + index * width) for index in range(count)]
    names_at = headers[names][1]
    found = {}
    for name, offset, size in headers:
        start = names_at + name
        found[cubin[start : cubin.index(b"\0", start)].decode()] = (offset, size)
    return found


def constant_bytes(cubin: bytes, entry: str) -> int:
    """Bytes of constant memory that `entry` sees: parameters, literals and the module's `.const`.

    Read from the file's sections, since ptxas stopped printing bank 0 for sm_90 and later.
    """
    banks = re.compile(rf"\.nv\.constant(3|\d+\.{re.escape(entry)})")
    return sum(size for name, (_, size) in sections(cubin).items() if banks.fullmatch(name))
