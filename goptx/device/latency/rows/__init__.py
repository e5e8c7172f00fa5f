"""All microbenchmarks."""
from goptx.device.latency.rows import arithmetic, barriers, bits, control, conversions, mbarriers, memory, special, warps
ROWS = tuple(row for part in (arithmetic, bits, conversions, special, memory, mbarriers, warps, barriers, control) for row in part.ROWS)
