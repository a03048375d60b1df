#!/usr/bin/env bash
# vauban inject: a template is filled with secrets completely or not at all; only the user can read the file, and no argument has a secret.
set -u
. Tests/Scripts/lib/command-line.sh
printf hunter2 | vauban set db/anna 2>/dev/null || fail 'set failed'
printf 'with {{ vauban://db/anna }} in it' | vauban set odd/text || fail 'set failed'
printf 'a\0b' | vauban set odd/bytes || fail 'set failed'
printf space | vauban add -s 'mail box' -a anna || fail 'add failed'

# Every reference, with and without spaces, beside text that stays as it is.
printf 'pw={{ vauban://db/anna }};{{vauban://db/anna}}{{\tvauban://mail%%20box/anna }}\n{{ .Values.x }} {{{vauban://db/anna}}} { } }}\nlast' >"$TMPDIR/template"
printf 'pw=hunter2;hunter2space\n{{ .Values.x }} {hunter2} { } }}\nlast' >"$TMPDIR/wanted"
vauban inject -i "$TMPDIR/template" -o "$TMPDIR/filled" || fail 'inject failed'
cmp "$TMPDIR/wanted" "$TMPDIR/filled" || fail 'the template was filled with something else'
[ "$(stat -c %a "$TMPDIR/filled")" = 600 ] || fail 'others can read the file'
vauban inject <"$TMPDIR/template" | cmp - "$TMPDIR/wanted" || fail 'the template on standard input was filled with something else'
vauban inject --input - --output - <"$TMPDIR/template" | cmp - "$TMPDIR/wanted" || fail 'a hyphen does not stand for standard input or output'
# A secret is not read as a template, and binary secrets are unchanged.
printf '{{ vauban://odd/text }}|{{ vauban://odd/bytes }}' | vauban inject >"$TMPDIR/out" || fail 'inject failed'
printf 'with {{ vauban://db/anna }} in it|a\0b' | cmp - "$TMPDIR/out" || fail 'a secret was read as a template'
: | vauban inject | cmp - /dev/null || fail 'an empty template does not give empty output'

# A reference with a typing error is refused, and one without braces is noted.
expect_status 64 vauban inject <<<$'a\nb: {{- vauban://db/anna -}}'; expect_text 'line 2: a reference is written {{ vauban://service/account }}' "$TMPDIR/err"
expect_status 0 vauban inject <<<'b: vauban://db/anna'; expect_text 'line 1: a vauban:// address without {{ }} is copied' "$TMPDIR/err"

# An existing file is replaced only with --replace.
expect_status 64 vauban inject -i "$TMPDIR/template" -o "$TMPDIR/wanted"
expect_text 'wanted already exists; to replace it: --replace' "$TMPDIR/err"
chmod 644 "$TMPDIR/filled" && vauban inject -i "$TMPDIR/template" -o "$TMPDIR/filled" --replace || fail 'inject --replace failed'
[ "$(stat -c %a "$TMPDIR/filled")" = 600 ] || fail 'others can read the replaced file'
mkdir "$TMPDIR/folder"
expect_status 64 vauban inject -i "$TMPDIR/template" -o "$TMPDIR/folder" --replace
expect_status 64 vauban inject -i "$TMPDIR/template" --replace

# A missing item or an invalid reference is named, and nothing is written.
none() { [ -z "$(find "$TMPDIR" -name 'none*')" ] && [ ! -s "$TMPDIR/out" ] || fail "something was written: $*"; }
printf 'first {{ vauban://db/anna }}\nthen {{ vauban://no/such }}\n' >"$TMPDIR/missing"
expect_status 44 vauban inject -i "$TMPDIR/missing" -o "$TMPDIR/none"; expect_text 'No item no/such' "$TMPDIR/err"; none missing
expect_status 44 vauban inject -i "$TMPDIR/missing"; none missing
for wrong in '{{ vauban:// }}' '{{ vauban://db/anna' '{{ vauban://db/anna }' '{{ vauban://db/an%zz }}'; do
    printf 'fine\n%s\n' "$wrong" >"$TMPDIR/wrong"
    expect_status 64 vauban inject -i "$TMPDIR/wrong" -o "$TMPDIR/none"; expect_text "$TMPDIR/wrong, line 2: " "$TMPDIR/err"; none "$wrong"
done
expect_status 64 vauban inject -i "$TMPDIR/no-template" -o "$TMPDIR/none"; none 'no template'
play "$VAUBAN_BUILD/vauban" inject </dev/null >"$TMPDIR/shown"; [ $? = 64 ] || fail 'a terminal is accepted as a template'
vauban inject -i "$TMPDIR/template" >/dev/full 2>"$TMPDIR/err"; [ $? = 53 ] || fail 'inject into a full file does not end with 53'

# An item that needs approval: the prompt names the file, and a refusal writes nothing.
set_passcode
printf sealed | vauban set bank/anna --require presence
printf '{{ vauban://db/anna }} {{ vauban://bank/anna }}' >"$TMPDIR/asks"
expect_status 36 detached inject -i "$TMPDIR/asks" -o "$TMPDIR/none"; none asks
play "$VAUBAN_BUILD/vauban" inject -i "$TMPDIR/asks" -o "$TMPDIR/answered" >"$TMPDIR/shown" <<STEPS || { cat "$TMPDIR/shown"; fail 'the prompt on the terminal failed'; }
expect write bank/anna to
expect Passcode
secret $passcode
STEPS
[ "$(cat "$TMPDIR/answered")" = 'hunter2 sealed' ] || fail 'an approved item was not written'
grep -q 'sealed\|hunter2' "$TMPDIR/shown" && fail 'a secret was shown'
echo 'templates are filled completely or not at all, in files that only the user can read'
