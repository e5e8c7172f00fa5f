"""Where the threads of each kernel are in the fused kernel, and the arithmetic of launch shapes that shows it."""
