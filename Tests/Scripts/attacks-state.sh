#!/usr/bin/env bash
# Attacks on the files on disk: as another user, as the database's own user, and with a stolen copy. Each check is an attack of Manual/attacks.md.
set -u
. Tests/Scripts/lib/attacks.sh
cp "$bin/keychain-caller" /usr/local/games/bin/chat; chmod 755 /usr/local/games/bin/chat
begin_attacks
equals "$(by alice /usr/local/games/bin/mail add second 'the other one')" 0 && equals "$(by alice /usr/local/games/bin/chat add c 'of chat')" 0 || exit 1
files=$state/keychain/$(id -u vauban-test-alice)
database=$files/keychain.db

# Alice's program gets EACCES for each way in; root, with the same program, is permitted.
for folder in "$state/enclave" "$state/keychain" "$files"; do
    name=${folder#"$state/"}
    check "A46 looking into a room's folder: refused ($name)" each_stranger "$(stat -c %U "$folder")" 'refused 13' "$TMPDIR/trespasser" look "$folder"
    check "A46 its mode lets nobody else in ($name)" equals "$(stat -c %a "$folder")" 700
    check "A46 giving it another name or mode: refused ($name)" \
        each_stranger "$(stat -c %U "$folder")" "$([ "$folder" = "$files" ] && echo refused 13 13 13 || echo refused 21 13 1)" "$TMPDIR/trespasser" change "$folder"
    check "A46 planting a file, a link, a folder or a socket in it: refused ($name)" \
        each_stranger "$(stat -c %U "$folder")" 'refused 13 13 13 13' "$TMPDIR/trespasser" plant "$folder"
    check "A46 control: root looks and plants ($name)" equals "$(trespass_as_root look "$folder" && trespass_as_root plant "$folder" | xargs)" "$(printf 'done\ndone')"
done
# Each existing file, by its name: a missing one would be refused to every user.
count=0
while read -r file; do
    count=$((count + 1))
    check "A46 reading or writing a room's file: refused (${file#"$state/"})" equals "$(trespass look "$file" && trespass change "$file")" \
        "$(printf 'refused 13\nrefused 13 13 13')"
done < <(find "$state" -type f)
check 'A46 the files were there: the device secret, the keybags, the database, its log, the locks' eval '[ "$count" -ge 5 ]'
check 'A46 a hard link to the database, or from it: refused' \
    equals "$(trespass link "$database" "$own/database" && trespass link "$own/attacker" "$files/planted")" "$(printf 'refused 13\nrefused 13')"
check 'A46 control: root makes that link' equals "$(trespass_as_root link "$database" "$state/linked" && rm "$state/linked")" 'done'
check 'A47 entitlements or rooms of one'"'"'s own: refused' equals "$(trespass plant /etc/vauban/entitlements; trespass plant /etc/vauban; trespass change /etc/vauban/rooms)" \
    "$(printf 'refused 13 13 13 13\nrefused 13 13 13 13\nrefused 13 13 1')"
# A list that other users than root can write is ignored.
printf '<plist version="1.0"><dict><key>vauban-applications</key><array><string>%s</string></array><key>keychain-access-groups</key><array><string>%s</string></array></dict></plist>\n' \
    "$bin_of_root/chat" "$bin_of_root/mail" >/etc/vauban/entitlements/planted.plist
secret_of_mail() { by alice /usr/local/games/bin/chat get a; }
restart_keychain() { kill "$keychain_pid"; wait "$keychain_pid" 2>/dev/null; begin_keychain; }
as_keychain() { as vauban-test-keychain "$TMPDIR/trespasser" "$@"; }
check 'A48 the enclave'"'"'s state, as the database'"'"'s user: refused' \
    equals "$(as_keychain look "$state/enclave"; as_keychain look "$state/enclave/device-secret"; as_keychain plant "$state/enclave")" \
    "$(printf 'refused 13\nrefused 13\nrefused 13 13 13 13')"
check 'A48 control: its own folder' equals "$(as_keychain look "$state/keychain")" 'done'

# As the user of the database, while keychaind does not run.
stop_keychain() { kill "$keychain_pid"; wait "$keychain_pid" 2>/dev/null; }
serves() { by alice /usr/local/games/bin/mail list '' 2>/dev/null | grep -q '^0\|^-25300'; }
begin_keychain() {
    start_keychain; eventually serves && return
    by alice /usr/local/games/bin/mail list ''; return 1
}
# sql PYTHON…: with `rows` and `db`.
sql() { by keychain python3 -c "import sqlite3, sys; db = sqlite3.connect(sys.argv[1]); $1; db.commit(); db.execute('pragma wal_checkpoint(truncate)'); db.close()" "$database"; }
keep() { by keychain rm -rf "$state/keychain/kept"; by keychain cp -a "$files" "$state/keychain/kept"; }
restore_files() { by keychain rm -rf "$files"; by keychain cp -a "$state/keychain/kept" "$files"; }
chown vauban-test-alice /etc/vauban/entitlements/planted.plist; restart_keychain
check 'A47 a list that belongs to the user: not believed' equals "$(secret_of_mail)" -25300
chown root /etc/vauban/entitlements/planted.plist; chmod 666 /etc/vauban/entitlements/planted.plist; restart_keychain
check 'A47 a list that everybody may write: not believed' equals "$(secret_of_mail)" -25300
chmod 644 /etc/vauban/entitlements/planted.plist; restart_keychain
check 'A47 control: the same list where it is root'"'"'s alone' equals "$(secret_of_mail)" '0 of mail'
rm /etc/vauban/entitlements/planted.plist; restart_keychain
stop_keychain; keep
sql "db.executemany('update item set metadata_binding = ?, secret_binding = ? where id = ?', [(m.replace(b':/usr/local/games/bin/mail', b':/usr/local/games/bin/chat'), s.replace(b':/usr/local/games/bin/mail', b':/usr/local/games/bin/chat'), i) for i, m, s in db.execute('select id, metadata_binding, secret_binding from item').fetchall()])"
begin_keychain
quarantined() { by keychain python3 -c "import sqlite3, sys; print(*sqlite3.connect(sys.argv[1]).execute('select count(*) from quarantine').fetchone())" "$database"; }
check 'A49 rows given to another group: they open for nobody, and are put aside' \
    eval 'equals "$(by alice /usr/local/games/bin/chat list "")" "0 c@program:/usr/local/games/bin/chat" &&
        equals "$(by alice /usr/local/games/bin/chat get a)" -25300 && equals "$(by alice /usr/local/games/bin/mail get a)" -25300 && equals "$(quarantined)" 2'
stop_keychain; restore_files
sql "rows = [row for row in db.execute('select id, secret, wrapped_key, secret_binding from item order by id').fetchall() if b':/usr/local/games/bin/mail' in row[3]]; db.executemany('update item set secret = ?, wrapped_key = ?, secret_binding = ? where id = ?', [(*rows[1][1:], rows[0][0]), (*rows[0][1:], rows[1][0])])"
begin_keychain
check 'A50 values exchanged between rows: they open for nobody, and are put aside' \
    eval 'equals "$(by alice /usr/local/games/bin/mail get a)" -25300 && equals "$(by alice /usr/local/games/bin/mail get second)" -25300 && equals "$(quarantined)" 2'
stop_keychain; restore_files; begin_keychain
check 'the database as it was opens' equals "$(by alice /usr/local/games/bin/mail get a)" '0 of mail'
equals "$(by alice /usr/local/games/bin/mail delete a)" 0 && equals "$(by alice /usr/local/games/bin/mail get a)" -25300 || failures=$((failures + 1))
stop_keychain; restore_files; begin_keychain
check 'A51 an older database put back: succeeds, what was deleted is there again' equals "$(by alice /usr/local/games/bin/mail get a)" '0 of mail'

# The record of wrong passcodes, as the enclave's own user.
cp -a "$state/enclave" "$state/enclave.kept"
wrong() { printf 'wrong\n' >"$TMPDIR/wrong"; for _ in 1 2 3; do as vauban-test-alice "$bin/vauban" unlock --passcode-fd 3 3<"$TMPDIR/wrong" 2>/dev/null; done; }
tries() { eventually rooms_answer && sed -n 's/.*; \([0-9]\) attempts left before.*/\1/p' "$TMPDIR/status"; }
another_enclave() { kill "$enclave_pid"; wait "$enclave_pid" 2>/dev/null; rm -rf "$state/enclave"; "$@"; start_enclave; }
alice lock 2>/dev/null; wrong
check 'wrong passcodes are counted' equals "$(tries)" 2
another_enclave cp -a "$state/enclave.kept" "$state/enclave"
check 'A52 an older state of the enclave put back: succeeds, tries are there again' equals "$(tries)" 5
with_passcode alice unlock 2>/dev/null; check 'and the items open' equals "$(by alice /usr/local/games/bin/mail get a)" '0 of mail'

# Root's vauban-state runs in folders of the rooms; `rm` is simulated, so that a link appears right after it was removed.
echo 'of root' >"$TMPDIR/roots"; chmod 600 "$TMPDIR/roots"
mkdir "$TMPDIR/tools" && printf '#!/bin/sh\n/bin/rm "$@"\nfor path; do case $path in *holder.new) ln -s "%s" "$path" ;; esac; done\n' "$TMPDIR/roots" >"$TMPDIR/tools/rm"
chmod 755 "$TMPDIR/tools" "$TMPDIR/tools/rm"
alice_uid=$(id -u vauban-test-alice)
holders() { cat "$state/enclave/people/$alice_uid/holder" "$state/keychain/$alice_uid/holder"; }
keep() { PATH="$1$PATH" sh "$PWD/Install/vauban/vauban-state" --state "$state" keep "$alice_uid"; }
check 'A144 links in the way of vauban-state, as either room: refused' \
    eval 'keep "$TMPDIR/tools:" >"$TMPDIR/out" 2>&1; [ "$(cat "$TMPDIR/roots")" = "of root" ] && [ "$(stat -c %U:%a "$TMPDIR/roots")" = root:600 ]'
for folder in "$state/enclave/people/$alice_uid" "$state/keychain/$alice_uid"; do [ ! -L "$folder/holder.new" ] || rm "$folder/holder.new"; done
check 'A144 control: without them it writes the holder' \
    eval 'keep "" >"$TMPDIR/out" 2>&1 && equals "$(holders | grep -c "^$alice_uid vauban-test-alice$")" 2 || { cat "$TMPDIR/out"; false; }'

# A stolen copy: the same database, and an enclave with another device secret.
written() { grep -rqaF -e "$1" "$state/keychain"; }
check 'A53 the database alone: no name and no value in the clear' eval '! written "of mail" && ! written "the other one" && ! written callers'
check 'A53 control: what is written in the clear would be found, as the group is' written "$bin_of_root/mail"
another_enclave install -d -m 700 -o vauban-test-enclave -g vauban-test-enclave "$state/enclave"
tries >/dev/null
check 'A53 with another enclave: nothing opens, with the same passcode' \
    eval 'with_passcode alice passcode set 2>/dev/null; equals "$(by alice /usr/local/games/bin/mail get a)" -25291 &&
        equals "$(by alice /usr/local/games/bin/mail list "")" -25291'
stop_keychain; by keychain rm -rf "$files"; begin_keychain
check 'A53 control: the same rooms serve the same user anew' \
    equals "$(by alice /usr/local/games/bin/mail add a new && by alice /usr/local/games/bin/mail get a)" "$(printf '0\n0 new')"
finish
