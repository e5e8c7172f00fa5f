import sys
from pathlib import Path
import numpy as np
from region.emulated import Device, Stream
import goptx
ROOT = Path(__file__).parents[2]
CHAIN = ROOT / "benchmarks" / "suite_d" / "chain.sm_90.ptx"

def test_chain(device: Device) -> None:
    n = 1000
    a,b,c,d = (device.random(n) for _ in range(4))
    t1,t2,t3,out = (device.zeros(n) for _ in range(4))
    for i in range(3):
        with goptx.fusion(Stream()) as f:
            f.launch(CHAIN, 4, 256, a, b, t1, n, entry="first")
            f.launch(CHAIN, 4, 256, a, c, t2, n, entry="second")
            f.launch(CHAIN, 4, 256, t2, d, t3, n, entry="third")
            f.launch(CHAIN, 4, 256, t1, t3, out, n, entry="fourth")
            f.private(t1, t2, t3)
        print(f.report)
        print(f.fused.report)
    assert 0
