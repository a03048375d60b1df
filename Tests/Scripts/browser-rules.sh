#!/usr/bin/env bash
# The rules of the browsers' extension, without a browser: what is kept of a tab and how long, which forms and fields count, which fields are
# filled, and what is offered to be saved.
set -u
command -v node >/dev/null || { echo 'there is no node here'; exit 77; }
mkdir "$TMPDIR/rules" && cp Browser/source/*.js Tests/Scripts/lib/browser-{rules,fields}.mjs "$TMPDIR/rules/" || exit 1
echo '{ "type": "module" }' >"$TMPDIR/rules/package.json"
# tried FILE COUNT: the tests of the file pass, which are so many.
tried() {
    (cd "$TMPDIR/rules" && node "$1") >"$TMPDIR/report" 2>&1 ||
        { cat "$TMPDIR/report"; echo 'FAILED: the extension does not follow its rules'; exit 1; }
    grep -qE "^(#|ℹ) pass $2\$" "$TMPDIR/report" || { cat "$TMPDIR/report"; echo 'FAILED: not every rule was tried'; exit 1; }
}
tried browser-rules.mjs 14
tried browser-fields.mjs 8
echo 'the extension keeps, offers and fills passwords by its rules'
