#!/usr/bin/env bash
# What scripts read: each list has --json, an array of objects with the keys of the manual and dates in UTC, and lists and texts are not mixed.
set -u
. Tests/Scripts/lib/command-line.sh
command -v python3 >/dev/null || { echo 'there is no python3'; exit 77; }
set_passcode
# json EXPRESSION WORDS...: what the verb prints is JSON, and the expression about it, called "all", is true.
json() {
    expression=$1; shift
    expect_status 0 vauban "$@" --json
    python3 -c 'import json, sys; all = json.load(open(sys.argv[1])); sys.exit(not eval(sys.argv[2]))' "$TMPDIR/out" "$expression" || { cat "$TMPDIR/out"; fail "vauban $* --json: $expression is false"; }
}

# SSH keys.
json 'all == []' ssh list
vauban ssh new work >"$TMPDIR/work.pub" && vauban ssh new asks --require presence --hold 5m >/dev/null || fail 'no key was made'
json '[key["name"] for key in all] == ["asks", "work"]' ssh list
json 'all[0]["asks"] and all[0]["holdSeconds"] == 300 and not all[1]["asks"] and "holdSeconds" not in all[1]' ssh list
json 'len(all) == 1 and not all[0]["imported"] and all[0]["publicKey"] == open(sys.argv[1][:-3] + "work.pub").read().strip()' ssh list work
[ "$(python3 -c 'import json, sys; print(json.load(open(sys.argv[1]))[0]["fingerprint"])' "$TMPDIR/out")" = "$(vauban ssh list work | cut -f3)" ] || fail 'the fingerprint is another'
expect_status 44 vauban ssh list wrok --json
expect_status 64 vauban ssh list --public --json

# Teams.
json 'all == []' team list
team=$(vauban team new acme) || fail 'no team was made'
json "all == [{'kind': 'own', 'team': '$team', 'name': 'acme', 'asks': False}]" team list

# Earlier values, and names that a terminal must not get.
printf one | vauban set a/b 2>/dev/null; printf two | vauban set a/b --replace
json 'all[0]["number"] == 1 and all[0]["replaced"].endswith("Z") and all[0]["changed"] <= all[0]["replaced"]' history a/b
printf x | vauban set -s "$(printf 'e\033vil')" -a x 2>/dev/null || fail 'nothing was stored'
json 'any("\x1b" in item["service"] for item in all)' list
grep -q "$(printf '\033')" "$TMPDIR/out" && fail 'a control character is printed'

# In user mode nothing can be permitted; no JSON says that there is a list.
expect_status 64 vauban allow --json; expect_text 'In user mode every program of yours is one owner' "$TMPDIR/err"
[ ! -s "$TMPDIR/out" ] || fail 'something was printed besides the refusal'
expect_status 64 vauban allow /bin/cat a/b --json
expect_status 64 vauban allow /bin/cat a/b; expect_status 64 vauban disallow /bin/cat a/b; expect_status 64 vauban give cli
vauban sync status --json >"$TMPDIR/out" 2>"$TMPDIR/err" && fail 'a circle that does not exist has a status'
[ ! -s "$TMPDIR/out" ] || fail 'something was printed besides the refusal'
echo 'scripts read what the manual says'
