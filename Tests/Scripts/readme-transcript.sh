#!/usr/bin/env bash
# The README's transcript matches a real terminal: each of its lines, in its order, is in the output of the demo.
set -u
# Paths and process numbers differ from machine to machine; spaces at the end of a prompt are not seen.
plain() { sed -E -e 's|\(/[^ ]*/vauban · process [0-9]+\)|(vauban)|' -e 's/[[:space:]]+$//' | tr -d '\r'; }
sed -n '/^```console$/,/^```$/p' README.md | sed -e '1d' -e '$d' | plain >"$TMPDIR/readme"
[ "$(wc -l <"$TMPDIR/readme")" -gt 15 ] || { echo 'the README has no transcript'; exit 1; }
scripts/demo </dev/null 2>&1 | plain >"$TMPDIR/demo"
exec 3<"$TMPDIR/demo"
while IFS= read -r line; do
    while IFS= read -r shown <&3; do [ "$shown" = "$line" ] && continue 2; done
    echo "the demo does not show, at its place: $line"
    exit 1
done <"$TMPDIR/readme"
echo 'the transcript matches the terminal'
