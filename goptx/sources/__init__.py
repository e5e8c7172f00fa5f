"""Kernels of other frameworks. Each file is about one; none is imported before it is asked for, and none of the
frameworks is needed for anything else."""
