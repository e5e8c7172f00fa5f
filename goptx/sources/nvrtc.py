"""compile_cuda(): CUDA C++ to PTX through NVRTC, which needs no GPU."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from goptx.errors import AssemblyError, InputError
from goptx.ptx.ir import Module
from goptx.ptx.parse import parse

ARCHITECTURE_OPTIONS = ("-arch", "--gpu-architecture")


class NoArchitecture(InputError):
    """Neither an architecture is given, nor is there a GPU."""


def compile_cuda(
    source: str,
    *,
    arch: str | None = None,
    options: Sequence[str] = (),
    instances: Sequence[str] = (),
    name: str = "<cuda>",
) -> Module:
    """The module of CUDA C++ text, to be woven like any other; its `str` is PTX.

    arch: such as "sm_90"; by default that of the current GPU.
    options: of NVRTC, such as "-use_fast_math", "--std=c++20", "-I/usr/local/cuda/include".
    instances: of templates, such as "scale<float>", that the module shall contain.
    name: the name of the text in messages.

    Raises `AssemblyError` with the compiler's log where it rejects the text, or where NVRTC is missing;
    `InputError` where there is neither an architecture nor a GPU.
    """
    return parse(ptx_of(source, arch, options, instances, name), name)


def ptx_of(source: str, arch: str | None, options: Sequence[str], instances: Sequence[str], name: str) -> bytes:
    """The PTX text that `compile_cuda` parses, with the same arguments and errors."""
    if isinstance(options, str):
        raise InputError(f'options= takes a list, for example options=["{options}"].')
    given = [option.encode() for option in options]
    if not any(option.startswith(ARCHITECTURE_OPTIONS) for option in options):
        given.append(f"--gpu-architecture={arch or _architecture()}".encode())
    compiler = _compiler()
    program = _must(compiler.nvrtcCreateProgram(source.encode(), name.encode(), 0, [], []))
    try:
        for instance in instances:
            _must(compiler.nvrtcAddNameExpression(program, instance.encode()))
        (failed,) = compiler.nvrtcCompileProgram(program, len(given), given)
        if failed:
            log = _text(program, compiler.nvrtcGetProgramLogSize, compiler.nvrtcGetProgramLog)
            log_text = log.rstrip(b"\0").decode(errors="replace").strip() or failed.name
            raise AssemblyError(f"{name}: NVRTC does not compile it:\n{log_text}")
        return _text(program, compiler.nvrtcGetPTXSize, compiler.nvrtcGetPTX)
    finally:
        compiler.nvrtcDestroyProgram(program)


def _architecture() -> str:
    from goptx.device.load import architecture

    found = architecture()
    if found is None:
        raise NoArchitecture('there is no GPU whose architecture could be taken; give one, for example arch="sm_90".')
    return found


def _compiler() -> Any:
    try:
        from cuda.bindings import nvrtc

        nvrtc.nvrtcVersion()
    except Exception as error:  # ImportError, or the bindings' own where the library is missing
        raise AssemblyError(f"NVRTC is needed to compile CUDA C++: `pip install goptx[gpu]` ({error})") from error
    return nvrtc


def _must(answer: Any) -> Any:
    failed, *value = answer
    if failed:
        raise AssemblyError(f"NVRTC answers {failed.name}")
    return value[0] if value else None


def _text(program: Any, size: Any, get: Any) -> bytes:
    text: bytes = b" " * _must(size(program))
    _must(get(program, text))
    return text
