"""Nsight Compute's counters of kernels alone and fused; `goptx.profile` is in goptx/tuning."""
