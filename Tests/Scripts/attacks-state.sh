#!/usr/bin/env bash
# What programs do to what lies on the disk, tried: as another user, as the database's own user, and with a stolen copy. Each check is an
# attack of Manual/attacks.md.
set -u
. Tests/Scripts/lib/attacks.sh
cp "$bin/keychain-caller" /usr/local/games/bin/chat; chmod 755 /usr/local/games/bin/chat
begin_attacks
equals "$(by alice /usr/local/games/bin/mail add second 'the other one')" 0 && equals "$(by alice /usr/local/games/bin/chat add c 'of chat')" 0 || exit 1
files=$state/keychain/$(id -u vauban-test-alice)
database=$files/keychain.db

for folder in "$state/enclave" "$state/keychain" "$files"; do
    check "A46 looking into, linking into or filling a room's folder: refused (${folder#"$state/"})" eval '! by alice ls "$folder" 2>/dev/null && (for file in $(cd "$folder" && find . -maxdepth 1 -type f); do ! by alice cat "$folder/$file" >/dev/null 2>&1 || exit 1; done) && equals "$(stat -c %a "$folder")" 700 && ! by alice ln -s /etc/passwd "$folder/keychaind.lock" 2>/dev/null && ! by alice mv "$folder" "$folder.old" 2>/dev/null && ! by alice touch "$folder/x" 2>/dev/null'
done
check 'A46 a hard link to the database, or from it: refused' eval '! by alice ln "$database" "$own/database" 2>/dev/null && ! by alice ln "$own/attacker" "$database-wal" 2>/dev/null'
check 'A47 entitlements or rooms of one'"'"'s own: refused' eval '! by alice cp "$own/attacker" /etc/vauban/entitlements/a.plist 2>/dev/null && ! by alice sh -c "echo >>/etc/vauban/rooms" 2>/dev/null && ! by alice mv /etc/vauban/rooms /etc/vauban/x 2>/dev/null'
check 'A48 the enclave'"'"'s state, as the database'"'"'s user: refused' eval '! by keychain ls "$state/enclave" 2>/dev/null && ! by keychain cat "$state/enclave/device-secret" 2>/dev/null'

# As the user of the database, while keychaind does not run.
stop_keychain() { kill "$keychain_pid"; wait "$keychain_pid" 2>/dev/null; }
begin_keychain() { start_keychain; for _ in $(seq 1000); do by alice /usr/local/games/bin/mail list '' 2>/dev/null | grep -q '^0\|^-25300' && return; done; by alice /usr/local/games/bin/mail list ''; return 1; }
# sql PYTHON…: with `rows` and `db`.
sql() { by keychain python3 -c "import sqlite3, sys; db = sqlite3.connect(sys.argv[1]); $1; db.commit(); db.execute('pragma wal_checkpoint(truncate)'); db.close()" "$database"; }
keep() { by keychain rm -rf "$state/keychain/kept"; by keychain cp -a "$files" "$state/keychain/kept"; }
put_back() { by keychain rm -rf "$files"; by keychain cp -a "$state/keychain/kept" "$files"; }
stop_keychain; keep
sql "db.executemany('update item set metadata_binding = ?, secret_binding = ? where id = ?', [(m.replace(b':/usr/local/games/bin/mail', b':/usr/local/games/bin/chat'), s.replace(b':/usr/local/games/bin/mail', b':/usr/local/games/bin/chat'), i) for i, m, s in db.execute('select id, metadata_binding, secret_binding from item').fetchall()])"
begin_keychain
put_aside() { by keychain python3 -c "import sqlite3, sys; print(*sqlite3.connect(sys.argv[1]).execute('select count(*) from quarantine').fetchone())" "$database"; }
check 'A49 rows given to another group: they open for nobody, and are put aside' eval 'equals "$(by alice /usr/local/games/bin/chat list "")" "0 c@program:/usr/local/games/bin/chat" && equals "$(by alice /usr/local/games/bin/chat get a)" -25300 && equals "$(by alice /usr/local/games/bin/mail get a)" -25300 && equals "$(put_aside)" 2'
stop_keychain; put_back
sql "rows = db.execute('select id, secret, wrapped_key, secret_binding from item order by id').fetchall(); db.executemany('update item set secret = ?, wrapped_key = ?, secret_binding = ? where id = ?', [(*rows[1][1:], rows[0][0]), (*rows[0][1:], rows[1][0])])"
begin_keychain
check 'A50 values exchanged between rows: they open for nobody, and are put aside' eval 'equals "$(by alice /usr/local/games/bin/mail get a)" -25300 && equals "$(by alice /usr/local/games/bin/mail get second)" -25300 && equals "$(put_aside)" 2'
stop_keychain; put_back; begin_keychain
check 'the database as it was opens' equals "$(by alice /usr/local/games/bin/mail get a)" '0 of mail'
equals "$(by alice /usr/local/games/bin/mail delete a)" 0 && equals "$(by alice /usr/local/games/bin/mail get a)" -25300 || failures=$((failures + 1))
stop_keychain; put_back; begin_keychain
check 'A51 an older database put back: succeeds, what was deleted is there again' equals "$(by alice /usr/local/games/bin/mail get a)" '0 of mail'

# The record of wrong passcodes, as the enclave's own user.
cp -a "$state/enclave" "$state/enclave.kept"
wrong() { printf 'wrong\n' >"$TMPDIR/wrong"; for _ in 1 2 3; do as vauban-test-alice "$bin/vauban" unlock --passcode-fd 3 3<"$TMPDIR/wrong" 2>/dev/null; done; }
tries() { for _ in $(seq 1000); do alice status >"$TMPDIR/status" 2>/dev/null && sed -n 's/.*; \([0-9]\) tries left before.*/\1/p' "$TMPDIR/status" && return; done; }
another_enclave() { kill "$enclave_pid"; wait "$enclave_pid" 2>/dev/null; rm -rf "$state/enclave"; "$@"; start_enclave; }
alice lock 2>/dev/null; wrong
check 'wrong passcodes are counted' equals "$(tries)" 2
another_enclave cp -a "$state/enclave.kept" "$state/enclave"
check 'A52 an older state of the enclave put back: succeeds, tries are there again' equals "$(tries)" 5
with_passcode alice unlock 2>/dev/null; check 'and the items open' equals "$(by alice /usr/local/games/bin/mail get a)" '0 of mail'

# A stolen copy: the same database, and an enclave with a device secret of its own.
check 'A53 the database alone: no name and no value in the clear' eval '[ -s "$database" ] && ! grep -rqaF -e "of mail" -e "the other one" -e callers "$state/keychain"'
another_enclave install -d -m 700 -o vauban-test-enclave -g vauban-test-enclave "$state/enclave"
tries >/dev/null
check 'A53 with another enclave: nothing opens, with the same passcode' eval 'with_passcode alice passcode set 2>/dev/null; equals "$(by alice /usr/local/games/bin/mail get a)" -25291 && equals "$(by alice /usr/local/games/bin/mail list "")" -25291'
finish
