# Two commands are enough for a fresh clone: `make demo` and `make test`. The tests that take longer
# than a few seconds and guard what a shorter one guards, too, run with `make test-all` only.
PYTHON ?= python3
BIN := .venv/bin
STAMP := .venv/.installed

.PHONY: vsix setup demo test test-all lint bench paper tables docs clean

setup: $(STAMP)

# torch goes first: the pinned build must be there before anything asks for "some torch".
$(STAMP): pyproject.toml constraints.txt
	$(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet -c constraints.txt torch
	$(BIN)/python -m pip install --quiet -c constraints.txt -e '.[dev]'
	@touch $(STAMP)

demo: setup
	$(BIN)/python -m gnarl_runtime.commands.demo

lint: setup
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

test: lint
	$(BIN)/pytest -n 2 -m "not long"

test-all: lint
	$(BIN)/pytest -n 2

bench: setup
	$(BIN)/python -m benchmarks.speed.front_end
	$(BIN)/python -m benchmarks.waits.play
	$(BIN)/python -m benchmarks.speed.env
	$(BIN)/python -m benchmarks.speed.policy
	$(BIN)/python -m benchmarks.speed.training

# Every table of the paper: hours of training, resumable; see benchmarks/paper for one table.
# Budgets are its flags: make paper BUDGET='--seeds 1 --minutes 10'
paper: setup
	$(BIN)/python -m benchmarks.paper all $(BUDGET)
	$(BIN)/python -m benchmarks.studies.cover_reference
	$(BIN)/python -m benchmarks.paper.readme

# After a change of gnarl_dsl/syntax/grammar.lark, or of anything that is registered (algorithms,
# graph families, sources): the tables that commands start with.
tables: setup
	$(BIN)/python -m gnarl_dsl.syntax.tables
	$(BIN)/python -m gnarl_compiler.describe.registered_table

# The documentation as a site in site/; a broken link is an error.
docs: setup
	$(BIN)/python -m pip install --quiet -c constraints.txt -e '.[docs]'
	$(BIN)/python -m gnarl_runtime.commands.reference docs
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict

# The extension for VS Code, as a file to install; needs node and npm.
vsix:
	cd editors/vscode && npm ci --ignore-scripts --no-audit --no-fund && npm run build
	$(PYTHON) editors/vscode/make_vsix.py

clean:
	rm -rf .venv build dist site .mypy_cache .ruff_cache .pytest_cache .hypothesis
