"""Wrong use of a fusion region, and the errors."""

import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from bodies import kernel
from region.emulated import Device, Stream
from strategies.dependent_kernels import elementwise

import goptx
from goptx import InputError
from goptx.device import load as device_launch
from goptx.device import recorded_streams, stream_watch
from goptx.results.fused_kernel import Woven

PLUS, MINUS = elementwise("add.f32"), elementwise("sub.f32")


class Other(Stream):
    """Another object for the same stream, which has the protocol as a value."""

    def __init__(self, handle: int = 42) -> None:
        super().__init__(handle)
        self.__cuda_stream__ = 0, handle  # type: ignore[assignment,method-assign]


# The stream ---------------------------------------------------------------------------------------------


def test_no_other_launch_on_the_stream() -> None:
    woven = goptx.weave(PLUS, MINUS)
    arguments = [[None, None, None, 0]] * 2
    message = "a fusion region records this stream, so nothing else can be launched on it"
    named: list[tuple[Any, ...]] = [(Stream(), Other()), (Other(), Stream()), (None, Stream(0), Stream(1))]
    for streams in named:
        with goptx.fusion(streams[0]):
            for same in streams:
                with pytest.raises(InputError, match=message):
                    woven.launch(same, *arguments, grid=1, block=32)
                with pytest.raises(InputError, match=message):
                    device_launch.launch(None, same, [], grid=1, block=32)
            with pytest.raises(goptx.DeviceError):  # only the GPU is missing
                woven.launch(Stream(43), *arguments, grid=1, block=32)
    with pytest.raises(goptx.DeviceError):
        woven.launch(Stream(), *arguments, grid=1, block=32)


def test_the_regions_own_stream_cannot_be_used() -> None:
    stream = Stream()
    woven = goptx.weave(PLUS, MINUS)
    with goptx.fusion(stream) as f:
        with pytest.raises(InputError, match="`sync` is asked of a stream that a fusion region records"):
            f.stream.sync()
        with pytest.raises(InputError, match="`handle` is asked of a stream"):
            _ = f.stream.handle
        with pytest.raises(InputError, match="there is nothing to wait for"):
            woven.launch(f.stream, [None, None, None, 0], [None, None, None, 0], grid=1, block=32)
        assert stream.sync() == "waited"  # which is not seen
    assert f.stream.sync() == "waited"
    assert f.stream.__cuda_stream__() == (0, 42)


def test_no_region_within_a_region() -> None:
    message = "a fusion region cannot stand within a fusion region; end the outer one first, or cancel it"
    for inner in (Stream(), Stream(43), None):
        with goptx.fusion(Stream()), pytest.raises(InputError, match=message), goptx.fusion(inner):
            pass
    with goptx.fusion(Stream()), pytest.raises(InputError), goptx.fusion(Stream()):
        pass
    with goptx.fusion(Stream()):
        pass


def test_threads_have_streams_of_their_own() -> None:
    errors: list[BaseException] = []

    def other(handle: int) -> None:
        try:
            with goptx.fusion(Stream(handle)):
                pass
        except InputError as error:
            errors.append(error)

    with goptx.fusion(Stream()):
        for handle in (43, 42):
            thread = threading.Thread(target=other, args=[handle])
            thread.start()
            thread.join()
    assert [str(error) for error in errors] == [
        "another thread's fusion region records this stream; give each thread a stream of its own."
    ]


def test_a_stream_is_free_after_whatever_happened(device: Device) -> None:
    a, b, c = (device.random(64) for _ in range(3))
    for ending in ("nothing", "cancel", "raise", "fail"):
        try:
            with goptx.fusion(Stream()) as f:
                f.launch(PLUS, 1, 64, a, b, c, 64)
                if ending == "cancel":
                    f.cancel()
                if ending == "raise":
                    raise ValueError
                if ending == "fail":
                    f.private(device.random(3))
        except (ValueError, InputError):
            pass
        recorded_streams.check_launch(Stream())


# The region ---------------------------------------------------------------------------------------------


def test_a_region_is_begun_once() -> None:
    f = goptx.fusion(Stream())
    message = r"launch\(\) belongs inside a fusion region, and the region has not begun"
    with pytest.raises(InputError, match=message):
        f.launch(PLUS, 1, 32, None, None, None, 0)
    with f, pytest.raises(InputError, match="the fusion region is open; make another one with"):
        f.__enter__()
    for use in (f.cancel, f.private, lambda: f.launch(PLUS, 1, 32)):
        with pytest.raises(InputError, match="belongs inside a fusion region, and the region has ended"):
            use()
    with pytest.raises(InputError, match="the fusion region has ended; make another one"), f:
        pass


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"strategy": "diagonal"}, "strategy `diagonal` is unknown; expected one of weave"),
        ({"strategy": "vertical", "policy": "paper"}, "strategy vertical has no option `policy`"),
        ({"colour": 3}, "strategy auto has no option `colour`"),
        ({"same": [("A:0", "B:0")]}, r"fusion\(\) takes no `same`: that follows from the launches, private\(\) and"),
        ({"strategy": "weave", "shapes": []}, r"fusion\(\) takes no `shapes`"),
        ({"strategy": "separate", "entries": ["k"]}, r"fusion\(\) takes no `entries`"),
    ],
)
def test_wrong_options(options: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=message):
        goptx.fusion(Stream(), **options)


TWO = kernel("ret;", "one") + kernel("ret;", "two").partition(".address_size 64")[2]
WRONG: dict[str, tuple[Callable[[goptx.Fusion], None], str]] = {
    "few": (
        lambda f: f.launch(PLUS, 1, 32, None, None),
        r"2 arguments for 4 parameters: A:0 \(x\), A:1 \(y\), A:2 \(out\)",
    ),
    "kind": (lambda f: f.launch(PLUS, 1, 32, None, None, None, 0.5), r"parameter A:3 \(n\), .u32 of 4 bytes: takes an"),
    "host": (
        lambda f: f.launch(PLUS, 1, 32, None, np.zeros(3), None, 0),
        r"parameter A:1 \(y\).*a numpy array is host memory",
    ),
    "grid": (lambda f: f.launch(PLUS, 0, 32, None, None, None, 0), "grid=0 is not an extent"),
    "unknown": (
        lambda f: f.launch(PLUS, None, 32, None, None, None, 0),
        r"a launch needs a grid and a block of known sizes; \?x\?x\?:32 does not have them",
    ),
    "block": (lambda f: f.launch(PLUS, 1, (64, 64), None, None, None, 0), "a CTA has at most 1024"),
    "shared": (lambda f: f.launch(PLUS, 1, 32, None, None, None, 0, shared=-1), "shared=-1 is not a number of bytes"),
    "entry": (lambda f: f.launch(TWO, 1, 32), "the module has the entries `one`, `two`; name one"),
    "no entry": (lambda f: f.launch(TWO, 1, 32, entry="three"), "no entry `three`"),
    "file": (lambda f: f.launch(Path("none.ptx"), 1, 32), "none.ptx: cannot be read"),
    "several": (
        lambda f: f.launch(goptx.weave(PLUS, MINUS), 1, 32),
        r"the launch\(\) of a fusion region takes one kernel, and `k_woven` is woven of A, B",
    ),
    "temporary": (lambda f: f.private(np.zeros(3)), r"private\(\) takes device arrays and addresses, not `ndarray`"),
    "nowhere": (lambda f: f.local(None), r"local\(\) takes device arrays and addresses, not `NoneType`"),
}


@pytest.mark.parametrize("what", WRONG)
def test_wrong_launches(what: str, device: Device) -> None:
    use, message = WRONG[what]
    with pytest.raises(InputError, match=message), goptx.fusion(Stream()) as f:
        use(f)
    assert not device.launched and f.fused is None


def test_text_that_is_no_ptx(device: Device) -> None:
    with pytest.raises(InputError, match=r"give pathlib\.Path"), goptx.fusion(Stream()) as f:
        f.launch("plus.ptx", 1, 32)


def test_messages_have_the_letter_of_the_launch(device: Device) -> None:
    with pytest.raises(InputError, match=r"parameter B:3 \(n\)"), goptx.fusion(Stream()) as f:
        f.launch(PLUS, 1, 32, None, None, None, 0)
        f.launch(PLUS, 1, 32, None, None, None, "n")


def test_temporaries_have_to_be_arguments(device: Device) -> None:
    a, b, c, d = (device.random(64) for _ in range(4))
    message = r"private\(\): no launch of the region takes that buffer; give one that launches share"
    with pytest.raises(InputError, match=message), goptx.fusion(Stream()) as f:
        f.private(d)
        f.launch(PLUS, 1, 64, a, b, c, 64)
        f.launch(PLUS, 1, 64, c, b, a, 64)
    message = r"a buffer is declared both private\(\) and local\(\)"
    with pytest.raises(InputError, match=message), goptx.fusion(Stream()) as f:
        f.launch(PLUS, 1, 64, a, b, c, 64)
        f.launch(PLUS, 1, 64, c, b, d, 64)
        f.local(c)
        f.private(c)
    assert not device.launched


def test_there_are_as_many_launches_as_letters(device: Device) -> None:
    message = "a fusion region takes at most 26 launches; begin another one"
    with pytest.raises(InputError, match=message), goptx.fusion(Stream()) as f:
        for _ in range(27):
            f.launch(PLUS, 1, 32, None, None, None, 0)
    assert not device.launched


def test_modules_that_do_not_go_together(device: Device) -> None:
    """Not even for launches one after the other."""
    with pytest.raises(goptx.CannotLink, match="does not suit"), goptx.fusion(Stream()) as f:
        f.launch(PLUS.replace("sm_80", "sm_90a").replace("8.0", "8.6"), 1, 32, None, None, None, 0)
        f.launch(PLUS.replace("sm_80", "sm_100a").replace("8.0", "8.6"), 1, 32, None, None, None, 0)
    assert not device.launched


def test_without_a_gpu_the_launch_says_so() -> None:
    if device_launch.device_number() is not None:
        pytest.skip("there is a GPU")
    with pytest.raises(goptx.DeviceError), goptx.fusion(Stream()) as f:
        f.launch(PLUS, 1, 32, None, None, None, 0)
        f.launch(MINUS, 1, 32, None, None, None, 0)
    assert isinstance(f, goptx.Fusion) and f.fused is None
    assert Woven.launch.__doc__ and "while a fusion region records the stream" in Woven.launch.__doc__


def test_other_work_on_the_stream_is_warned_of(
    device: Device, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    looked: list[object] = []

    def look(stream: Any, before: object) -> bool:
        looked.append(before)
        return len(looked) > 1

    monkeypatch.setattr(stream_watch, "seen", lambda stream: stream_watch.IDLE)
    monkeypatch.setattr(stream_watch, "has_new_work", look)
    a, b, c = (device.random(100) for _ in range(3))
    for cancelled in (False, False, True):
        caplog.clear()
        with goptx.fusion(Stream()) as f:
            f.launch(PLUS, 2, 64, a, b, c, 100)
            if cancelled:
                f.cancel()
        warned = "something was put on the stream while a fusion region was open on it" in caplog.text
        assert warned == (len(looked) > 1)
    assert looked == [stream_watch.IDLE] * 3
