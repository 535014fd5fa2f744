# Every target makes its own environment: a bare Python 3.11+ is enough.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
REQUIREMENTS := requirements/dev.txt
# Two workers leave a small machine usable; more cores are used where they are.
JOBS ?= auto

.PHONY: demo dev test lint bench soak wheel clean help

help: ## show the targets
	@grep -hE '^[a-z]+:.*##' $(MAKEFILE_LIST) | sed 's/:.*## /\t/'

$(VENV)/.ready: $(REQUIREMENTS) pyproject.toml
	$(PYTHON) -c 'import sys; sys.exit(0 if (3, 11) <= sys.version_info[:2] < (3, 15) else "Beleg needs Python 3.11 to 3.14, this is " + sys.version.split()[0] + "; set PYTHON=python3.x")'
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -r $(REQUIREMENTS)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation -e .
	touch $@

demo: $(VENV)/.ready ## some weeks of a small company's runs through the pipeline: priced, checked, reported
	$(BIN)/python -W ignore -m pipelines.demo

dev: $(VENV)/.ready ## Dagster's page and daemon on http://127.0.0.1:3000; PORT=… for another
	@exec $(BIN)/python -m pipelines.dev

test: $(VENV)/.ready ## all tests but the long ones
	$(BIN)/python -m pytest -q -n $(JOBS) --dist worksteal -m "not soak" $(ARGS)

lint: $(VENV)/.ready ## formatting, lint, types, layers, agent contracts, licences
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/beleg contract lint
	$(BIN)/python .ci/licences.py

bench: $(VENV)/.ready ## speed against limits and peers; writes benchmarks/RESULTS.md
	$(BIN)/python -m benchmarks $(ARGS)

soak: $(VENV)/.ready ## long fuzzing and crash tests
	BELEG_SOAK=1 $(BIN)/python -m pytest -q -n $(JOBS) -m "soak or deep" $(ARGS)

wheel: $(VENV)/.ready ## build the wheel and try it in an empty environment
	$(BIN)/python .ci/wheel_smoke.py

clean: ## remove what the targets made
	rm -rf $(VENV) .beleg dist build benchmarks/.work
