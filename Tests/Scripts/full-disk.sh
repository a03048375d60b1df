#!/usr/bin/env bash
# A disk that is full while items are added: the add fails, by name, and everything that was acknowledged is still there,
# also in the access log.
set -u
[ "$(id -u)" = 0 ] || { echo 'it needs root, to mount a small disk'; exit 77; }
. Tests/Scripts/lib/own-mounts.sh
if [ -z "${VAUBAN_INSIDE:-}" ]; then VAUBAN_INSIDE=1 exec unshare $own_mounts "$0"; fi
PATH=$VAUBAN_BUILD:$PATH
export VAUBAN_HOME=$TMPDIR/home
mkdir -m 700 "$VAUBAN_HOME"
mount -t tmpfs -o size=2m,mode=700 tmpfs "$VAUBAN_HOME" || { echo 'it cannot mount here'; exit 77; }
trap 'vauban stop >/dev/null 2>&1; umount "$VAUBAN_HOME"' EXIT
printf 'full disk passcode\n' >"$TMPDIR/passcode"
vauban passcode set --passcode-fd 3 3<"$TMPDIR/passcode" 2>/dev/null || exit 1

# Removed later, so that there is room for the small state files.
head -c 150000 /dev/zero >"$VAUBAN_HOME/ballast"
head -c 30000 /dev/urandom >"$TMPDIR/value"
stored=0
while vauban set "big/$stored" <"$TMPDIR/value" 2>"$TMPDIR/why"; do
    stored=$((stored + 1))
    [ "$stored" -lt 200 ] || { echo 'the disk never became full'; exit 1; }
done
status=0; vauban set "big/$stored" <"$TMPDIR/value" 2>"$TMPDIR/why" || status=$?
cat "$TMPDIR/why"
[ "$status" = 53 ] || { echo "a full disk answered $status, not 53"; exit 1; }
grep -qi 'disk is full' "$TMPDIR/why" || { echo 'the refusal does not say that the disk is full'; exit 1; }
for ((index = 0; index < stored; index++)); do
    vauban get "big/$index" | cmp -s - "$TMPDIR/value" || { echo "item $index of $stored was lost"; exit 1; }
done
# Guesses that could not be counted are refused too, and the enclave's state is unharmed.
head -c 4000000 /dev/zero >"$VAUBAN_HOME/filler" 2>/dev/null
printf 'a wrong guess\n' >"$TMPDIR/wrong"
status=0; vauban unlock --passcode-fd 3 3<"$TMPDIR/wrong" 2>"$TMPDIR/why" || status=$?
cat "$TMPDIR/why"
[ "$status" = 53 ] || { echo "a guess that cannot be counted answered $status"; exit 1; }
rm "$VAUBAN_HOME/filler" "$VAUBAN_HOME/ballast"
vauban lock && vauban unlock --passcode-fd 3 3<"$TMPDIR/passcode" || { echo 'the state was harmed'; exit 1; }
vauban get big/0 | cmp -s - "$TMPDIR/value" || { echo 'an item was lost'; exit 1; }
# uses ACTION: how many the log has. Equal ones that were written together are one line, with their number.
uses() {
    awk -F'\t' -v action="$1" '{
        many = split($3, what, ", "); if (what[1] != action) next
        times = 1; for (i = 2; i <= many; i++) if (what[i] ~ / times$/) times = what[i] + 0
        sum += times } END { print sum + 0 }' "$TMPDIR/log"
}
# The access log has each add and each read, or says how many could not be recorded.
status=0; vauban log --limit 1000 >"$TMPDIR/log" 2>"$TMPDIR/why" || status=$?
adds=$(uses added) reads=$(uses read)
unrecorded=$(cat "$TMPDIR/log" "$TMPDIR/why" | grep -oE '[0-9]+ uses? before log record' | awk '{ sum += $1 } END { print sum + 0 }')
if [ "$unrecorded" = 0 ]; then
    [ "$status $adds $reads" = "0 $stored $((stored + 1))" ]
else
    [ "$status" = 1 ] && [ "$adds" -le "$stored" ] && [ $((adds + reads + unrecorded)) = $((2 * stored + 1)) ]
fi || {
    cat "$TMPDIR/log" "$TMPDIR/why"
    echo "vauban log ended with $status: $adds adds, $reads reads, $unrecorded not recorded, of $stored items"; exit 1
}
echo "$stored items were kept when the disk became full"
