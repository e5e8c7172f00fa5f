import pickle
import re
import tomllib
import warnings
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest

from goptx.errors import InputError, LatencyTableWarning
from goptx.latency import table as module
from goptx.latency.table import KINDS, LatencyTable, load_table
from goptx.ptx.ir import Function, Instruction, Scope, Statement
from goptx.ptx.opcodes import TABLE, facts_of
from goptx.sources.read import read

ROOT = Path(__file__).resolve().parents[2]
KERNELS = sorted((ROOT / "examples" / "kernels").glob("*.ptx"))
ARCHITECTURES = ("sm_80", "sm_90", "sm_100", "sm_120")


@pytest.mark.parametrize(
    ("opcode", "cycles"),
    [
        ("add.u32", 4),  # Table 2: dependent, where Table 5 has 2
        ("add.f16", 3),
        ("add.f64", 5),
        ("mul.lo.u32", 3),
        ("mad.rn.f32", 4),
        ("fma.rn.f32", 4),
        ("wmma.mma.sync.aligned.row.col.m16n16k16.f32.f32", 16),  # Table 3
        ("ld.global.f32", 290),  # Table 4
        ("ld.shared.v4.f32", 23),
        ("st.shared.u32", 19),
        ("add.f32", 2),  # Table 5
        ("add.s64", 4),
        ("mul.wide.s32", 4),
        ("mad24.hi.u32", 11),
        ("div.s32", 66),
        ("rem.u64", 420),
        ("div.rn.f32", 525),
        ("abs.s64", 11),
        ("bfi.b32", 11),
        ("bfe.s64", 14),
        ("and.b64", 3),  # the mean of 2 and 3, rounded up
        ("sqrt.rn.f32", 213),
        ("sqrt.approx.ftz.f32", 10),
        ("rcp.approx.ftz.f32", 23),
        ("ex2.approx.ftz.f32", 14),
        ("ex2.approx.f16", 6),
        ("setp.ne.s32", 10),
        ("cvt.rzi.s32.f32", 6),
        ("popc.b64", 7),
    ],
)
def test_values_of_the_publication(opcode: str, cycles: int) -> None:
    table = load_table(None, "sm_80")
    key = facts_of(opcode).latency_key
    assert table.cycles(key) == table.cycles_of(Instruction(opcode)) == cycles
    assert table.source_of(key) == "published"
    assert not table.is_assumed(key)
    assert "2208.11174" in table.sources["published"]


def test_the_documents_count_the_rows_of_each_table() -> None:
    """Measured, published, assumed."""
    page = (ROOT / "docs" / "latency.md").read_text(encoding="utf-8")
    stated = re.findall(r"^\| `(\w+)\.toml` \| [\w ]+ \| (\d+) \| (\d+) \| (\d+) \|$", page, re.MULTILINE)
    found = []
    for path in module.brought_tables().values():
        content = tomllib.loads(path.read_text(encoding="utf-8"))
        rows = [row for part in ("cycles", "named") for row in content.get(part, {}).values()]
        counts = Counter(s if (s := row["source"]) in ("measured", "assumed") else "published" for row in rows)
        found.append((path.stem, *(str(counts[source]) for source in ("measured", "published", "assumed"))))
    assert stated == found and [name for name, *_ in found] == list(ARCHITECTURES)
    (_, _, published, taken), (_, measured, _, guessed), *_ = found
    readme = " ".join((ROOT / "README.md").read_text(encoding="utf-8").split())
    assert f"{measured} rows are measured, {guessed} assumed" in readme
    assert f"{published} published rows and {taken} assumed ones" in readme
    hopper = load_table(None, "sm_90")
    keys = sum(entry.source == "measured" for entry in hopper.entries.values())
    assert f"Of the {measured}, {keys} are keys and {len(hopper.named)} are `[named]`" in page


def test_hopper_is_measured() -> None:
    """All keys of the example kernels, and one published result: the range of DRAM, 610 to 656 cycles."""
    hopper = load_table(None, "sm_90")
    keys = {facts_of(i.opcode).latency_key for path in KERNELS for i in _instructions(path)}
    assert len(keys) > 80
    assert [key for key in sorted(keys) if hopper.source_of(key) != "measured"] == []
    assert 600 < hopper.cycles("ld.global") < 700  # it spreads by 88
    assert "H200" in hopper.name
    assert "H200" in hopper.sources["measured"]


@pytest.mark.parametrize(
    ("arch", "opcode", "cycles", "source"),
    [
        ("sm_120", "fma.rn.f32", 4, "report"),
        ("sm_120", "add.s32", 2, "report"),
        ("sm_120", "fma.rn.f64", 64, "report"),
        ("sm_120", "add.f64", 64, "assumed"),  # as fma.f64
        ("sm_120", "popc.b32", 22, "report"),
        ("sm_120", "ld.shared.f32", 34, "report"),
        ("sm_120", "shfl.sync.bfly.b32", 24, "assumed"),  # the H200's
        ("sm_100", "mul.f32", 4, "catalogue"),
        ("sm_100", "ld.shared.f32", 29, "survey"),
        ("sm_100", "fma.rn.f64", 8, "assumed"),  # the B300's is another unit
        ("sm_100", "div.rn.f32", 57, "assumed"),
        ("sm_100", "bar.sync", 38, "catalogue"),
    ],
)
def test_blackwell_is_published_in_part(arch: str, opcode: str, cycles: int, source: str) -> None:
    table = load_table(None, arch)
    key = facts_of(opcode).latency_key
    assert (table.cycles(key), table.source_of(key)) == (cycles, source)
    assert {entry.source for entry in (*table.entries.values(), *table.named.values())} == set(table.sources)


@pytest.mark.parametrize("arch", ["sm_100", "sm_120"])
def test_what_is_assumed_of_blackwell_is_hopper_s_unless_a_remark_says_so(arch: str) -> None:
    hopper, table = load_table(None, "sm_90"), load_table(None, arch)
    text = table.path.read_text(encoding="utf-8")
    taken = text[text.index("# Not published") : text.index("[named]")]
    rows = re.findall(r'^"(.+)" = \{ cycles = (\d+), source = "assumed" \}', taken, re.MULTILINE)
    assert len(rows) > 300
    assert [(key, int(cycles)) for key, cycles in rows if hopper.entries[key].cycles != int(cycles)] == []


@pytest.mark.parametrize("arch", ARCHITECTURES)
def test_no_assumed_entry_hides_a_known_one_of_another_sign(arch: str) -> None:
    table = load_table(None, arch)
    known = {key for key, entry in table.entries.items() if entry.source != "assumed"}
    assert [k for k in table.entries if k not in known and known.intersection(module.siblings(k))] == []


@dataclass
class Fallback:
    key: str
    entries: dict[str, int]
    cycles: int
    is_default: bool = False


@pytest.mark.parametrize(
    "case",
    [
        Fallback("add.s32", {"add.s32": 1, "add.u32": 2, "add": 3}, 1),
        Fallback("add.s32", {"add.u64": 1, "add.u32": 2, "add": 3}, 2),
        Fallback("add.s32", {"add.b32": 2, "add": 3}, 2),
        Fallback("add.s32", {"add.f32": 2, "add": 3}, 3),
        Fallback("mul.wide.s16", {"mul.wide.u16": 1, "mul.u16": 2}, 1),
        Fallback("mul.wide.s16", {"mul.wide": 1, "mul": 2}, 1),
        Fallback("mul.wide.s16", {"mul.wide.u32": 1, "mul": 2}, 2),
        Fallback("cvt.s64.s32", {"cvt.u64.b32": 1, "cvt": 2}, 1),
        Fallback("cvt.f32.s32", {"cvt.s32.f32": 1, "cvt": 2}, 2),
        Fallback("add.s32", {"addc": 1}, 100, True),
        Fallback("cvt.f32.s32", {}, 101, True),
        Fallback("cvta.u64", {}, 101, True),
        Fallback("ex2.approx.f32", {}, 102, True),
        Fallback("ld.global", {}, 103, True),
        Fallback("wmma.store", {}, 103, True),
        Fallback("membar", {}, 104, True),
        Fallback("shfl", {}, 105, True),
        Fallback("mma", {}, 105, True),
        Fallback("bar", {}, 106, True),
        Fallback("barrier.cluster", {}, 106, True),
        Fallback("bra", {}, 107, True),
        Fallback("call", {}, 107, True),
        Fallback("frobnicate", {}, 108, True),
    ],
    ids=lambda case: f"{case.key}-{'-'.join(case.entries)}",
)
def test_fallbacks(case: Fallback) -> None:
    entries = {key: module.Entry(cycles, "published") for key, cycles in case.entries.items()}
    defaults = {kind: 100 + n for n, kind in enumerate(KINDS)}
    table = LatencyTable("sm_80", "test", Path("test.toml"), entries, defaults, sources={})
    assert table.cycles(case.key) == case.cycles
    assert table.is_default(case.key) == table.is_assumed(case.key) == case.is_default
    assert table.source_of(case.key) == ("assumed" if case.is_default else "published")


@pytest.mark.parametrize("arch", ARCHITECTURES)
def test_all_opcodes_of_the_example_kernels_have_an_entry(arch: str) -> None:
    table = load_table(None, arch)
    opcodes = {s.opcode for path in KERNELS for s in _instructions(path)}
    assert len(opcodes) > 40
    assert sorted(o for o in opcodes if table.is_default(facts_of(o).latency_key)) == []


def _instructions(path: Path) -> Iterator[Instruction]:
    def walk(body: Iterable[Statement]) -> Iterator[Instruction]:
        for statement in body:
            if isinstance(statement, Instruction):
                yield statement
            elif isinstance(statement, Scope):
                yield from walk(statement.body)

    for item in read(path).items:
        if isinstance(item, Function):
            yield from walk(item.body or ())


@pytest.mark.parametrize("arch", ARCHITECTURES)
@pytest.mark.parametrize(
    "opcode",
    "ld.f32 ld.const.f32 ld.local.u32 ld.param.u64 ld.volatile.shared.u32 st.f32 st.local.u32 st.param.b32 "
    "atom.global.add.u32 atom.shared.cas.b32 atom.add.f32 red.global.add.f32 red.shared.max.s32 "
    "shfl.sync.down.b32 vote.sync.ballot.b32 match.any.sync.b32 redux.sync.add.s32 activemask.b32 "
    "bar.sync bar.red.popc.u32 bar.warp.sync barrier.sync.aligned barrier.cluster.arrive membar.gl "
    "fence.acq_rel.gpu mov.pred mov.b64 mov.f64 cvta.to.global.u64 selp.f64 setp.lt.and.f64 setp.eq.s64 "
    "set.lt.u32.f32 shl.b64 shr.s32 shf.l.wrap.b32 bfe.u32 bfi.b64 lop3.b32 lop3.or.b32 prmt.b32 not.pred "
    "or.pred mad.lo.s32 mad.wide.u32 madc.hi.cc.u32 addc.cc.u32 subc.u32 mul.hi.u64 fma.rn.f16x2 "
    "fma.rn.bf16x2 max.f32 max.s64 neg.f16x2 cvt.rn.f16x2.f32 cvt.rn.bf16.f32 cvt.f64.f32 cvt.u64.u32 "
    "cvt.s32.s8 cvt.rn.f32.s64 tanh.approx.f32 rsqrt.approx.f32 copysign.f32 testp.infinite.f32 dp4a.s32.u32 "
    "wmma.load.a.sync.aligned.row.m16n16k16.f16 wmma.store.d.sync.aligned.row.m16n16k16.f32 "
    "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 ldmatrix.sync.aligned.m8n8.x4.shared.b16 "
    "cp.async.cg.shared.global cp.async.wait_group mbarrier.try_wait.shared.b64 tex.2d.v4.f32.f32 "
    "bra.uni brx.idx call.uni ret exit trap nanosleep.u32".split(),
)
def test_opcodes_of_compilers_have_an_entry(opcode: str, arch: str) -> None:
    assert not load_table(None, arch).is_default(facts_of(opcode).latency_key)


@pytest.mark.parametrize("arch", ARCHITECTURES)
def test_every_entry_can_be_looked_up(arch: str) -> None:
    """A row that no opcode's key leads to, such as a misspelt one, would have no effect."""
    for key in load_table(None, arch).entries:
        facts = facts_of(key)
        if any(row.startswith(f"{key}.") for row in TABLE):
            continue  # of a family, `mbarrier`, for those of its rows that have no entry
        assert facts.known, key
        if facts.row.access or facts.row.scope or facts.row.ends:
            assert facts.latency_key == key or key in TABLE, key
        elif facts.types:
            assert facts.latency_key == key, key


NEAREST = {
    "sm_52": "sm_80", "sm_75": "sm_80", "sm_81": "sm_80", "sm_91": "sm_90", "sm_92f": "sm_90", "sm_103a": "sm_100",
    "sm_121f": "sm_120",
}  # fmt: skip


@pytest.mark.parametrize(("arch", "used"), NEAREST.items())
def test_nearest_architecture_with_a_warning(arch: str, used: str) -> None:
    with pytest.warns(LatencyTableWarning, match=f"{arch}: using {used}'s") as caught:
        assert load_table(None, arch).arch == used
    assert [Path(w.filename).name for w in caught] == [Path(__file__).name]


@pytest.mark.parametrize(
    ("arch", "used"), [*((a, a) for a in ARCHITECTURES), ("sm_90a", "sm_90"), ("sm_100f", "sm_100")]
)
def test_own_architecture_without_a_warning(arch: str, used: str) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert load_table(None, arch).arch == arch.rstrip("af")


def test_by_name_by_path_and_as_a_table(tmp_path: Path) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # one asked for by name is what the user wants
        named = load_table("sm_80", "sm_100")
    assert named.arch == "sm_80"
    assert load_table(named, "sm_90") is named
    own = _write(tmp_path, VALID)
    for source in (own, str(own)):
        table = load_table(source, "sm_90")
        assert (table.name, table.path, table.cycles("add.s32")) == ("mine", own, 7)
    _write(tmp_path, VALID.replace("cycles = 7", "cycles = 11"))
    assert load_table(own, "sm_90").cycles("add.s32") == 11  # a changed file is read again


def test_tables_lie_beside_the_package_or_in_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    package = tmp_path / "goptx"
    (package / "latency").mkdir(parents=True)
    monkeypatch.setattr(module, "__file__", str(package / "latency" / "table.py"))
    with pytest.raises(InputError, match="no latency tables here; install goptx again"):
        load_table(None, "sm_90")
    for folder, cycles in ((tmp_path, 7), (package, 8)):  # what lies in the package goes first
        (folder / "latency_tables").mkdir()
        text = VALID.replace("cycles = 7", f"cycles = {cycles}")
        (folder / "latency_tables" / "sm_90.toml").write_text(text, encoding="utf-8")
        assert load_table(None, "sm_90").cycles("add.u32") == cycles


def test_a_table_is_a_value() -> None:
    table = load_table(None, "sm_90")
    table.cycles("add.s32")
    assert pickle.loads(pickle.dumps(table)) == table  # as child processes of a tuner need it
    assert hash(table) == hash(load_table("sm_90", "sm_80"))
    assert replace(table, entries={}).cycles("add.s32") == table.defaults["arithmetic"]


VALID = """\
format = 1

[gpu]
arch = "sm_90"
name = "mine"

[source.measured]
title = "goptx measure"
where = "an H200"

[source.assumed]
why = "guessed"

[cycles]
"add.u32" = { cycles = 7, source = "measured" }

[default]
""" + "".join(f"{kind} = 5\n" for kind in KINDS)


@pytest.mark.parametrize(
    ("old", "new", "named"),
    [
        ("format = 1\n", "", ["`format` is None; this goptx reads 1"]),
        ("format = 1\n", "format = 2\n", ["`format` is 2; this goptx reads 1"]),
        (
            "format = 1\n",
            "format = 1\nfromat = 1\n",
            ["unknown field `fromat`; expected `cycles`, `default`, `format`"],
        ),
        ("format = 1\n", "format = = 1\n", ["not TOML", "line 1"]),
        ("format = 1\n", "format = 1\nformat = 1\n", ["not TOML", "line 2"]),
        ('arch = "sm_90"\n', "", ["[gpu]", "`arch` is missing", 'arch = "sm_90"']),
        ('arch = "sm_90"', 'arch = "hopper"', ["[gpu]", "`arch` is missing or wrong"]),
        ('arch = "sm_90"', "arch = 90", ["[gpu]", "`arch` is missing or wrong"]),
        ('name = "mine"\n', "", ["[gpu]", "`name` is missing", 'name = "H100"']),
        ('name = "mine"', 'name = "mine"\nclock = 3', ["[gpu]", "unknown field `clock`", "`arch`, `name`"]),
        (
            '[gpu]\narch = "sm_90"\nname = "mine"\n',
            "",
            ["no [gpu] table; copy its form from latency_tables/sm_80.toml"],
        ),
        ('[source.assumed]\nwhy = "guessed"\n', "", ["[source.assumed] is missing", "`why`"]),
        ('where = "an H200"', 'were = "an H200"', ["[source.measured]", "unknown field `were`", "`where`"]),
        ('where = "an H200"', "where = 200", ["[source.measured]", "`where` is 200; write it as text in quotes"]),
        ('[source.assumed]\nwhy = "guessed"', "[source]\nassumed = 1", ["[source.assumed]", "not a table"]),
        ("cycles = 7", "cycles = -1", ["`add.u32`", "`cycles` is -1", "whole number"]),
        ("cycles = 7", "cycles = 7.5", ["`add.u32`", "`cycles` is 7.5", "whole number"]),
        ("cycles = 7", "cycles = nan", ["`add.u32`", "`cycles` is nan", "whole number"]),
        ("cycles = 7", 'cycles = "7"', ["`add.u32`", "`cycles` is '7'", "whole number"]),
        ("cycles = 7", "cycles = true", ["`add.u32`", "`cycles` is True", "whole number"]),
        ("cycles = 7, ", "", ["`add.u32`", "`cycles` is missing", "whole number"]),
        ('{ cycles = 7, source = "measured" }', "7", ["`add.u32` is 7", "{ cycles = 4, source"]),
        (
            'source = "measured"',
            'source = "me"',
            ["`add.u32`", "source 'me' has no table; expected `assumed`, `measured`"],
        ),
        (', source = "measured"', "", ["`add.u32`", "source None", "expected `assumed`, `measured`"]),
        ('source = "measured"', 'sauce = "measured"', ["`add.u32`", "unknown field `sauce`", "`source`"]),
        ("[cycles]\n", "", ["[source.assumed]", "unknown field `add.u32`"]),  # TOML adds it to that table
        ('[cycles]\n"add.u32" = { cycles = 7, source = "measured" }\n', "", ["no [cycles] table", "sm_80"]),
        ("cycles = 7", "cycles = 7, interval = -1", ["`add.u32`", "`interval` is -1", "number of cycles, 0 or more"]),
        ("cycles = 7", "cycles = 7, min = inf", ["`add.u32`", "`min` is inf", "number of cycles, 0 or more"]),
        ("cycles = 7", "cycles = 7, median = nan", ["`add.u32`", "`median` is nan", "number of cycles, 0 or more"]),
        ("cycles = 7", 'cycles = 7, spread = "1"', ["`add.u32`", "`spread` is '1'", "number of cycles, 0 or more"]),
        ("cycles = 7", "cycles = 7, sass = 1", ["`add.u32`", "`sass` is 1; write the machine code as text in quotes"]),
        ("[default]\n", '[named]\n"L1" = 3\n[default]\n', ["[named]: `L1` is 3; write for example { cycles = 4"]),
        (
            "[default]\n",
            "[measurement]\ndate = 5\n[default]\n",
            ["[measurement]: `date` is 5; write it as text in quotes"],
        ),
        ("fence = 5\n", "", ["[default] lacks `fence`", "give the cycles"]),
        ("fence = 5", "fence = -5", ["[default]: `fence` is -5", "whole number"]),
        ("fence = 5", "fence = 5\nfense = 5", ["[default]", "unknown field `fense`", "`fence`"]),
    ],
)
def test_a_bad_table_is_refused(tmp_path: Path, old: str, new: str, named: list[str]) -> None:
    assert VALID.count(old) == 1
    path = _write(tmp_path, VALID.replace(old, new))
    with pytest.raises(InputError) as raised:
        load_table(path, "sm_90")
    assert [part for part in [str(path), *named] if part not in str(raised.value)] == []


def test_fields_that_a_measurement_adds(tmp_path: Path) -> None:
    row = '{ cycles = 7, interval = 2, min = 6.5, median = 7.25, spread = 0.5, sass = "IADD3", source = "measured" }'
    text = VALID.replace('{ cycles = 7, source = "measured" }', row)
    text = text.replace("[default]", f'[named]\n"L1" = {row}\n[measurement]\ndate = "today"\n[default]')
    table = load_table(_write(tmp_path, text), "sm_90")
    assert table.entries["add.u32"] == table.named["L1"] == module.Entry(7, "measured", 2.0, 6.5, 7.25, 0.5, "IADD3")
    assert (table.interval("add.s32"), table.interval("mul.s32")) == (2.0, None)
    assert table.measurement == {"date": "today"}
    plain = load_table(_write(tmp_path, VALID), "sm_90")
    assert (plain.interval("add.u32"), plain.named, plain.measurement) == (None, {}, {})


def test_missing_tables_are_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"cannot be read \(No such file or directory\); give a latency table"):
        load_table(tmp_path / "absent.toml", "sm_90")
    with pytest.raises(InputError, match="cannot be read"):
        load_table(tmp_path, "sm_90")
    with pytest.raises(InputError, match=rf"`h100` is unknown; goptx brings {', '.join(ARCHITECTURES)}; .* \.toml"):
        load_table("h100", "sm_90")
    with pytest.raises(InputError, match="/dev/zero: has more than 64 MiB; give the path of a latency table"):
        load_table(Path("/dev/zero"))
    assert load_table("sm_90").arch == "sm_90"  # of a name, none has to be given beside it
    with pytest.raises(InputError, match="`hopper` is not an architecture such as sm_90"):
        load_table(None, "hopper")
    binary = tmp_path / "binary.toml"
    binary.write_bytes(b"\xff\xfe")
    with pytest.raises(InputError, match=r"binary\.toml: not TOML: .*; correct it there"):
        load_table(binary, "sm_90")


def test_the_wheel_carries_the_tables() -> None:
    project: dict[str, Any] = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    wheel = project["tool"]["hatch"]["build"]["targets"]["wheel"]
    assert wheel["force-include"] == {"latency_tables": "goptx/latency_tables"}


def _write(folder: Path, text: str) -> Path:
    path = folder / "table.toml"
    path.write_text(text, encoding="utf-8")
    return path
