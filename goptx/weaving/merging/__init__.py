"""Step 4: blocks are sliced, barriers get an order, and the blocks of all kernels are paired."""
