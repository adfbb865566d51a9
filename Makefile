# `make app` opens the app, `make test` runs the checks, `make bench` measures the attention. Python 3.11 or newer is
# all that has to be there.
# Nothing is installed again until a requirements file changes.
PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip install --disable-pip-version-check --quiet

.PHONY: app test bench

app: $(VENV)/app.done
	$(BIN)/triattn app $(ARGS)

test: $(VENV)/test.done
	$(BIN)/ruff check .
	$(BIN)/python -m pytest $(ARGS)

bench: $(VENV)/test.done
	$(BIN)/python -m tests.bench.attention $(ARGS)

$(BIN)/python:
	@$(PYTHON) -c 'import sys; sys.exit("Python 3.11 or newer is needed, this is " + sys.version.split()[0] \
		+ ": make PYTHON=python3.12" if sys.version_info < (3, 11) else 0)'
	$(PYTHON) -m venv --clear $(VENV)

$(VENV)/app.done: requirements.txt pyproject.toml | $(BIN)/python
	@echo "Installing into $(VENV) (some minutes the first time)"
	$(PIP) -r requirements.txt
	$(PIP) --no-deps --editable .
	@touch $@

$(VENV)/test.done: requirements-dev.txt $(VENV)/app.done
	$(PIP) -r requirements-dev.txt
	@touch $@
