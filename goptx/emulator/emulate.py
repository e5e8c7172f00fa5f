"""emulate(): runs a kernel on any machine, with stricter checks than a GPU."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache, partial

import numpy as np

from goptx.emulator.decode import decode
from goptx.emulator.emulated_launch import Launch
from goptx.emulator.emulation import Emulation, together
from goptx.emulator.instructions.constant_expression import whole
from goptx.emulator.memory.address_spaces import WINDOWS
from goptx.emulator.memory.caller_buffers import Buffers, host_extents
from goptx.emulator.operands import Symbol
from goptx.emulator.program import Program
from goptx.errors import InputError
from goptx.launch.arguments import pack_arguments, parameter_names, passed_by_value
from goptx.launch.bind import held
from goptx.launch.device_arrays import host_view
from goptx.launch.independence import Independence
from goptx.launch.parameter import Parameter
from goptx.launch.sample_data import check_seed
from goptx.launch.shape import MOST_SHARED, Shape
from goptx.memo import Same
from goptx.ptx.aliases import without_aliases
from goptx.ptx.ir import Function, Instruction, Module, Scope, Statement
from goptx.ptx.parse import parse
from goptx.results.fused_kernel import Origin, Woven
from goptx.results.given_kernels import Source, chosen_from, in_own_shape
from goptx.sources.kernel_text import Chosen, choose_entry

Extent = int | Sequence[int]
Axes = tuple[int, int, int]


def emulate(
    source: Source,
    grid: Extent | None = None,
    block: Extent | None = None,
    args: Sequence[object] = (),
    entry: str | None = None,
    shared: int = 0,
    strict: bool = True,
    races: bool = False,
    seed: int = 0,
    max_steps: int | None = None,
    letter: str = "A",
    shapes: Sequence[Shape] | None = None,
    independent: bool = False,
) -> Emulation:
    """Runs one launch and returns its counts. Needs neither a GPU nor a toolkit.

    source: what `goptx.weave` accepts as a kernel, or a woven kernel; kernels that are not fused run one after
        the other.
    grid, block: CTAs, and threads of one, along x, y and z. A kernel woven for given shapes has them already, and a
        Triton kernel has its block.
    args: one value for each parameter; for a woven kernel one sequence for each of its kernels. A numpy array is a
        buffer: the kernel gets its address and changes it in place (one that is not writeable is read-only). Numpy
        scalars are values of their size; Python numbers are taken in the parameter's. A structure passed by value
        takes bytes, or a numpy or ctypes structure of its size.
    entry: which entry; may be left out where there is only one.
    shared: dynamic shared memory in bytes.
    strict: report errors that a GPU may hide: convergent instructions that not all required lanes execute, aligned
        barriers that lanes of one warp reach separately, wrong thread counts, and reads of uninitialised memory.
        Accesses outside of every buffer, misaligned ones and deadlocks are reported in any case.
    races: also report data races: unordered accesses of two threads of a CTA to one byte, at least one of them a
        write. Needs the square of the block's threads in memory for each CTA.
    seed: 0 runs all warps side by side; any other number lets them run at different paces and in a changing
        order, which the number determines.
    max_steps: the most instructions that a warp may execute; None for no limit.
    letter: the name of a kernel that is not woven, in counts and messages.
    shapes: one for each kernel of a woven one that was woven without shapes; see `Woven.launch`.
    independent: the caller's promise that no kernel of a woven one writes what another accesses, although their arrays
        share memory.

    Raises `EmulationFault` for errors of the kernel and for instructions that the emulator lacks, `InputError`
    for arguments that do not fit, `DependentKernels` as `Woven.launch` does, `PtxSyntaxError`.
    """
    if isinstance(args, str | bytes) or not isinstance(args, Sequence):
        raise InputError(f"args is a sequence of one value for each parameter, not `{type(args).__name__}`.")
    if isinstance(shared, bool) or not isinstance(shared, int | np.integer) or shared < 0:
        raise InputError(f"shared={shared} is not a number of bytes.")
    check_seed(seed)
    args = [[host_view(v) for v in a] if isinstance(a, list | tuple) else host_view(a) for a in args]
    launch = partial(Launch, strict=strict, find_races=races, seed=seed, max_steps=max_steps)
    if not isinstance(source, Woven):
        chosen = chosen_from(source, entry, "emulate()")
        shape = _shape(chosen, grid, block, int(shared), shapes)
        made = program_of(Same(chosen.module), chosen.entry, shape.shared or 0, letter)
        params = [Parameter(letter, p.name, p.name, p.type, p.size) for p in made.entry.parameters]
        return _run(launch, made, shape, params, args)
    starts = source.starts(grid, block, int(shared), shapes)
    values = _of_each_kernel(source, args)
    if not (independent or source.depends):
        Independence([p for p in source.params if p.kernel]).check(host_extents(values))
    done, rest = [], iter(values)
    for start in starts:
        own = [next(rest) for p in start.params if p.kernel]
        made = program_of(Same(source), start.entry, start.shape.shared or 0, letter)
        done.append(_run(launch, made, start.shape, start.params, [*own, *start.hidden]))
    return together(done)


def _run(
    launch: Callable[..., Launch],
    program: Program,
    shape: Shape,
    params: Sequence[Parameter],
    values: Sequence[object],
) -> Emulation:
    """One launch."""
    entry, layout = program.entry, program.layout
    check_bounds(entry, shape.sizes("block"), program.module)
    if layout.sizes["shared"] > MOST_SHARED:
        raise InputError(f"{layout.sizes['shared']} bytes of shared memory are more than a CTA has ({MOST_SHARED}).")
    start = WINDOWS["global"] + layout.sizes["global"]
    buffers, parameters = _parameters(layout.own[entry.name], entry, params, values, start)
    made = launch(program, shape.sizes("grid"), shape.sizes("block"), shape.shared or 0, parameters, buffers)
    return made.run()


def _shape(
    kernel: Chosen, grid: Extent | None, block: Extent | None, shared: int, shapes: Sequence[Shape] | None
) -> Shape:
    """The launch shape of a kernel that is not woven."""
    if shapes is not None:
        raise InputError("shapes= is for a woven kernel; give grid and block.")
    shape = in_own_shape(kernel, Shape(grid, block, shared))
    for name, extent in (("grid", grid), ("block", shape.threads)):
        if extent is None:
            raise InputError(f"{name}=None is not an extent; only a kernel woven with shapes knows its own.")
    return shape


@lru_cache(maxsize=4)
def program_of(source: Same[Module | Woven], entry: str | None, shared: int, letter: str) -> Program:
    """The decoded program, cached because a kernel is often launched several times with other orders or data."""
    if isinstance(source.held, Woven):
        module = parse(source.held.ptx, f"{source.held.name}.ptx")
        origins, kernel = _origins(module.entries, source.held), ""
    else:
        module, origins, kernel = without_aliases(source.held), {}, letter
    if module.address_size != 64:
        raise InputError(f"{module.at('.address_size')}: only 64-bit addresses can be emulated.")
    return decode(module, choose_entry(module, entry), shared, origins, kernel)


def _parameters(
    symbols: Mapping[str, Symbol], entry: Function, params: Sequence[Parameter], values: Sequence[object], start: int
) -> tuple[Buffers, bytes]:
    """The arrays among the arguments, laid out from `start` on, and the bytes of the parameters."""
    buffers = Buffers()
    taken: dict[int, int] = {}
    for i, (param, name, value) in enumerate(zip(params, parameter_names(params), values, strict=False)):
        if isinstance(value, np.ndarray) and value.ndim and not passed_by_value(param):
            if param.size != 8 or param.type[0] not in "usb":
                raise InputError(f"parameter {name}, .{param.type} of {param.size} bytes: does not take an array.")
            taken[i] = buffers.add(name, value)
    addresses = buffers.lay_out(start)
    numbers = [np.uint64(addresses[taken[i]]) if i in taken else v for i, v in enumerate(values)]
    return buffers, parameter_bytes(symbols, entry, params, numbers)


def parameter_bytes(
    symbols: Mapping[str, Symbol], entry: Function, params: Sequence[Parameter], numbers: Sequence[object]
) -> bytes:
    """The bytes of the parameters, for arguments of which arrays are given by their addresses."""
    packed = held(params, [value.tobytes() for value in pack_arguments(params, numbers)])
    block = bytearray(sum(p.size + 16 for p in entry.parameters))
    for parameter, value in zip(entry.parameters, packed, strict=True):
        at = symbols[parameter.name].address - WINDOWS["param"]
        block[at : at + parameter.size] = value
    return bytes(block)


def _of_each_kernel(woven: Woven, args: Sequence[object]) -> list[object]:
    """One argument list for each kernel. Raises `InputError` where `args` is not that."""
    letters = list(woven.report.kernels)
    if len(args) != len(letters) or not all(isinstance(a, Sequence) for a in args):
        raise InputError(f"`{woven.name}` takes one argument sequence for each of the kernels {', '.join(letters)}.")
    values: list[object] = []
    for letter, own in zip(letters, args, strict=True):
        assert isinstance(own, Sequence)
        wanted = sum(p.kernel == letter for p in woven.params)
        if len(own) != wanted:
            raise InputError(f"kernel {letter} of `{woven.name}` takes {wanted} arguments, {len(own)} are given.")
        values += own
    return values


def _origins(entries: Sequence[Function], woven: Woven) -> dict[int, Origin]:
    """The origins by line of the woven text. Code that belongs to no kernel has the letter ""."""
    instructions = [i for entry in entries for i in _instructions(entry.body or ())]
    return {
        i.line: origin or Origin("", f"{woven.name}.ptx", i.line)
        for i, origin in zip(instructions, woven.origins, strict=True)
    }


def _instructions(body: Sequence[Statement]) -> list[Instruction]:
    found: list[Instruction] = []
    for statement in body:
        if isinstance(statement, Instruction):
            found.append(statement)
        elif isinstance(statement, Scope):
            found += _instructions(statement.body)
    return found


def check_bounds(entry: Function, block: Axes, module: Module) -> None:
    """Raises `InputError` if the block contradicts the entry's bounds: such a launch fails."""
    for directive in entry.directives:
        if directive.name == ".reqnctapercluster" and math.prod(map(whole, directive.values)) > 1:
            raise InputError(f"{module.source}:{entry.line}: `{directive}`: clusters of CTAs cannot be emulated.")
        if directive.name not in (".reqntid", ".maxntid"):
            continue
        bound = (*tuple(whole(v) for v in directive.values), 1, 1)
        fits = block == bound[:3] if directive.name == ".reqntid" else math.prod(block) <= math.prod(bound[:3])
        if not fits:
            raise InputError(
                f"{module.source}:{entry.line}: block={block} contradicts `{directive}` of `{entry.name}`."
            )
