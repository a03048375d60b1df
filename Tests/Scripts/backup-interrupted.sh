#!/usr/bin/env bash
# A restore that is interrupted, or that fails, has listed exactly the items that it replaced: another run counts them as unchanged.
# proves: C-059
# limit: 600
set -u
. Tests/Scripts/lib/command-line.sh
command -v python3 >/dev/null || { echo 'there is no python3 here'; exit 77; }
secret='a passphrase of its own'
with() { want=$1; shift; expect_status "$want" setsid --wait "$VAUBAN_BUILD/vauban" "$@" --passcode-fd 3 --passphrase-fd 4 3<<<"$passcode" 4<<<"$secret" </dev/null; }
device() { export VAUBAN_HOME=$TMPDIR/$1; }
trap 'for home in "$TMPDIR"/keychain "$TMPDIR"/new; do VAUBAN_HOME=$home vauban stop; done >/dev/null 2>&1' EXIT
# add_items COMMENT: adds 400 items with this comment.
add_items() {
    python3 -c 'import json, sys
items = [{"service": f"item-{number:03}", "account": "anna", "secret": f"{sys.argv[1]} {number}", "comment": sys.argv[1]} for number in range(400)]
print(json.dumps(items))' "$1" >"$TMPDIR/items.json"
    vauban add --json "$TMPDIR/items.json" >/dev/null 2>&1 || fail 'add --json failed'
}
# replaced_items: the names of the items that have the comment of the backup.
replaced_items() {
    vauban list --json >"$TMPDIR/list.json" || fail 'list failed'
    python3 -c 'import json, sys
print("\n".join(sorted(item["service"] + "/" + item["account"] for item in json.load(sys.stdin) if item["comment"] == "newer")))' <"$TMPDIR/list.json"
}
# listed_items FILE: the names of the items that a restore listed as replaced.
listed_items() { sed -n 's/^Replaced by the newer item of the backup: //p' "$1" | sort; }
# restore_until STATUSES COMMAND...: restores, and interrupts that (`interrupt`) or runs the command after the first replaced item was listed.
# What the restore writes goes through a pipe that has no room for all of its lines, so it cannot have ended before the command.
restore_until() {
    python3 - "$TMPDIR/err" "$VAUBAN_BUILD/vauban" "$TMPDIR/one.backup" "$@" 3<<<"$passcode" 4<<<"$secret" <<'PYTHON' || fail "a restore that ${*:2} disturbed did not end as expected"
import fcntl, os, signal, subprocess, sys
output, vauban, backup, statuses, *command = sys.argv[1:]
reading, writing = os.pipe()
fcntl.fcntl(writing, 1031, 4096)  # F_SETPIPE_SZ
words = [vauban, "restore", backup, "--passcode-fd", "3", "--passphrase-fd", "4"]
restore = subprocess.Popen(words, stdin=subprocess.DEVNULL, stderr=writing, pass_fds=(3, 4), start_new_session=True)
os.close(writing)
text = b""
while b"Replaced by" not in text:
    part = os.read(reading, 4096)
    assert part, text
    text += part
# After a signal, the restore waits five seconds for the step in progress, which may wait for the pipe to be read.
if command == ["interrupt"]: os.kill(restore.pid, signal.SIGINT)
else: subprocess.run(command, check=True, stdin=subprocess.DEVNULL)
while part := os.read(reading, 4096): text += part
open(output, "wb").write(text)
ended = restore.wait()
print(f"the restore ended with {ended}")
sys.exit(str(ended) not in statuses.split())
PYTHON
}

device new; new_keychain; set_passcode; add_items older
device keychain; set_passcode; add_items newer
with 0 backup "$TMPDIR/one.backup"
device new
[ -z "$(replaced_items)" ] || fail 'an item is replaced before the first restore'

# Ctrl-C: the item that the keychain was replacing at this instant is listed too.
restore_until -2 interrupt
replaced_items >"$TMPDIR/first"
listed_items "$TMPDIR/err" | diff "$TMPDIR/first" - || fail 'an interrupted restore did not list exactly what it replaced'
count=$(wc -l <"$TMPDIR/first")
[ "$count" -ge 1 ] && [ "$count" -lt 400 ] || fail "the interrupted restore replaced $count of 400 items"

# A keychain that is locked meanwhile: the restore fails, with its list.
restore_until '36 53' "$VAUBAN_BUILD/vauban" lock
listed_items "$TMPDIR/err" >"$TMPDIR/second"
unlock
sort "$TMPDIR/first" "$TMPDIR/second" >"$TMPDIR/both"
replaced_items | diff "$TMPDIR/both" - || fail 'a failed restore did not list exactly what it replaced'

# The next run counts these items as unchanged, and lists the rest.
with 0 restore "$TMPDIR/one.backup"
unchanged=$(wc -l <"$TMPDIR/both")
expect_text "0 items added, $((400 - unchanged)) replaced, $unchanged unchanged, 0 not restored." "$TMPDIR/err"
listed_items "$TMPDIR/err" | sort - "$TMPDIR/both" | uniq -c | awk '$1 != 1 { exit 1 } END { if (NR != 400) exit 1 }' ||
    fail 'an item was listed twice, or never'
[ "$(replaced_items | wc -l)" = 400 ] || fail 'not every item was replaced'
echo "an interrupted restore listed the $count items that it had replaced, and a failed one $(wc -l <"$TMPDIR/second")"
