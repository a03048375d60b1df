#!/usr/bin/env bash
# The documentation of the modules that applications import builds without a warning, so each link works, and every public symbol has a
# documentation comment.
# background: true
set -u
command -v docc >/dev/null || PATH=$(dirname "$(readlink -f "$(command -v swift)")"):$PATH
scripts/documentation "$TMPDIR/documentation" || exit "$?"
