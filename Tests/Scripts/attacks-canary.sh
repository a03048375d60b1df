#!/usr/bin/env bash
# Canary items in system mode: a use of one is reported, and neither programs nor a thief of the database can recognize one. The checks with a
# number are attacks of Manual/attacks.md.
# limit: 600
set -u
. Tests/Scripts/lib/system-rooms.sh
cp "$bin/keychain-caller" /usr/local/games/bin/mail; chmod 755 /usr/local/games/bin/mail
start_rooms
mail() { as vauban-test-alice /usr/local/games/bin/mail "$@"; }
# approved WORDS...: alice runs vauban with her passcode. unapproved: one of her programs starts vauban.
approved() { as vauban-test-alice setsid --wait "$bin/vauban" "$@" --passcode-fd 3 3<"$TMPDIR/alice.passcode" </dev/null; }
unapproved() { as vauban-test-alice setsid --wait "$bin/vauban" "$@" </dev/null; }
keep() { printf 'secret of %s' "$1" | as vauban-test-alice setsid --wait "$bin/vauban" set "$1" 2>/dev/null; }
alerts() { unapproved status --json | python3 -c 'import json, sys; print(json.load(sys.stdin)["canaryAlerts"])'; }
# soon COMMAND...: waits until it succeeds.
soon() { eventually "$@"; }

check 'alice sets a passcode' eval 'with_passcode alice passcode set 2>/dev/null'
check 'she keeps items' eval 'keep aws/root && keep aws/anna && keep box/anna'
unapproved show aws/root --json >"$TMPDIR/before.json"
unapproved list --json >"$TMPDIR/list.before"
check 'she marks a canary' eval 'unapproved canary add aws/root 2>/dev/null'
check 'no alert yet' equals "$(alerts)" 0
check 'another item is none' eval 'equals "$(unapproved get aws/anna)" "secret of aws/anna" && equals "$(alerts)" 0'
# A program sees the same of it as before.
unapproved list --json >"$TMPDIR/list.after"
check 'U120 a program looks for the canary among the items: it looks like the others' cmp "$TMPDIR/list.before" "$TMPDIR/list.after"
unapproved show aws/root --json >"$TMPDIR/after.json"
check 'U120 and in its description' cmp "$TMPDIR/before.json" "$TMPDIR/after.json"
check 'U120 it asks which are canaries: refused' refused 36 unapproved canary list
check 'U121 a program takes the mark away: refused' refused 36 unapproved canary remove aws/root

# An agent that waits before anything happens.
cat >"$TMPDIR/steps" <<'STEPS'
expect Prompts appear here
expect A canary item was used. To see by which program: vauban canary
key ctrl-c
STEPS
play alice "$bin/vauban" approve <"$TMPDIR/steps" >"$TMPDIR/approve.out" 2>&1 & agent=$!
soon eval 'unapproved status | grep -q "for all programs at"'
# The thief reads all items that it finds.
for name in $(unapproved list | cut -f1); do unapproved get "$name"; echo; done >"$TMPDIR/loot"
check 'U122 a program reads all items: it gets the values' eval 'grep -qx "secret of aws/root" "$TMPDIR/loot" && grep -qx "secret of box/anna" "$TMPDIR/loot"'
check 'U122 and the user is told' equals "$(alerts)" 1
wait "$agent"; agent_status=$?
check 'by a prompt agent that waits' eval '[ "$agent_status" != 99 ] && grep -q "A canary item was used" "$TMPDIR/approve.out"'
check 'in the journal as a warning, with the program and no name' \
    eval 'grep "a canary item was used" "$TMPDIR/rooms.log" | grep -i warning | grep -q "program=" && ! grep -q aws "$TMPDIR/rooms.log"'
check 'in the status' eval 'unapproved status | grep -q "^Canaries .*vauban canary"'
check 'by the next command on a terminal' eval 'play alice "$bin/vauban" list </dev/null >"$TMPDIR/terminal" 2>&1; grep -q "vauban: A canary item was used" "$TMPDIR/terminal"'
check 'she sees the program' eval 'approved canary >"$TMPDIR/uses" 2>&1; grep -q "aws/root.read, canary" "$TMPDIR/uses"'
check 'the log says so' eval 'unapproved log --canary --json | grep -q "\"canary\":true"'
check 'U121 a program says that she has seen it: refused' refused 36 unapproved canary seen
check 'U121 and the alert stays' equals "$(alerts)" 1
check 'she lists her canaries' eval 'equals "$(approved canary list | cut -f1)" aws/root'

# keychaind ends before the user sees the alert; no agent is running.
kill "$keychain_pid"; wait "$keychain_pid" 2>/dev/null; start_keychain
soon unapproved status >/dev/null 2>&1
check 'the alert outlasts keychaind' equals "$(alerts)" 1
check 'she has seen it' eval 'approved canary seen 2>/dev/null && equals "$(alerts)" 0'

# Locked, it is refused as always; the command line first looks for its description, which is not a use.
unapproved list >/dev/null
unapproved lock 2>/dev/null
check 'while the keychain is locked, it is refused' refused 36 unapproved get aws/root
check 'which is no alert' equals "$(alerts)" 0
as vauban-test-alice "$bin/vauban" unlock --passcode-fd 3 3<"$TMPDIR/alice.passcode" 2>/dev/null
check 'U121 a program replaces the canary: told' eval 'unapproved delete aws/root && equals "$(alerts)" 1'
unapproved undelete aws/root 2>/dev/null
unapproved get aws/root >/dev/null
check 'a restored item is still a canary' equals "$(alerts)" 2
printf 'secret of aws/anna, anew' | as vauban-test-alice setsid --wait "$bin/vauban" set aws/anna --replace 2>/dev/null
unapproved canary add aws/anna 2>/dev/null
check 'U117 a program reads the secret that a canary had before it was marked: told' \
    eval 'equals "$(unapproved history aws/anna --show 1)" "secret of aws/anna" && equals "$(alerts)" 3'
approved canary remove aws/anna 2>/dev/null
# More items of a program than one log record names, of which the last is a canary. keychaind has read none of them since it started.
for number in $(seq 40); do mail add "$number" x; done >"$TMPDIR/added"
check 'a canary of a program' eval 'equals "$(sort -u "$TMPDIR/added")" 0 && approved canary add callers/40 --owner program:/usr/local/games/bin/mail 2>/dev/null'
kill "$keychain_pid"; wait "$keychain_pid" 2>/dev/null; start_keychain
soon unapproved status >/dev/null 2>&1
check 'U118 a program deletes all its items at once, a canary among them: told' eval 'equals "$(mail delete "")" 0 && equals "$(alerts)" 4'

# A thief with the database: nothing in it distinguishes the canary from items that were made and changed in the same way.
keep aws/twin
approved canary add aws/twin 2>/dev/null
approved canary remove aws/twin 2>/dev/null
unapproved delete aws/twin; unapproved undelete aws/twin 2>/dev/null
kill "$keychain_pid"; wait "$keychain_pid" 2>/dev/null
python3 - "$state/keychain/$(id -u vauban-test-alice)/keychain.db" <<'PYTHON'
import sqlite3, sys
connection = sqlite3.connect(sys.argv[1])
rows = connection.execute("""SELECT kind, protection, generation, length(primary_blind), length(blinds), length(metadata_binding), length(metadata),
    length(secret_binding), length(wrapped_key), length(secret), (SELECT count(*) FROM lookup WHERE lookup.item = item.id) FROM item WHERE kind = 1""").fetchall()
sys.exit(0 if len(rows) == 4 and len(set(rows)) == 1 else f"the rows differ: {rows}")
PYTHON
check 'U123 a thief looks for the canary in the database: all rows look the same' equals $? 0
check 'U123 and no word of it' eval '! grep -raq "aws" "$state/keychain"/*/keychain.db*'
start_keychain
soon unapproved status >/dev/null 2>&1

# The manual's description of the last uses.
unapproved get box/anna >/dev/null
check 'show names the program that read an item last' eval 'unapproved show box/anna | grep -q "^Last read: .* by .*, with vauban"'
check 'show names the program that changed it last' eval 'unapproved show box/anna --json | grep -q "\"lastChanged\""'
finish
