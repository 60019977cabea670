# make demo    the paper's test on its three algorithms, and a report: demo.html
# make test    the test suite: minutes
# make test-slow  what takes longer: real libraries, faults, the engine with the sanitizers watching
# make lint    formatting, linting, types
# make bench   speed, in ratios and per second
# make sanitize   the sanitizers alone
# All of them create .venv and install what they need.

PYTHON ?= python3
BIN := .venv/bin
PIP := $(BIN)/python -m pip install --quiet --disable-pip-version-check
SOURCES := pyproject.toml CMakeLists.txt $(wildcard native/*)

.PHONY: demo test test-slow lint bench sanitize clean

demo: .venv/installed
	@# Whatever the verdicts are: 1 is FAIL, 3 is INCONCLUSIVE.
	$(BIN)/nmfcheck run multiplicative-update als gradient-descent --suite quick --report demo.html \
	  || test $$? -eq 1 -o $$? -eq 3

test: .venv/installed-dev
	$(BIN)/python -m pytest --numprocesses auto --maxprocesses 8 -m "not slow"

test-slow: .venv/installed-dev sanitize
	$(BIN)/python -m pytest --numprocesses auto --maxprocesses 8 -m slow

lint: .venv/installed-dev
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/clang-format --dry-run --Werror native/*.h native/*.cpp

bench: .venv/installed-dev
	$(BIN)/python benchmarks/run.py
	$(BIN)/python benchmarks/harness.py
	$(BIN)/python benchmarks/report.py
	$(BIN)/python benchmarks/early.py
	$(BIN)/python benchmarks/power.py
	$(BIN)/python benchmarks/engine.py
	$(BIN)/python benchmarks/false_alarms.py

.venv/bin/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
	  { echo "nmfcheck needs Python 3.11 or newer as $(PYTHON); try: make PYTHON=python3.12 ..." >&2; exit 2; }
	@$(PYTHON) -m venv .venv || \
	  { rm -rf .venv; echo "$(PYTHON) cannot make .venv; on Debian: apt-get install python3-venv" >&2; exit 2; }

.venv/installed: $(SOURCES) | .venv/bin/python
	@echo "installing, which builds the native engine: about three minutes"
	$(PIP) --editable .
	@$(BIN)/nmfcheck --version
	@touch $@

.venv/installed-dev: $(SOURCES) | .venv/bin/python
	@echo "installing, which builds the native engine: about three minutes"
	$(PIP) --editable '.[dev]'
	@$(BIN)/nmfcheck --version
	@# Where there is a compiler, tests that need the engine shall not be skipped in silence.
	@! command -v c++ >/dev/null || $(BIN)/python -c 'import nmfcheck._native' || \
	  { echo "the native engine was not built, although there is a C++ compiler" >&2; exit 2; }
	@touch $@ .venv/installed

# Python itself is not built with the sanitizers, so that they have to be loaded before it. -S keeps
# the ordinary, editable install out of the way.
SANITIZED := build/sanitized
sanitize: $(SANITIZED)/installed
	LD_PRELOAD="$$($${CXX:-c++} -print-file-name=libasan.so) $$($${CXX:-c++} -print-file-name=libubsan.so)" \
	ASAN_OPTIONS=detect_leaks=0 \
	PYTHONPATH="$(SANITIZED):$$($(BIN)/python -c 'import sysconfig; print(sysconfig.get_path("purelib"))')" \
	  $(BIN)/python -S -m pytest -p no:cacheprovider tests/test_engine.py

$(SANITIZED)/installed: .venv/installed-dev $(shell find src -name '*.py')
	rm -rf $(SANITIZED)
	$(PIP) --no-build-isolation --no-deps --target $(SANITIZED) \
	  -C build-dir=build/sanitized-cmake -C cmake.define.NMFCHECK_SANITIZE=ON .
	@test -e $(SANITIZED)/nmfcheck/_native.*.so || { echo "the engine was not built" >&2; exit 2; }
	@touch $@

clean:
	rm -rf .venv .pytest_cache .mypy_cache .ruff_cache .hypothesis build dist
