# The report of each attack test, in the form that run-script-tests reads: `ok: A01 …`, `FAILED: A01 …`, `open: A01: REASON`.
# To be sourced. Defines check, equals, says, not_tried, end_attacks.
failures=0
check() { what=$1; shift; if "$@"; then echo "ok: $what"; else echo "FAILED: $what"; failures=$((failures + 1)); fi; }
equals() { [ "$1" = "$2" ] || { echo "    got: $1"; echo "   want: $2"; return 1; }; }
# says TEXT FILE: the file has a line with this text.
says() { grep -qF -e "$1" "$2" || { sed 's/^/    /' "$2"; echo "    nothing there says: $1"; return 1; }; }
# not_tried ATTACKS REASON: reports the attacks as open, since this machine lacks what they need.
not_tried() { for attack in $1; do echo "open: $attack: $2"; done; }
end_attacks() { [ "$failures" = 0 ] || { echo "$failures checks failed"; exit 1; }; }
