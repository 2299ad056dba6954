"""A SLURM of one node on this machine: munged, slurmctld and slurmd, all in one folder and by one user."""

from __future__ import annotations

import contextlib
import os
import secrets
import shutil
import socket
import subprocess
import tempfile
from pathlib import Path

from execution.cluster.on_loopback import until
from utilitune.execution.watcher import guarded

PROGRAMS = ("munged", "slurmctld", "slurmd", "sbatch", "scancel", "squeue", "sinfo", "scontrol")
_CONF = """
ClusterName=test
SlurmctldHost={host}(127.0.0.1)
SlurmctldPort={controller}
SlurmdPort={node}
SlurmUser={user}
SlurmdUser={user}
AuthType=auth/munge
AuthInfo=socket={folder}/munge.socket
CredType=cred/munge
CryptoType=crypto/munge
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/spool
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/slurmd.pid
SlurmctldLogFile={folder}/slurmctld.log
SlurmdLogFile={folder}/slurmd.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SwitchType=switch/none
MpiDefault=none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
SlurmdParameters=config_overrides
SchedulerParameters=batch_sched_delay=0,sched_interval=1
ReturnToService=2
KillWait=2
NodeName={host} NodeAddr=127.0.0.1 CPUs=8 Sockets=8 CoresPerSocket=1 ThreadsPerCore=1 RealMemory=4000
PartitionName=batch Nodes={host} Default=YES MaxTime=INFINITE State=UP
"""


def missing() -> str:
    """Which of its programs is not installed; empty if all are."""
    return next((name for name in PROGRAMS if shutil.which(name, path=_path()) is None), "")


class Slurm:
    """The cluster, from its start to its end."""

    def __init__(self) -> None:
        self._stack = contextlib.ExitStack()
        self.folder = Path(self._stack.enter_context(tempfile.TemporaryDirectory(ignore_cleanup_errors=True)))
        self.folder.chmod(0o755)
        self.environment = {"SLURM_CONF": str(self.folder / "slurm.conf"), "PATH": _path()}
        try:
            self._begin()
        except BaseException:
            self.close()
            raise

    def call(self, *argv: str) -> str:
        """One of its commands; what it prints, or nothing where it fails."""
        done = subprocess.run(
            argv, env={**os.environ, **self.environment}, capture_output=True, text=True, check=False
        )
        return done.stdout if done.returncode == 0 else ""

    def jobs(self, *states: str) -> list[str]:
        """The numbers of the jobs, or of those in some states, such as R for those that run."""
        wanted = [f"--states={','.join(states)}"] if states else []
        return self.call("squeue", "--noheader", *wanted, "--format=%i").split()

    def close(self) -> None:
        """End all jobs and everything else."""
        if jobs := self.jobs():
            self.call("scancel", "--signal=KILL", "--full", *jobs)
            until(lambda: not self.jobs())
        self._stack.close()

    def _begin(self) -> None:
        folder = self.folder
        for name in ("state", "spool"):
            (folder / name).mkdir()
        (folder / "munge.key").write_bytes(secrets.token_bytes(1024))
        (folder / "munge.key").chmod(0o600)
        (folder / "slurm.conf").write_text(
            _CONF.format(
                host=socket.gethostname().partition(".")[0],
                controller=_free_port(),
                node=_free_port(),
                user=_user(),
                folder=folder,
            )
        )
        places = [
            f"--{what}={folder}/munge.{what.split('-')[0]}" for what in ("socket", "pid-file", "seed-file")
        ]
        places += [f"--key-file={folder}/munge.key", f"--log-file={folder}/munge.log"]
        self._start("munged", "--foreground", "--force", *places)
        until((folder / "munge.socket").exists)
        self._start("slurmctld", "-D", "-f", f"{folder}/slurm.conf")
        self._start("slurmd", "-D", "-f", f"{folder}/slurm.conf")
        until(lambda: "idle" in self.call("sinfo", "--noheader", "--format=%T"), patience_s=60.0)

    def _start(self, *argv: str) -> None:
        with (self.folder / "log").open("ab") as log:
            process = guarded(argv, stdout=log, stderr=log, env={**os.environ, **self.environment})
            self._stack.enter_context(process)


def _path() -> str:
    return f"{os.environ.get('PATH', '')}:/usr/local/sbin:/usr/sbin:/sbin"


def _user() -> str:
    import pwd

    return pwd.getpwuid(os.getuid()).pw_name


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]
