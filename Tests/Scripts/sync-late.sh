#!/usr/bin/env bash
# A file that an earlier run of vauban sync sent arrives only after the next run has read this device's own files, since etcd may perform a
# request of a killed run late. The run reads the file and continues after it; a file in its place that this device did not write is refused.
# limit: 600
set -u
. Tests/Scripts/lib/command-line.sh
. Tests/Scripts/lib/circle.sh
gcc -O1 -shared -fPIC -o "$TMPDIR/late-file.so" Tests/Scripts/lib/late-file.c 2>/dev/null || { echo 'a library cannot be built here'; exit 77; }
late() { expect_status "$1" env LATE_FILE="$TMPDIR/late" LD_PRELOAD="$TMPDIR/late-file.so" setsid --wait "$VAUBAN_BUILD/vauban" sync </dev/null; }
files() { ls "$folder"/devices/"$identity"* | paste -sd' '; }

set_passcode
own 0 sync new "$folder" --name keychain
new_device laptop; join laptop keychain
device keychain; item s first one; sync keychain; sync laptop; has laptop s/first one
device keychain; own 0 sync status; identity=$(sed -n 's/^Device *keychain *\([0-9a-f]*\).*/\1/p' "$TMPDIR/out")
equals "$(files)" 00000001

# A run sends a file that has not arrived yet and that the state of the device does not record.
cp -a "$VAUBAN_HOME/sync" "$TMPDIR/before"
printf two | vauban set s/first --replace; sync keychain; text '1 sent.'
mv "$folder"/devices/"$identity"*/00000002 "$TMPDIR/late"
rm -rf "$VAUBAN_HOME/sync"; cp -a "$TMPDIR/before" "$VAUBAN_HOME/sync"
item s second three
late 0; text ' sent.'
equals "$(files)" '00000001 00000002 00000003'
cmp -s "$TMPDIR/late" "$folder"/devices/"$identity"*/00000002 || fail 'the file of the earlier run was replaced'
sync laptop; has laptop s/first two; has laptop s/second three
sync keychain; text '0 changes received, 0 sent.'
printf four | vauban set s/second --replace; sync keychain; sync laptop; has laptop s/second four

# A file that it did not write at this place is refused.
device keychain; cp "$folder"/devices/"$identity"*/00000001 "$TMPDIR/late.other"; mv "$TMPDIR/late.other" "$TMPDIR/late"
printf five | vauban set s/second --replace
late 64; text 'a file of this device that it did not write'
rm "$folder"/devices/"$identity"*/00000005; sync keychain; sync laptop; has laptop s/second five
echo 'a file that an earlier run sent is read when it arrives, and nothing is lost'
