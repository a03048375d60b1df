#!/usr/bin/env bash
# Hostile files: archives that expand, that name paths outside, that state false sizes; duplicate columns, deep JSON and XML, entities,
# fields that are too large. The import neither hangs nor writes files, and imports the valid records beside them.
set -u
. Tests/Scripts/lib/command-line.sh
command -v python3 >/dev/null || { echo 'there is no python3 here'; exit 77; }
cat >"$TMPDIR/make.py" <<'PYTHON'
import os, struct, sys, zipfile, zlib
folder = sys.argv[1]
data = open("Vectors/import/1password-export.data", "rb").read()
def write(name, content):
    with open(os.path.join(folder, name), "wb") as file: file.write(content)
def archive(name, members):
    with zipfile.ZipFile(os.path.join(folder, name), "w", zipfile.ZIP_DEFLATED) as file:
        for path, content in members: file.writestr(path, content)
archive("slip.1pux", [("../../slipped", b"x"), ("/tmp/vauban-slipped", b"x"), ("export.data", data)])
archive("bomb.1pux", [("export.data", b" " * (300 << 20))])
archive("spaces.1pux", [("export.data", b" " * (100 << 20))])
archive("none.1pux", [("data", data)])
archive("good.1pux", [("export.data", data)])
with zipfile.ZipFile(os.path.join(folder, "stored.1pux"), "w", zipfile.ZIP_STORED) as file: file.writestr("export.data", data)
good = open(os.path.join(folder, "good.1pux"), "rb").read()
start = good.rindex(b"PK\x01\x02")
def patched(name, offset, packed):
    content = bytearray(good)
    content[start + offset:start + offset + len(packed)] = packed
    write(name, bytes(content))
patched("length.1pux", 24, struct.pack("<I", len(data) + 1))
patched("huge.1pux", 24, struct.pack("<I", 200 << 20))
patched("sum.1pux", 16, struct.pack("<I", 1))
patched("offset.1pux", 42, struct.pack("<I", 0x7FFFFFFF))
patched("packed.1pux", 20, struct.pack("<I", 0x7FFFFFFF))
patched("method.1pux", 10, struct.pack("<H", 12))
patched("encrypted.1pux", 8, struct.pack("<H", 1))
patched("name.1pux", 28, struct.pack("<H", 0xFFFF))
for size in range(0, len(good), max(1, len(good) // 40)): write("cut-%d.1pux" % size, b"PK\x03\x04" + good[4:size])
for place in range(0, len(good), max(1, len(good) // 60)):
    content = bytearray(good); content[place] ^= 0x41; content[:4] = b"PK\x03\x04"
    write("flip-%d.1pux" % place, bytes(content))
import warnings
warnings.simplefilter("ignore")
archive("twice.1pux", [("export.data", data), ("export.data", data)])
write("deep.json", b'{"encrypted":false,"items":' + b"[" * 100000)
write("keys.json", b'{"encrypted":false,"items":[],' + b",".join(b'"k%d":0' % n for n in range(200000)) + b"}")
write("values.json", b'{"encrypted":false,"items":[' + b"0," * 9000000 + b"0]}")
xml = open("Vectors/import/keepassxc.xml", "rb").read()
entity = b'<!DOCTYPE KeePassFile [<!ENTITY a "aaaaaaaaaa">' + b"".join(b'<!ENTITY %c "%s">' % (98 + n, b"&%c;" % (97 + n) * 10) for n in range(9)) + b"]>"
write("entities.xml", xml.replace(b"?>\n", b"?>\n" + entity, 1).replace(b"kx-gone", b"&j;"))
write("outside.xml", xml.replace(b"?>\n", b'?>\n<!DOCTYPE KeePassFile [<!ENTITY o SYSTEM "file:///etc/passwd">]>', 1).replace(b"kx-gone", b"&o;"))
write("type.xml", xml.replace(b"?>\n", b'?>\n<!DOCTYPE KeePassFile SYSTEM "http://127.0.0.1:1/a.dtd">', 1))
write("undeclared.xml", xml.replace(b"kx-gone", b"&j;"))
write("deep.xml", b"<KeePassFile><Root>" + b"<Group>" * 100000)
write("groups.xml", b"<KeePassFile><Root>" + b"<Group><Name>g</Name>" * 200 + b"</Group>" * 200 + b"</Root></KeePassFile>")
write("many.xml", b"<KeePassFile><Root><Group>" + b"<Entry/>" * 1100000 + b"</Group></Root></KeePassFile>")
write("other.xml", b"<html><body>no export</body></html>")
write("bytes.xml", xml.replace(b"kx-gone", b"\xff"))
write("inner.xml", xml.replace(b"ProtectInMemory", b"Protected"))
for size in range(0, len(xml) - 16, len(xml) // 40): write("cut-%d.xml" % size, b"<?xml" + xml[5:max(size, 5)])
# Many values of one name in many versions, and circular references.
part = b"<String><Key>K</Key><Value>v</Value></String>"
write("wide.xml", b"<KeePassFile><Root><Group><Entry>" + part * 100000 + b"<String><Key>Password</Key><Value>secret-wide</Value></String>"
    + b"<String><Key>Title</Key><Value>wide</Value></String><History>"
    + (b"<Entry>" + part.replace(b"v", b"w") * 10000 + b"</Entry>") * 20 + b"</History></Entry></Group></Root></KeePassFile>")
def circle(number, other): return (b"<Entry><UUID>AAAAAAAAAAAAAAAAAAAA%s==</UUID><String><Key>Title</Key><Value>circle</Value></String>" % number
    + b"<String><Key>Password</Key><Value>{REF:P@I:%s}</Value></String></Entry>" % other)
write("circle.xml", b"<KeePassFile><Root><Group>" + circle(b"AA", b"0" * 31 + b"1") + circle(b"AQ", b"0" * 32) + b"</Group></Root></KeePassFile>")
write("twice.csv", b"name,url,username,password,Password\na,https://a.example/,b,c,d\n")
write("quotes.csv", b"name,url,username,password\n" + b'a",",\n' * 150000 + b"z,https://z.example/,u,secret-z\n")
write("members.json", b'{"encrypted":false,"folders":[],"items":[{"type":3,"name":"wide","card":{'
    + b",".join(b'"k%d":"v"' % n for n in range(60000)) + b"}}]}")
write("addresses.csv", b"name,url,username,password\nshop,https://anna:secret-a@shop.example:99999/x,anna,secret-p\n"
    + b",anna:secret-b@bare.example,anna,secret-q\n")
write("large.csv", b"name,url,username,password,note\n"
    + b"a,https://a.example/,u," + b"p" * (1 << 20) + b"p,\n"
    + b"b,https://b.example/,u,secret-b," + b"n" * (2 << 20) + b"\n"
    + b"c,https://c.example/," + b"u" * 70000 + b",secret-c,\n"
    + b"d,https://d.example/,u,secret-d," + b"n" * 20000 + b"\n"
    + b"e,https://e.example/,u,secret-e,fine\n")
PYTHON
python3 "$TMPDIR/make.py" "$TMPDIR" || fail 'the files could not be made'

for name in bomb none length huge sum offset packed method encrypted name twice; do
    expect_status 64 vauban import "$TMPDIR/$name.1pux"
done
expect_status 64 vauban import "$TMPDIR/spaces.1pux"
for file in "$TMPDIR"/cut-*.1pux; do vauban import "$file" >/dev/null 2>"$TMPDIR/err"; [ $? = 64 ] || { cat "$TMPDIR/err"; fail "$file was accepted"; }; done
# An altered byte may be accepted where it changes nothing that matters, such as in a date; it must not lead to a crash or a wrong item.
for file in "$TMPDIR"/flip-*.1pux; do vauban import --dry-run "$file" >/dev/null 2>&1; status=$?; case $status in 64 | 1) ;; *) fail "$file ended with $status" ;; esac; done
vauban list 2>&1 | grep -q 'No items yet' || fail 'an item was imported from a damaged archive'
expect_status 1 vauban import "$TMPDIR/slip.1pux"
expect_text '6 added' "$TMPDIR/err"
[ ! -e /tmp/vauban-slipped ] && [ ! -e "$TMPDIR/../slipped" ] && [ ! -e ../slipped ] && [ ! -e ../../slipped ] || fail 'an archive was unpacked'
new_keychain
expect_status 1 vauban import "$TMPDIR/stored.1pux"
expect_text '6 added' "$TMPDIR/err"

new_keychain
expect_status 64 vauban import "$TMPDIR/deep.json"
expect_status 0 vauban import "$TMPDIR/keys.json"
expect_status 64 vauban import "$TMPDIR/values.json"
for name in entities outside type undeclared deep groups many other bytes; do
    expect_status 64 vauban import "$TMPDIR/$name.xml"
    expect_text 'nothing was imported' "$TMPDIR/err"
done
for file in "$TMPDIR"/cut-*.xml; do vauban import "$file" >/dev/null 2>"$TMPDIR/err"; [ $? = 64 ] || { cat "$TMPDIR/err"; fail "$file was accepted"; }; done
vauban list 2>&1 | grep -q 'No items yet' || fail 'an item was imported from damaged XML'
# The inner stream of a database is encrypted a second time.
expect_status 1 vauban import "$TMPDIR/inner.xml"
expect_text 'its protected values are encrypted' "$TMPDIR/err"
expect_status 1 vauban import "$TMPDIR/circle.xml"
expect_text 'left: password: refers to another entry' "$TMPDIR/out"
expect_status 0 vauban import "$TMPDIR/wide.xml"
[ "$(vauban get wide)" = secret-wide ] || fail 'a password beside many values was lost'
expect_status 64 vauban import "$TMPDIR/twice.csv"
expect_text 'names the column "Password" twice' "$TMPDIR/err"

# Oversized records are reported by line; the others are imported.
expect_status 1 vauban import "$TMPDIR/large.csv"
expect_text 'line 2: not imported: its password is larger than 1 MiB' "$TMPDIR/err"
expect_text 'line 3: not imported: its protected fields is larger than 1 MiB' "$TMPDIR/err"
expect_text 'line 4: not imported: its name, address and notes exceed the size of an item' "$TMPDIR/err"
expect_text '2 added, 0 already exist, 3 not imported' "$TMPDIR/err"
grep -q 'secret-' "$TMPDIR/err" "$TMPDIR/out" && fail 'a message shows a password'
[ "$(vauban get e.example/u)" = secret-e ] || fail 'the record after an oversized one was lost'
[ "$(vauban get fields:d.example/u | wc -c)" = 20007 ] || fail 'long notes are incomplete'

# Input whose cost would grow with each line or field.
new_keychain
expect_status 1 vauban import "$TMPDIR/quotes.csv"
expect_text '1 added, 0 already exist, 150000 not imported' "$TMPDIR/err"
expect_text 'line 150001: not imported: a quote is never closed' "$TMPDIR/err"
[ "$(vauban get z.example/u)" = secret-z ] || fail 'the record after an unclosed quote was lost'
expect_status 0 vauban import "$TMPDIR/members.json"

# An address without a server can also contain a password.
new_keychain
expect_status 0 vauban import "$TMPDIR/addresses.csv"
for item in shop/anna unnamed/anna; do
    expect_status 0 vauban show "$item"
    cat "$TMPDIR/out" "$TMPDIR/err" >>"$TMPDIR/shown"
done
vauban list >>"$TMPDIR/shown" 2>&1
grep -q secret- "$TMPDIR/shown" && fail 'a password in an address is shown'
vauban get fields:unnamed/anna | grep -q secret-b || fail 'an address was lost'
echo 'hostile files do no harm'
