"""Processes that stand in for the one that measures; in a module of its own, since a new process must find them."""

import os
import time
from multiprocessing.connection import Connection

from goptx.measuring.bench.questions import (
    Answer,
    Describe,
    Described,
    Failed,
    Hold,
    Judged,
    Open,
    Opened,
    Question,
    Time,
    Times,
)

HANGING, ENDING, BREAKING, REFUSED = "hangs", "ends", "breaks", "refused"


def imaginary(connection: Connection, device: int, more: object) -> None:
    """Answers with what this process was asked before. The name of a kernel may ask for less honest behaviour, when it
    is judged or ("later") when it is timed; so may the seed of a workload."""
    asked: list[str] = []
    while True:
        question: Question = connection.recv()
        match question:
            case Describe():
                request = "describe"
            case Open(workload):
                request = f"open {workload.seed}"
            case Hold(key=key, cap=cap, judged=judged):
                request = f"{'hold' if judged else 'judge'} {key}{f' capped at {cap}' if cap else ''}"
            case Time(keys):
                request = f"time {' '.join(keys)}"
        asked.append(request)
        if _is_to(HANGING, request):
            time.sleep(600)
        if _is_to(ENDING, request):
            os._exit(3)
        connection.send(_answer(question, request, ", ".join(asked), device))


def _is_to(behave: str, request: str) -> bool:
    return request == f"judge {behave}" or (request.startswith("time ") and request.endswith(f"later {behave}"))


def _answer(question: Question, request: str, asked: str, device: int) -> Answer:
    if _is_to(BREAKING, request):
        return Failed("the driver answers CUDA_ERROR_ILLEGAL_ADDRESS", broken=True)
    match question:
        case Describe():
            return Described(f"Imaginary {device}", "sm_90", "580.1")
        case Open(workload):
            problems: dict[int, Answer] = {
                1: Failed("run twice on equal data, the kernels alone give two results", input=True),
                2: Failed("the driver answers CUDA_ERROR_LAUNCH_FAILED", broken=True),
            }
            return problems.get(workload.seed, Opened(10.0))
        case Hold(key):
            if key == REFUSED:
                return Failed("the driver refuses kernel")
            return Judged(wrong="A:1 differs") if key == "wrong" else Judged(contracted=asked)
        case Time(keys, repeats, _):
            return Times({key: [float(len(asked))] * repeats for key in keys})


def without_device(connection: Connection, device: int, more: object) -> None:
    connection.recv()
    connection.send(Failed("no usable NVIDIA GPU"))


def parrot(connection: Connection, greeting: str) -> None:
    """Repeats what it gets, after a greeting."""
    while True:
        heard = connection.recv()
        if heard == HANGING:
            time.sleep(600)
        if heard == ENDING:
            os._exit(3)
        connection.send(f"{greeting} {heard}, from {os.getpid()}")


def deaf(connection: Connection) -> None:
    connection.close()


def unborn(connection: Connection) -> None:
    raise RuntimeError("not even a question")
