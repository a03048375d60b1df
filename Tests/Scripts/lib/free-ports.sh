# free_ports: exports PORT, the first of six ports in a row that nobody uses, for three nodes of etcd.
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
