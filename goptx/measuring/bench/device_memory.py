"""Buffers in device memory: their initial contents are saved there, and their contents are compared there.

After every buffer comes a guard that no kernel may write; it is compared too.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from goptx.device.assemble import assemble
from goptx.device.load import current_device, launch, load, must
from goptx.errors import DeviceError
from goptx.launch.sample_data import POISON

Host = np.ndarray[Any, np.dtype[Any]]
WIDTH = 16  # bytes that a thread compares at a time
GUARD = 256  # bytes

COMPARE = """\
.version 6.3
.target sm_75
.address_size 64
.visible .entry differing(.param .u64 one, .param .u64 other, .param .u64 amount, .param .u64 found)
{
    .reg .b64 %one, %other, %amount, %found, %i, %step, %at;
    .reg .b32 %a<4>, %b<4>, %cta, %ctas, %threads, %thread;
    .reg .pred %end, %differs;
    ld.param.u64 %one, [one];
    ld.param.u64 %other, [other];
    ld.param.u64 %amount, [amount];
    ld.param.u64 %found, [found];
    mov.u32 %cta, %ctaid.x;
    mov.u32 %ctas, %nctaid.x;
    mov.u32 %threads, %ntid.x;
    mov.u32 %thread, %tid.x;
    mul.wide.u32 %i, %cta, %threads;
    cvt.u64.u32 %at, %thread;
    add.u64 %i, %i, %at;
    mul.wide.u32 %step, %ctas, %threads;
AGAIN:
    setp.ge.u64 %end, %i, %amount;
    @%end ret;
    shl.b64 %at, %i, 4;
    add.u64 %at, %at, %one;
    ld.global.v4.b32 {%a0, %a1, %a2, %a3}, [%at];
    shl.b64 %at, %i, 4;
    add.u64 %at, %at, %other;
    ld.global.v4.b32 {%b0, %b1, %b2, %b3}, [%at];
    xor.b32 %a0, %a0, %b0;
    xor.b32 %a1, %a1, %b1;
    xor.b32 %a2, %a2, %b2;
    xor.b32 %a3, %a3, %b3;
    or.b32 %a0, %a0, %a1;
    or.b32 %a2, %a2, %a3;
    or.b32 %a0, %a0, %a2;
    setp.ne.b32 %differs, %a0, 0;
    @%differs st.global.b32 [%found], 1;
    add.u64 %i, %i, %step;
    bra AGAIN;
}
"""


class OutOfMemory(DeviceError):
    """The device has too little memory for a buffer."""


@dataclass(slots=True)
class Buffer:
    """`size` bytes at `address`, of `dtype`, followed by the guard. `first` is the address of the saved initial
    content, 0 if it is not saved."""

    address: int
    size: int
    dtype: np.dtype[Any]
    first: int = 0

    @property
    def whole(self) -> int:
        """Bytes with the guard."""
        return -(-self.size // WIDTH) * WIDTH + GUARD


class Memory:
    """The memory of the current device; copies and fills are ordered by `stream`. `gap`: bytes that stay unused before
    each buffer, so that buffers are in other places than without."""

    def __init__(self, stream: Any, gap: int = 0) -> None:
        from cuda.bindings import driver

        device = current_device()
        self.driver, self.stream, self.gap = driver, stream, gap
        self._queue = driver.CUstream(int(stream.handle))
        made = assemble(COMPARE, entry="differing", arch=f"sm_{device.arch}")
        self._differing = load(made.cubin, "differing")
        self._ctas = 16 * device.properties.multiprocessor_count
        self._found = self.allocate(WIDTH)

    def allocate(self, size: int) -> int:
        """The address of `size` new bytes. Raises `OutOfMemory`."""
        failed, address = self.driver.cuMemAlloc(size)
        if failed:
            raise OutOfMemory(f"the device has no memory for {size} bytes more ({failed.name})")
        return int(address)

    def free(self, address: int) -> None:
        if address:
            must(self.driver.cuMemFree(address))

    def buffer(self, dtype: np.dtype[Any], size: int) -> Buffer:
        """A new buffer; it and its guard are poisoned."""
        made = Buffer(0, size, dtype)
        if self.gap:
            self.allocate(self.gap)
        made.address = self.allocate(made.whole)
        self.fill(made.address, POISON, made.whole)
        return made

    def save(self, buffer: Buffer) -> None:
        """Saves the present content of the buffer as its initial content."""
        buffer.first = buffer.first or self.allocate(buffer.whole)
        self.copy(buffer.first, buffer.address, buffer.whole)

    def reset(self, buffer: Buffer) -> int:
        """Restores the initial content, or poisons the buffer if none is saved; gives the number of written bytes."""
        if buffer.first:
            self.copy(buffer.address, buffer.first, buffer.whole)
        else:
            self.fill(buffer.address, POISON, buffer.whole)
        return buffer.whole

    def copy(self, to: int, source: int, size: int) -> None:
        must(self.driver.cuMemcpyDtoDAsync(to, source, size, self._queue))

    def fill(self, address: int, byte: int, size: int) -> None:
        must(self.driver.cuMemsetD8Async(address, byte, size, self._queue))

    def write(self, address: int, values: Host) -> None:
        self.stream.sync()
        must(self.driver.cuMemcpyHtoD(address, values.ctypes.data, values.nbytes))

    def read(self, address: int, size: int, dtype: np.dtype[Any]) -> Host:
        values = np.empty(size, np.uint8)
        self.stream.sync()
        must(self.driver.cuMemcpyDtoH(values.ctypes.data, address, size))
        return values.view(dtype)

    def read_through(self, address: int, size: int) -> None:
        """Reads `size` bytes, a multiple of WIDTH, so that what the cache holds has been written back."""
        arguments = [np.uint64(address), np.uint64(address), np.uint64(size // WIDTH), np.uint64(self._found)]
        launch(self._differing, self.stream, arguments, grid=self._ctas, block=256)

    def differ(self, one: int, other: int, size: int) -> bool:
        """Whether `size` bytes, a multiple of WIDTH, differ. Waits for all work that was started before."""
        self.fill(self._found, 0, 4)
        arguments = [np.uint64(one), np.uint64(other), np.uint64(size // WIDTH), np.uint64(self._found)]
        launch(self._differing, self.stream, arguments, grid=self._ctas, block=256)
        return bool(self.read(self._found, 4, np.dtype(np.uint32))[0])
