"""Pictures of made-up results of any size: tiny, huge, with long and foreign names. Each number gives one result."""

from __future__ import annotations

from random import Random

from goptx.anatomy.activity import Activity, Row, Segment
from goptx.anatomy.blocks import Anatomy, Barrier, Block, Chart, Edge, Pair, Share
from goptx.anatomy.timeline import Run, Slot, Timeline
from goptx.graph.graph_description import Graph, GraphNode, sha_of
from goptx.view.bars import Bars, Group
from goptx.view.charts.points_chart import Point, Points
from goptx.view.charts.ranked_chart import Bar, Ranked

LONG = "_ZN7cutlass13device_kernelINS_4gemm6kernel13GemmUniversalIN4cute5tupleIJiiiiEEENS1_10collective15Collective"
NAMES = ("k", "harris", "a kernel of several words and more of them than fit in any line of a legend " * 2, LONG,
         "核心核心核心核心核心核心核心核心核心核心核心核心核心核心核心", "W" * 200, "i" * 300, '<b>&"\x01')  # fmt: skip
LETTERS = "ABCDEFGHIJ"


def _size(random: Random, *sizes: int) -> int:
    return random.randint(0, random.choice(sizes))


def timeline(number: int) -> Timeline:
    random = Random(number)
    letters = LETTERS[: random.choice((1, 2, 3, 10))]
    sizes = random.choice(((1,), (3, 40), (400, 1500)))
    alone = [_run(random, x, (x,), _size(random, *sizes)) for x in letters if random.random() < 0.8]
    woven = _run(random, "", (*letters, ""), _size(random, *sizes))
    notes = tuple(random.choices(NAMES, k=_size(random, 3)))
    name = random.choice(NAMES)
    return Timeline(name, random.choice(NAMES), random.randint(0, 4), "sm_90", tuple(alone), woven, notes)


def _run(random: Random, kernel: str, letters: tuple[str, ...], count: int) -> Run:
    slots, issue = [], 0
    latencies = random.choice(((4,), (2, 4, 30), (4, 700), (1_000_000,)))
    for _ in range(count):
        stall = random.choice((0, 0, 0, random.choice(latencies)))
        issue += 2 + stall
        latency = random.choice(latencies)
        barrier = random.random() < 0.03
        access = random.choice(("", "", "load", "store"))
        text = f"ld.global.f32 %f1, [%rd4+{random.randint(0, 10 ** random.randint(1, 12))}];"
        letter = random.choice(letters)
        slots.append(Slot(letter, text, 3, issue, latency, issue + latency, stall, access, "global", barrier))
    end = max((s.done for s in slots), default=0)
    return Run(kernel, tuple(slots), end, random.choice((1, 1, 2, 8)) if kernel and count else 1)


def activity(number: int) -> Activity:
    random = Random(number)
    letters = LETTERS[: random.choice((1, 2, 3, 10))]
    cycles = float(random.choice((0, 1, 900, 10**6, 10**12)))
    copies = tuple(random.choice((1, 1, 4)) for _ in letters)
    largest = random.choice((4, 1000, 2**31 - 1))
    rows = []
    for i in range(random.choice((1, 2, 30))):
        first = random.randint(0, largest)
        ctas = (first, random.choice((None, first, first + largest)))
        warps = random.choice(((0, None), (0, 7), (4, 31), (0, 0)))
        segments = _segments(random, letters, cycles, random.choice((0, 1, 5, 60, 3000)) if i < 4 else 3)
        rows.append(Row(random.choice(NAMES[:2]), ctas, warps, segments, random.choice(("", *letters))))
    kernels = tuple((letter, random.choice(NAMES)) for letter in letters)
    notes = tuple(random.choices(NAMES, k=_size(random, 3)))
    return Activity(random.choice(NAMES), "sm_90", kernels, copies, cycles, tuple(rows), random.random() < 0.5, notes)


def _segments(random: Random, letters: str, cycles: float, count: int) -> tuple[Segment, ...]:
    """Segments one after the other, of equal or very different lengths, some with a gap before them."""
    lengths = [random.choice((1.0, random.random() ** random.choice((1, 8)))) for _ in range(count)]
    total, at, made = sum(lengths) or 1.0, 0.0, []
    for length in lengths:
        end = at + cycles * length / total
        if random.random() < 0.9:
            made.append(Segment(random.choice(letters), random.randint(0, 3), at, end))
        at = end
    return tuple(made)


def anatomy(number: int) -> Anatomy:
    random = Random(number)
    letters = LETTERS[: random.choice((1, 2, 3, 10))]
    count = random.choice((1, 5, 300 if len(letters) < 3 else 40))
    kernels = tuple(_chart(random, x, _size(random, count) + 1, (x,), {}) for x in letters)
    blocks = {chart.letter: tuple(b.name for b in chart.blocks) for chart in kernels}
    made = random.choice((1, 1, len(letters)))
    woven = tuple(_chart(random, "", _size(random, count) + 1, tuple(letters), blocks) for _ in range(made))
    return Anatomy(random.choice(NAMES), "sm_90", kernels, woven)


def _chart(
    random: Random, letter: str, count: int, letters: tuple[str, ...], blocks: dict[str, tuple[str, ...]]
) -> Chart:
    if random.random() < 0.1:
        return Chart(letter, random.choice(NAMES), random.choice(NAMES), (), random.choice(NAMES))
    names = [f"{random.choice(('$L', 'after_', LONG))}{i}" for i in range(count)] + ["exit"]
    large = 10 ** random.choice((1, 4, 9))
    made = []
    for i, name in enumerate(names[:-1]):
        edges = [Edge(names[i + 1], "fallen", "")]
        near = random.randint(i, i + 9) if random.random() < 0.9 else random.randint(0, count)
        edges += [Edge(names[min(near, count)], "taken", "@%p1")] if random.random() < 0.4 else []
        held = [x for x in letters if random.random() < 0.7]
        shares = tuple(Share(x, random.randint(1, large), 0) for x in held) if not letter else ()
        pairs = tuple(Pair(x, (random.choice(blocks[x]),), 3) for x in held if blocks.get(x))
        barriers = tuple(Barrier(letters[0], f"barrier.sync {LONG};", 3) for _ in range(random.choice((0, 0, 1, 9))))
        made.append(
            Block(
                name, i * large, (i + 1) * large, random.randint(0, large), random.randint(0, large),
                random.randint(0, 9), barriers, tuple(edges), copies=random.choice((None, 1, 12)), shares=shares,
                pairs=pairs, waits=tuple(x for x in letters if x not in held) if random.random() < 0.2 else (),
            )
        )  # fmt: skip
    return Chart(letter, random.choice(NAMES), random.choice(NAMES), (*made, Block("exit", 0, 0, 0, 0, 0, (), ())))


def graph(number: int) -> tuple[Graph, list[tuple[str | int, str | int]], list[list[str | int]]]:
    """A graph, its dependences, and groups."""
    random = Random(number)
    count = random.choice((1, 3, 60))
    nodes = [
        GraphNode(i, entry, (random.randint(1, 2**31 - 1), 65535, 65535), (1024, 1, 1), ptx=sha_of(_ptx(entry)))
        if random.random() < 0.8
        else GraphNode(i, "", kind="memcpy")
        for i, entry in enumerate(random.choices(("k", LONG), k=count))
    ]
    edges = [(i, j) for j in range(count) for i in range(j) if random.random() < 1 / count]
    texts = {sha_of(_ptx(entry)): _ptx(entry) for entry in ("k", LONG)}
    return Graph(tuple(nodes), tuple(edges), ptx=texts), [*edges], [[i for i in range(count) if i % 3 == 0]]


def _ptx(entry: str) -> str:
    return f".version 8.0\n.target sm_90\n.address_size 64\n.visible .entry {entry}()\n{{\n\tret;\n}}\n"


def chart(number: int) -> Points | Ranked | Bars:
    random = Random(number)
    count, title = random.choice((1, 5, 24)), random.choice(NAMES)
    scale = 10.0 ** random.choice((-4, 0, 7))
    series = tuple(random.choice(NAMES) for _ in range(random.choice((1, 2, 5))))
    values = [random.random() * scale for _ in range(count)]
    if number % 3 == 0:
        points = tuple(
            Point(k, v if random.random() < 0.9 else None, k % len(series), NAMES[3], chosen=k == count // 2)
            for k, v in enumerate(values)
        )
        ticks = tuple((float(k), str(16 * k)) for k in range(count)) if random.random() < 0.5 else ()
        line = (title, scale / 2)
        return Points(title, random.choice(NAMES), "milliseconds", series, points, ticks, line, lacking="no")
    if number % 3 == 1:
        bars = tuple(Bar(random.choice(NAMES), v, random.randrange(len(series)), k == 0) for k, v in enumerate(values))
        return Ranked(title, "speedup", series, bars, (random.choice(NAMES), scale))
    groups = tuple(
        Group(f"metric {k}", "%", tuple(random.choice((None, v)) for _ in series), scale) for k, v in enumerate(values)
    )
    return Bars(title, series, len(series) - 1, groups, random.choice(NAMES))
