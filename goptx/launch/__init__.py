"""The launch of kernels: shapes, arguments, their independence, launch specifications."""
