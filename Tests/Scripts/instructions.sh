#!/usr/bin/env bash
# A get, an add and a signature take at most 15 % more instructions than Benchmarks/README.md records.
# limit: 900
set -u
case $(readlink -f "$VAUBAN_BUILD") in */debug) echo 'instructions are counted of a release build'; exit 77 ;; esac
command -v valgrind callgrind_annotate >/dev/null || { echo 'there is no valgrind'; exit 77; }
Benchmarks/instructions --check
