# free_ports: exports PORT, the first of six unused ports in a row, for three nodes of etcd or another server. They are below the range from
# which the kernel assigns ports, so that no other program gets them meanwhile. A process that ends with this one keeps the next port bound,
# so that no other test gets them while they are unused, as before a server starts or after it was killed.
free_ports() {
    local told
    exec {told}< <(exec setpriv --pdeathsig KILL python3 - <<'PYTHON'
import random, signal, socket
while True:
    first, held = random.randrange(20000, 32000, 8), []
    try:
        for port in range(first, first + 7):
            held.append(socket.socket()); held[-1].bind(("127.0.0.1", port))
        break
    except OSError:
        pass
for unused in held[:6]: unused.close()
print(first, flush=True)
while True: signal.pause()
PYTHON
    )
    read -r -u "$told" PORT || { echo 'there are no free ports'; exit 1; }
    exec {told}<&-
    export PORT
}
# When the machine is suspended, etcd loses its leader, and administration has to wait for a new one.
export ETCD_SECONDS=60
# in_fleet COMMAND...: calls a function of Install/etcd/lib.sh in the folder $fleet of three nodes.
in_fleet() { (cd "$fleet" && . "$OLDPWD/Install/etcd/lib.sh" && "$@"); }
# reached STATUS COMMAND...: vauban's command ends with the status. A node of etcd must be reached within three seconds, so the command is
# repeated if a halted machine made it one that does not answer in time.
reached() {
    local status
    for _ in 1 2 3; do
        setsid --wait "$VAUBAN_BUILD/vauban" "${@:2}" </dev/null >"$TMPDIR/out" 2>"$TMPDIR/err"; status=$?
        grep -qF 'does not answer in time' "$TMPDIR/err" || break
    done
    [ "$status" = "$1" ] || { cat "$TMPDIR/out" "$TMPDIR/err"; fail "${*:2} ended with $status, not with $1"; }
}
