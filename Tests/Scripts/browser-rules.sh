#!/usr/bin/env bash
# The rules of the browsers' extension, without a browser: what is kept of a tab and how long, which forms count, and what is offered to be
# saved.
set -u
command -v node >/dev/null || { echo 'there is no node here'; exit 77; }
mkdir "$TMPDIR/rules" && cp Browser/source/*.js Tests/Scripts/lib/browser-rules.mjs "$TMPDIR/rules/" || exit 1
echo '{ "type": "module" }' >"$TMPDIR/rules/package.json"
(cd "$TMPDIR/rules" && node browser-rules.mjs) >"$TMPDIR/report" 2>&1 || { cat "$TMPDIR/report"; echo 'FAILED: the extension does not follow its rules'; exit 1; }
grep -qE '^(#|ℹ) pass 12$' "$TMPDIR/report" || { cat "$TMPDIR/report"; echo 'FAILED: not every rule was tried'; exit 1; }
echo 'the extension keeps and offers passwords by its rules'
