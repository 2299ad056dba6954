"""One trial: a live run with programs from the zoo, faults at random moments, and what must hold afterwards.

The run is made by a process that is forked from this one, so that a start costs no imports. It writes every
run that it was told of into a log, in one write each. After each fault: the folder opens, every logged run is
in it, none is there twice, and nobody is alive. After the last start, which nothing disturbs, the promise is
read and must say what it rests on.
"""

from __future__ import annotations

import contextlib
import os
import random
import resource
import shutil
import signal
import sys
import time
import traceback
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from faults.zoo import KINDS
from utilitune.errors import StoreError, UtilituneError
from utilitune.execution.chasing import newest_first, orphans_of_others
from utilitune.execution.guardian import SUPERVISOR_NAME
from utilitune.live.events import RunEnded
from utilitune.live.result import RunResult
from utilitune.live.running import run_scenario, settings_of
from utilitune.scenario import read_scenario
from utilitune.store import read_run_folder

_LOOKS = (*(orphans_of_others,) * 5, newest_first)  # a chain of processes is seen by quick looks only
ZOO = Path(__file__).with_name("zoo.py")
INSTANCES = 12
PATIENCE_S = 60.0
LOOK_S = 0.02
SCENARIO = """
name = "faults"
utility = "uniform(k0=200ms)"
measure = "wall"
[target]
command = ["{python}", "-I", "-S", "{zoo}", "{token}", "{{parameters}}", "{{instance}}"]
template = "{{value}}"
[parameters.x]
type = "float"
range = [0.0, 1.0]
default = 0.9
[instances]
training = "train"
[limits]
smallest_captime = "60ms"
largest_captime = "120ms"
memory = "150 MiB"
[budget]
runs = {runs}
wall_time = "1h"
[procedure]
name = "oup"
configurations = 3
"""


class ViolatedError(AssertionError):
    """Something that must hold does not."""


@dataclass
class Trial:
    """A run folder that faults happen to.

    Attributes:
        place: Where everything lies.
        chance: What decides.
        runs: How many runs it makes in all.
        faults: What was tried, in order.
        happened: Whether the latest of them came about: a run may end before it can be disturbed.
    """

    place: Path
    chance: random.Random
    runs: int = 24
    faults: list[str] = field(default_factory=list)
    happened: bool = False
    workers: int = 2

    def __post_init__(self) -> None:
        self.token = f"fault-{os.getpid()}-{self.chance.getrandbits(48):x}"
        self.folder = self.place / "run"
        self.log = self.place / "log"
        self.missing = False
        (self.place / "train").mkdir()
        names = ["works"] * 4 + self.chance.sample(sorted(KINDS), INSTANCES - 4)
        for number, kind in enumerate(names):
            (self.place / "train" / f"{number}.txt").write_text(f"{kind} {number}")
        self.describe(self.runs)

    def describe(self, runs: int) -> None:
        text = SCENARIO.format(python=sys.executable, zoo=ZOO, token=self.token, runs=runs)
        (self.place / "scenario.toml").write_text(text)

    # -- the process that makes the run ----------------------------------------

    def start(self, inside: Callable[[], None] = lambda: None) -> int:
        """Start or resume the run in a process of its own; `inside` is done there first."""
        pid = os.fork()
        if pid:
            return pid
        code = 4
        try:
            os.setsid()
            os.environ["FAULT_TOKEN"] = self.token
            os.environ[f"SECRET_{self.token}"] = f"hidden-{self.token}"
            null = os.open(os.devnull, os.O_RDWR)
            for number in (0, 1, 2):
                os.dup2(null, number)
            inside()
            code = self._work()
        except KeyboardInterrupt:  # before the run had begun
            code = 5
        except BaseException:  # noqa: BLE001 -- it is written down, and judged by whoever waits
            (self.place / "defect").write_text(traceback.format_exc())
        finally:
            os._exit(code)

    def _work(self) -> int:
        log = os.open(self.log, os.O_WRONLY | os.O_CREAT | os.O_APPEND)

        def note(event: object) -> None:
            if isinstance(event, RunEnded):
                request = event.request
                line = f"{request.configuration} {request.position} {request.captime_s!r}\n"
                os.write(log, line.encode())

        scenario = read_scenario(self.place / "scenario.toml")
        try:
            result = run_scenario(
                scenario, self.folder, settings_of(scenario, workers=self.workers), on_event=note
            )
        except UtilituneError as error:
            (self.place / "refusal").write_text(str(error))
            return 3
        except KeyboardInterrupt:
            return 5
        if result.stop_reason is not None and result.stop_reason.code == "wall-limit":
            (self.place / "defect").write_text("the wall-clock budget was spent by setting the clock")
            return 4
        return 0

    # -- looking on ----------------------------------------

    def logged(self) -> list[tuple[str, ...]]:
        with contextlib.suppress(FileNotFoundError):
            return [tuple(line.split()) for line in self.log.read_text().splitlines()]
        return []

    def wait_for_runs(self, pid: int, more: int) -> bool:
        """Wait until so many more runs were told of; False if the process ended before."""
        wanted, deadline = len(self.logged()) + more, time.monotonic() + PATIENCE_S
        while len(self.logged()) < wanted and time.monotonic() < deadline:
            if ended(pid):
                return False
            time.sleep(0.005)
        return not ended(pid)

    def helpers(self, pid: int) -> tuple[list[int], list[int]]:
        """The supervisors with their guardians, and the watchers of a coordinator.

        Now and then only the supervisors or only the guardians are named.
        """
        supervisors, guardians, watchers = [], [], []
        for child in children(pid):
            with contextlib.suppress(OSError):
                line = Path(f"/proc/{child}/cmdline").read_bytes()
                if b"execution.worker" in line:
                    guardians.append(child)
                    supervisors += [each for each in children(child) if _is_called(each, SUPERVISOR_NAME)]
                elif b"import watch" in line:
                    watchers.append(child)
        keepers = self.chance.choice((supervisors, guardians, [*supervisors, *guardians]))
        return keepers, watchers

    def alive(self) -> list[str]:
        """Who is alive of this trial, known by its token in the environment or in the command line."""
        token, found = self.token.encode(), []
        for pid in (pid for look in _LOOKS for pid in look() if pid != os.getpid()):
            entry = Path(f"/proc/{pid}")
            with contextlib.suppress(OSError):
                if (entry / "stat").read_bytes().rpartition(b")")[2].split()[0] in b"ZX":
                    continue
                marked = token in (entry / "cmdline").read_bytes()
                with contextlib.suppress(OSError):
                    marked = marked or token in (entry / "environ").read_bytes()
                if marked:
                    found.append(f"{entry.name} {(entry / 'cmdline').read_bytes()[:200]!r}")
        return found

    def wait(self, pid: int) -> int:
        """Wait for the process that makes the run; its exit code, or minus the signal that ended it."""
        deadline = time.monotonic() + 4 * PATIENCE_S
        while True:
            found, status = os.waitpid(pid, os.WNOHANG)
            if found:
                return os.waitstatus_to_exitcode(status)
            if time.monotonic() > deadline:
                os.kill(pid, signal.SIGKILL)
                os.waitpid(pid, 0)
                raise ViolatedError("the run does not come to an end")
            time.sleep(0.01)

    # -- what must hold ----------------------------------------

    def require_sound(self, *, nobody_alive: bool = True) -> None:
        """The folder opens, nothing is lost or doubled, nobody is alive."""
        if (self.place / "defect").exists():
            raise ViolatedError((self.place / "defect").read_text())
        if nobody_alive:
            looks = int(PATIENCE_S / 2 / LOOK_S)  # a pause of the whole machine is no failure
            while (left := self.alive()) and looks > 0:
                looks -= 1
                time.sleep(LOOK_S)
            if left:
                raise ViolatedError(f"alive: {left}")
        if (self.folder / "run.sqlite").exists():
            self._require_stored()

    def _require_stored(self) -> None:
        """What was told of is stored, once."""
        try:
            reader = read_run_folder(self.folder)
        except StoreError as error:
            if "no run yet" in str(error):
                return
            raise ViolatedError(f"the folder does not open: {error}") from error
        with contextlib.closing(reader) as store:
            runs = list(store.runs())
        stored = [
            (str(run.request.configuration), str(run.request.position), repr(run.request.captime_s))
            for run in runs
        ]
        if len(set(stored)) != len(stored):
            raise ViolatedError("a run is stored twice")
        if [run.sequence for run in runs] != list(range(len(runs))):
            raise ViolatedError("the numbers of the runs have holes")
        lost = set(self.logged()) - set(stored)
        if lost:
            raise ViolatedError(f"{len(lost)} runs are lost: {sorted(lost)[:3]}")

    def finish(self) -> int:
        """Let the run come to its end undisturbed and find all in order; says how many runs there are."""
        code = self.wait(self.start())
        self.require_sound()
        if code:
            text = (self.place / "refusal").read_text() if (self.place / "refusal").exists() else ""
            raise ViolatedError(f"an undisturbed start ended with {code}: {text}")
        with contextlib.closing(read_run_folder(self.folder)) as store:
            result = RunResult.read(store, self.folder)
            made = len(list(store.runs()))
            if result.progress.runs != made or made > self.runs:
                raise ViolatedError(f"{result.progress.runs} runs are counted, {made} are stored")
            if not result.promise.sentence():
                raise ViolatedError("there is no promise")
            changed = any(fault.startswith("instance") for fault in self.faults)
            if changed and "as they were" not in result.promise.condition:
                raise ViolatedError("the promise does not say that an instance had changed")
            if self.missing and not any("are missing" in event.text for event in store.events()):
                raise ViolatedError("runs vanished without a word")
            elapsed_s = sum(session.elapsed_s or 0.0 for session in store.sessions())
            if not 0 <= elapsed_s < 86_400:
                raise ViolatedError(f"the starts lasted {elapsed_s} s together")
        for path in self.folder.rglob("*"):
            if path.is_file() and f"hidden-{self.token}".encode() in path.read_bytes():
                raise ViolatedError(f"a secret of the environment stands in {path.name}")
        return made


def _is_called(pid: int, name: str) -> bool:
    try:
        return Path(f"/proc/{pid}/comm").read_text().strip() == name
    except OSError:
        return False


def ended(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_bytes().rpartition(b")")[2].split()[0] in b"ZX"
    except OSError:
        return True


def children(pid: int) -> list[int]:
    try:
        return [int(each) for each in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]
    except OSError:
        return []


def kill_together(trial: Trial, pids: list[int]) -> None:
    """End several processes so that none of them has time to notice the end of another."""
    trial.happened = trial.happened or bool(pids)
    for number in (signal.SIGSTOP, signal.SIGKILL):
        for pid in pids:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, number)


# -- faults ----------------------------------------


def _disturbed(
    trial: Trial, disturb: Callable[[int], None], inside: Callable[[], None] = lambda: None
) -> int:
    """Start, wait for a few runs, disturb, wait for the end; returns the exit code."""
    pid = trial.start(inside)
    if trial.wait_for_runs(pid, trial.chance.randint(0, 4)):
        time.sleep(trial.chance.uniform(0, 0.1))
        disturb(pid)
    return trial.wait(pid)


def kill_coordinator(trial: Trial) -> None:
    _disturbed(trial, lambda pid: kill_together(trial, [pid]))
    trial.require_sound()


def kill_supervisors(trial: Trial) -> None:
    def disturb(pid: int) -> None:
        supervisors, _ = trial.helpers(pid)
        kill_together(trial, trial.chance.sample(supervisors, min(len(supervisors), 2)))
        if trial.wait_for_runs(pid, 2):
            os.kill(pid, signal.SIGTERM)

    _disturbed(trial, disturb)
    trial.require_sound()


def kill_coordinator_and_supervisors(trial: Trial) -> None:
    _disturbed(trial, lambda pid: kill_together(trial, [pid, *trial.helpers(pid)[0]]))
    trial.require_sound()


def kill_everybody(trial: Trial) -> None:
    """The next start ends what is left."""

    def disturb(pid: int) -> None:
        supervisors, watchers = trial.helpers(pid)
        kill_together(trial, [pid, *watchers, *supervisors])

    def end_later(pid: int) -> None:
        if trial.wait_for_runs(pid, 1):
            os.kill(pid, signal.SIGTERM)

    _disturbed(trial, disturb)
    trial.require_sound(nobody_alive=False)
    _disturbed(trial, end_later)
    trial.require_sound()


def kill_watcher(trial: Trial) -> None:
    def disturb(pid: int) -> None:
        kill_together(trial, trial.helpers(pid)[1])
        if trial.wait_for_runs(pid, 1):
            os.kill(pid, signal.SIGKILL)

    _disturbed(trial, disturb)
    trial.require_sound()


def interrupt(trial: Trial) -> None:
    def disturb(pid: int) -> None:
        trial.happened = True
        for _ in range(trial.chance.randint(1, 3)):
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, trial.chance.choice((signal.SIGINT, signal.SIGTERM)))
            time.sleep(trial.chance.uniform(0, 0.05))

    code = _disturbed(trial, disturb)
    trial.require_sound()
    if code not in {0, 3, 5, -signal.SIGINT, -signal.SIGTERM}:
        raise ViolatedError(f"an interrupted run ended with {code}")


def fill_disk(trial: Trial) -> None:
    """Files cannot grow any more; what was told of is stored nevertheless."""
    trial.happened = True
    sizes = (
        [path.stat().st_size for path in trial.folder.glob("run.sqlite*")] if trial.folder.exists() else []
    )
    limit = max([40_000, *sizes]) + trial.chance.randint(0, 30_000)

    def inside() -> None:
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))

    _disturbed(trial, lambda pid: os.kill(pid, signal.SIGTERM), inside)
    trial.require_sound()


def set_clock(trial: Trial) -> None:
    """The clock that people set jumps about; the wall-clock budget must not notice."""
    jumps = random.Random(trial.chance.getrandbits(32))
    trial.happened = True

    def inside() -> None:
        real, state = time.time, {"offset": 0.0}

        def jumping() -> float:
            if jumps.random() < 0.2:
                state["offset"] = jumps.choice((-86_400.0, 86_400.0, -3e8, 0.0, 1e7))
            return real() + state["offset"]

        time.time = jumping

    kill = trial.chance.choice((signal.SIGTERM, signal.SIGKILL))
    _disturbed(trial, lambda pid: os.kill(pid, kill), inside)
    trial.require_sound()


def damage_file(trial: Trial) -> None:
    """A page is overwritten: whoever opens the folder says so or copes; the copy is as good as before."""
    _disturbed(trial, lambda pid: os.kill(pid, signal.SIGKILL))
    trial.require_sound()
    if not trial.logged():
        return
    copy = trial.place / "copy"
    shutil.copytree(trial.folder, copy, ignore=shutil.ignore_patterns("workers"))
    victim = trial.chance.choice(sorted(trial.folder.glob("run.sqlite*")))
    content = bytearray(victim.read_bytes())
    if content:
        start = trial.chance.randrange(len(content))
        content[start : start + 512] = trial.chance.randbytes(len(content[start : start + 512]))
        victim.write_bytes(content)
        trial.happened = True
    code = _disturbed(trial, lambda pid: os.kill(pid, signal.SIGTERM))
    if (trial.place / "defect").exists():
        raise ViolatedError((trial.place / "defect").read_text())
    if code not in {0, 3, 5, -signal.SIGTERM}:
        raise ViolatedError(f"a start with a damaged file ended with {code}")
    # What this start told of is gone with the folder that is put back.
    shutil.rmtree(trial.folder)
    shutil.copytree(copy, trial.folder)
    shutil.rmtree(copy)
    with contextlib.closing(read_run_folder(trial.folder)) as store:
        kept = [
            f"{r.request.configuration} {r.request.position} {r.request.captime_s!r}" for r in store.runs()
        ]
    trial.log.write_text("".join(f"{line}\n" for line in kept))
    trial.require_sound()


def delete_log(trial: Trial) -> None:
    """Runs that vanish with SQLite's log are told of."""
    _disturbed(trial, lambda pid: os.kill(pid, signal.SIGKILL))
    trial.require_sound()
    if not trial.logged():
        return
    copy = trial.place / "copy"
    shutil.copytree(trial.folder, copy, ignore=shutil.ignore_patterns("workers"))
    trial.happened = (trial.folder / "run.sqlite-wal").exists()
    for name in ("run.sqlite-wal", "run.sqlite-shm"):
        (trial.folder / name).unlink(missing_ok=True)
    try:
        read_run_folder(trial.folder).close()
    except StoreError:  # it says so: a copy is put back
        shutil.rmtree(trial.folder)
        shutil.copytree(copy, trial.folder)
        trial.require_sound()
        return
    finally:
        shutil.rmtree(copy, ignore_errors=True)
    with contextlib.closing(read_run_folder(trial.folder)) as store:
        left = [
            f"{r.request.configuration} {r.request.position} {r.request.captime_s!r}" for r in store.runs()
        ]
    missing = len(trial.logged()) - len(left)
    trial.log.write_text("".join(f"{line}\n" for line in left))
    trial.missing = trial.missing or missing > 0
    _disturbed(trial, lambda pid: os.kill(pid, signal.SIGTERM))
    trial.require_sound()


def change_instance(trial: Trial) -> None:
    """An instance changes or goes; the run ends with a sentence, or never needed it again."""
    victim = trial.chance.choice(sorted((trial.place / "train").iterdir()))
    before = victim.read_text()

    def disturb(pid: int) -> None:
        if not trial.wait_for_runs(pid, 1):  # the start itself compares contents, and refuses others
            return
        victim.unlink() if trial.chance.random() < 0.5 else victim.write_text("works and more")
        trial.happened = True
        if trial.wait_for_runs(pid, 3):
            os.kill(pid, signal.SIGTERM)

    (trial.place / "refusal").unlink(missing_ok=True)
    code = _disturbed(trial, disturb)
    victim.write_text(before)
    trial.require_sound()
    refusal = (trial.place / "refusal").read_text() if code == 3 else ""
    if "since this run began" in refusal:
        trial.faults.append(f"instance {victim.name}")
    elif code == 3 and "in a row" not in refusal:
        raise ViolatedError(f"a changed instance ended the run with: {refusal}")


FAULTS: tuple[Callable[[Trial], None], ...] = (
    *(kill_coordinator, kill_supervisors, kill_coordinator_and_supervisors, kill_everybody, kill_watcher),
    *(interrupt, fill_disk, set_clock, damage_file, delete_log, change_instance),
)


def tried(place: Path, seed: int, faults: int = 3) -> list[str]:
    """One trial with so many faults: returns those that happened; raises where something does not hold."""
    chance = random.Random(seed)
    trial = Trial(place, chance)
    happened = []
    for _ in range(faults):
        fault = chance.choice(FAULTS)
        trial.faults.append(fault.__name__)
        trial.happened = False
        trial.runs += 6
        trial.describe(trial.runs)
        try:
            fault(trial)
        except Exception as error:
            raise ViolatedError(f"seed {seed}, {_story(trial)}: {error!r}") from error
        happened += [fault.__name__] if trial.happened else []
    try:
        trial.finish()
    except ViolatedError as error:
        raise ViolatedError(f"seed {seed}, {_story(trial)}, at the end: {error}") from error
    return happened


def _story(trial: Trial) -> str:
    """What happened to whom, for whoever has to find out why."""
    kinds = [(trial.place / "train" / f"{number}.txt").read_text().split()[0] for number in range(INSTANCES)]
    return f"{' then '.join(trial.faults)} with {' '.join(kinds)}"
