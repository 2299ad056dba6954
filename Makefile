# Every target works on a fresh machine with python3 (3.11 or newer) and make.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin

.DEFAULT_GOAL := help
.PHONY: help demo test again quick lint format docs bench audit fuzz faults clean

help: ## Show this list.
	@grep -hE '^[a-z]+:.*##' $(MAKEFILE_LIST) | sed 's/:.*## /\t/' | expand -t 10

$(BIN)/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "Utilitune needs Python 3.11 or newer; set PYTHON=/path/to/python3.11")'
	$(PYTHON) -m venv $(VENV)

# One stamp per extra: an install happens once, and again when pyproject.toml changes.
$(VENV)/.%.stamp: $(BIN)/python pyproject.toml
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --only-binary=:all: --no-binary=utilitune -e '.[$*]'
	@touch $@

demo: $(VENV)/.demo.stamp ## Run the main job: see the README.
	$(BIN)/utilitune demo

# Many tests start, meter and kill real processes, and a machine may be too busy for one of them. What fails is
# run once more, alone: what fails again has failed. What does not is named, and is to be made steady.
test: $(VENV)/.test.stamp ## Run every test; prints the coverage.
	$(BIN)/python -m pytest -n auto -m 'not audit' --cov --cov-report=term:skip-covered || $(MAKE) again

again: $(VENV)/.test.stamp ## Run the tests that failed last, one at a time.
	$(BIN)/python -m pytest -n 0 -m 'not audit' --last-failed --last-failed-no-failures none -v

# A test that is skipped half-way leaves things open: that is no failure here.
quick: $(VENV)/.test.stamp ## Run the short tests that need no process and no compiler (under a minute).
	$(BIN)/python -m pytest -n auto -m 'not audit and not long' --quick -q -r fE -W ignore::ResourceWarning -p no:unraisableexception -p no:threadexception

lint: $(VENV)/.test.stamp $(VENV)/.lint.stamp ## Style, types, import direction, docs.
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/mkdocs build --quiet --strict --site-dir $(VENV)/site

format: $(VENV)/.lint.stamp ## Rewrite the code in house style.
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

docs: $(VENV)/.lint.stamp ## Build the documentation into site/.
	UTILITUNE_SCREENS=1 PATH="$(abspath $(BIN)):$$PATH" $(BIN)/mkdocs build --strict

bench: $(VENV)/.test.stamp ## Measure speed; prints ratios within this one run.
	$(BIN)/python -m benchmarks

audit: $(VENV)/.test.stamp ## Count how often promises fail (hours; goes on where it was) and write docs/audit.md.
	$(BIN)/python -m benchmarks.audit
	$(BIN)/python -m pytest -n auto -m audit -v -rP

fuzz: $(VENV)/.test.stamp ## Try a million spoiled inputs on every reader (half an hour).
	cd tests && ../$(BIN)/python -m fuzzing --inputs 1000000

faults: $(VENV)/.test.stamp ## Kill, fill, damage and change things at random, 500 times (an hour).
	cd tests && ../$(BIN)/python -m faults --faults 500
	cd tests && ../$(BIN)/python -m faults.clusters --kills 60

clean: ## Remove what the other targets made.
	rm -rf $(VENV) site build dist .pytest_cache .mypy_cache .ruff_cache .import_linter_cache .coverage
