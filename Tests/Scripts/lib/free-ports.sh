# free_ports: exports PORT, the first of six ports in a row that nobody uses, for three nodes of etcd or another server. They are below those that
# the kernel gives out by itself, so that nobody gets them meanwhile.
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
# When the machine halts, etcd loses its leader, and its administration has to wait for another.
export ETCD_SECONDS=60
# in_fleet COMMAND...: a function of Install/etcd/lib.sh, in the folder $fleet of three nodes.
in_fleet() { (cd "$fleet" && . "$OLDPWD/Install/etcd/lib.sh" && "$@"); }
