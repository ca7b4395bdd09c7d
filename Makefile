.DEFAULT_GOAL := help
PYTHON ?= python
NAME ?= sss

help:  ## Show this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "  %-12s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

test:  ## Run the tests for users, the doctests included
	$(PYTHON) -m pytest

test-quick:  ## Run the tests that take under a minute together
	$(PYTHON) -m pytest -m "not slow and not install and not thorough"

test-all:  ## Run all tests, also those that install packages or take many minutes
	$(PYTHON) -m pytest -m ""

floors:  ## Run the quick tests with the lowest versions of setup.cfg, in a new virtual environment
	$(PYTHON) tests/floors.py

versions:  ## Compare the scores without a model on every other Python that is at hand
	VERSIONS=all $(PYTHON) -m pytest tests/test_versions.py -m install -k python

mutants:  ## Plant known faults in a copy, one by one: do the quick tests find them?
	$(PYTHON) tests/mutants/run.py

lint:  ## Check style, and that the vendored copies are up to date
	ruff check .
	ruff format --check .
	$(PYTHON) metrics/vendor.py --check

vendor:  ## Copy metrics/_shared into the metric folders that import it
	$(PYTHON) metrics/vendor.py

space:  ## Run a demo locally: make space NAME=boc
	$(PYTHON) spaces/build.py $(NAME) --out build/spaces
	$(PYTHON) build/spaces/$(NAME)/app.py

.PHONY: help test test-quick test-all floors versions mutants lint vendor space
