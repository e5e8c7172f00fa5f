"""The errors of goptx: one small family. Each message names file, line, instruction and remedy."""


class GoptxError(Exception):
    """Base of every error that goptx raises on purpose."""


class InputError(GoptxError):
    """A missing file, an unknown entry or parameter, or a specification that makes no sense."""


class PtxSyntaxError(GoptxError):
    """Text that is not PTX; the message shows file, line, column, the line with a caret, what was expected."""


class CannotLink(GoptxError):
    """Modules that cannot stand in one module: `.version`, `.target`, address size, symbols, resources."""


class CannotWeave(GoptxError):
    """Kernels whose weaving cannot be shown to be right; names kernel, instruction, line, rule and remedy."""


class AssemblyError(GoptxError):
    """The assembler is missing, refuses the text, or did not honour what was asked of it."""


class DeviceError(GoptxError):
    """No GPU, no cuda-python, or a load or launch that the driver refuses; says what to install."""
