"""Folded grids: loops in which the warps of a CTA run several CTAs of a kernel, one after the other."""
