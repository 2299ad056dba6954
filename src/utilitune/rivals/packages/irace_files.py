"""What irace reads: its scenario, the parameters, the instances, and the configurations to begin with.

irace 4 has forbidden expressions and the number of decimal places in sections of the parameter file, irace 3
in a file and an option of their own.

The file ``drive.R`` runs irace with an R function for its target. The function writes the parameters of a run
to one pipe and reads what it cost from another; both ends and nothing else are agreed on here:

::

    to us       version ␟ 3.5                     first, before irace reads its files
                elite ␟ number                    after an iteration: the best so far, from irace's own log
                run ␟ number ␟ instance ␟ bound ␟ name ␟ value ␟ name ␟ value …
                best ␟ number                     last: its answer, or after "end" that of its last iteration
    from us     ready
                cost time                         or: end, when the budget is spent before irace expects it

A bound is where irace's adaptive capping wants a run stopped, in milliseconds, or 0 where it has no say. It
has one where costs are runtimes; the worth of a run does not tell which bound would be right.

Fields are separated by the unit separator, which no parameter can hold. Times are milliseconds: irace takes
whole numbers for its budget, and counts every run with at least a hundredth of its unit.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from utilitune.rivals.packages.decimals import without_digits
from utilitune.spaces.dialects import write_parameter_file
from utilitune.spaces.dialects.pcs_writer import value_text
from utilitune.spaces.parameters import ChoiceParameter, NumberParameter

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from utilitune.spaces import Assignment, ParameterSpace
    from utilitune.spaces.parameters import Value

SEPARATOR = "\x1f"
END = "end"
_SECTIONS = 4
"""The first version of irace whose parameter files have sections."""

_USUAL_DIGITS = 4
_MOST_DIGITS = 15

_DRIVER = r"""
suppressPackageStartupMessages(library(irace))
pipes <- commandArgs(trailingOnly = TRUE)
questions <- fifo(paste0("/dev/fd/", pipes[1]), "w", blocking = TRUE)
answers <- fifo(paste0("/dev/fd/", pipes[2]), "r", blocking = TRUE)
say <- function(...) {
  writeLines(enc2utf8(paste(..., sep = "\x1f")), questions, useBytes = TRUE)
  flush(questions)
}
hear <- function() {
  line <- readLines(answers, n = 1)
  if (length(line) == 0) quit(save = "no", status = 1)
  line
}
logged <- NA
tell_elite <- function() {
  changed <- file.mtime("irace.Rdata")
  if (is.na(changed) || identical(changed, logged)) return(invisible())
  logged <<- changed
  log <- new.env()
  loaded <- try(load("irace.Rdata", envir = log), silent = TRUE)
  if (!inherits(loaded, "try-error")) {
    elite <- tail(log$iraceResults$iterationElites, 1)
    if (length(elite) == 1) say("elite", elite)
  }
}
utilitune_run <- function(experiment, scenario) {
  tell_elite()
  values <- as.list(experiment$configuration)
  values <- values[!is.na(values) & !startsWith(names(values), ".")]
  texts <- vapply(values, function(value) {
    if (is.numeric(value)) format(value, digits = 15) else as.character(value)
  }, "")
  number <- c(experiment$id_configuration, experiment$id.configuration)[1]
  bound <- if (length(experiment$bound) == 1 && !is.na(experiment$bound)) experiment$bound else 0
  run <- c("run", number, experiment$instance, format(bound, digits = 15))
  say(paste(c(run, rbind(names(texts), texts)), collapse = "\x1f"))
  answer <- hear()
  if (answer == "end") leave()
  answer <- as.numeric(strsplit(answer, " ")[[1]])
  list(cost = answer[1], time = answer[2])
}
leave <- function() {
  if (file.exists("irace.Rdata")) {
    load("irace.Rdata")
    say("best", tail(iraceResults$iterationElites, 1))
  }
  quit(save = "no")
}
say("version", as.character(packageVersion("irace")))
invisible(hear())
elites <- irace.cmdline(c("--scenario", "scenario.txt"))
say("best", elites$.ID.[1])
"""


@dataclass(frozen=True, slots=True)
class IraceTask:
    """What irace is told.

    Attributes:
        space: The parameters.
        given: The configurations to begin with.
        instances: How many instances there are.
        max_time_ms: Budget of run time; None where runs are counted.
        max_runs: Budget of runs; None where time is counted.
        seed: irace's seed.
        bound_ms: The captime where costs are runtimes, for irace's adaptive capping; None where they are not.
    """

    space: ParameterSpace
    given: Sequence[Assignment]
    instances: int
    max_time_ms: int | None
    max_runs: int | None
    seed: int
    bound_ms: int | None = None

    def write_driver(self, folder: Path) -> Path:
        """Write the R program that runs irace."""
        path = folder / "drive.R"
        path.write_text(_DRIVER, encoding="utf-8")
        return path

    def write(self, folder: Path, version: str) -> None:
        """Write everything this version of irace reads into the folder it runs in."""
        for name, text in self.files(version).items():
            (folder / name).write_text(text, encoding="utf-8")

    def files(self, version: str) -> dict[str, str]:
        """The files by name."""
        text = write_parameter_file(
            without_digits(self.space),
            "irace",
            switches=dict.fromkeys(self.space.names, ""),
            digits=_digits(self.space),
        )
        with_sections = int(version.partition(".")[0]) >= _SECTIONS
        sections = _sections(text)
        files = {
            "parameters.txt": text if with_sections else sections[""],
            "instances.txt": "".join(f"{position}\n" for position in range(self.instances)),
            "initial.txt": _initial(self.space, self.given),
        }
        options: dict[str, str] = {
            "parameterFile": '"parameters.txt"',
            "trainInstancesDir": '""',
            "trainInstancesFile": '"instances.txt"',
            "configurationsFile": '"initial.txt"',
            "deterministic": "1",
            "targetRunner": "utilitune_run",
            "logFile": '"irace.Rdata"',
            "seed": str(self.seed),
            **({} if self.max_time_ms is None else {"maxTime": str(self.max_time_ms)}),
            **({} if self.max_runs is None else {"maxExperiments": str(self.max_runs)}),
            **({} if self.bound_ms is None else {"capping": "1", "boundMax": str(self.bound_ms)}),
        }
        if not with_sections and "forbidden" in sections:
            files["forbidden.txt"] = sections["forbidden"]
            options["forbiddenFile"] = '"forbidden.txt"'
        if not with_sections and "global" in sections:
            options["digits"] = sections["global"].partition("=")[2].strip()
        files["scenario.txt"] = "".join(f"{name} = {value}\n" for name, value in options.items())
        return files


def read_values(space: ParameterSpace, texts: Mapping[str, str]) -> dict[str, Value]:
    """The parameters of a run in our terms, from what irace says they are."""
    return {name: _value(space, name, text) for name, text in texts.items()}


def _value(space: ParameterSpace, name: str, text: str) -> Value:
    parameter = space.parameters[name]
    if isinstance(parameter, ChoiceParameter):
        return next(choice for choice in parameter.choices if value_text(choice) == text)
    number = float(text)
    if parameter.integer:
        return int(number)
    rounded = number if parameter.digits is None else round(number, parameter.digits)
    return min(max(rounded, parameter.low), parameter.high)


def _digits(space: ParameterSpace) -> int:
    """The fewest decimal places, from irace's usual ones up, that say every bound, default and value exactly.

    irace has one number for all parameters; where one of ours has fewer, its values are rounded by `_value`.
    """
    floats = [
        each for each in space.parameters.values() if isinstance(each, NumberParameter) and not each.integer
    ]
    values = [value for each in floats for value in (each.low, each.high, each.default)]
    fewest = max([_USUAL_DIGITS, *(each.digits or 0 for each in floats)])
    enough = (
        digits
        for digits in range(fewest, _MOST_DIGITS)
        if all(value == round(value, digits) for value in values)
    )
    return next(enough, _MOST_DIGITS)


def _sections(text: str) -> dict[str, str]:
    """The parts of a parameter file by the name of their section; the parameters have none."""
    parts: dict[str, str] = {}
    current = ""
    for line in text.splitlines(keepends=True):
        if line.startswith("["):
            current = line.strip().strip("[]")
        else:
            parts[current] = parts.get(current, "") + line
    return parts


def _initial(space: ParameterSpace, given: Sequence[Assignment]) -> str:
    """The table of configurations that irace begins with."""
    rows = [
        [f'"{value_text(assignment[name])}"' if name in assignment else "NA" for name in space.names]
        for assignment in given
    ]
    return "".join(f"{' '.join(row)}\n" for row in (space.names, *rows))
