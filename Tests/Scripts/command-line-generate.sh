#!/usr/bin/env bash
# proves: C-249
# Generated secrets: their form, the rules of sites, that each is equally likely, the entropy, and that they are not shown.
set -u
. Tests/Scripts/lib/command-line.sh
set_passcode

# The requested form, and the printed entropy.
made() {
    vauban set made/up --replace --generate "$@" >"$TMPDIR/out" 2>"$TMPDIR/err" || { cat "$TMPDIR/err"; fail "no secret was generated: $*"; }
    [ ! -s "$TMPDIR/out" ] || fail 'something was printed'; secret=$(vauban get made/up)
}
made
[[ $secret =~ ^[!-~]{20}$ && $secret =~ [a-z] && $secret =~ [A-Z] && $secret =~ [0-9] && $secret =~ [^a-zA-Z0-9] ]] || fail 'not twenty characters of four classes'
expect_text 'Stored without showing it: 20 characters from a set of 89, 129 bits of entropy.' "$TMPDIR/err"
grep -qF -- "$secret" "$TMPDIR/err" && fail 'the secret was shown'
first=$secret
made
[ "$secret" != "$first" ] || fail 'the same secret was generated twice'
made --length 4 --characters digits
[[ $secret =~ ^[0-9]{4}$ ]] || fail 'not four digits'
expect_text '4 characters from a set of 10, 13 bits of entropy' "$TMPDIR/err"
made --length 3 --characters lower,upper,digits
[[ $secret =~ [a-z] && $secret =~ [A-Z] && $secret =~ [0-9] ]] || fail 'a class is missing'
# 3! orders of 26 · 26 · 10.
expect_text '3 characters from a set of 62, 15 bits of entropy' "$TMPDIR/err"
made --length 1024
[ ${#secret} = 1024 ] || fail 'not 1024 characters'
made --words 6
[[ $secret =~ ^[a-z-]+(\.[a-z-]+){5}$ ]] || fail "the secret is not six words: $secret"
expect_text '6 words from a list of 7776, 77 bits of entropy' "$TMPDIR/err"

# The word list is complete: one word for each throw of five dice, none twice, and only lowercase letters and hyphens.
sed -n '/"""/,/"""/p' Sources/CommandLine/VaubanCommands/Generate/WordListText.swift | grep -v '"""' | tr -s ' ' '\n' | grep . >"$TMPDIR/words"
[ "$(wc -l <"$TMPDIR/words")" = 7776 ] && [ "$(sort -u "$TMPDIR/words" | wc -l)" = 7776 ] || fail 'the word list is not of 7776 words'
grep -qvE '^[a-z-]{3,9}$' "$TMPDIR/words" && fail 'a word is no word'
tr . '\n' <<<"$secret" | grep -vxFf "$TMPDIR/words" && fail 'a word is not on the list'

# Each character is equally likely: chi-squared tests over 20480 characters out of 89 and over 10240 digits, with a bound that chance
# exceeds once in a thousand million runs.
for number in {1..10}; do made --length 1024 --characters lower,upper,digits,symbols; printf %s "$secret"; made --length 1024; printf %s "$secret"; done >"$TMPDIR/signs"
for number in {1..10}; do made --length 1024 --characters digits; printf %s "$secret"; done >"$TMPDIR/digits"
python3 - "$TMPDIR/signs" 89 215 "$TMPDIR/digits" 10 60 <<'P' || fail 'some characters are more likely than others'
import collections, sys
for path, signs, bound in zip(sys.argv[1::3], map(int, sys.argv[2::3]), map(int, sys.argv[3::3])):
    text = open(path).read()
    counts = collections.Counter(text)
    expected = len(text) / signs
    squared = sum((count - expected) ** 2 / expected for count in counts.values()) + (signs - len(counts)) * expected
    print(path, len(text), round(squared))
    assert len(counts) == signs and squared < bound
P

# The other commands that store a secret; an existing one is replaced only on request.
expect_status 0 vauban add new/one --generate
expect_status 45 vauban add new/one --generate
expect_status 0 vauban update new/one --generate --words 5
[[ $(vauban get new/one) =~ ^[a-z-]+(\.[a-z-]+){4}$ ]] || fail 'update generated no secret'
before=$(vauban get new/one)
expect_status 45 detached set new/one --generate
[ "$(vauban get new/one)" = "$before" ] || fail 'a refused set changed the secret'
# Standard input is not read.
printf ignored | vauban set new/two --generate 2>/dev/null && [ "$(vauban get new/two)" != ignored ] || fail 'standard input was read'

# generated OPTIONS...: prints one without a keychain, since nothing is stored.
generated() {
    VAUBAN_HOME=$TMPDIR/none vauban generate "$@" >"$TMPDIR/out" 2>"$TMPDIR/err" || { cat "$TMPDIR/err"; fail "nothing was generated: $*"; }; secret=$(cat "$TMPDIR/out")
}
generated
[[ $secret =~ ^[!-~]{20}$ ]] && [ "$(wc -l <"$TMPDIR/out")" = 0 ] || fail 'not twenty characters and nothing else'
expect_text 'Generated: 20 characters from a set of 89, 129 bits of entropy.' "$TMPDIR/err"
generated --words 4
[[ $secret =~ ^[a-z-]+(\.[a-z-]+){3}$ ]] || fail "the secret is not four words: $secret"
[ ! -e "$TMPDIR/none" ] || fail 'a keychain was created'
play "$VAUBAN_BUILD/vauban" generate --words 3 </dev/null >"$TMPDIR/out" || fail 'nothing was generated on a terminal'
expect_text 'Generated: 3 words' "$TMPDIR/out"

# Rules of a site, from an option and from the list, also directly into an item.
for number in {1..40}; do
    generated --rules 'minlength: 6; maxlength: 9; max-consecutive: 1; required: upper; required: digit; allowed: lower, [-_]]'
    [[ ${#secret} = 9 && $secret =~ [A-Z] && $secret =~ [0-9] ]] && ! [[ $secret =~ [^]A-Za-z0-9_-] ]] || fail "the rules are not met: $secret"
    grep -qE '(.)\1' <<<"$secret" && fail "a character is repeated: $secret"
done
expect_text 'Generated: 9 characters from a set of 65' "$TMPDIR/err"
generated --rules 'maxlength: 6; allowed: digit'
[[ $secret =~ ^[0-9]{6}$ ]] || fail 'no PIN of six digits'
expect_text '6 characters from a set of 10, 19 bits of entropy' "$TMPDIR/err"
made --rules 'maxlength: 6; allowed: digit'
[[ $secret =~ ^[0-9]{6}$ ]] || fail 'no PIN was stored'
generated --for https://www.act.org/login
[[ $secret =~ [a-z] && $secret =~ [A-Z] && $secret =~ [0-9] && $secret =~ [!#$%\&*@^] && ! $secret =~ [^a-zA-Z0-9!#$%\&*@^] ]] || fail "the site's rules are not met: $secret"
expect_text 'by the rules of act.org.' "$TMPDIR/err"
generated --for unknown.example
expect_text 'no rules of unknown.example are known' "$TMPDIR/err"
expect_status 0 vauban set --url https://anna@163.com/ --generate
expect_text 'Stored without showing it: 16 characters from a set of 94, 104 bits of entropy, by the rules of 163.com.' "$TMPDIR/err"
secret=$(vauban get --url https://anna@163.com/); [ ${#secret} = 16 ] || fail 'the rules of the site did not reach the item'
expect_status 0 vauban set --url https://anna@163.com/ --replace --generate --length 30
expect_text '30 characters from a set of 89' "$TMPDIR/err"

# A file of the user extends the list.
mkdir -p "$TMPDIR/.config/vauban"
printf '{"unknown.example": {"password-rules": "maxlength: 5; allowed: [xyz]"}, "163.com": {"password-rules": "maxlength: 7;"}}' >"$TMPDIR/.config/vauban/password-rules.json"
generated --for login.unknown.example
[[ $secret =~ ^[xyz]{5}$ ]] || fail 'the rules of the file are not met'
generated --for 163.com
[ ${#secret} = 7 ] || fail 'the file does not replace a known rule'
generated --for act.org
expect_text 'by the rules of act.org.' "$TMPDIR/err"
for text in '{"a": 1}' '[' '{"a": {"password-rules": 5}}' ''; do
    printf %s "$text" >"$TMPDIR/.config/vauban/password-rules.json"
    expect_status 64 vauban generate --for example.com
    expect_text 'correct or remove it' "$TMPDIR/err"
done
# A fault in the rules of any site refuses them all, with the site and the character, so that nothing is made by other rules than the user's.
printf '{"163.com": {"password-rules": "maxlength: 7;"}, "typo.example": {"password-rules": "maxlength: 8; required: uper"}}' >"$TMPDIR/.config/vauban/password-rules.json"
expect_status 64 vauban generate --for 163.com
expect_text 'is invalid in the rules of typo.example: at character 25: no class of characters is called “uper”' "$TMPDIR/err"
truncate -s 5M "$TMPDIR/.config/vauban/password-rules.json"; expect_status 64 vauban generate --for example.com
# What is no file is refused and not waited for.
for make in mkfifo 'ln -s /dev/zero' mkdir; do
    rm "$TMPDIR/.config/vauban/password-rules.json"
    $make "$TMPDIR/.config/vauban/password-rules.json"
    expect_status 64 vauban generate --for example.com
    expect_text 'correct or remove it' "$TMPDIR/err"
done
rm -r "$TMPDIR/.config/vauban"

# Rules that are invalid, or that no password can meet: the message names the position and the way out.
while IFS='|' read -r rules text; do
    expect_status 64 vauban generate --rules "$rules"
    expect_text "$text" "$TMPDIR/err"
    expect_status 64 vauban set odd/one --generate --rules "$rules"
done <<'RULES'
minlength: 8; requird: lower|At character 15: no rule is called “requird”; the rules are required, allowed, max-consecutive, minlength and maxlength
required: lower, uper|At character 18: no class of characters is called “uper”; the classes are upper, lower, digit
required: [ab|At character 11: the brackets need a ] at their end
minlength: 12; maxlength: 8|The rules demand at least 12 and at most 8 characters
required: [a]; required: [b]; maxlength: 1|Almost no password with length 1 meets the rules
RULES

# Options that exclude each other.
for words in '--length 5' '--words 5' '--characters digits' '--generate --words 5 --length 7' '--generate --length 3' '--generate --length 0 --characters digits' \
    '--generate --length 1025' '--generate --words 0' '--generate --words 65' '--generate --characters lower,lower' '--generate --characters many' '--generate --characters' \
    '--generate --for a --words 3' '--for example.com' '--generate --for //' '--generate --empty' '--generate --hex' '--generate --secret-fd 5'; do
    # Unquoted deliberately: several words.
    # shellcheck disable=SC2086
    expect_status 64 vauban set odd/one $words </dev/null
done
expect_status 64 vauban add --json - --generate </dev/null
expect_status 44 vauban get odd/one
echo 'secrets are generated in the requested form, each equally likely, and are not shown'
