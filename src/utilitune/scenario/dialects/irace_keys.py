"""The options of an irace scenario, by what becomes of them here."""

from __future__ import annotations

HONOURED = frozenset(
    {
        "parameterFile",
        "execDir",
        "trainInstancesDir",
        "trainInstancesFile",
        "testInstancesDir",
        "testInstancesFile",
        "targetRunner",
        "targetRunnerLauncher",
        "targetRunnerLauncherArgs",
        "targetCmdline",
        "targetRunnerTimeout",
        "maxExperiments",
        "maxTime",
        "boundMax",
        "boundPar",
        "boundDigits",
        "capping",
        "elitist",
        "aclib",
        "deterministic",
        "configurationsFile",
        "forbiddenFile",
        "parallel",
        "seed",
        "digits",
    }
)
"""Options that mean something here."""

WITHOUT_MEANING = frozenset(
    {
        "scenarioFile",
        "logFile",
        "quiet",
        "debugLevel",
        "postselection",
        "elitistNewInstances",
        "elitistLimit",
        "sampleInstances",
        "minNbSurvival",
        "nbIterations",
        "nbExperimentsPerIteration",
        "minExperiments",
        "nbConfigurations",
        "mu",
        "softRestart",
        "softRestartThreshold",
        "testType",
        "firstTest",
        "eachTest",
        "blockSize",
        "confidence",
        "loadBalancing",
        "mpi",
        "batchmode",
        "testNbElites",
        "testIterationElites",
        "recoveryFile",
        "budgetEstimation",
        "timeEstimation",
        "minMeasurableTime",
        "cappingAfterFirstTest",
        "cappingType",
        "boundType",
        "boundAsTimeout",
        "targetRunnerRetries",
        "targetEvaluator",
    }
)
"""Options of irace's own search, which change nothing here and are listed."""

NEEDS_R = frozenset({"repairConfiguration", "targetRunnerParallel"})
"""Options that hold R code, which is refused."""

KEYS = HONOURED | WITHOUT_MEANING | NEEDS_R
"""Every option."""
