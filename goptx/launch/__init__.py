"""How a kernel is launched: shapes, arguments, their independence, launch specifications."""
