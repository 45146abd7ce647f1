# make demo    set up, record jax.device_put on the mock TPU, and show the stack
# make seed-trace  record the stack of TpuExecutor_Allocate, from which framedex grew, with JAX 0.4.13
# make guidebook [REPOSITORY=URL]  record missing captures of its programs, and write the project's guidebook: build/guidebook/site
# make test [WORKERS=3] [RERUN=0]  set up with the development tools, then run the tests of every behaviour
# make test-all  before changes of the recorder or of formats: exhaustive tests on every Python, sanitizers, long fuzzing
# make quick   before each commit: the checks, and tests of the indexer and native code that start no program
# make quick-tests  those tests alone
# make coverage  measure the coverage of the Python code by `make test`: build/coverage.md
# make docs    build the documentation as a site: build/site
# make docs-check  test the documentation: its links and its generated parts
# make guidebook-captures  record the guidebook's programs, in environments that the first run creates (5 GB)
# make test-editors [WORKERS=3] [RERUN=0]  set up a real VS Code, and test its extension in it
# make vsix    build the VS Code extension, editors/vscode/framedex.vsix, with the server's wheel in it; after make wheels
#              also framedex-linux-x64.vsix, whose wheels can record
# make screenshots [XLA=CHECKOUT]  update the pictures of VS Code, a report and a notebook in docs/
# make sanitize  run the recorder under sanitizers and valgrind
# make wheels [PYTHONS="3.12 3.13"]  build the wheels of every Python, and the pure wheel, into dist/ (Debian 12)
# make arm64   compile the native part for AArch64, with JAX for tests under QEMU, into build/arm64 (Debian 12)
# make sdist   build the source distribution into dist/
# make test-wheels [ROOT=FOLDER]  install each wheel in a fresh environment, and record with it; in the root of an older system
# make version [TAG=v0.2.0]  print the version of these sources; fail unless it is that release
# make release-notes TAG=v0.2.0  write the notes of a release from its section of CHANGELOG.md: build/release-notes.md
# make check-dist  check that dist/ has exactly one release of these sources
# make publish-vsix, make github-release TAG=v0.2.0  publish a release (the workflows do this, see CONTRIBUTING.md)
# make new-release-maps  rewrite the release maps if jaxlib has a new release (two clones, 3 GB, in build/release-maps)
# make propose-release-maps, make publish-release-maps  open a pull request with them; publish them for users
# make ci-set-up  install the packages that these targets need on a bare Debian 12
# make fuzz [SECONDS=60] [TARGETS="captures settings"]  fuzz every parser of foreign bytes for SECONDS in total (CONTRIBUTING.md)
# make format  rewrite the sources in the project's style

# If it were set, every process would compile all Python modules that it imports.
unexport PYTHONDONTWRITEBYTECODE

VENV := .venv
BIN := $(VENV)/bin
# The targets of a release work without a set-up, so they may use the system's python3.
PYTHON3 := $(firstword $(wildcard $(BIN)/python) python3)
VSIX := editors/vscode/framedex.vsix
# The extension for every platform, then the built ones for single platforms.
VSIXES = $(VSIX) $(wildcard $(VSIX:.vsix=-*.vsix))
NOTES := build/release-notes.md
NATIVE := $(shell find native -name '*.cc' -o -name '*.h')
# Includes the Python parts of the mocks and of the FFI tracer: the build copies them next to libtpu.so.
BUILT_FROM := CMakeLists.txt pyproject.toml native/CMakeLists.txt $(wildcard native/*.cmake native/*/*/*.cmake) \
  scripts/set-up scripts/install_checkout.py $(NATIVE) $(wildcard native/abi/*) \
  $(shell find native/framedex_native native/pjrt -name '*.py' -o -name '*.json')

# An environment with pinned versions of the build tools for wheels, the same in CI and in a checkout.
RELEASE_TOOLS := build/wheels/tools

# More than the cores of a small machine, because tests often wait for programs.
WORKERS := 3
PYTEST := $(BIN)/python -m pytest -q -n $(WORKERS) --dist loadfile --ignore tests/editors/vscode
# In the order of the files. `make test-all` uses random order.
MAKE_TEST_OPTIONS := --skip-exhaustive --fork-servers -p no:randomly
CHECKS := ruff imports mypy clang-format changelog shellcheck workflows prose $(VENV)/clang-tidied $(VENV)/extension-checked
EXTENSION := $(shell find editors/vscode/src editors/vscode/test editors/vscode/package*.json editors/vscode/tsconfig.json -type f)
IN_PARALLEL := $(MAKE) --no-print-directory --output-sync=target -j $(WORKERS)

.PHONY: demo seed-trace test test-all quick quick-tests coverage docs docs-check check ruff imports mypy clang-format changelog shellcheck workflows prose
.PHONY: guidebook
.PHONY: pythons legacy-python test-editors screenshots sanitize fuzz format clean
.PHONY: version release-notes check-dist publish-vsix github-release ci-set-up wheels sdist test-wheels arm64
.PHONY: new-release-maps propose-release-maps publish-release-maps

demo: $(VENV)/set-up
	@$(BIN)/framedex demo

# The project's own guidebook, with its documentation. REPOSITORY is the public address of the checkout's files.
REPOSITORY ?= $(if $(GITHUB_REPOSITORY),$(GITHUB_SERVER_URL)/$(GITHUB_REPOSITORY)/blob/$(GITHUB_REF_NAME))

guidebook: $(VENV)/set-up-dev guidebook-captures
	@$(BIN)/framedex guidebook build/guidebook/captures --out build/guidebook/site --title "Guidebook of the TPU runtime's API" \
	  --observations build/guidebook/observations.json --documentation . $(if $(REPOSITORY),--repository $(REPOSITORY))

seed-trace: $(VENV)/set-up
	@scripts/legacy-python
	@demo/seed-trace $(BIN)/framedex .venv-legacy/bin/python $(XLA)

# CI runs failed tests once more, because they can time out on a busy machine: in a new process, with new fixtures, alone.
# Status 1 means that tests failed. After another status, tests did not run, so there is nothing to repeat.
RERUN := 0
define with_rerun
$(1) || { test $$? = 1 && test $(RERUN) = 1 && echo "Rerunning the failed tests:" && $(1) -n 0 --last-failed --last-failed-no-failures none; }
endef

test: $(VENV)/set-up-dev
	@$(call with_rerun,$(PYTEST) $(MAKE_TEST_OPTIONS) --durations=10)

test-all: $(VENV)/set-up-dev
	@$(IN_PARALLEL) pythons legacy-python $(CHECKS)
	@FRAMEDEX_TEST_KILLS=200 FRAMEDEX_TEST_STRESS=60 $(PYTEST) --durations=10
	@$(MAKE) --no-print-directory sanitize
	@$(MAKE) --no-print-directory fuzz SECONDS=$(or $(SECONDS),1800)

quick: check
	@$(MAKE) --no-print-directory quick-tests

# Folders whose tests seldom start a program. Such tests do not wait, so one worker per processor suffices.
QUICK := tests/docs tests/native tests/release tests/scripts tests/indexer
NOT_QUICK := $(addprefix --ignore tests/indexer/,commands fleet guidebook integrations)

quick-tests: $(VENV)/set-up-dev
	@$(PYTEST) $(MAKE_TEST_OPTIONS) -n auto -m "not starts_a_python" $(NOT_QUICK) $(QUICK)

# Coverage of the Python code by `make test`: build/coverage.md.
coverage: $(VENV)/set-up-dev
	@$(PYTEST) $(MAKE_TEST_OPTIONS) --cov --cov-report=
	@$(BIN)/coverage report --format=markdown --skip-covered --sort=cover >build/coverage.md
	@$(if $(GITHUB_STEP_SUMMARY),cat build/coverage.md >>$(GITHUB_STEP_SUMMARY),echo "coverage: build/coverage.md")

docs: $(VENV)/set-up-dev
	@NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict >/dev/null
	@echo "docs: build/site/index.html"

docs-check: $(VENV)/set-up-dev
	@$(PYTEST) tests/docs

check: $(VENV)/set-up-dev
	@$(IN_PARALLEL) $(CHECKS)

ruff:
	@echo "check: ruff"
	@$(BIN)/ruff check --quiet .
	@$(BIN)/ruff format --check --quiet .

imports:
	@echo "check: imports between rooms"
	@said=$$($(BIN)/lint-imports --no-logo --no-cache 2>&1) || { echo "$$said"; exit 1; }

mypy:
	@echo "check: mypy"
	@$(BIN)/mypy

clang-format:
	@echo "check: clang-format"
	@$(BIN)/clang-format --dry-run --Werror $(NATIVE)

changelog:
	@echo "check: CHANGELOG.md"
	@$(PYTHON3) scripts/release/changelog.py

shellcheck:
	@echo "check: shellcheck"
	@scripts/shellcheck $(VENV)

workflows:
	@echo "check: the workflows (zizmor, actionlint)"
	@scripts/lint-workflows $(VENV)

prose:
	@echo "check: spelling and style of prose"
	@scripts/lint-prose $(VENV)

# It takes half a minute, so it runs only after a change of its inputs.
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

.PHONY: guidebook-captures
guidebook-captures: $(VENV)/set-up
	@$(BIN)/python -m guidebook.record

EDITOR_TESTS := tests/editors/vscode tests/docs/test_site.py tests/run/costs/test_report.py \
  tests/indexer/guidebook/site/test_in_browser.py tests/run/export/test_viewers.py tests/run/notebook/test_jupyterlab.py

test-editors: $(VENV)/set-up-dev
	@scripts/set-up-editors $(VENV)
	@echo "check: the extension's types and unit tests"
	@scripts/check-extension
	@$(call with_rerun,$(BIN)/python -m pytest -q -n $(WORKERS) --dist loadfile -p no:randomly --durations=10 $(EDITOR_TESTS))

.PHONY: vsix
vsix:
	@scripts/vsix

screenshots: $(VENV)/set-up-dev
	@scripts/set-up-editors $(VENV)
	@$(BIN)/python docs/make_screenshots.py $(if $(XLA),--source $(XLA))
	@$(BIN)/python docs/make_report_pictures.py
	@$(BIN)/python docs/make_notebook_picture.py

sanitize: $(VENV)/set-up-dev
	@scripts/sanitize

fuzz: $(VENV)/set-up-dev
	@$(BIN)/python -c 'import atheris' 2>/dev/null || $(BIN)/pip install --quiet --disable-pip-version-check 'atheris>=3.0'
	@$(BIN)/python -m tests.fuzz --seconds $(or $(SECONDS),60) $(TARGETS)

wheels: $(RELEASE_TOOLS)/set-up
	@PATH="$(CURDIR)/$(RELEASE_TOOLS)/bin:$$PATH" $(RELEASE_TOOLS)/bin/python -m scripts.wheels $(PYTHONS:%=--python %)

sdist: $(RELEASE_TOOLS)/set-up
	@$(RELEASE_TOOLS)/bin/python -m scripts.wheels.source

arm64: $(RELEASE_TOOLS)/set-up
	@PATH="$(CURDIR)/$(RELEASE_TOOLS)/bin:$$PATH" $(RELEASE_TOOLS)/bin/python -m scripts.arm64

test-wheels: $(RELEASE_TOOLS)/set-up
	@$(RELEASE_TOOLS)/bin/python -m scripts.wheels.trial $(if $(ROOT),--root $(ROOT))

$(RELEASE_TOOLS)/set-up: scripts/wheels/requirements.txt
	@python3 -m venv $(RELEASE_TOOLS)
	@$(RELEASE_TOOLS)/bin/pip install --quiet --disable-pip-version-check --requirement $<
	@touch $@

format: $(VENV)/set-up-dev
	@$(BIN)/ruff check --fix --quiet . ; $(BIN)/ruff format .
	@$(BIN)/clang-format -i $(NATIVE)

# The stamps are stale if framedex itself is missing, such as after `pip uninstall framedex`.
NOT_INSTALLED := $(if $(wildcard $(BIN)/framedex),,not-installed)
.PHONY: not-installed

$(VENV)/set-up: $(BUILT_FROM) $(NOT_INSTALLED)
	@scripts/set-up $(VENV)

$(VENV)/set-up-dev: $(BUILT_FROM) $(NOT_INSTALLED)
	@scripts/set-up $(VENV) dev
	@touch $(VENV)/set-up

version:
	@$(PYTHON3) scripts/release/source_version.py $(if $(TAG),--is "$(TAG)")

release-notes:
	@mkdir -p $(dir $(NOTES))
	@$(PYTHON3) scripts/release/changelog.py "$(TAG)" >$(NOTES) || { rm -f $(NOTES); exit 1; }
	@echo "release-notes: $(NOTES)"

check-dist:
	@$(PYTHON3) scripts/release/check_dist.py

publish-vsix:
	@scripts/publish-vsix $(VSIXES)

github-release:
	@scripts/github-release "$(TAG)" $(NOTES) dist/* $(VSIXES)

new-release-maps: $(VENV)/set-up
	@mkdir -p build/release-maps
	@$(BIN)/python scripts/update_release_maps.py build/release-maps

propose-release-maps:
	@scripts/propose-release-maps

publish-release-maps:
	@scripts/publish-release-maps

ci-set-up:
	@scripts/ci-set-up

clean:
	rm -rf $(VENV) .venv-3.* .venv-legacy .editors editors/vscode/node_modules editors/vscode/wheels build framedex-demo demo/seed
