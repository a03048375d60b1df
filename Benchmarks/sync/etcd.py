"""etcd without TLS, on this machine's loopback: one node, or a cluster as in Install/etcd."""
import base64, http.client, json, os, signal, socket, subprocess, sys, time

from device import BASE


def base64_text(data):
    return base64.b64encode(data).decode()


def free_ports(count):
    held = [socket.socket() for _ in range(count)]
    for each in held:
        each.bind(("127.0.0.1", 0))
    ports = [each.getsockname()[1] for each in held]
    for each in held:
        each.close()
    return ports


class Etcd:
    """Clients use the first node, and the others only if it does not reply; so do devices."""

    def __init__(self, count):
        ports = free_ports(2 * count)
        self.port = ports[0]
        self.clients = [f"http://127.0.0.1:{port}" for port in ports[:count]]
        self.peers = [f"http://127.0.0.1:{port}" for port in ports[count:]]
        self.processes, self.connection = [], None

    def start(self):
        cluster = ",".join(f"node-{number}={peer}" for number, peer in enumerate(self.peers))
        for number, (client, peer) in enumerate(zip(self.clients, self.peers)):
            self.processes.append(subprocess.Popen(
                ["etcd", "--name", f"node-{number}", "--data-dir", str(BASE / f"etcd-{number}"), "--initial-cluster", cluster,
                 "--listen-client-urls", client, "--advertise-client-urls", client,
                 "--listen-peer-urls", peer, "--initial-advertise-peer-urls", peer,
                 "--logger", "zap", "--log-level", "error", "--log-outputs", "stderr"],
                stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=open(BASE / f"etcd-{number}.log", "w"), start_new_session=True))
        while not self.serves():
            for number, process in enumerate(self.processes):
                if process.poll() is not None:
                    sys.exit(f"Node {number} of etcd has ended: {(BASE / f'etcd-{number}.log').read_text()[-500:]}")
            time.sleep(0.1)

    def serves(self):
        """Whether a write succeeds, for which most nodes must be connected."""
        try:
            return "header" in self.put(b"x", b"x")
        except (OSError, ValueError, http.client.HTTPException):
            self.connection = None
            return False

    def account(self, user):
        """Creates an account, the folder that an operator gives the user; returns the place for `vauban sync`."""
        folder = BASE / f"account-{user}"
        folder.mkdir(mode=0o700)
        (folder / "account").write_text(f"user {user}\n" + "".join(f"endpoint {url}\n" for url in self.clients))
        return f"etcd:{folder}"

    def request(self, path, body):
        if self.connection is None:
            self.connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=60)
        self.connection.request("POST", path, json.dumps(body), {"Content-Type": "application/json"})
        return json.loads(self.connection.getresponse().read())

    def put(self, key, value):
        return self.request("/v3/kv/put", {"key": base64_text(key), "value": base64_text(value)})

    def watch(self, key):
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=60)
        connection.request("POST", "/v3/watch", json.dumps({"create_request": {"key": base64_text(key)}}))
        lines = connection.getresponse()
        assert json.loads(lines.readline())["result"]["created"]
        return lines

    def close(self):
        for process in self.processes:
            if process.poll() is None:
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()
