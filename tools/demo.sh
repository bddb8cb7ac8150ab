#!/usr/bin/env bash
# The tool's main job on three of the examples. Exit code 1 means "violated", as it should here.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
plait=${PLAIT:-.venv/bin/plait}

expect() { # EXIT-CODE ARGUMENTS...
  local wanted=$1 code=0
  shift
  printf '\n$ plait %s\n' "$*"
  "$plait" "$@" || code=$?
  printf '(exit code %d)\n' "$code"
  if [ "$code" != "$wanted" ]; then
    echo "expected exit code $wanted" >&2
    exit 1
  fi
}

echo "Two threads increment a counter without a lock: can an update be lost?"
expect 1 verify examples/counter_race.c

echo
echo "With a lock, in all schedules?"
expect 0 verify --property assertions,no-data-race examples/locked_counter.c

echo
echo "Two locks taken in opposite orders:"
expect 1 verify --property no-deadlock examples/deadlock.c

echo
echo "A page to step through: plait verify --html race.html examples/counter_race.c"
echo "The same failure in the compiled program: plait verify --json race.json examples/counter_race.c,"
echo "then plait replay race.json. The tutorial is docs/tutorial.md."
