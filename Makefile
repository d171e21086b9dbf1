# Every target makes and uses its own .venv: nothing but Python 3.11 or newer and make is needed.
PYTHON ?= python3
BIN := .venv/bin
PIP := $(BIN)/python -m pip --disable-pip-version-check --quiet

.PHONY: demo test lint format bench docs parity browser spark screenshots clean

demo: .venv/demo
	@mkdir -p demo-out
	@for language in en de; do \
		locale=$$([ $$language = en ] && echo en_US || echo de_DE); \
		$(BIN)/spanscore generate -n 500 --locale $$locale --seed 7 -o demo-out/$$language.jsonl && \
		$(BIN)/spanscore run demo-out/$$language.jsonl --detector presidio --language $$language -o demo-out/$$language || exit; \
		echo; \
	done
	@echo "The first errors in English (all: demo-out/en/false_positives.csv):"
	@head -n 4 demo-out/en/false_positives.csv
	@echo "Open demo-out/en/report.html and demo-out/de/report.html in a browser."

test: .venv/dev
	$(BIN)/python -m pytest -n auto

lint: .venv/dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

format: .venv/dev
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

bench: .venv/bench .venv-parity/installed .venv-spark/installed
	$(BIN)/python bench/run.py

docs: .venv/docs
	$(BIN)/python -m sphinx --fail-on-warning --keep-going -b html docs docs/_build/html
	@echo "Open docs/_build/html/index.html"

parity: .venv-parity/installed
	SPANSCORE_PARITY=1 .venv-parity/bin/python -m pytest tests/parity

browser: .venv/browser
	SPANSCORE_BROWSER=1 $(BIN)/python -m pytest tests/browser -n auto

spark: .venv-spark/installed
	SPANSCORE_SPARK=1 .venv-spark/bin/python -m pytest tests/spark

screenshots: demo .venv/browser
	$(BIN)/python docs/screenshots.py

clean:
	rm -rf .venv .venv-parity .venv-spark demo-out docs/_build bench/data .mypy_cache .pytest_cache .ruff_cache .hypothesis dist build

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

.venv/dev: .venv/made pyproject.toml
	$(PIP) install -e '.[dev]'
	@touch $@ .venv/installed

.venv/docs: .venv/made pyproject.toml
	$(PIP) install -e '.[docs]'
	@touch $@ .venv/installed

.venv/browser: .venv/made pyproject.toml
	$(PIP) install -e '.[browser]'
	@touch $@ .venv/installed

.venv-parity/installed: pyproject.toml
	$(PYTHON) -m venv .venv-parity
	.venv-parity/bin/python -m pip --disable-pip-version-check --quiet install -e '.[testing,parity]'
	@touch $@

.venv-spark/installed: pyproject.toml
	$(PYTHON) -m venv .venv-spark
	.venv-spark/bin/python -m pip --disable-pip-version-check --quiet install -e '.[testing,spark]' 'pytest>=8.3' 'pytest-benchmark>=5.1'
	@touch $@

.venv/bench: .venv/made pyproject.toml
	$(PIP) install -e '.[bench]'
	@touch $@ .venv/installed
