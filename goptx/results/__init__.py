"""What fusing gives: the fused kernel or separate kernels, the report, the decision."""
