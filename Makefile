# `make app` opens the app, `make test` runs the checks but for the slow ones, `make test-all` every check, `make docs`
# builds the documentation into site/, `make bench` measures the attention. Python 3.11 or newer is all that has to be there.
# Nothing is installed again until a requirements file changes.
PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin
# Of the 20,000 files that pip would compile, the app imports a tenth: those are compiled by importing them once.
PIP := $(BIN)/python -m pip install --disable-pip-version-check --quiet --no-compile
IMPORTS := import streamlit.web.bootstrap, streamlit.web.server.starlette; from importlib import import_module; \
	from triattn_core.inference.preload import MORE, NEEDED; list(map(import_module, (*NEEDED, *MORE)))

# Two processes run the tests, file by file, the longest first; those that hold a time in the browser run alone, after the
# others. A process that crashes ends the run: with `loadfile` the other waits for its tests for ever.
TWO := -n 2 --dist loadfile --no-loadscope-reorder --max-worker-restart 0
QUICK := $(TWO) --ignore tests/browser --ignore tests/on_ray
# Ray mostly waits, so its tests run beside the others. It can crash the process that asks it: that test runs once more.
RAY := -n 1 --dist load --reruns 1 --only-rerun "crashed while running" tests/on_ray
RAY_SAID := $(VENV)/on_ray.txt

.PHONY: app lint lock test test-all scripts docs bench measurements architectures gpu fuzz soak

app: $(VENV)/app.done
	$(BIN)/triattn app $(ARGS)

test: lint
	$(BIN)/python -m pytest $(QUICK) -m "not slow" $(ARGS)

test-all: lint docs
	$(BIN)/python -m pytest $(RAY) $(ARGS) > $(RAY_SAID) 2>&1 & \
	$(BIN)/python -m pytest $(QUICK) $(ARGS); quick=$$?; \
	wait $$!; ray=$$?; cat $(RAY_SAID); \
	TRIATTN_LINKS_ACTIONS=4 $(BIN)/python -m pytest $(TWO) tests/browser -m "not alone" $(ARGS); browser=$$?; \
	$(BIN)/python -m pytest tests/browser -m alone $(ARGS) && exit $$((quick + ray + browser))

lint: $(VENV)/test.done
	$(BIN)/ruff check . && $(BIN)/ruff format --check --quiet . && PYTHONHASHSEED=0 $(BIN)/mypy
	@if node -e 'process.exit(+process.versions.node.split(".")[0] < 20 ? 1 : 0)' 2>/dev/null && command -v npm >/dev/null; \
		then $(MAKE) scripts; else echo "No node 20 or newer: the figures' scripts are not linted"; fi

# The format, the lint and the tests of the figures' scripts.
scripts: node_modules/.package-lock.json
	npm run --silent lint && npm test --silent

# The documentation into site/; a link to a page, a picture or a heading that is not there fails.
docs: $(VENV)/docs.done
	$(BIN)/mkdocs build --strict

bench: $(VENV)/test.done
	$(BIN)/python -m tests.bench.attention $(ARGS)

# What is waited for: commands, third order on one thread, first views, the server's memory, the installed size.
measurements: $(VENV)/test.done
	$(BIN)/python -m tests.bench.commands
	OMP_NUM_THREADS=1 $(BIN)/python -m tests.bench.attention --only scaled_dot --batch 1 --tokens 64 128 256
	OMP_NUM_THREADS=1 $(BIN)/python -m tests.bench.attention --only scaled_dot --batch 1 --tokens 64 128 256 --heads 8 64
	$(BIN)/python -m tests.bench.third_order --most 256
	$(BIN)/python -m tests.bench.first_views
	$(BIN)/python -m tests.bench.server_memory
	$(BIN)/python -m tests.bench.installed_size

# docs/models.md: what the recorder makes of each type of text model of the pinned transformers.
architectures: $(VENV)/test.done
	HF_HUB_OFFLINE=1 $(BIN)/python -m tests.architectures

# What only a card can show; without one it says why it is skipped.
gpu: $(VENV)/test.done
	PYTHON=$(BIN)/python sh tests/gpu/run.sh $(ARGS)

# N generated inputs of a seed; N sessions for SECONDS seconds.  The figures stand in docs/reliability.md.
fuzz: $(VENV)/test.done
	HF_HUB_OFFLINE=1 $(BIN)/python -m tests.fuzz --count $(or $(N),500) $(ARGS)

soak: $(VENV)/test.done
	$(BIN)/python -m tests.soak --sessions $(or $(N),10) --seconds $(or $(SECONDS),120) $(ARGS)

$(BIN)/python:
	@$(PYTHON) -c 'import sys; sys.exit("Python 3.11 or newer is needed, this is " + sys.version.split()[0] \
		+ ": make PYTHON=python3.12" if sys.version_info < (3, 11) else 0)'
	$(PYTHON) -m venv --clear $(VENV)

$(VENV)/app.done: requirements.txt requirements.lock pyproject.toml | $(BIN)/python
	@echo "Installing into $(VENV) (some minutes the first time)"
	$(PIP) -r requirements.txt -c requirements.lock
	$(PIP) --no-deps --editable .
	@env -u PYTHONDONTWRITEBYTECODE $(BIN)/python -c '$(IMPORTS)'
	@touch $@

node_modules/.package-lock.json: package.json package-lock.json
	npm ci --silent --no-audit --no-fund

$(VENV)/test.done: requirements-dev.txt requirements-scale.txt requirements-notebook.txt requirements-authors.txt $(VENV)/app.done
	$(PIP) -r requirements-dev.txt -r requirements-scale.txt -r requirements-notebook.txt -r requirements-authors.txt -c requirements.lock
	@touch $@

$(VENV)/docs.done: requirements-docs.txt $(VENV)/app.done
	$(PIP) -r requirements-docs.txt -c requirements.lock
	@touch $@

# The exact versions of everything that is installed, after a pin has changed; local builds (+cpu) under their release.
lock: $(VENV)/test.done $(VENV)/docs.done
	$(BIN)/python -m pip freeze --exclude-editable | sed 's/+[a-z0-9.]*$$//' >requirements.lock
