# Every target works on a fresh machine with python3 (3.11 or newer) and make.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin

.DEFAULT_GOAL := help
.PHONY: help demo test lint format docs bench audit clean

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

test: $(VENV)/.test.stamp ## Run every test.
	$(BIN)/python -m pytest -n auto -m 'not audit'

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
	$(BIN)/mkdocs build --strict

bench: $(VENV)/.test.stamp ## Measure speed; prints ratios within this one run.
	$(BIN)/python -m benchmarks

audit: $(VENV)/.test.stamp ## Long statistical studies (tens of minutes).
	$(BIN)/python -m pytest -n auto -m audit -v -rP

clean: ## Remove what the other targets made.
	rm -rf $(VENV) site build dist .pytest_cache .mypy_cache .ruff_cache .import_linter_cache
