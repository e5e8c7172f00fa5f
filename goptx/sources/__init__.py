"""Kernels of other frameworks, one file for each. A file is imported when it is needed, and no framework is needed for
anything else."""
