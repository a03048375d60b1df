#!/usr/bin/env bash
# A get, an add and a signature take no more instructions than Benchmarks/README.md keeps, and 15 % above.
# limit: 900
set -u
case $(readlink -f "$VAUBAN_BUILD") in */debug) echo 'instructions are counted of a release build'; exit 77 ;; esac
command -v valgrind callgrind_annotate >/dev/null || { echo 'there is no valgrind'; exit 77; }
Benchmarks/instructions --check
