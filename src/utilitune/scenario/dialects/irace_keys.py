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
        "instances",
        "testInstances",
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
        "forbiddenExps",
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
        "targetRunnerData",
    }
)
"""Options of irace's own search, which change nothing here and are listed."""

REFUSED = {
    "repairConfiguration": "it is R code, which is not run here",
    "targetRunnerParallel": "it is R code, which is not run here",
    "targetEvaluator": "a run is judged when it ends, so the runner must print its cost itself",
    "initConfigurations": "it is a table made by R code; write it to a file and name that in "
    "configurationsFile",
    "batchmode": "a run that a cluster makes later cannot be metered here",
}
"""Options that cannot be honoured, and why."""

KEYS = HONOURED | WITHOUT_MEANING | frozenset(REFUSED)
"""Every option."""
