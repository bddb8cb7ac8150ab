# make demo    set up .venv and show what plait does
# make test    set up .venv and run every check: ruff, mypy, import directions, tests
# make test-cluster    install Ray into .venv, and run the tests of plait bench --cluster
# make trust   thousands of generated programs against a real compiler and the real pthread library
# make litmus  published outcomes of litmus tests under each memory model, and random tests
# make compare-verdicts    the engines against exhaustive exploration, thousands of programs
# make mutation            small wrong edits of plait: does a test notice each of them?
# make reliability         commands under attack; 1,000 verifications in a row
# make bench-frontend    how fast the front end and the explorer are
# make bench-orders      how the ways to deal with orders compare; BENCH_TASKS="folders" for other
#                        tasks than our own, BENCH_OPTIONS="--stride 6 --seconds 20" for less of them
# make bench-impact      the four configurations of the unbounded engine, and checking its proofs
# make bench-traces      the engine that proves traces beside others; BENCH_TASKS="files" for other
#                        programs than our own, BENCH_OPTIONS="--seconds 20 --engine E" for others,
#                        BENCH_OPTIONS="--family F" for programs that grow
# make bench-families    how far an engine gets with more items and threads; BENCH_OPTIONS="--engine E"
# make bench-report      what the HTML report costs, to make and to read
# make bench-portfolio   what the supervisor costs
# make bench-cache       what a second run costs, without and after an edit
# make bench-cold        where the time of a cold run goes; BENCH_OPTIONS="--baseline PLAIT" compares
#                        with another checkout
# make bench-hunt        fusion against dpor; one hunt beside plain runs and ThreadSanitizer, on the
#                        broken everyday programs
# make compare-hunt      all schedules of compiled programs against enumeration of the model
# make clean   remove .venv and everything generated

SHELL := /bin/bash
# A shim on the path may name a Python that is not there: only one that runs counts.
PYTHON ?= $(shell for p in python3.13 python3.12 python3.11 python3; do \
	"$$p" -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null && echo "$$p" && break; done)
VENV := .venv
BIN := $(VENV)/bin
JOBS ?= 2
COMPARE := $(BIN)/python tools/compare_verdicts.py --jobs $(JOBS)

.PHONY: demo test lint types imports check-tests test-cluster trust litmus compare-verdicts damaged-certificates mutation reliability bench-frontend bench-orders bench-impact bench-traces bench-families bench-report bench-portfolio bench-cache bench-cold bench-hunt compare-hunt browser clean

demo: $(VENV)/.installed
	@PLAIT=$(BIN)/plait tools/demo.sh

test: lint types imports check-tests

lint: $(VENV)/.installed-dev
	$(BIN)/ruff check .

types: $(VENV)/.installed-dev
	$(BIN)/mypy

imports: $(VENV)/.installed-dev
	$(BIN)/python tools/check_imports.py

browser:
	@tools/install_browser.sh

check-tests: $(VENV)/.installed-dev browser
	$(BIN)/python -m pytest -n $(JOBS)

test-cluster: $(VENV)/.installed-cluster
	$(BIN)/python -m pytest tests/bench/test_cluster.py tests/bench/test_cluster_on_ray.py

trust: $(VENV)/.installed-dev
	PYTHONPATH=tools $(BIN)/python -m trust.campaign $(TRUST_OPTIONS)

litmus: $(VENV)/.installed-dev
	PYTHONPATH=tools $(BIN)/python -m litmus.run tests/litmus/*.c
	PYTHONPATH=tools $(BIN)/python -m litmus.run tests/litmus/*.c --models tso,pso,c11 --orders
	PYTHONPATH=tools $(BIN)/python -m litmus.agree 1000 --orders

# Thousands of damaged proofs for any number of threads: none is accepted for a violated program.
damaged-certificates: $(VENV)/.installed-dev
	PLAIT_DAMAGES=120 $(BIN)/python -m pytest -q -n 1 tests/certificates/test_templates.py -k no_damage

compare-verdicts: $(VENV)/.installed-dev
	$(COMPARE) assertions --count 1500
	$(COMPARE) assertions --bound 2 --count 200
	$(COMPARE) assertions --programs pointers --count 500
	$(COMPARE) assertions --programs trying --count 500
	for programs in floats sizes; do \
		$(COMPARE) assertions --programs $$programs --count 300 || exit 1; done
	$(COMPARE) assertions --programs guarded --count 500
	$(COMPARE) lock-misuse --programs guarded --count 300
	$(COMPARE) no-data-race --count 700
	$(COMPARE) no-data-race --programs sizes --count 200
	$(COMPARE) lock-misuse --count 200
	$(COMPARE) no-deadlock --count 500
	$(COMPARE) no-deadlock --programs waiting --count 500
	$(COMPARE) valid-memsafety --programs pointers --count 300

	$(COMPARE) assertions --engine impact --every-configuration --check --count 1500
	$(COMPARE) assertions --engine impact --every-configuration --check --programs pointers --count 700
	$(COMPARE) assertions --engine impact --every-configuration --check --programs trying --count 800
	for programs in floats sizes; do \
		$(COMPARE) assertions --engine impact --every-configuration --check --programs $$programs --count 200 || exit 1; done
	for programs in mixed guarded pointers waiting trying; do \
		$(COMPARE) no-data-race --engine impact --every-configuration --check --programs $$programs --count 300 || exit 1; done
	for programs in mixed guarded waiting; do \
		$(COMPARE) no-deadlock --engine impact --every-configuration --programs $$programs --count 300 || exit 1; done

	for programs in mixed pointers trying guarded; do \
		$(BIN)/python tools/compare_verdicts.py assertions --engine traces --every-configuration --check --programs $$programs --count 400 || exit 1; done
	PLAIT_MANY=100 $(BIN)/python -m pytest tests/engines/traces/test_search.py -k damaged

	for programs in mixed pointers trying guarded; do \
		$(COMPARE) assertions --engine predicates --every-configuration --check --programs $$programs --count 400 || exit 1; done

	PLAIT_MANY=20 $(BIN)/python -m pytest tests/engines/modular/test_agreement.py
	for property in assertions no-data-race no-deadlock no-overflow valid-memsafety; do for programs in mixed waiting pointers trying; do \
		$(COMPARE) $$property --engine modular --programs $$programs --count 150 || exit 1; \
		$(COMPARE) $$property --engine explicit --every-configuration --programs $$programs --count 150 || exit 1; \
		$(COMPARE) $$property --engine auto --programs $$programs --count 100 --seconds 3 || exit 1; done; done
	for property in assertions no-data-race no-deadlock; do \
		$(COMPARE) $$property --engine explicit --every-configuration --programs locking --count 300 || exit 1; \
		$(COMPARE) $$property --engine explicit --every-configuration --programs sections --count 300 || exit 1; done
	for properties in assertions,no-deadlock assertions,no-data-race assertions,no-data-race,no-deadlock,valid-memsafety; do for programs in mixed waiting pointers trying; do \
		$(COMPARE) $$properties --engine auto --programs $$programs --count 100 --seconds 3 || exit 1; done; done

mutation: $(VENV)/.installed-dev
	PYTHONPATH=tools $(BIN)/python -m mutation.campaign --jobs $(JOBS) $(EDITS)

reliability: $(VENV)/.installed-dev
	PLAIT_MANY=1000 $(BIN)/python -m pytest tests/test_reliability.py tests/bench/test_pool.py tests/work

bench-frontend: $(VENV)/.installed-dev
	$(BIN)/python tools/bench_frontend.py

bench-orders: $(VENV)/.installed-dev
	$(BIN)/python tools/bench_orders.py $(BENCH_OPTIONS) $(BENCH_TASKS)

bench-traces: $(VENV)/.installed-dev
	$(BIN)/python tools/bench_traces.py $(BENCH_OPTIONS) $(BENCH_TASKS)

bench-impact: $(VENV)/.installed-dev
	$(BIN)/python tools/bench_impact.py $(BENCH_OPTIONS) $(BENCH_TASKS)

bench-families: $(VENV)/.installed-dev
	$(BIN)/python tools/bench_families.py $(BENCH_OPTIONS)

bench-report: $(VENV)/.installed-dev
	$(BIN)/python tools/bench_report.py $(BENCH_OPTIONS)

bench-portfolio: $(VENV)/.installed-dev
	$(BIN)/python tools/bench_portfolio.py $(BENCH_OPTIONS)

bench-cache: $(VENV)/.installed-dev
	$(BIN)/python tools/bench_cache.py $(BENCH_OPTIONS)

bench-cold: $(VENV)/.installed-dev
	$(BIN)/python tools/bench_cold.py $(BENCH_OPTIONS) $(BENCH_TASKS)

bench-hunt: $(VENV)/.installed-dev
	$(BIN)/python tools/bench_fusion.py $(BENCH_OPTIONS)
	$(BIN)/python tools/hunt_beside_tsan.py

compare-hunt: $(VENV)/.installed-dev
	$(BIN)/python tools/hunt_campaign.py --count 2000
	$(BIN)/python tools/hunt_campaign.py --count 300 --engine fusion

$(BIN)/python:
	@test -n "$(PYTHON)" || { echo "plait needs Python 3.11 or newer; none found. \
	Install it (apt-get install python3) or say where it is: make PYTHON=/path/to/python3" >&2; exit 1; }
	@echo "creating $(VENV) with $(PYTHON)"
	@$(PYTHON) tools/make_venv.py $(VENV)

# The stamps keep a second run from asking pip anything, so that it works without a network.
$(VENV)/.installed: pyproject.toml | $(BIN)/python
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable .
	@touch $@

$(VENV)/.installed-dev: pyproject.toml | $(BIN)/python
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[dev]'
	@touch $@ $(VENV)/.installed

$(VENV)/.installed-cluster: $(VENV)/.installed-dev
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[cluster]'
	@touch $@

clean:
	rm -rf $(VENV) build dist out src/*.egg-info .mypy_cache .ruff_cache .pytest_cache .hypothesis
	find src tests tools -name __pycache__ -type d -prune -exec rm -rf {} +
