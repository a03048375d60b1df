# free_ports: exports PORT, the first of six unused ports in a row, for three nodes of etcd or another server. They are below the range from
# which the kernel assigns ports, so that no other program gets them meanwhile.
free_ports() {
    PORT=$(python3 - <<'PYTHON'
import random, socket
while True:
    first, held = random.randrange(20000, 32000), []
    try:
        for port in range(first, first + 6):
            held.append(socket.socket()); held[-1].bind(("127.0.0.1", port))
        break
    except OSError:
        pass
print(first)
PYTHON
    )
    export PORT
}
# When the machine is suspended, etcd loses its leader, and administration has to wait for a new one.
export ETCD_SECONDS=60
# in_fleet COMMAND...: calls a function of Install/etcd/lib.sh in the folder $fleet of three nodes.
in_fleet() { (cd "$fleet" && . "$OLDPWD/Install/etcd/lib.sh" && "$@"); }
