# Everything runs in .venv, built once from the hash-pinned requirements/dev.txt.
PYTHON ?= python3
ARGS ?=
RUN = .venv/bin/python -m nox --session

# Each is one line and ends make with code 2.
OLD = $(PYTHON) is missing or older than 3.11: name another one, as in make test PYTHON=python3.12
BARE = $(PYTHON) cannot make a virtual environment: install python3-venv (Debian, Ubuntu) or a Python with ensurepip

.DEFAULT_GOAL := help
.PHONY: help test demo lint typecheck tests real isolation redteam reports lock clean

help:
	@echo "make test       lint, typecheck, tests: all that a change must pass"
	@echo "make demo       bake a project, arm it, judge honest and dishonest patches"
	@echo "make lint | typecheck | tests | real | isolation | redteam | reports | lock   one session, ARGS=\"...\" goes to it"

test: .venv/.ready
	@$(RUN) lint typecheck tests

demo lint typecheck tests real isolation redteam reports lock: .venv/.ready
	@$(RUN) $@ -- $(ARGS)

.venv/.ready: requirements/dev.txt
	$(if $(shell $(PYTHON) -c 'import sys; print(sys.version_info >= (3, 11) or "")' 2>/dev/null),,$(error $(OLD)))
	$(if $(shell $(PYTHON) -m ensurepip --version 2>/dev/null),,$(error $(BARE)))
	@rm -rf .venv
	@$(PYTHON) -m venv .venv
	@.venv/bin/python -m pip install --quiet --disable-pip-version-check --require-hashes -r requirements/dev.txt
	@touch $@

clean:
	rm -rf .venv
