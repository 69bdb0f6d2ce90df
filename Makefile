# `make demo` and `make test` work on a plain Debian with python3, python3-venv and make.
PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt
WORKERS ?= 2
# files or folders of tests; all of them unless told
TESTS ?=

# the public data sets, for tests, benchmarks and papers; the library itself looks at this variable only
ifneq ($(wildcard ../shared/data),)
export FULLRANK_DATA ?= $(abspath ../shared/data)
endif

.PHONY: demo test identical lint format bench papers docs clean
.DELETE_ON_ERROR:

demo: $(VENV)/.core
	$(BIN)/fullrank demo

test: $(VENV)/.test
	$(BIN)/python -m pytest -n $(WORKERS) $(TESTS)

identical: $(VENV)/.test
	.ci/identical $(VENV)

lint: $(VENV)/.lint
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/deptry src

format: $(VENV)/.lint
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

bench: $(VENV)/.test
	$(BIN)/python -m benchmarks

papers: $(VENV)/.test
	$(BIN)/python -m pytest -m papers -n $(WORKERS)
	$(BIN)/fullrank reproduce --all

docs: $(VENV)/.docs
	$(BIN)/sphinx-build -W -q -b html docs docs/_build/html
	@echo docs/_build/html/index.html

clean:
	rm -rf $(VENV) docs/_build .pytest_cache .mypy_cache .ruff_cache .hypothesis

$(VENV)/bin/python:
	$(PYTHON) -m venv $(VENV)

$(VENV)/.core: $(VENV)/bin/python pyproject.toml constraints.txt
	$(PIP) -e .
	@touch $@

$(VENV)/.%: $(VENV)/.core
	$(PIP) -e .[$*]
	@touch $@
