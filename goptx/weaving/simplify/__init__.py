"""Rewritings of single kernels, before they are merged, that save instructions which the assembler does not save."""
