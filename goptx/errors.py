"""The errors of goptx: one small family. Each message names file, line, instruction and remedy.

A refusal also names the rule that the kernels do not meet. docs/refusals.md has a section for each rule.
"""

from typing import Literal

Rule = Literal[
    # barriers
    "barrier-uniformity",
    "barrier-after-exit",
    "barrier-ids",
    "cluster-barrier",
    # waiting
    "wait-for-other-ctas",
    "visible-waits",
    "votes-amid-waits",
    # divergence and control flow
    "known-branch-targets",
    "known-instructions",
    "single-entry-loops",
    "structured-divergence",
    "forced-divergence",
    "warp-instruction-after-exit",
    "exit-in-function",
    "call-sequence",
    # state of the thread
    "carry-flag",
    "thread-stack",
    # linking
    "common-target",
    "module-symbols",
    "function-address",
    "kernel-address",
    "substitutable-operands",
    "parameter-size",
    # shapes and resources
    "launch-bounds",
    "cluster-shape",
    "whole-warps",
    "known-shapes",
    "shared-memory-size",
    "shared-size-registers",
    "sm-number",
    "folded-grids",
    "batch-axis",
    "exclusive-resources",
    "size-limits",
    "published-merge",
    # dependences
    "independent-kernels",
    "declared-dependences",
    "dependence-within-cta",
    "known-addresses",
    "plain-accesses",
    "temporary-ownership",
    "written-before-read",
    "dependent-shapes",
]


class GoptxError(Exception):
    """Base of every error that goptx raises on purpose."""


class InputError(GoptxError):
    """A missing file, an unknown entry or parameter, or an invalid specification."""


class TooLarge(InputError):
    """Shapes in which each kernel can be launched separately, but the fused kernel cannot."""


class PtxSyntaxError(GoptxError):
    """Text that is not PTX; the message has file, line, column, the line with a caret, and what was expected."""


class UnknownInstruction(UserWarning):
    """An opcode without facts in goptx; it is treated as the most constrained. Given once per module."""


class DebugInformationLost(UserWarning):
    """DWARF sections of a module compiled with `-G`; the woven kernel has lines, but no variables for a debugger."""


class LatencyTableWarning(UserWarning):
    """The latencies in use are another architecture's."""


class ConvergenceWarning(UserWarning):
    """The merge in use, merge="paper", does not preserve the convergence of warps: the kernel may hang or be wrong."""


class ProbablySlower(UserWarning):
    """The cost model estimates the fused kernel to be slower than separate launches, by more than 5 %. The message is
    the sentence with which the report begins."""


class NotAsMeasured(UserWarning):
    """A kernel that is made again from a result of tuning (`goptx.replay`) has other code than the one that was
    measured: another version of goptx made that."""


class NoGain(GoptxError):
    """A kernel that is estimated to be slower than separate launches, where a gain is required (`--require-gain`)."""


class UnmetRule(GoptxError):
    """Base of refusals: kernels that do not meet a rule which goptx needs for a right result.

    message: what is refused, where, and what to do.
    rule: the name of the rule, which `str()` appends to the message in brackets; docs/refusals.md has a section of
        that name.
    """

    def __init__(self, message: str, rule: Rule) -> None:
        super().__init__(message, rule)
        self.message = message
        self.rule: Rule = rule

    def __str__(self) -> str:
        return f"{self.message} [{self.rule}]"


class CannotLink(UnmetRule):
    """Modules that cannot stand in one module: `.version`, `.target`, address size, symbols, resources.

    `rule` names the rule that is not met, a section of docs/refusals.md.
    """


class CannotWeave(UnmetRule):
    """Kernels whose weaving cannot be proved to be right; names kernel, instruction, line and remedy.

    `rule` names the rule that is not met, a section of docs/refusals.md.
    """


class DependentKernels(UnmetRule):
    """Arguments by which one kernel writes what another accesses; names both parameters.

    `rule` names the rule that is not met, a section of docs/refusals.md.
    """


class DependenceWarning(UserWarning):
    """One kernel may write what another accesses: by a raw pointer into an array, or in a variable of their module."""


class AssemblyError(GoptxError):
    """The assembler (or the compiler of CUDA C++) is missing, rejects the text, or did not honour an option."""


class DeviceError(GoptxError):
    """No GPU, no cuda-python, or a load or launch that the driver rejects; names what to install."""


class NotProvedError(GoptxError):
    """A fused kernel for which no proof was found; names the rule, the line and what could not be proved."""


class CheckFailed(GoptxError):
    """A woven kernel writes other values than its separate kernels; names parameters and elements. See
    `goptx.check`."""


class EmulationFault(GoptxError):
    """An error that the emulator found in a running kernel, or an instruction that it lacks.

    kind: one of "convergence", "barrier count", "deadlock", "out of bounds", "misaligned", "read-only",
        "registers", "uninitialised", "race", "step limit", "trap", "unsupported".
    source, line, instruction: the place; for a woven kernel, in the woven text, and `kernel` is the letter of the
        kernel that the instruction comes from.
    cta: (x, y, z) of the first CTA concerned; threads: numbers within it, x first.
    """

    def __init__(
        self,
        message: str,
        *,
        kind: str,
        source: str = "",
        line: int = 0,
        instruction: str = "",
        kernel: str = "",
        cta: tuple[int, int, int] = (0, 0, 0),
        threads: tuple[int, ...] = (),
    ) -> None:
        super().__init__(message)
        self.kind = kind
        self.source = source
        self.line = line
        self.instruction = instruction
        self.kernel = kernel
        self.cta = cta
        self.threads = threads
