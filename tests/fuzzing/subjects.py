"""Everything that reads what others wrote, with inputs that are right to begin with.

A subject takes bytes and a folder of its own. It may answer, or refuse with a `UtilituneError`; everything
else is a mistake of ours.
"""

from __future__ import annotations

import contextlib
import functools
import gzip
import io
import json
import os
import pickle
import random
import shlex
import sqlite3
import struct
import tempfile
import zipfile
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from fuzzing.mutating import NUMBERS, PIECES, spoiled
from live.simulated_scenarios import backend, make_scenario
from scenario.dialects import foreign_files
from scenario.scenario_files import SCENARIO, write_files
from utilitune.certificate import read_certificate, verify
from utilitune.certificate.content import canonical, chain_of, commitment_of, sealed
from utilitune.certificate.issuing import certify
from utilitune.cli.prove import read_configuration
from utilitune.cli.status import Look
from utilitune.data.arff import read_arff
from utilitune.data.pickle_scan import scan
from utilitune.data.reading import read_matrix
from utilitune.domain import Progress, RunOutcome, RunRequest, RunStatus, StopReason
from utilitune.domain.stopping import Budget
from utilitune.execution import leftovers
from utilitune.execution.output import OutputCollector
from utilitune.live.result import RunResult
from utilitune.live.rows import named_rows
from utilitune.live.running import run_scenario, settings_of
from utilitune.live.task import Task
from utilitune.scenario import ListedInstances
from utilitune.scenario.cluster_reader import read_cluster
from utilitune.scenario.dialects import read_scenario
from utilitune.scenario.dialects.configurations import read_configurations_table
from utilitune.scenario.dialects.instance_lists import read_entries
from utilitune.scenario.features import read_feature_table, read_features
from utilitune.scenario.quality_reader import read_references
from utilitune.scenario.target_reader import answers_file
from utilitune.search.proposers.instance_features import read_instance_features
from utilitune.spaces import ParameterSpace
from utilitune.spaces.dialects import read_parameter_file
from utilitune.store import Snapshot, open_run_folder, read_run_folder
from utilitune.store.records import ConfigurationRecord, RunRecord, StoredOrigin
from utilitune.targets.base import Ending, Invocation, RawResult
from utilitune.targets.function import FunctionTarget
from utilitune.targets.verdict import VerdictRules
from utilitune.targets.wrappers import Contract, WrapperRules
from utilitune.utility import parse_duration
from utilitune.utility.text import parse_any_utility

Reader = Callable[[bytes, Path], None]
Maker = Callable[[random.Random], bytes]


@dataclass(frozen=True)
class Subject:
    """Something that reads.

    Attributes:
        name: What to call it.
        seeds: Inputs that are right.
        read: Reads one input, in a folder of its own.
        prepare: Puts into the folder what the inputs need beside them.
        make: Makes an input by other means than spoiling a right one; used now and then.
        code: Whether its inputs are trusted like programs, and may name Python functions.
    """

    name: str
    seeds: tuple[bytes, ...]
    read: Reader
    prepare: Callable[[Path], object] = lambda folder: folder
    make: Maker | None = None
    code: bool = False

    def input(self, chance: random.Random) -> bytes:
        """A random input."""
        if self.make is not None and chance.random() < 0.5:
            return self.make(chance)
        return spoiled(chance.choice(self.seeds), chance, self.seeds)


def _file(name: str, read: Callable[[Path], object]) -> Reader:
    """Reads a file of this name."""

    def attempt(content: bytes, folder: Path) -> None:
        path = folder / name
        path.write_bytes(content)
        read(path)

    return attempt


# -- scenarios and parameter files ----------------------------------------

PCS_OLD = b"""
alpha [0.1, 10] [1.0]l
mode {fast, safe, "odd"} [fast]
depth [1, 9] [3]i
Conditionals:
depth | mode in {safe}
Forbidden:
{mode=safe, depth=9}
"""
PCS_NEW = foreign_files.PCS.encode() + b"size ordinal {s, m, l} [m]\n{mode=fast && alpha > 0.9}\n"
IRACE_PARAMETERS = (
    foreign_files.PARAMETERS.encode()
    + b"""
beta "-b " r,log (0.01, 10)
gamma "-g " i (1, "depth * 2") | mode %in% c("safe") & !is.na(depth)
size "-s " o (s, m, l)
[forbidden]
(alpha > 0.5) & (mode == "fast")
[global]
digits = 4
"""
)
CONFIGSPACE = json.dumps(
    {
        "name": "space",
        "hyperparameters": [
            {
                "type": "uniform_float",
                "name": "a",
                "lower": 0.1,
                "upper": 1.0,
                "default_value": 0.5,
                "log": True,
            },
            {"type": "uniform_int", "name": "b", "lower": 1, "upper": 9, "default_value": 3, "log": False},
            {
                "type": "categorical",
                "name": "c",
                "choices": ["x", "y"],
                "default_value": "x",
                "weights": None,
            },
            {"type": "ordinal", "name": "o", "sequence": ["s", "m"], "default_value": "m"},
            {"type": "constant", "name": "k", "value": 3},
        ],
        "conditions": [{"type": "EQ", "child": "b", "parent": "c", "value": "y"}],
        "forbiddens": [{"type": "EQUALS", "name": "a", "value": 0.7}],
        "format_version": 0.4,
    }
).encode()
RANGES = b"alpha,1,0,10\nbeta,2,1,1000\n# a note\ngamma,0,0,1\n"
TABLE = b'alpha mode depth extra\n0.5 safe 3 "--extra"\n0.1 "fast" NA ""\n'
_SPACE = ParameterSpace.from_tables(
    {
        "alpha": {"type": "float", "range": [0, 1]},
        "mode": {"type": "categorical", "values": ["fast", "safe"]},
        "depth": {"type": "integer", "range": [1, 9], "when": "mode == 'safe'"},
        "extra": {"type": "categorical", "values": ["", "--extra", "-x 1"]},
    }
)
QUALITY = SCENARIO.replace("log-laplace(k0=60, alpha=1)", "gap(best=0, worst=100)").replace(
    "[limits]", 'seeds_per_instance = 2\n[objective]\nkind = "quality"\nbetter = "smaller"\n[limits]'
)


CLUSTERS = (
    (
        b'ship = true\nclock = "scaled"\n[slurm]\nqueue = "q"\ncores = 8\nmemory = "16 GiB"\n'
        b'walltime = "04:00:00"\njobs = 4\ndirectives = ["--constraint=x"]\n'
    ),
    b'address = "tcp://host:8786"\n',
    b"local = 8\n",
)


def _scenario(name: str) -> Reader:
    def read(path: Path) -> None:
        scenario = read_scenario(path)
        scenario.digest()
        Task(scenario).given  # noqa: B018 -- made when asked for

    return _file(name, read)


def _entries(path: Path) -> None:
    for split in (lambda line: tuple(shlex.split(line)), lambda line: (line,)):
        read_entries(path, split)


def _features(content: bytes) -> None:
    read_features(content.decode(errors="replace"), "an instance")


def _chosen(path: Path) -> None:
    read_configuration(path, _SPACE)


# -- recorded data ----------------------------------------

CSV = b"# cutoff_s = 300\nconfiguration,easy.cnf,hard.cnf\ndefault,1.5,\nrestarts,0.9,212.4\n"
FEATURES = b"instance,variables,clauses\na.cnf,200,850\nb.cnf,310,\n"
ARFF = b"""@RELATION runs
@ATTRIBUTE instance_id STRING
@ATTRIBUTE repetition NUMERIC
@ATTRIBUTE algorithm STRING
@ATTRIBUTE runtime NUMERIC
@ATTRIBUTE runstatus {ok, timeout, memout, not_applicable, crash, other}
@DATA
'a b',1,one,1.5,ok
'a b',1,two,?,timeout
c,1,one,3e-2,ok
c,1,two,7,ok
"""
DESCRIPTION = b"""scenario_id: TINY
performance_measures: runtime
maximize: false
performance_type: runtime
algorithm_cutoff_time: 10
algorithm_cutoff_memory: '?'
"""
PICKLES = tuple(
    pickle.dumps(value, protocol)
    for protocol in range(5)
    for value in ({"-a 1": [1.0, 2.5], "-a 2": [3.0, 900.0]}, [[1.0, 2.0], [3, 4]], {("a", "b"): {"i": 1.0}})
)


def _npy(array: np.ndarray) -> bytes:
    stream = io.BytesIO()
    np.save(stream, array, allow_pickle=False)
    return stream.getvalue()


NPY = tuple(
    _npy(array)
    for array in (np.arange(6.0).reshape(2, 3), np.ones((2, 2), "f4"), np.ones((3, 2), "i8"), np.ones(3))
)
PARTS = {
    "runtimes_s": NPY[0],
    "cutoff_s": _npy(np.asarray(300.0)),
    "configurations": _npy(np.asarray(["a", "b"])),
    "instances": _npy(np.asarray(["x", "y", "z"])),
    "columns": _npy(np.asarray([0, 1, 2])),
}


def _zipped(parts: dict[str, bytes], method: int = zipfile.ZIP_DEFLATED) -> bytes:
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", method) as archive:
        for name, content in parts.items():
            archive.writestr(f"{name}.npy", content)
    return stream.getvalue()


NPZ = (_zipped(PARTS), _zipped(PARTS, zipfile.ZIP_STORED))
_DTYPES = (
    "<f8",
    ">f8",
    "<f4",
    "<i8",
    "|b1",
    "<U999999",
    "|O",
    "<c16",
    "<M8[s]",
    "|V8",
    "[('a','<f8')]",
    "<f99",
)
_SHAPES = (
    (),
    (0,),
    (3,),
    (2, 3),
    (10**6, 10**6),
    (2**62, 4),
    (-1, 5),
    (2, 0),
    (1,) * 40,
    (2**31, 2**31),
    (True, 2),
)


def _odd_header(chance: random.Random) -> bytes:
    """An array file whose header promises anything."""
    header = str(
        {
            "descr": chance.choice(_DTYPES),
            "fortran_order": chance.choice((True, False, None, 1)),
            "shape": chance.choice(_SHAPES),
        }
    )
    if chance.random() < 0.2:
        header = header.replace(":", chance.choice(("::", ": (" * 300, ": 9**9**9,")), 1)
    version = chance.choice((1, 1, 1, 2, 3, 9))
    length = struct.pack("<H" if version == 1 else "<I", len(header) + chance.choice((0, 0, 0, 1, -5)))
    return (
        b"\x93NUMPY"
        + bytes([version, 0])
        + length
        + header.encode()
        + chance.randbytes(chance.choice((0, 48)))
    )


def _odd_archive(chance: random.Random) -> bytes:
    parts = dict(PARTS)
    parts[chance.choice(list(parts))] = _odd_header(chance)
    if chance.random() < 0.3:
        parts[chance.choice(list(parts))] = NPY[0][:64] + bytes(chance.choice((10**3, 3 * 10**6)))
    return _zipped(parts, chance.choice((zipfile.ZIP_DEFLATED, zipfile.ZIP_STORED)))


_OPCODES = [getattr(pickle, name) for name in pickle.__all__ if isinstance(getattr(pickle, name), bytes)]


def _odd_pickle(chance: random.Random) -> bytes:
    """A program of the machine that reads pickles."""
    arguments = (
        b"\x01",
        b"\xff\xff\xff\x7f",
        b"I01\n",
        b"5\n",
        b"cos\nsystem\n",
        b"\x00",
        b"K\x01",
        b"\x94",
        b"h\x00",
    )
    body = b"".join(
        chance.choice(_OPCODES) + (chance.choice(arguments) if chance.random() < 0.5 else b"")
        for _ in range(chance.randint(1, 40))
    )
    doubled = b"(" + b"K\x01" + b"\x94" + (b"h\x00h\x00\x86\x94" * chance.choice((0, 3, 45)))
    return b"\x80\x04" + chance.choice((b"", b"]", b"}", doubled)) + body + b"."


def _odd_gzip(chance: random.Random) -> bytes:
    inside = chance.choice((chance.choice(PICKLES), bytes(3 * 10**6), _odd_pickle(chance)))
    return spoiled(gzip.compress(inside, 1), chance) if chance.random() < 0.5 else gzip.compress(inside, 1)


def _aslib(content: bytes, folder: Path) -> None:
    table, _, description = content.partition(b"\n-----\n")
    (folder / "algorithm_runs.arff").write_bytes(table)
    (folder / "description.txt").write_bytes(description)
    read_matrix(folder)


# -- run folders ----------------------------------------

_SNAPSHOT: dict[Path, Snapshot] = {}
_TABLES = {
    "snapshot": ("scenario", "digest"),
    "sessions": ("started_at", "ended_at", "settings", "stop_code", "stop_advice", "versions", "machine"),
    "configurations": ("number", "assignment", "origin", "first_position", "drawn_at"),
    "runs": ("configuration", "position", "captime_s", "seed", "status", "runtime_s", "detail", "started_at"),
    "outputs": ("ordinary", "tail"),
    "trajectory": ("best_index", "epsilon", "gamma", "delta", "runs", "configurations", "at", "sequence"),
    "events": ("kind", "text", "at"),
}
_ODD_VALUES = (
    "",
    "x",
    "{}",
    "[]",
    "null",
    "[" * 3000,
    "\x1b[31m",
    -1,
    10**18,
    1e308,
    float("inf"),
    None,
    b"\xff",
    0,
)
_BASE: list[bytes] = []


def _base_folder() -> bytes:
    """The file of a small run folder."""
    if _BASE:
        return _BASE[0]
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        write_files(folder)
        scenario = read_scenario(folder / "scenario.toml")
        store = open_run_folder(folder / "run", Snapshot(scenario.snapshot(), scenario.digest()))
        store.begin_session({"procedure": {"name": "wager"}, "workers": 1})
        for index in range(3):
            store.add_configuration(ConfigurationRecord(index, {"mode": "a"}, StoredOrigin.RANDOM))
            for position in range(3):
                outcome = RunOutcome(RunStatus.FINISHED, 1.0 + index, output_tail="out", detail="why")
                store.add_run(RunRecord(RunRequest(index, position, 5.0), outcome, 1, 1.0, 2.0))
        store.add_progress(Progress(1, 0.5, 0.9, 0.05, 3.0, 9, 3, 3, 3))
        store.add_event("warning", "something")
        store.end_session(StopReason("done", "Nothing to do."))
        store.close()
        _BASE.append((folder / "run" / "run.sqlite").read_bytes())
    return _BASE[0]


def _odd_folder(chance: random.Random) -> bytes:
    """A database that is whole, with values in it that nobody has written."""
    connection = sqlite3.connect(":memory:")
    connection.deserialize(_base_folder())
    for _ in range(chance.choice((1, 1, 2))):
        table = chance.choice(list(_TABLES))
        column = chance.choice(_TABLES[table])
        odd = chance.choice(_ODD_VALUES)
        with contextlib.suppress(sqlite3.Error, ValueError):
            if column in {"scenario", "assignment", "settings"} and chance.random() < 0.7:
                [(text,)] = connection.execute(f"SELECT {column} FROM {table} LIMIT 1")
                odd = (
                    spoiled(text.encode(), chance).decode("utf-8", "replace")
                    if isinstance(text, str)
                    else odd
                )
            match chance.randrange(5):
                case 0:
                    connection.execute(f"DELETE FROM {table}")
                case 1:
                    connection.execute(f"ALTER TABLE {table} DROP COLUMN {column}")
                case _:
                    connection.execute(f"UPDATE {table} SET {column} = ?", (odd,))
    content = connection.serialize()
    connection.close()
    return content


def _read_run_folder(content: bytes, folder: Path) -> None:
    for name in ("run.sqlite-wal", "run.sqlite-shm", "run.sqlite-journal"):
        (folder / name).unlink(missing_ok=True)
    (folder / "run.sqlite").write_bytes(content)
    with contextlib.closing(read_run_folder(folder)) as store:
        look = Look.at(store, folder)
        look.to_dict()
        look.state()
        RunResult.read(store, folder).promise.sentence()
        list(named_rows(store))
        store.phases()
        snapshot = store.snapshot
    open_run_folder(folder, snapshot).close()


# -- certificates ----------------------------------------

_ODD_FIELDS = (
    *(None, True, -1, 0, 1, 3, 10**6, 10**9, 10**18, 10**400, -0.5, 0.5, 1e-300, 1e308, float("nan")),
    *(
        "",
        "x",
        "\x1b[31m",
        "[]",
        "{}",
        "0" * 64,
        [],
        [[]],
        [0] * 50,
        {},
        {"a": 1},
        "uniform(k0=1)",
        "9" * 5000,
    ),
)


@functools.cache
def _base_certificate() -> dict[str, Any]:
    """The certificate of a small run."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        scenario = make_scenario(
            folder,
            procedure="wager",
            options={"entropy": "test"},
            training=ListedInstances(tuple("abcdefghijkl"), files=False),
        )
        settings = replace(settings_of(scenario, workers=2), budget=Budget(max_runs=150))
        run_scenario(scenario, folder / "run", settings, backend=backend(2))
        with contextlib.closing(read_run_folder(folder / "run")) as store:
            return certify(store)


def _odd_certificate(chance: random.Random) -> bytes:
    """A certificate with other values in it, and sealed anew, as a forger would."""
    content = json.loads(json.dumps(_base_certificate()))
    for _ in range(chance.choice((1, 1, 2, 4))):
        holder: Any = content
        while True:
            key = chance.choice(list(holder) if isinstance(holder, dict) else range(len(holder)))
            if not isinstance(holder[key], dict | list) or not holder[key] or chance.random() < 0.2:
                break
            holder = holder[key]
        if chance.random() < 0.15:
            del holder[key]
        elif isinstance(holder[key], str) and chance.random() < 0.4:
            holder[key] = spoiled(holder[key].encode(), chance).decode("utf-8", "replace")
        else:
            holder[key] = chance.choice(_ODD_FIELDS)
        if not content:
            break
    with contextlib.suppress(Exception):  # what cannot be sealed is read as it is
        content["chain"] = chain_of(content["runs"], content["objective"]["kind"])
        content["commitment"] = commitment_of(content)
        return canonical(sealed(content))
    return json.dumps(content).encode()


def _certificate(content: bytes, folder: Path) -> None:
    path = folder / "certificate.json.gz"
    path.write_bytes(content)
    assert isinstance(verify(read_certificate(path)).reason, str)


# -- answers of targets ----------------------------------------

_INVOCATION = Invocation({}, "a.cnf", seed=1, captime_s=5.0)
_FUNCTION = FunctionTarget("module", "function", reports_runtime=True)
_VERDICT = VerdictRules(runtime_pattern=r"runtime ([0-9.eE+-]+|\S+)", quality_pattern=r"best (\S+)")


def _any_answer(content: bytes, folder: Path) -> None:
    from utilitune.errors import TargetError

    text = content.decode("utf-8", "replace")
    for contract in Contract:
        with contextlib.suppress(TargetError):  # the wrapper may ask for it
            rules = WrapperRules(contract, reports_runtime=True)
            raw = RawResult(Ending.EXITED, exit_code=0, matches=(text,), output_tail=text)
            assert rules.judge(_INVOCATION, raw).status in RunStatus
            rules.solution(raw)
    raw = RawResult(Ending.EXITED, exit_code=0, report=text)
    assert _FUNCTION.judge(_INVOCATION, raw).status in RunStatus
    _FUNCTION.solution(raw)


def _any_output(content: bytes, folder: Path) -> None:
    reading, writing = os.pipe()
    os.write(writing, content[:60_000])
    os.close(writing)
    collector = OutputCollector(reading, 2000, list(_VERDICT.watch))
    while collector.read():
        pass
    collector.finish()
    raw = RawResult(Ending.EXITED, exit_code=0, output_tail=collector.tail, matches=tuple(collector.matches))
    assert _VERDICT.judge(_INVOCATION, raw).status in RunStatus
    _VERDICT.solution(raw)
    collector.abandon()


def _utility(content: bytes, folder: Path) -> None:
    text = content.decode("utf-8", "replace")
    try:
        parse_any_utility(text).describe()
    finally:
        parse_duration(text)


def _odd_number(chance: random.Random) -> bytes:
    template = chance.choice(
        (b"%s", b"log-laplace(k0=%s)", b"gap(best=0, worst=%s)", b"uniform(%s)", b"points(0:1, %s:0)")
    )
    return template.replace(b"%s", chance.choice((*NUMBERS, *PIECES)))


SUBJECTS: dict[str, Subject] = {
    subject.name: subject
    for subject in (
        Subject(
            "scenario-toml",
            (SCENARIO.encode(), QUALITY.encode()),
            _scenario("scenario.toml"),
            write_files,
            code=True,
        ),
        Subject("cluster-file", CLUSTERS, _file("cluster.toml", lambda path: read_cluster(str(path)))),
        Subject(
            "scenario-irace",
            (foreign_files.IRACE.encode(),),
            _scenario("scenario.txt"),
            foreign_files.irace,
            code=True,
        ),
        Subject(
            "scenario-smac",
            (foreign_files.SMAC.encode(),),
            _scenario("scenario.txt"),
            foreign_files.smac,
            code=True,
        ),
        Subject(
            "parameter-files",
            (PCS_OLD, PCS_NEW, IRACE_PARAMETERS, CONFIGSPACE, RANGES),
            _file("parameters", read_parameter_file),
        ),
        Subject("pcs", (PCS_OLD, PCS_NEW), _file("a.pcs", lambda path: read_parameter_file(path, "pcs"))),
        Subject(
            "irace-parameters",
            (IRACE_PARAMETERS,),
            _file("p", lambda path: read_parameter_file(path, "irace")),
        ),
        Subject(
            "configspace", (CONFIGSPACE,), _file("p", lambda path: read_parameter_file(path, "configspace"))
        ),
        Subject("ranges", (RANGES,), _file("p", lambda path: read_parameter_file(path, "ranges"))),
        Subject(
            "configurations", (TABLE,), _file("c.txt", lambda path: read_configurations_table(path, _SPACE))
        ),
        Subject("csv", (CSV, b"1.5,2\n,3\n"), _file("m.csv", read_matrix)),
        Subject(
            "features",
            (FEATURES,),
            _file("f.csv", lambda path: read_instance_features(path, ["a.cnf", "b.cnf"])),
        ),
        Subject("arff", (ARFF,), _file("t.arff", read_arff)),
        Subject("aslib", (ARFF + b"\n-----\n" + DESCRIPTION,), _aslib),
        Subject("npy", NPY, _file("m.npy", read_matrix), make=_odd_header),
        Subject("npz", NPZ, _file("m.npz", read_matrix), make=_odd_archive),
        Subject("pickle", PICKLES, _file("measurements.dump", read_matrix), make=_odd_pickle),
        Subject(
            "pickle-gz",
            tuple(map(gzip.compress, PICKLES)),
            _file("measurements.dump.gz", read_matrix),
            make=_odd_gzip,
        ),
        Subject(
            "utility",
            (
                b"log-laplace(k0=1m, alpha=1)",
                b"product(uniform(k0=1h), step(k0=5))",
                b"piecewise(0:1, 10:0.5, 1h:0)",
                b"minimum(relative-gap(zero_at=0.1), exponential(mean=3))",
                b"1h30m",
            ),
            _utility,
            make=_odd_number,
            code=True,
        ),
        Subject("run-folder", (b"",), _read_run_folder, make=_odd_folder),
        Subject("certificate", (b"",), _certificate, make=_odd_certificate),
        Subject("references", (b"instance,best\na.cnf,3\nb.cnf\t-2e5\n",), _file("r.csv", read_references)),
        Subject("known-answers", (b"# a\na.cnf\tSAT\nb.cnf,UNSAT\n",), _file("a.txt", answers_file)),
        Subject("instance-list", (b"# a\na.cnf\nb.cnf -x 1\n'c d' \"e\"\n",), _file("l.txt", _entries)),
        Subject("feature-table", (FEATURES,), _file("f.csv", read_feature_table)),
        Subject("feature-output", (b"a,b\n1,2\n",), lambda content, _: _features(content)),
        Subject("configuration", (b'{"best": {"alpha": 0.5}}',), _file("c.json", _chosen)),
        Subject(
            "answers",
            (
                b"1.5 2",
                b"Result for ParamILS: SAT, 1.5, 0, 0, 123",
                b'{"status": "SAT", "runtime": 1.5, "cost": 3, "misc": ""}',
                b"Result for SMAC3v2: status=SUCCESS;cost=1;runtime=0.2;additional_info=",
                b'{"returned": {"status": "finished", "runtime": 1.5, "quality": 3}}',
                b'{"raised": "ValueError: no", "returned": 3}',
            ),
            _any_answer,
        ),
        Subject("output", (b"runtime 1.5\nbest 3\n", b"c comment\nruntime 2e3\n"), _any_output),
        Subject(
            "traces",
            (b"boot\n/sys/fs/cgroup/x\n12 34\n",),
            _file("ff", lambda path: leftovers.read_traces(str(path), "ff")),
        ),
    )
}


def make_seeds() -> None:
    """Seeds that take a run are made when somebody asks for them; and what is compiled is compiled first."""
    scan(pickle.dumps([1.0]))
    SUBJECTS["run-folder"] = Subject("run-folder", (_base_folder(),), _read_run_folder, make=_odd_folder)
    plain = canonical(_base_certificate())
    seeds = (plain, gzip.compress(plain, 1))
    SUBJECTS["certificate"] = Subject("certificate", seeds, _certificate, make=_odd_certificate)
