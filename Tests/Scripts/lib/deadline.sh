# Tests wait for events. A deadline only makes a test that hangs end with a reason, so it is longer than a loaded machine needs.
# To be sourced by other files of this folder.
hang_seconds=240
export hang_seconds
# eventually COMMAND...: repeats the command until it succeeds. False if it still fails at the deadline.
eventually() { local end=$((SECONDS + hang_seconds)); until "$@"; do [ "$SECONDS" -lt "$end" ] || return 1; done; }
# awaited WHAT COMMAND...: the same, but for two minutes, and then it ends the script with a message that says what was awaited.
awaited() {
    local what=$1 end=$((SECONDS + 120))
    shift
    until "$@"; do [ "$SECONDS" -lt "$end" ] || { echo "FAILED: for 120 s this was awaited in vain: $what"; exit 1; }; done
}
