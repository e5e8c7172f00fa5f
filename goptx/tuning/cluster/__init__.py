"""Measuring and making on the workers of a Dask cluster, and tuning of all pairs of many kernels."""
