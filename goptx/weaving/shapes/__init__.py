"""Step 2: each kernel reads its own launch shape, whatever the shape of the fused kernel."""
