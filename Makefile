# `make demo` and `make test` work on a plain Debian with python3, python3-venv and make.
PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt
WORKERS ?= 2
# files or folders of tests; all of them unless given
TESTS ?=
# how `make test` notices lines that no test runs, and lists them: ctrace, or sysmon, which is fast, from Python 3.12 on
COVERAGE ?=

# the public data sets, for tests, benchmarks and papers; the library itself looks at this variable only
ifneq ($(wildcard ../shared/data),)
export FULLRANK_DATA ?= $(abspath ../shared/data)
endif

.PHONY: help demo test coverage identical lint format bench papers docs picture clean
.DELETE_ON_ERROR:

help: ## what there is to make
	@sed -n 's/^\([a-z]*\):.*## /\1\t/p' $(MAKEFILE_LIST) | expand -t 12

demo: $(VENV)/.core ## compare recommenders in a world whose truth is known; writes demo/report.html
	$(BIN)/fullrank demo

test: $(VENV)/.test ## run the tests; some of them with TESTS=tests/metrics, on more cores with WORKERS=8
	$(if $(COVERAGE),COVERAGE_CORE=$(COVERAGE)) $(BIN)/python -m pytest -n $(WORKERS) $(if $(COVERAGE),--cov) $(TESTS)

coverage: ## run the tests and list the lines that none of them runs
	$(MAKE) test COVERAGE=ctrace

identical: $(VENV)/.test ## run the tests of sameness as on other processors
	.ci/identical $(VENV)

lint: $(VENV)/.lint ## style, types, layers of imports, declared dependencies
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/deptry src

format: $(VENV)/.lint ## put the code into its form
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

bench: $(VENV)/.test ## measure speed and memory beside other libraries
	$(BIN)/python -m benchmarks

papers: $(VENV)/.test ## run the tables and figures of the papers again
	$(BIN)/python -m pytest -m papers -n $(WORKERS)
	$(BIN)/fullrank reproduce --all

docs: $(VENV)/.docs ## build the pages; writes docs/_build/html
	$(BIN)/sphinx-build -W -q -b html docs docs/_build/html
	@echo docs/_build/html/index.html

picture: $(VENV)/bin/python ## draw the rooms of the code again; writes docs/architecture.svg
	$(BIN)/python docs/architecture.py

clean: ## remove what the tools made, but no results
	rm -rf $(VENV) docs/_build .coverage .pytest_cache .mypy_cache .ruff_cache .hypothesis

$(VENV)/bin/python:
	$(PYTHON) -m venv $(VENV)

$(VENV)/.core: $(VENV)/bin/python pyproject.toml constraints.txt
	$(PIP) -e .
	@touch $@

$(VENV)/.%: $(VENV)/.core
	$(PIP) -e .[$*]
	@touch $@
