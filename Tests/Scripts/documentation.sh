#!/usr/bin/env bash
# The documentation of VaubanKeychain builds without a warning, so each link leads somewhere, and every public name has words.
set -u
command -v docc >/dev/null || PATH=$(dirname "$(readlink -f "$(command -v swift)")"):$PATH
scripts/documentation "$TMPDIR/documentation" || exit "$?"
