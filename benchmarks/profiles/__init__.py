"""Counters of Nsight Compute for the pairs of suites A, B and C, and of the second writing of suite A: the kernels
alone, and fused in several ways.

What the suites measure is time; this says what the time is spent on, and how much of a GPU's resources is left.
"""
