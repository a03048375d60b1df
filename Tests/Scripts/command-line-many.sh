#!/usr/bin/env bash
# Ten thousand items are listed and found quickly, measured in processor time, so that the load of the machine does not matter; of forty
# concurrent sets of one new item, one adds it, and none is lost.
# limit: 900
set -u
. Tests/Scripts/lib/command-line.sh
. Tests/Scripts/lib/room-name.sh

# In a keychain with few items: of forty concurrent sets of one new item, one adds it, and the others replace nothing without confirmation.
side_by_side() {
    for number in {1..40}; do (printf "secret $number" | setsid --wait "$VAUBAN_BUILD/vauban" set "$@" 2>"$TMPDIR/err.$number"; echo $? >"$TMPDIR/end.$number") & done
    wait
    cat "$TMPDIR"/end.* | sort | uniq -c | tr -s ' ' | paste -sd,
}
[ "$(side_by_side side/by-hand)" = ' 1 0, 39 45' ] || { cat "$TMPDIR"/err.*; fail 'of forty concurrent sets, not exactly one added the item'; }
[[ $(vauban get side/by-hand) = "secret $(grep -lx 0 "$TMPDIR"/end.* | sed 's/.*end\.//')" ]] || fail 'the stored secret is not that of the set that ended with 0'

python3 -c 'import json
print(json.dumps([{"class": "generic password", "service": f"service{n}.example", "account": f"anna{n}", "secret": f"s{n}"} for n in range(5000)]
    + [{"class": "internet password", "server": f"site{n}.example", "account": f"anna{n}", "protocol": "https", "secret": f"s{n}"} for n in range(5000)]))' >"$TMPDIR/items.json"
vauban add --json "$TMPDIR/items.json" >/dev/null || fail 'the items could not be added'

# Processor time of the command and of keychaind, in hundredths of a second. Code that is not optimized takes about ten times as long.
# In user mode the process is a child of the launcher that has this keychain's folder open.
bound=150; case $(readlink -f "$VAUBAN_BUILD") in */debug) bound=1500 ;; esac
keychain=$(for process in /proc/[0-9]*; do
    case $(room_name "${process#/proc/}" 2>/dev/null) in keychaind) ls -l "$process/fd" 2>/dev/null | grep -qF "$VAUBAN_HOME" && echo "${process#/proc/}" ;; esac
done | head -n 1)
[ -n "$keychain" ] || fail 'the process of keychaind was not found'
spent() { cut -d' ' -f14,15 "/proc/$1/stat" | tr ' ' +; }
quick() {
    before=$(($(spent "$keychain")))
    TIMEFORMAT='%U %S'
    { time vauban "$@" >"$TMPDIR/out" 2>"$TMPDIR/err"; } 2>"$TMPDIR/time"
    own=$(awk '{ print int(($1 + $2) * 100) }' "$TMPDIR/time")
    rooms=$(($(spent "$keychain") - before))
    echo "vauban $*: $(wc -l <"$TMPDIR/out") lines, $own + $rooms hundredths of a second"
    [ $((own + rooms)) -le "$bound" ] || fail "vauban $* took $own + $rooms hundredths of a second"
}
quick list
[ "$(wc -l <"$TMPDIR/out")" = 10001 ] && sort -c <(cut -f1 "$TMPDIR/out" | LC_ALL=C sort) || fail 'the list is incomplete'
quick list --json
[ "$(python3 -c 'import json, sys; print(len(json.load(open(sys.argv[1]))))' "$TMPDIR/out")" = 10001 ] || fail 'the JSON is incomplete'
quick find anna4711
[ "$(cut -f1 "$TMPDIR/out" | paste -sd' ')" = 'service4711.example/anna4711 site4711.example/anna4711' ] || fail 'find found something else'
quick list --server site1.example
quick get service1.example/anna1
[ "$(cat "$TMPDIR/out")" = s1 ] || fail 'get printed something else'
echo 'ten thousand items are listed quickly, and of concurrent sets one adds the item'
