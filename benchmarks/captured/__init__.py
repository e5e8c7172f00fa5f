"""Programs whose CUDA graphs are optimized; see graph_programs.py."""
