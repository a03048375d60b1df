#!/usr/bin/env bash
# Every Swift file is formatted by .swift-format; `make format` formats it.
# background: true
swift format --version >/dev/null 2>&1 || { echo 'there is no formatter here; it is part of the Swift toolchain'; exit 77; }
scripts/format --check || { echo 'some files are laid out otherwise; run: make format'; exit 1; }
