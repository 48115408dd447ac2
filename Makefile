# The front page: what one does with this project.
.DEFAULT_GOAL := help
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
ARGS ?=
# Containers are often told to write no bytecode. Then each of our processes compiles the whole program again: a second.
unexport PYTHONDONTWRITEBYTECODE
# Tests mostly wait: two processes a core, six at most, each with a stack of its own. The longest files come first
# (tests/conftest.py). Tracebacks are Python's:
# to show its own ones pytest parses sources, which in Python 3.11 can fail while other threads do (python/cpython#106905).
WORKERS = $(shell $(BIN)/python -c 'import os; print(min(6, 2 * (os.cpu_count() or 1)))')
PYTEST = $(BIN)/python -m pytest -n $(WORKERS) --dist loadfile --no-loadscope-reorder --tb native --durations 30 -rs

help: ## this page
	@grep -E '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed 's/:.*## /\t/' | awk -F'\t' '{printf "  make %-14s %s\n", $$1, $$2}'

demo: install ## an invented company's mail through the real flow, then try your own  (SEED=n, ONCE=1)
	@$(BIN)/correspondent demo $(if $(SEED),--seed $(SEED)) $(if $(ONCE),--once)

test: install ## the tests on the embedded stack, but those of more than ten seconds  (ARGS="-k lanes")
	$(PYTEST) -m "not slow" $(ARGS)

test-slow: install ## those of more than ten seconds: chaos, attackers, upgrades, rebuilds, every documented command
	$(PYTEST) -m slow $(ARGS)

test-deep: install ## both, with ten times the examples of each property, and more broken mails, real mails and erased people
	BROKEN_MAILS=2000 POPULATIONS=1000 REAL_MAILS_EVERY=1 $(PYTEST) --hypothesis-profile deep $(ARGS)

test-all: test-deep test-kafka test-chaos ## every test there is, deep, on both brokers, then a seed of chaos

run: install ## the embedded stack with every processor, for your own inbox (see correspondent.toml)
	$(BIN)/correspondent up

test-kafka: install ## the tests for which the broker matters, on Apache Kafka (Java 17 and Maven)
	CORRESPONDENT_TEST_KAFKA=apache $(PYTEST) -m broker tests/integration tests/flow tests/chaos $(ARGS)

test-chaos: install ## seeded chaos on Apache Kafka, judged by an oracle  (SEED=7 or 1-20, MAILS=n)
	CORRESPONDENT_TEST_KAFKA=$(or $(KAFKA),apache) $(BIN)/python -m tests.chaos \
		$(if $(SEED),--seed $(SEED)) $(if $(MAILS),--mails $(MAILS))

lint: install ## ruff, mypy, import-linter, the schema gate, the word list
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports --no-cache
	$(BIN)/python -m schemas.make --check
	$(BIN)/python -m schemas.compatibility
	$(BIN)/python -m pytest -q -n 0 tests/contract/test_vocabulary.py

format: install ## put the code into its form
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

schemas: install ## generate JSON Schemas and AsyncAPI from the models
	$(BIN)/python -m schemas.make

screenshots: install ## the README's pictures, taken by Debian's Chromium  (ARGS="--every FOLDER": each page, light, dark, narrow)
	$(BIN)/python -m tests.screenshots $(ARGS)

texts: install ## the catalogues of the console's texts, brought up to templates and code  (ARGS=it: begin another language)
	$(BIN)/python -m tests.catalogues $(ARGS)

bench: install ## every benchmark, one table  (ARGS="--quick")
	$(BIN)/python -m tests.benchmarks $(ARGS)

new-processor: install ## a folder of a new processor, named everywhere  (NAME=count_words EVENT=turn.closed.v1)
	@$(BIN)/python -m tests.new_processor "$(NAME)" "$(EVENT)"

lock: install ## resolve the pinned, hashed requirements again
	UV=$(BIN)/uv requirements/lock.sh

clean: ## remove what was made, the embedded stack's data included
	rm -rf $(VENV) var build .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache *.egg-info

install: $(VENV)/.installed
$(VENV)/.installed: requirements/dev.txt pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
		{ echo "Correspondent needs Python 3.11 or newer; $(PYTHON) is $$($(PYTHON) -V). Set PYTHON=python3.12 or so."; exit 1; }
	@echo "Installing into $(VENV), once; about a minute, longer on a slow line."
	@$(PYTHON) -m venv $(VENV)
	@$(BIN)/python requirements/install.py requirements/dev.txt
	@touch $@

.PHONY: help demo test test-deep test-all run test-kafka test-chaos lint format schemas screenshots texts bench new-processor lock clean install
