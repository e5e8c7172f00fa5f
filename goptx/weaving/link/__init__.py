"""Step 1: the modules of all kernels become one name space, one target, one set of launch bounds."""
