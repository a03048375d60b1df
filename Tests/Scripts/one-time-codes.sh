#!/usr/bin/env bash
# proves: C-244 C-245 C-246
# One-time codes: keys as items, codes that another implementation accepts, QR codes from pictures, and counters that give each code once.
# limit: 600
set -u
. Tests/Scripts/lib/command-line.sh
for tool in oathtool qrencode zbarimg convert python3; do command -v "$tool" >/dev/null || { echo "there is no $tool here"; exit 77; }; done
key=JBSWY3DPEHPK3PXPJBSWY3DPEHPK3PXP
refused() {
    local code=$1 text=$2; shift 2; "$@" >"$TMPDIR/out" 2>"$TMPDIR/err"; local got=$?; [ $got = "$code" ] ||
        { cat "$TMPDIR/err"; fail "$* ended with $got, not $code"; }; expect_text "$text" "$TMPDIR/err"
}

# A bare key becomes an ordinary item beside its password, and its codes are those of oathtool, which represents the server.
printf 's3cret' | vauban set github/anna || fail 'set failed'
printf %s "$key" | vauban code add github/anna 2>"$TMPDIR/err" || { cat "$TMPDIR/err"; fail 'a bare key was refused'; }
[ "$(vauban get github/anna)" = s3cret ] || fail 'the password changed after its code was added'
[ "$(vauban get otpauth:github/anna)" = "otpauth://totp/github:anna?secret=$key&issuer=github" ] || fail 'the item is not the address'
for moment in 0 59 1111111109 2000000000 20000000000; do
    [ "$(vauban code get github/anna --at $moment)" = "$(oathtool --totp -b --now "@$moment" $key)" ] || fail "another code than oathtool's at $moment"
done
[ "$(vauban code get github/anna --at 2005-03-18T01:58:29Z)" = "$(vauban code get github/anna --at 1111111109)" ] || fail 'a date was read as another time'
before=$(oathtool --totp -b $key); now=$(vauban code get github/anna); after=$(oathtool --totp -b $key)
[ "$now" = "$before" ] || [ "$now" = "$after" ] || fail 'the code of now is not accepted'

# -c copies, as in vauban get.
refused 64 'No clipboard' env -u DISPLAY -u WAYLAND_DISPLAY "$VAUBAN_BUILD/vauban" code get github/anna -c

# On a terminal it says how long the code is valid, and whether anything sets the clock.
for clock in 0 5; do # TIME_OK and TIME_ERROR of adjtimex.
    command -v gcc >/dev/null || { echo 'open: the note about the clock: there is no gcc here'; break; }
    gcc -shared -fPIC -o "$TMPDIR/clock-$clock.so" -x c - <<<"struct timex; int adjtimex(struct timex *state) { return $clock; }" ||
        fail 'the clock cannot be simulated'
    play env LD_PRELOAD="$TMPDIR/clock-$clock.so" "$VAUBAN_BUILD/vauban" code get github/anna >"$TMPDIR/shown.$clock" 2>&1 <<<'expect Valid for' ||
        { cat "$TMPDIR/shown.$clock"; fail 'a code on a terminal does not say how long it is valid'; }
done
if [ -e "$TMPDIR/shown.5" ]; then
    expect_text "Note: This machine's clock is not synchronized. If the site refuses the code, check the time." "$TMPDIR/shown.5"
    grep -q 'not synchronized' "$TMPDIR/shown.0" && fail 'a clock that is set is said not to be'
fi

# Nothing instead of a key: no option stores it.
refused 64 'The secret is empty; nothing was changed' vauban code add github/bert </dev/null
grep -q -- --empty "$TMPDIR/err" && fail 'an option is named that a key does not have'

# Algorithms, digits and periods of an address; Steam.
printf 'otpauth://totp/X:bert?secret=%s&algorithm=SHA256&digits=8&period=60' "$key" | vauban code add x/bert 2>/dev/null || fail 'an address was refused'
[ "$(vauban code get x/bert --at 59)" = "$(oathtool --totp=sha256 -d 8 -s 60 -b --now @59 $key)" ] || fail 'SHA-256 codes differ'
[ "$(vauban code list | cut -f1 | sort | tr '\n' ' ')" = 'github/anna x/bert ' ] || { vauban code list; fail 'the list differs'; }

# A renamed password leaves its code behind, and the message names the command that renames it too.
printf p | vauban set x/bert && printf p | vauban set --url https://zoe@port.example:8443/ &&
    printf %s "$key" | vauban code add port.example:8443/zoe 2>/dev/null || fail 'set failed'
renames_both() { # renames_both COMMAND...: renames, and runs the command that the message names.
    vauban "$@" 2>"$TMPDIR/err" || { cat "$TMPDIR/err"; fail "vauban $* failed"; }
    told=$(sed -n 's/^Its one-time code kept the old name. To rename it too: vauban //p' "$TMPDIR/err")
    [ -n "$told" ] && eval "vauban $told" || { cat "$TMPDIR/err"; fail "the command that vauban $1 printed does not work"; }
}
renames_both rename x/bert 'x/the bert'
[ "$(vauban code get 'x/the bert' --at 59)" = "$(oathtool --totp=sha256 -d 8 -s 60 -b --now @59 $key)" ] || fail 'the code did not come along'
renames_both rename 'x/the bert' x/bert
renames_both edit --server port.example --user zia
renames_both edit --server port.example --website https://port.example/
[ "$(vauban code get port.example/zia --at 59)" = "$(oathtool --totp -b --now @59 $key)" ] || fail 'the code of a port did not come along'
vauban edit --server port.example --label Port 2>"$TMPDIR/err" || fail 'edit failed'
grep -q 'one-time code' "$TMPDIR/err" && fail 'an edit of the label speaks of the code'
vauban delete --yes otpauth:port.example/zia >/dev/null 2>&1 || fail 'delete failed'

# An address as an argument, which Vauban overwrites at once, and from standard input.
vauban code add y/cora --uri "otpauth://totp/Y:cora?secret=$key&digits=8" 2>/dev/null || fail 'an address as an argument was refused'
[ "$(vauban code get y/cora --at 59)" = "$(oathtool --totp -d 8 -b --now @59 $key)" ] || fail 'an address as an argument gave another key'
printf 'otpauth://totp/Y:dan?secret=%s' "$key" | vauban code add y/dan --uri - 2>/dev/null || fail 'an address from standard input was refused'
refused 64 'Use one of' vauban code add y/eve --uri "otpauth://totp/Y:eve?secret=$key" --picture one.png
refused 64 'has no secret' vauban code add y/eve --uri 'otpauth://totp/Y:eve?issuer=b'

# Each code advances the counter durably, and twenty concurrent requests each get another code.
printf 'otpauth://hotp/C:anna?secret=GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ&counter=0' | vauban code add c/anna 2>/dev/null || fail 'a counter was refused'
[ "$(vauban code get c/anna) $(vauban code get c/anna)" = '755224 287082' ] || fail 'not the codes of RFC 4226'
for n in $(seq 20); do vauban code get c/anna >"$TMPDIR/code.$n" & done; wait
[ "$(cat "$TMPDIR"/code.*| wc -c)" -ge 120 ] || fail 'a code is missing'
for n in $(seq 20); do cat "$TMPDIR/code.$n"; echo; done | sort >"$TMPDIR/given"
for n in $(seq 2 21); do oathtool -c $n -b GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ; done | sort >"$TMPDIR/wanted"
diff "$TMPDIR/given" "$TMPDIR/wanted" >&2 || fail 'twenty at once did not get twenty codes'

# Killed at any moment of its run, it prints no code twice: the counter is stored before the code appears. The kills are spread over the length
# of a run, which is counted in turns of a loop that the shell makes meanwhile.
killed() { # killed TURNS: runs it, and kills it after so many turns; without a number it counts the turns until it ends.
    # Emptied here, since the kill may come before the shell that runs it does so.
    : >"$TMPDIR/killed"
    "$VAUBAN_BUILD/vauban" code get k/anna >"$TMPDIR/killed" 2>/dev/null & run=$!
    turns=0
    while kill -0 $run 2>/dev/null && [ $turns != "${1:-}" ]; do turns=$((turns + 1)); done
    kill -KILL $run 2>/dev/null; wait $run 2>/dev/null
    cat "$TMPDIR/killed" >>"$TMPDIR/appeared"; echo >>"$TMPDIR/appeared"
}
rfc=GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ
printf 'otpauth://hotp/K:anna?secret=%s&counter=0' $rfc | vauban code add k/anna 2>/dev/null || fail 'a counter was refused'
: >"$TMPDIR/appeared"
# The shortest of three runs: if the machine halts during one, it has too many turns, and no kill would come before the end of a run.
whole=
for n in 1 2 3; do killed; [ -n "$whole" ] && [ $turns -ge "$whole" ] || whole=$turns; done
for n in $(seq 60); do
    killed $((whole * n / 50))
    # What comes after each kill is a new code too.
    [ $((n % 4)) != 0 ] || { vauban code get k/anna >>"$TMPDIR/appeared" || fail 'there is no code after a kill'; echo >>"$TMPDIR/appeared"; }
done
oathtool -c 0 -w 200 -b $rfc >"$TMPDIR/wanted"
python3 - "$TMPDIR/wanted" "$TMPDIR/appeared" <<'PY' || fail 'a code appeared twice, or is none of the key'
import sys
wanted, appeared = (open(path).read().split() for path in sys.argv[1:])
counters = [wanted.index(code) for code in appeared]
assert len(counters) < 78, 'no run was killed before its end'
print(len(counters), 'codes appeared, the last one with the counter', counters[-1])
sys.exit(not all(before < after for before, after in zip(counters, counters[1:])))
PY

# Devices that share an item would reset each other's counters, so such a key is refused.
shared() { printf '[{"service": "otpauth:s", "account": "%s", "secret": "otpauth://%s", "synchronizable": true}]' "$1" "$2" >"$TMPDIR/shared.json"; }
shared anna 'hotp/S:anna?secret=GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ&counter=0'
refused 64 'cannot be synchronizable' vauban add --json "$TMPDIR/shared.json"
expect_status 1 vauban import "$TMPDIR/shared.json"; expect_text 'cannot be synchronizable' "$TMPDIR/out"
shared bert "totp/S:bert?secret=$key"
vauban add --json "$TMPDIR/shared.json" 2>/dev/null && [ "$(vauban code get s/bert --at 59)" = "$(oathtool --totp -b --now @59 $key)" ] ||
    fail 'a shared key that needs no counter gives no code'
printf 'otpauth://hotp/S:bert?secret=%s&counter=0' "$key" >"$TMPDIR/counts"
refused 64 'cannot be synchronizable' vauban set otpauth:s/bert --replace <"$TMPDIR/counts"
[ "$(vauban code get s/bert --at 59)" = "$(oathtool --totp -b --now @59 $key)" ] || fail 'a refused key replaced another'
vauban delete --yes otpauth:s/bert >/dev/null 2>&1 || fail 'delete failed'

# A counter has no code for a time, and that request does not advance it.
refused 64 'counts its codes' vauban code get c/anna --at 59
[ "$(vauban code get c/anna)" = "$(oathtool -c 22 -b GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ)" ] || fail 'a refused request used up a code'

# A new value has its own counter, whether it replaces another key or is the first, and a key without a counter removes it.
hotp() { printf 'otpauth://hotp/R:anna?secret=%s&counter=%s' "$1" "$2"; }
hotp $rfc 7 | vauban code add r/anna 2>/dev/null || fail 'a counter was refused'
[ "$(vauban code get r/anna) $(vauban code get r/anna)" = "$(oathtool -c 7 -b $rfc) $(oathtool -c 8 -b $rfc)" ] || fail 'a counter does not begin where its address says'
hotp $key 2 | vauban set otpauth:r/anna --replace || fail 'set --replace failed'
[ "$(vauban code get r/anna) $(vauban code get r/anna)" = "$(oathtool -c 2 -b $key) $(oathtool -c 3 -b $key)" ] || fail 'another key has the counter of the one before'
printf 'otpauth://totp/R:anna?secret=%s' $key | vauban update otpauth:r/anna || fail 'update failed'
[ "$(vauban code get r/anna --at 59)" = "$(oathtool --totp -b --now @59 $key)" ] || fail 'a key that counts nothing gives no code'
vauban show otpauth:r/anna --json >"$TMPDIR/out" || fail 'show failed'
grep -q '"generic": *"[^"]' "$TMPDIR/out" && { cat "$TMPDIR/out"; fail 'a key that counts nothing has a counter'; }
hotp $rfc 30 | vauban set otpauth:r/anna --replace || fail 'set --replace failed'
[ "$(vauban code get r/anna)" = "$(oathtool -c 30 -b $rfc)" ] || fail 'a key that counts again has another counter'
hotp $rfc 5 | vauban set otpauth:r/bert || fail 'set failed'
[ "$(vauban code get r/bert)" = "$(oathtool -c 5 -b $rfc)" ] || fail 'a counter that was set as a secret gives no code'

# Spaces and letters beyond ASCII in a label, as many sites write them, and an empty issuer.
printf 'otpauth://totp/Größte Bank: Änne?secret=%s&issuer=' $key | vauban code add bank/aenne 2>"$TMPDIR/err" ||
    { cat "$TMPDIR/err"; fail 'an address without escapes was refused'; }
[ "$(vauban code get bank/aenne --at 59)" = "$(oathtool --totp -b --now @59 $key)" ] || fail 'an address without escapes gives another code'

# A QR code from a picture, turned and among others, and an authenticator's export.
address="otpauth://totp/Example:carl@example.com?secret=$key&issuer=Example"
printf %s "$address" | qrencode -o "$TMPDIR/one.png" -s 6 && printf %s "otpauth://totp/Two:dora?secret=$key" | qrencode -o "$TMPDIR/two.png" -s 6
[ "$(vauban code scan "$TMPDIR/one.png")" = "$address" ] || fail 'the picture says another address'
convert "$TMPDIR/one.png" -rotate 25 "$TMPDIR/turned.jpg" && [ "$(vauban code scan "$TMPDIR/turned.jpg")" = "$address" ] || fail 'a turned picture is not read'
convert "$TMPDIR/one.png" "$TMPDIR/two.png" -append "$TMPDIR/both.png"
[ "$(vauban code scan "$TMPDIR/both.png" | wc -l)" = 2 ] || fail 'two codes in one picture are not two'
refused 64 'has 2 codes' vauban code add e/carl --picture "$TMPDIR/both.png"
# A code within another one, which its error correction bears, and one code in several sizes among others.
printf %s "otpauth://totp/Two:dora?secret=$key" | qrencode -l H -o "$TMPDIR/outer.png" -s 40 && convert "$TMPDIR/one.png" -scale 66% "$TMPDIR/inner.png"
convert "$TMPDIR/outer.png" "$TMPDIR/inner.png" -gravity center -composite "$TMPDIR/nested.png"
[ "$(vauban code scan "$TMPDIR/nested.png" | sort)" = "$(printf '%s\n' "$address" "otpauth://totp/Two:dora?secret=$key" | sort)" ] ||
    fail 'a code within a code is not two'
refused 64 'has 2 codes' vauban code add e/carl --picture "$TMPDIR/nested.png"
convert "$TMPDIR/one.png" \( "$TMPDIR/one.png" -scale 50% \) \( "$TMPDIR/one.png" -scale 400% \) \( "$TMPDIR/two.png" -scale 200% \) -append "$TMPDIR/sizes.png"
vauban code scan "$TMPDIR/sizes.png" >"$TMPDIR/out" || fail 'codes of several sizes are not read'
[ "$(sort -u "$TMPDIR/out" | wc -l)" = 2 ] || { cat "$TMPDIR/out"; fail 'one code in three sizes and another one are not two'; }
printf 'https://example.com/' | qrencode -o "$TMPDIR/site.png" -s 4
convert "$TMPDIR/one.png" "$TMPDIR/site.png" -append "$TMPDIR/beside.png"
vauban code add e/carl --picture "$TMPDIR/beside.png" 2>"$TMPDIR/err" || { cat "$TMPDIR/err"; fail 'a picture with a code and an address of a page was refused'; }
convert "$TMPDIR/both.png" "$TMPDIR/site.png" -append "$TMPDIR/three.png"
refused 64 'has 2 codes' vauban code add e/cleo --picture "$TMPDIR/three.png"
refused 64 'neither an otpauth' vauban code add e/cleo --picture "$TMPDIR/site.png"
[ "$(vauban code get e/carl --at 59)" = "$(oathtool --totp -b --now @59 $key)" ] || fail 'the picture gave another key'
python3 - "$TMPDIR/migration" <<'PY'
import base64, sys, urllib.parse
def field(number, data): return bytes([number << 3 | 2, len(data)]) + data
def account(name, issuer, kind, counter=0):
    return field(1, field(1, b'12345678901234567890') + field(2, name) + field(3, issuer) + bytes([0x20, 1, 0x28, 1, 0x30, kind, 0x38, counter]))
data = account(b'M:eva', b'M', 2) + account(b'finn', b'N', 1, 3) + bytes([0x10, 1, 0x18, 1])
# The issuer in the name alone; names that begin with a hyphen; colons in both.
data += account(b'Q:gil', b'', 2) + account(b'-hal', b'-R', 2) + account(b'ida:b:c', b'S: T', 2)
open(sys.argv[1], 'w').write('otpauth-migration://offline?data=' + urllib.parse.quote(base64.b64encode(data).decode(), safe=''))
PY
qrencode -r "$TMPDIR/migration" -o "$TMPDIR/migration.png" -s 4
vauban code import "$TMPDIR/migration.png" >"$TMPDIR/out" 2>&1 || { cat "$TMPDIR/out"; fail 'an export was refused'; }
[ "$(LC_ALL=C sort "$TMPDIR/out" | tr '\t\n' '  ')" = 'added -R/-hal added M/eva added N/finn added Q/gil added S T/ida b c ' ] || { cat "$TMPDIR/out"; fail 'the report differs'; }
[ "$(vauban code get --service=-R --account=-hal --at 59)" = "$(vauban code get Q/gil --at 59)" ] || fail 'a name that begins with a hyphen gives no code'
[ "$(vauban code get N/finn)" = 969429 ] || fail 'the counter of the export differs'
vauban code import "$TMPDIR/migration.png" >"$TMPDIR/out" 2>&1 || fail 'a second import failed'
[ "$(LC_ALL=C sort "$TMPDIR/out" | tr '\t\n' '  ')" = 'exists -R/-hal exists M/eva exists N/finn exists Q/gil exists S T/ida b c ' ] ||
    { cat "$TMPDIR/out"; fail 'the report of the second import differs'; }
# One name has another key, another has invalid digits, and the export has a second picture.
python3 - "$TMPDIR/other" <<'PY'
import base64, sys, urllib.parse
def field(number, data): return bytes([number << 3 | 2, len(data)]) + data
def account(key, name, issuer, digits=1):
    return field(1, field(1, key) + field(2, name) + field(3, issuer) + bytes([0x20, 1, 0x28, digits, 0x30, 2]))
key = b'12345678901234567890'
data = account(key[::-1], b'M:eva', b'M') + account(key, b'gus', b'O', 9) + account(key, b'hal', b'P') + bytes([0x10, 1, 0x18, 2, 0x20, 0])
open(sys.argv[1], 'w').write('otpauth-migration://offline?data=' + urllib.parse.quote(base64.b64encode(data).decode(), safe=''))
PY
qrencode -r "$TMPDIR/other" -o "$TMPDIR/other.png" -s 4
convert "$TMPDIR/other.png" "$TMPDIR/site.png" -append "$TMPDIR/mixed.png"
eva=$(vauban code get M/eva --at 59)
vauban code import "$TMPDIR/mixed.png" >"$TMPDIR/out" 2>"$TMPDIR/err"; [ $? = 1 ] || fail 'an import that left codes out did not end with 1'
for text in 'not added.M/eva: it has another key' 'added.P/hal' 'not added.code .: This is neither an otpauth'; do
    grep -q "$text" "$TMPDIR/out" || { cat "$TMPDIR/out"; fail "the report does not say: $text"; }
done
expect_text 'O/gus: left out' "$TMPDIR/err"; expect_text 'code 1 of 2 of the export' "$TMPDIR/err"
[ "$(vauban code get M/eva --at 59)" = "$eva" ] || fail 'a key was replaced by an import'

# A camera. There is none here: a program that prints what zbarcam would represents it, and a folder the devices.
refused 53 'There is no camera' vauban code scan --camera
mkdir "$TMPDIR/camera" && cat >"$TMPDIR/camera/zbarcam" <<'CAMERA'
#!/bin/sh
for last; do :; done
echo "$*" >"$(dirname "$0")/arguments"
[ -e "$(dirname "$0")/empty" ] || printf '%s\n' 'otpauth://totp/Camera:ida?secret=JBSWY3DPEHPK3PXP'
[ "$last" = /dev/video2 ]
CAMERA
chmod +x "$TMPDIR/camera/zbarcam"
# Root needs no user namespace for that, and cannot make one in a changed root directory.
own='--mount --map-current-user'
[ "$(id -u)" != 0 ] || { . Tests/Scripts/lib/own-mounts.sh; own=$own_mounts; }
before_camera() {
    unshare $own sh -c 'mount -t tmpfs tmpfs /dev && : >/dev/null && : >/dev/video2 && exec "$@"' sh env -u DISPLAY -u WAYLAND_DISPLAY \
        "PATH=$TMPDIR/camera:$PATH" "$VAUBAN_BUILD/vauban" "$@"
}
if unshare $own true 2>/dev/null; then
    [ "$(before_camera code scan --camera)" = 'otpauth://totp/Camera:ida?secret=JBSWY3DPEHPK3PXP' ] || fail 'the code that a camera reads is not printed'
    expect_text '-Sqrcode.enable --nodisplay /dev/video2' "$TMPDIR/camera/arguments"
    : >"$TMPDIR/camera/empty"; refused 128 'saw no QR code' before_camera code scan --camera
else
    echo 'open: a camera: this test may not make namespaces here'
fi

# A key as a QR code for another device, after the user has approved it, and only then.
refused 51 'No passcode is set' detached code show e/carl --png
set_passcode
refused 36 'approval' detached code show e/carl --png
printf '%s\n' "$passcode" >"$TMPDIR/passcode"
vauban code show e/carl --png --passcode-fd 3 3<"$TMPDIR/passcode" >"$TMPDIR/shown.png" 2>"$TMPDIR/err" || { cat "$TMPDIR/err"; fail 'an approved key was not shown'; }
[ "$(vauban code scan "$TMPDIR/shown.png")" = "$address" ] || fail 'the picture shows another address'
vauban code show e/carl --passcode-fd 3 3<"$TMPDIR/passcode" >"$TMPDIR/shown" 2>/dev/null && grep -q '█' "$TMPDIR/shown" || fail 'no QR code of characters was shown'
refused 51 'the passcode is wrong' vauban code show e/carl --png --passcode-fd 3 3<<<'wrong one'
vauban code show c/anna --png --passcode-fd 3 3<"$TMPDIR/passcode" >"$TMPDIR/out" 2>"$TMPDIR/err" && fail 'a counter was shown'
expect_text 'counts its codes' "$TMPDIR/err"
# A counter that demands the user prompts once for a code: for reading the key and for storing the next counter.
printf 'otpauth://hotp/H:anna?secret=GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ&counter=0' | vauban code add h/anna --require presence 2>/dev/null ||
    fail 'a counter that prompts was refused'
refused 36 'approval' detached code get h/anna
for wanted in 755224 287082; do
    play "$VAUBAN_BUILD/vauban" code get h/anna >"$TMPDIR/shown" 2>&1 <<STEPS || { cat "$TMPDIR/shown"; fail 'a counter prompts more than once for a code, or gives none'; }
expect asscode
secret $passcode
expect $wanted
STEPS
    [ "$(grep -ac 'asks for your approval' "$TMPDIR/shown")" = 1 ] || { cat "$TMPDIR/shown"; fail 'the passcode was requested more than once'; }
done
# While it waits for the user, an address that was given as an argument is no longer visible.
vauban lock 2>/dev/null || fail 'the keychain was not locked'
own=MFRGGZDFMZTWQ2LKNNWG23TPOBYXE43U
printf 'otpauth://totp/Y:fay?secret=%s' $own >"$TMPDIR/address"
play sh -c "exec '$VAUBAN_BUILD/vauban' code add y/fay --uri \"\$(cat '$TMPDIR/address')\"" >"$TMPDIR/shown" 2>&1 \
    <<STEPS || { cat "$TMPDIR/shown"; fail 'an address was not added after unlocking'; }
expect asscode
run ! cat /proc/[0-9]*/cmdline | grep -qa 'secret=[M]FRGGZDF'
secret $passcode
STEPS
[ "$(vauban code get y/fay --at 59)" = "$(oathtool --totp -b --now @59 $own)" ] || fail 'the address was changed with the argument'

# Errors are reported, and nothing is stored.
bad() { printf %s "$1" >"$TMPDIR/bad"; refused 64 "$2" vauban code add bad/one <"$TMPDIR/bad"; }
bad 'otpauth-migration://offline?data=CgA' 'vauban code import FILE'
printf ' %s\r\n' "$key" | vauban code add spaced/one || fail 'a key with spaces around it was refused'
[ "$(vauban code get spaced/one --at 59)" = "$(oathtool --totp -b --now @59 "$key")" ] || fail 'spaces changed a key'
bad 'https://example.com/' 'neither an otpauth:// address nor a key'
bad "otpauth://totp/a?issuer=b" 'has no secret'
bad "otpauth://totp/a:b:c?secret=$key" "address's label"
bad $'otpauth://totp/a\tb?secret='"$key" 'control character'
bad "otpauth://totp/a?secret=$key&digits=12" 'number of digits'
bad "otpauth://totp/a?secret=$key&algorithm=MD5" 'SHA1, SHA256 or SHA512'
bad "otpauth://hotp/a?secret=$key" 'has no counter'
bad "otpauth://totp/a?secret=$key&secret=$key" 'twice'
printf %s "$key" >"$TMPDIR/key"; refused 45 'delete it first' vauban code add github/anna <"$TMPDIR/key"
refused 44 'to add one: vauban code add nobody/here' vauban code get nobody/here
refused 64 'not a picture' vauban code scan "$TMPDIR/bad"
convert -size 40x40 xc:white "$TMPDIR/empty.png"; refused 64 'No QR code was found' vauban code scan "$TMPDIR/empty.png"
head -c 3000 "$TMPDIR/one.png" | head -c 60 >"$TMPDIR/cut.png"; refused 64 'No QR code was found' vauban code scan "$TMPDIR/cut.png"
printf '\x89PNG\r\n\x1a\nmvg:/etc/passwd' >"$TMPDIR/forged.png"; refused 64 'No QR code was found' vauban code scan "$TMPDIR/forged.png"
convert "$TMPDIR/one.png" -scale 8000x8000 "$TMPDIR/wide.png"; refused 64 'crop the picture' vauban code scan "$TMPDIR/wide.png"
truncate -s 40M "$TMPDIR/large.png"; refused 64 'crop the picture' vauban code scan "$TMPDIR/large.png"
refused 64 'not a time' vauban code get github/anna --at yesterday
[ "$(vauban code list | grep -c bad)" = 0 ] || fail 'something wrong was stored'
echo 'codes are items, oathtool agrees, counters give each code once, and QR codes and exports are read'
