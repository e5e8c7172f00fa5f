"""How candidates compare with separate launches: the gain that the cost model expects."""
