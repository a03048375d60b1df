#!/usr/bin/env bash
# vauban backup --schedule: systemd accepts the units that it writes, and they continue the backup. If no systemd runs for the user, or the backup
# would need the user, nothing is written. vauban doctor reports when the last backup was made.
set -u
. Tests/Scripts/lib/command-line.sh
for program in systemd-analyze ssh-agent; do command -v $program >/dev/null || { echo "there is no $program here"; exit 77; }; done
secret='a passphrase of its own'
export XDG_CONFIG_HOME="$TMPDIR/settings"
units=$XDG_CONFIG_HOME/systemd/user
export XDG_RUNTIME_DIR=$TMPDIR/run
mkdir "$XDG_CONFIG_HOME" && mkdir -m 700 "$XDG_RUNTIME_DIR"
with() { want=$1; shift; expect_status "$want" setsid --wait "$VAUBAN_BUILD/vauban" "$@" --passcode-fd 3 --passphrase-fd 4 3<<<"$passcode" 4<<<"$secret" </dev/null; }
own() { expect_status "$1" setsid --wait "$VAUBAN_BUILD/vauban" "${@:2}" </dev/null; }
text() { expect_text "$1" "$TMPDIR/err"; }
nothing() { [ -z "$(find "$XDG_CONFIG_HOME" -mindepth 1)" ] || { find "$XDG_CONFIG_HOME"; fail "$1"; }; }
doctor() { vauban doctor >"$TMPDIR/out" || { cat "$TMPDIR/out"; fail 'vauban doctor finds something'; }; expect_text "$1" "$TMPDIR/out"; }
set_passcode
printf one | vauban set one/item || fail 'set failed'
# A name with every character that systemd would interpret.
folder="$TMPDIR/a \"stick\" of 100%, \$HOME \\n"

# No systemd runs for the user: nothing is written, and the command to run instead is printed.
doctor 'Last backup  none known; to make one: vauban backup FOLDER/'
with 0 backup "$folder/"
doctor ", to $TMPDIR/a"
own 53 backup --schedule daily "$folder"
text 'No systemd runs for you here'
text 'vauban backup --no-input'
nothing 'without systemd something is written'

# systemd's own tool needs a manager; this one records its arguments, and creates links as the real one does.
mkdir "$XDG_RUNTIME_DIR/systemd" "$TMPDIR/tools" && touch "$XDG_RUNTIME_DIR/systemd/private"
cat >"$TMPDIR/tools/systemctl" <<'TOOL'
#!/bin/sh
echo "$*" >>"$TMPDIR/called"
[ ! -e "$TMPDIR/refuses" ] || case $* in *enable*) exit 1 ;; esac
links=$XDG_CONFIG_HOME/systemd/user/timers.target.wants
case $* in
    *' enable --now vauban-backup.timer') mkdir -p "$links" && ln -sf ../vauban-backup.timer "$links/vauban-backup.timer" ;;
    *' disable --now vauban-backup.timer') rm -f "$links/vauban-backup.timer" ;;
esac
TOOL
chmod 755 "$TMPDIR/tools/systemctl"
export TMPDIR PATH="$TMPDIR/tools:$PATH"

# A backup that would not continue by itself is not scheduled.
mkdir "$TMPDIR/empty"
own 64 backup --schedule daily "$TMPDIR/empty"
text 'has no backup to continue; make it first'
own 64 backup --schedule daily "$TMPDIR/absent"
own 64 backup --schedule hourly "$folder"
own 64 backup --schedule daily
own 64 backup --unschedule "$folder"
vauban lock; own 36 backup --schedule daily "$folder"; unlock
nothing 'something is written before the backup has succeeded'
[ -z "$(find "$TMPDIR/empty" "$TMPDIR/absent" -mindepth 1 2>/dev/null)" ] || fail 'a folder was filled'
# systemd refuses: nothing remains.
touch "$TMPDIR/refuses"
own 53 backup --schedule daily "$folder"
text 'systemd refused'
[ -z "$(find "$XDG_CONFIG_HOME" -type f -o -type l)" ] || fail 'a file was left after systemd had refused the units'
rm "$TMPDIR/refuses"

# systemd accepts what is written, and starts a backup of the changes.
(umask 000; own 0 backup --schedule daily "$folder") || exit 1
! find "$XDG_CONFIG_HOME" -mindepth 1 ! -type l -perm /022 ! -name '*.wants' | grep . || fail 'others can change what systemd starts'
text 'Scheduled: systemd backs up to this folder daily'
tail -n 2 "$TMPDIR/called" | diff - <(printf -- '--user daemon-reload\n--user --quiet enable --now vauban-backup.timer\n') || fail 'systemctl was called with other arguments'
systemd-analyze --user verify "$units/vauban-backup.service" "$units/vauban-backup.timer" >"$TMPDIR/verify" 2>&1 && ! [ -s "$TMPDIR/verify" ] ||
    { cat "$TMPDIR/verify"; fail 'systemd does not take the units'; }
systemd-analyze calendar "$(sed -n 's/^OnCalendar=//p' "$units/vauban-backup.timer")" >/dev/null || fail 'systemd does not know the period'
doctor '; scheduled daily'
# started: runs the service's command as systemd does, without a terminal and with the environment that the unit names.
started() { env -u VAUBAN_HOME setsid --wait /usr/bin/python3 - "$units/vauban-backup.service" <<'RUN'
import os, re, sys
def words(text):
    """Quoted words as systemd.syntax(7) and systemd.service(5) read them."""
    found = [quoted or plain for quoted, plain in re.findall(r'"((?:[^"\\]|\\.)*)"|(\S+)', text)]
    return [re.sub(r"\\(.)", r"\1", word).replace("%%", "%") for word in found]
lines = dict(line.split("=", 1) for line in open(sys.argv[1]).read().splitlines() if "=" in line)
name, value = words(lines["Environment"])[0].split("=", 1)
command = [word.replace("$$", "$") for word in words(lines["ExecStart"])]
null = os.open("/dev/null", os.O_RDONLY)
os.dup2(null, 0)
os.execve(command[0], command, dict(os.environ, **{name: value}))
RUN
}
printf two | vauban set two/item || fail 'set failed'
expect_status 0 started
text '1 item backed up, 1 unchanged. Verified.'
vauban lock; expect_status 36 started; unlock
# The medium is away, or its mount point is empty: systemd tries again (53), and nothing is written there.
mv "$folder" "$TMPDIR/away"
expect_status 53 started
[ ! -e "$folder" ] || fail 'a folder was made in the place of a medium'
mkdir "$folder"
expect_status 53 started
[ -z "$(find "$folder" -mindepth 1)" ] || fail 'something was written to an empty mount point'
rmdir "$folder" && mv "$TMPDIR/away" "$folder"
expect_status 0 started

# A change that systemd refuses leaves the earlier timer as it was, and running.
touch "$TMPDIR/refuses"
own 53 backup --schedule weekly "$folder"
grep -qx 'OnCalendar=daily' "$units/vauban-backup.timer" || fail 'the earlier timer was changed'
tail -n 2 "$TMPDIR/called" | diff - <(printf -- '--user daemon-reload\n--user --quiet enable --now vauban-backup.timer\n') || fail 'the earlier timer does not run again'
rm "$TMPDIR/refuses"
# Another period replaces the first; the user's own files are not changed.
own 0 backup --schedule weekly "$folder"
grep -qx 'OnCalendar=weekly' "$units/vauban-backup.timer" || fail 'the period did not change'
grep -q 'no longer scheduled' "$TMPDIR/err" && fail 'another period is said to end the backups'
# Another folder takes the place of the first, which is named.
with 0 backup "$TMPDIR/another/"
own 0 backup --schedule weekly "$TMPDIR/another"
text "Backups to $folder are no longer scheduled"
own 0 backup --unschedule
nothing 'something is left of the schedule'
own 0 backup --unschedule
text 'No backup was scheduled.'
mkdir -p "$units"; echo mine >"$units/vauban-backup.timer"
own 45 backup --schedule daily "$folder"
own 64 backup --unschedule
[ "$(cat "$units/vauban-backup.timer")" = mine ] && [ ! -e "$units/vauban-backup.service" ] || fail 'a file of the user was changed'

# If systemd no longer runs, the files and what enables them are removed all the same.
rm "$units/vauban-backup.timer"
own 0 backup --schedule daily "$folder"
rm "$XDG_RUNTIME_DIR/systemd/private"
own 0 backup --unschedule
nothing 'something is left without systemd'

# The backup restores, and the doctor names the SSH agent too.
device=$VAUBAN_HOME; export VAUBAN_HOME=$TMPDIR/new; new_keychain
expect_status 0 setsid --wait "$VAUBAN_BUILD/vauban" restore "$folder" --passphrase-fd 4 4<<<"$secret" </dev/null
[ "$(vauban get two/item)" = two ] || fail 'what the timer backed up is not restored'
doctor 'Last backup  none known'
export SSH_AUTH_SOCK=$TMPDIR/agent
coproc AGENT { exec ssh-agent -D -a "$SSH_AUTH_SOCK"; }
agent_pid=$AGENT_PID
read -r -t "$hang_seconds" _ <&"${AGENT[0]}" || fail 'the agent does not start'
doctor "SSH agent    ssh-agent (process $agent_pid), at $TMPDIR/agent; to use Vauban's: vauban ssh enable"
{ kill "$agent_pid"; wait "$agent_pid"; } 2>/dev/null; rm -f "$SSH_AUTH_SOCK"
# An agent in the background is another process than the one that began to listen.
background=$(ssh-agent -s -a "$SSH_AUTH_SOCK" | sed -n 's/^SSH_AGENT_PID=\([0-9]*\);.*/\1/p')
doctor "SSH agent    another agent, at $TMPDIR/agent; to use Vauban's: vauban ssh enable"
kill "$background"; timeout "$hang_seconds" tail -s 0.02 --pid="$background" -f /dev/null
doctor "SSH agent    none: nothing listens at $TMPDIR/agent"
vauban stop >/dev/null 2>&1; export VAUBAN_HOME=$device
echo 'systemd accepts the schedule, and its runs continue the backup'
