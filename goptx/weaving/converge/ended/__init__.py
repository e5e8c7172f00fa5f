"""What threads that have ended a kernel, and live on in the fused one, need not run."""
