# make demo    set up, record jax.device_put on the mock TPU, and show the trace
# make seed-trace  record the trace that framedex grew out of, TpuExecutor_Allocate, with JAX 0.4.13
# make test [WORKERS=2]  set up with the development tools, then every check
# make quick   before each commit: the checks, and the tests that start neither a program of JAX nor a server
# make test-editors  set up a real VS Code, and test its extension in it
# make screenshots [XLA=CHECKOUT]  take the pictures of VS Code in docs/ anew
# make sanitize  run the recorder under sanitizers and valgrind
# make fuzz [SECONDS=60] [TARGETS="captures settings"]  fuzz every parser of foreign bytes, SECONDS in all (CONTRIBUTING.md)
# make format  rewrite the sources in the project's style

VENV := .venv
BIN := $(VENV)/bin
NATIVE := $(shell find native -name '*.cc' -o -name '*.h')
# The mocks' and the FFI tracer's Python halves too: they are copied to where libtpu.so is.
BUILT_FROM := CMakeLists.txt pyproject.toml native/CMakeLists.txt $(wildcard native/*.cmake native/*/*/*.cmake) \
  scripts/set-up scripts/install_checkout.py $(NATIVE) $(wildcard native/abi/*) \
  $(shell find native/framedex_native native/pjrt -name '*.py' -o -name '*.json')

WORKERS := 2
PYTEST := $(BIN)/python -m pytest -q -n $(WORKERS) --dist loadfile --ignore tests/editors/vscode
CHECKS := ruff mypy clang-format $(VENV)/clang-tidied $(VENV)/extension-checked
EXTENSION := $(shell find editors/vscode/src editors/vscode/test editors/vscode/package*.json editors/vscode/tsconfig.json -type f)
SIDE_BY_SIDE := $(MAKE) --no-print-directory --output-sync=target -j $(WORKERS)

.PHONY: demo seed-trace test quick check ruff mypy clang-format pythons legacy-python test-editors screenshots sanitize fuzz format clean

demo: $(VENV)/set-up
	@$(BIN)/framedex demo

seed-trace: $(VENV)/set-up
	@scripts/legacy-python
	@demo/seed-trace $(BIN)/framedex .venv-legacy/bin/python $(XLA)

test: $(VENV)/set-up-dev
	@$(SIDE_BY_SIDE) pythons legacy-python $(CHECKS)
	@$(PYTEST)

quick: check
	@$(PYTEST) -m "not starts_a_python"

check: $(VENV)/set-up-dev
	@$(SIDE_BY_SIDE) $(CHECKS)

ruff:
	@echo "check: ruff"
	@$(BIN)/ruff check --quiet .
	@$(BIN)/ruff format --check --quiet .

mypy:
	@echo "check: mypy"
	@$(BIN)/mypy

clang-format:
	@echo "check: clang-format"
	@$(BIN)/clang-format --dry-run --Werror $(NATIVE)

# Half a minute, so only where what it reads has changed.
$(VENV)/clang-tidied: $(VENV)/set-up-dev .clang-tidy scripts/clang-tidy
	@echo "check: clang-tidy"
	@scripts/clang-tidy $(VENV)
	@touch $@

$(VENV)/extension-checked: $(VENV)/set-up-dev scripts/check-extension $(EXTENSION)
	@echo "check: the extension's types and unit tests"
	@scripts/check-extension
	@touch $@

pythons:
	@scripts/other-pythons

legacy-python:
	@scripts/legacy-python || echo "set-up: the tests of JAX 0.4.13 are skipped"

test-editors: $(VENV)/set-up-dev
	@scripts/set-up-editors $(VENV)
	@echo "check: the extension's types and unit tests"
	@scripts/check-extension
	@$(BIN)/python -m pytest tests/editors/vscode

screenshots: $(VENV)/set-up-dev
	@scripts/set-up-editors $(VENV)
	@$(BIN)/python docs/make_screenshots.py $(if $(XLA),--source $(XLA))

sanitize: $(VENV)/set-up-dev
	@scripts/sanitize

fuzz: $(VENV)/set-up-dev
	@$(BIN)/python -c 'import atheris' 2>/dev/null || $(BIN)/pip install --quiet --disable-pip-version-check 'atheris>=3.0'
	@$(BIN)/python -m tests.fuzz --seconds $(or $(SECONDS),60) $(TARGETS)

format: $(VENV)/set-up-dev
	@$(BIN)/ruff check --fix --quiet . ; $(BIN)/ruff format .
	@$(BIN)/clang-format -i $(NATIVE)

$(VENV)/set-up: $(BUILT_FROM)
	@scripts/set-up $(VENV)

$(VENV)/set-up-dev: $(BUILT_FROM)
	@scripts/set-up $(VENV) dev
	@touch $(VENV)/set-up

clean:
	rm -rf $(VENV) .venv-3.* .venv-legacy .editors editors/vscode/node_modules build framedex-demo demo/seed
