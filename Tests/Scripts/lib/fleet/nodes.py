"""An etcd of three nodes with TLS and access by roles, each of which can be killed, stopped, cut off, and run out of disk."""
import os, signal, subprocess

from common import BASE, Failed, HANG, REPOSITORY, run
from network import Disk

FOLDER = BASE / "etcd"
SCRIPT = REPOSITORY / "Tests/Scripts/lib/fleet/nodes.sh"


class Node:
    def __init__(self, number, network, disk):
        self.number, self.name, self.process = number, f"node-{number}", None
        # The disk first, so that a namespace that is created later has it.
        self.disk = Disk(FOLDER / f"disk-{number}", disk) if disk else None
        self.place, self.clients, self.peers = network.node(number)
        self.data = (self.disk.folder if disk else FOLDER) / f"data-{number}"

    def start(self, nodes):
        own, peer = f"https://{self.clients}", f"https://{self.peers}"
        cluster = ",".join(f"{node.name}=https://{node.peers}" for node in nodes)
        options = {
            "name": self.name, "data-dir": self.data, "initial-cluster-token": "vauban-sync", "initial-cluster": cluster,
            "listen-client-urls": own, "advertise-client-urls": own, "listen-peer-urls": peer, "initial-advertise-peer-urls": peer,
            "trusted-ca-file": FOLDER / "ca.pem", "cert-file": FOLDER / f"{self.name}.pem", "key-file": FOLDER / f"{self.name}.key",
            "peer-trusted-ca-file": FOLDER / "peers.pem", "peer-cert-file": FOLDER / f"peer-{self.number}.pem",
            "peer-key-file": FOLDER / f"peer-{self.number}.key", "logger": "zap", "log-level": "warn", "log-outputs": "stderr"}
        words = ["etcd", "--client-cert-auth", "--peer-client-cert-auth", *[f"--{name}={value}" for name, value in options.items()]]
        with open(FOLDER / f"{self.name}.log", "ab") as log:
            self.process = subprocess.Popen(
                [*self.place.prefix, *words], stdin=subprocess.DEVNULL, stdout=log, stderr=log, start_new_session=True)

    @property
    def runs(self):
        return self.process is not None and self.process.poll() is None

    def kill(self):
        if self.runs:
            self.process.kill()
        self.process.wait(HANG)

    def signal(self, number):
        if self.runs:
            self.process.send_signal(number)


class Nodes:
    def __init__(self, network, library, disk):
        FOLDER.mkdir()
        self.nodes = [Node(number, network, disk if number == 3 else 0) for number in (1, 2, 3)]
        # Also valid for a device whose clock is a year behind.
        old = {"LD_PRELOAD": str(library), "VAUBAN_TEST_CLOCK": "-34560000"} if library else {}
        run([SCRIPT, "certificates", FOLDER, *[node.clients.split(":")[0] for node in self.nodes]],
            env={**os.environ, **old, **({"PEERS": "10.78.0"} if network.can_cut else {})})
        (FOLDER / "endpoints").write_text("".join(f"https://{node.clients}\n" for node in self.nodes))
        for node in self.nodes:
            node.start(self.nodes)
        self.wait()
        run([SCRIPT, "guard", FOLDER])

    def administer(self, *words, expecting=0):
        endpoints = ",".join((FOLDER / "endpoints").read_text().split())
        return run(
            ["etcdctl", "--endpoints", endpoints, "--cacert", "ca.pem", "--cert", "root.pem", "--key", "root.key", "--command-timeout", "5s", *words],
            cwd=FOLDER, expecting=expecting, env={**os.environ, "ETCDCTL_API": "3"})

    def wait(self):
        """Starts the nodes that do not run, and waits until every node serves."""
        for attempt in range(HANG // 5):
            for node in self.nodes:
                if not node.runs:
                    node.start(self.nodes)
            # It waits for each node for some seconds.
            status, out, err = self.administer("endpoint", "health", expecting=None)
            if status == 0:
                return
        for node in self.nodes:
            print((FOLDER / f"{node.name}.log").read_text()[-1500:])
        raise Failed(f"the nodes of etcd do not find each other: {out}{err}")

    def compact(self):
        status, out, _ = self.administer("get", "x", "-w", "fields", expecting=None)
        revision = [line.split(":")[1].strip() for line in out.splitlines() if line.startswith('"Revision"')]
        if status == 0 and revision:
            self.administer("compact", revision[0], expecting=None)

    def add_user(self, name):
        run([REPOSITORY / "Install/etcd/add-user", FOLDER, name])
        return FOLDER / "users" / name

    def end(self):
        for node in self.nodes:
            node.signal(signal.SIGCONT)
            node.kill()
