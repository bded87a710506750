# Commands for users and developers. `make` alone lists them.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
DOCS := .venv-docs
EXTRAS ?= local,dev
# More tests than cores: many of them wait for a process, a server or a timeout.
JOBS ?= 3
INTEGRATIONS ?= verifiers openenv trl inspect formats watchers cluster sentence-transformers
BENCHES := heart language envs llm hostile prompts knowledge runner results bots dataset viewer gym

.DEFAULT_GOAL := help
.PHONY: help usable setup eval test test-slow test-all test-integrations check bench reference index report view docs clean

help:  ## list these commands
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*##/\t/' | expand -t 12

# Whether a Python is one that pyproject.toml allows, as an expression of any Python.
RANGE := $(shell sed -n 's/^requires-python = ">=3\.\([0-9]*\),<3\.\([0-9]*\)"/(3, \1) <= v < (3, \2)/p' pyproject.toml)
NEEDS := $(shell sed -n 's/^requires-python = "\(.*\)"/\1/p' pyproject.toml)
FITS = import sys; v = sys.version_info[:2]; sys.exit(not ($(RANGE)))

# The stamp lists the extras that are installed. Others are added to them; one that is missing makes the stamp old.
comma := ,
KNOWN := $(shell sed -n '/^\[project.optional-dependencies\]/,/^$$/s/^\([a-z0-9-]*\) *=.*/\1/p' pyproject.toml)
WANTED := $(subst $(comma), ,$(EXTRAS))
UNKNOWN := $(filter-out $(KNOWN),$(WANTED))
INSTALLED = $(shell cat $(VENV)/.installed 2>/dev/null)
ALL_EXTRAS = $(subst $() ,$(comma),$(sort $(filter $(KNOWN),$(INSTALLED) $(WANTED))))

usable:
	@$(if $(UNKNOWN),echo "EXTRAS: unknown extra $(UNKNOWN); choose from $(KNOWN)" >&2; exit 1)
	@$(BIN)/python -c '$(FITS)' 2>/dev/null || rm -f $(VENV)/.installed
	@$(if $(filter-out $(INSTALLED),$(WANTED)),touch -c -t 200001010000 $(VENV)/.installed)

$(VENV)/.installed: pyproject.toml constraints.txt
	@$(BIN)/python -c '$(FITS)' 2>/dev/null || { \
	  $(PYTHON) -c '$(FITS)' 2>/dev/null || { \
	    echo "PYTHON=$(PYTHON): is $$($(PYTHON) --version 2>&1 | tail -1), balrog_rag needs $(NEEDS);" \
	      "name another: make setup PYTHON=python3.12" >&2; exit 1; }; \
	  $(PYTHON) -m venv --clear $(VENV); }
	@echo "installing the pinned packages into $(VENV), with uv if there is one (about a minute the first time) ..."
	@bash .ci/install $(BIN)/python -c constraints.txt -e '.[$(ALL_EXTRAS)]'
	@echo '$(ALL_EXTRAS)' | tr , ' ' >$@

setup: usable $(VENV)/.installed  ## create .venv and install the pinned packages

eval: setup  ## play the embedded model and players without one, and show the table (ARGS="agent=naive ...")
	@$(BIN)/python -m balrog_rag.eval $(or $(ARGS),+experiment=quickstart)

test: setup  ## run the tests except the slow ones, three at once (JOBS=3)
	@$(BIN)/python -m pytest -n $(JOBS) --dist worksteal -m "not slow" $(ARGS)

test-slow: setup  ## run the slow tests, three at once (PART=2/6: the second sixth of them)
	@$(BIN)/python -m pytest -n $(JOBS) --dist worksteal -m slow $(if $(PART),--part $(PART)) $(ARGS)

test-all: setup  ## run every test, three at once
	@$(BIN)/python -m pytest -n $(JOBS) --dist worksteal $(ARGS)

test-integrations: setup  ## test adapters and trackers with their packages, each in its own environment (INTEGRATIONS="verifiers")
	@for name in $(INTEGRATIONS); do echo "== $$name"; PYTHON=$(abspath $(BIN))/python bash integrations/run_tests $$name $(ARGS) || exit 1; done

check: setup  ## check style, types and wording, as CI does
	@$(BIN)/ruff check . && $(BIN)/ruff format --check . && $(BIN)/mypy && $(BIN)/python -m tests.wording

bench: setup  ## run every benchmark and print figures beside targets (BENCH=heart: one of them)
	@for name in $(or $(BENCH),$(BENCHES)); do echo "== $$name"; PYTHONPATH=. $(BIN)/python benchmarks/$$name.py || exit 1; done

reference: setup  ## play, verify and pack journals of every player in every environment (ARGS="--games 2")
	@$(BIN)/python -m benchmarks.reference $(ARGS)

index: setup  ## build the knowledge index, which eval would otherwise build at first use
	@$(BIN)/python -m balrog_rag.knowledge index build $(ARGS)

report: setup  ## write an HTML report of runs (RUNS="results/a results/b")
	@$(BIN)/python -m balrog_rag.report $(or $(RUNS),$(wildcard results/*))

view: setup  ## show episodes in the browser (RUN=results/a; default: the newest run)
	@$(BIN)/balrog-rag view $(or $(RUN),$$(dirname $$(ls -t results/*/config.json | head -1)))

# The site has an environment of its own, which also sees the packages of .venv: pages are made from docstrings.
$(DOCS)/.installed: docs/requirements.txt $(VENV)/.installed
	@$(BIN)/python -m venv --clear $(DOCS)
	@$(DOCS)/bin/python -m pip install --quiet --disable-pip-version-check -r docs/requirements.txt
	@$(BIN)/python -c 'import sysconfig; print(sysconfig.get_path("purelib"))' \
	  > $$($(DOCS)/bin/python -c 'import sysconfig; print(sysconfig.get_path("purelib"))')/packages_of_venv.pth
	@touch $@

docs: setup $(DOCS)/.installed  ## build the documentation site into site/, with every link checked
	@PYTHONPATH=. NO_MKDOCS_2_WARNING=1 $(DOCS)/bin/mkdocs build --strict --quiet $(ARGS) && echo "site/index.html"

clean:  ## remove build products; run folders stay
	@rm -rf $(VENV) $(DOCS) site build dist .mypy_cache .ruff_cache wiki_index/built
	@find . -name __pycache__ -type d -prune -exec rm -rf {} +
