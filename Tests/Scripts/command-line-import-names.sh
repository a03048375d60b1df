#!/usr/bin/env bash
# Of two records with the same name, each keeps its one-time codes and hidden fields: they have the name of its password, in the first import
# of a file and in each later one.
set -u
. Tests/Scripts/lib/command-line.sh
command -v python3 >/dev/null || { echo 'there is no python3 here'; exit 77; }
is() { [ "$1" = "$2" ] || fail "$3: it is \"$1\", not \"$2\""; }
# missing NAME...: there is no item of these names.
missing() { for name in "$@"; do expect_status 44 vauban get "$name"; done; }
# exported FOLDER...: an export of Bitwarden with a login Router/admin without a URL in each folder. That in Office has codes and a PIN.
exported() {
    python3 - "$@" <<'PYTHON'
import json, sys
def login(folder):
    item = {"type": 1, "name": "Router", "folderId": folder, "login": {"username": "admin", "password": folder + "-password", "uris": []}}
    if folder == "Office":
        item["login"]["totp"] = "otpauth://totp/Router:admin?secret=JBSWY3DPEHPK3PXP&issuer=Router"
        item["fields"] = [{"name": "PIN", "value": "4711", "type": 1}]
    return item
folders = sys.argv[1:]
print(json.dumps({"encrypted": False, "folders": [{"id": name, "name": name} for name in folders], "items": [login(name) for name in folders]}))
PYTHON
}
# report FILE ASSERTION...: the records of a report in JSON fulfil these assertions.
report() { python3 - "$@" <<'PYTHON' || fail 'the report differs'
import json, sys
document = json.load(open(sys.argv[1]))
for assertion in sys.argv[2:]:
    assert eval(assertion, {"records": document["records"], "added": document["added"]}), (assertion, document)
PYTHON
}

# Home comes first: the office's login gets another name, with its code and its PIN, and nothing is attached to the one at home.
exported Home Office >"$TMPDIR/routers.json"
expect_status 0 vauban import --dry-run --json "$TMPDIR/routers.json"; cp "$TMPDIR/out" "$TMPDIR/dry"
expect_status 0 vauban import --json "$TMPDIR/routers.json"
for file in "$TMPDIR/dry" "$TMPDIR/out"; do
    report "$file" 'added == 2' 'records[0]["item"] == "Router/admin" and records[0]["changed"] == []' \
        'records[1]["item"] == "Router (Office)/admin"' \
        'records[1]["changed"] == ["name: taken by another item; this one is Router (Office)/admin"]'
done
routers() {
    is "$(vauban get Router/admin)" "$1" 'the password at home'
    is "$(vauban get 'Router (Office)/admin')" Office-password 'the password of the office'
    is "$(vauban code get 'Router (Office)/admin' --at 59)" 996554 'the code of the office'
    is "$(vauban get 'fields:Router (Office)/admin')" 'PIN: 4711' 'the PIN of the office'
    missing otpauth:Router/admin fields:Router/admin
    vauban code get Router/admin >/dev/null 2>&1 && fail "the login at home has the office's code"
    is "$(vauban list | wc -l)" 4 'the number of items'
}
routers Home-password

# The same file again finds the same names, also after the first password was changed here.
expect_status 0 vauban import --json "$TMPDIR/routers.json"
report "$TMPDIR/out" 'added == 0' '[record["item"] for record in records] == ["Router/admin", "Router (Office)/admin"]'
routers Home-password
printf changed | vauban set Router/admin --replace || fail 'set failed'
expect_status 1 vauban import --json "$TMPDIR/routers.json"
report "$TMPDIR/out" 'added == 0' '[record["outcome"] for record in records] == ["notTaken", "present"]' \
    'records[1]["item"] == "Router (Office)/admin" and records[1]["left"] == []'
routers changed

# The office comes first, and its login keeps the name.
new_keychain
exported Office Home >"$TMPDIR/routers.json"
expect_status 0 vauban import "$TMPDIR/routers.json"
is "$(vauban get Router/admin)" Office-password 'the password of the office'
is "$(vauban code get Router/admin --at 59)" 996554 'the code of the office'
is "$(vauban get 'Router (Home)/admin')" Home-password 'the password at home'
missing 'otpauth:Router (Home)/admin' 'fields:Router (Home)/admin'

# Only one of the record's names belongs to an existing item: the others keep it, and the report names the one that was left out.
new_keychain
exported Home Office >"$TMPDIR/routers.json"
printf 'otpauth://totp/own?secret=GEZDGNBVGY3TQOJQ' | vauban add 'otpauth:Router (Office)/admin' || fail 'add failed'
for added in 2 0; do
    expect_status 1 vauban import --json "$TMPDIR/routers.json"
    report "$TMPDIR/out" "added == $added" 'records[1]["item"] == "Router (Office)/admin" and records[1]["left"] == ["otpauth"]' \
        'records[1]["reason"] == "its otpauth: it already exists with another password"'
    is "$(vauban get 'Router (Office)/admin')" Office-password 'the password of the office'
    is "$(vauban get 'fields:Router (Office)/admin')" 'PIN: 4711' 'the PIN of the office'
    is "$(vauban get 'otpauth:Router (Office)/admin')" 'otpauth://totp/own?secret=GEZDGNBVGY3TQOJQ' 'the existing code'
    missing otpauth:Router/admin
    is "$(vauban list | wc -l)" 4 'the number of items'
done
# An existing login with another password gets neither the code nor the PIN of the record.
new_keychain
exported Office >"$TMPDIR/routers.json"
printf own | vauban add Router/admin || fail 'add failed'
expect_status 1 vauban import --json "$TMPDIR/routers.json"
report "$TMPDIR/out" 'added == 0' 'records[0]["reason"] == "it already exists with another password"'
missing otpauth:Router/admin fields:Router/admin
echo 'codes and fields have the name of the password of their record'
