#!/usr/bin/env python3
"""How long a change takes from one device to another that both run `vauban sync --follow`, through one node of etcd, beside what that node
takes from a write to a watch; and the first sync of many items. For Benchmarks/run, which names the programs in VAUBAN_PROGRAM and BENCHMARKS.

  bench.py [CHANGES [ITEMS]]

Both devices, etcd and the measurement are on this machine. Each round changes an item once, waits until the other device reads the value, and
then writes a value of the same size as the device's file into etcd, for a watch of its own. Between rounds there is a pause, as between the
changes that people make.
"""
import base64, http.client, json, os, pathlib, random, shutil, socket, subprocess, sys, time

BASE = pathlib.Path(os.environ["TMPDIR"])
VAUBAN, BENCHMARKS = os.environ["VAUBAN_PROGRAM"], os.environ["BENCHMARKS"]
PASSCODE = "only-for-measuring"
PAUSE_SECONDS = 1.5
FILE_BYTES = 4206


def percentile(values, part):
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(part * len(ordered)))]


def base64_text(data):
    return base64.b64encode(data).decode()


class Etcd:
    """One node without TLS, on this machine's loopback."""

    def __init__(self):
        held = [socket.socket() for _ in range(2)]
        for each in held:
            each.bind(("127.0.0.1", 0))
        self.port, peer = [each.getsockname()[1] for each in held]
        for each in held:
            each.close()
        url, peers = f"http://127.0.0.1:{self.port}", f"http://127.0.0.1:{peer}"
        self.process = subprocess.Popen(
            ["etcd", "--data-dir", str(BASE / "etcd"), "--listen-client-urls", url, "--advertise-client-urls", url,
             "--listen-peer-urls", peers, "--initial-advertise-peer-urls", peers, "--initial-cluster", f"default={peers}",
             "--logger", "zap", "--log-level", "error", "--log-outputs", "stderr"],
            stdout=subprocess.DEVNULL, stderr=open(BASE / "etcd.log", "w"))
        self.connection = None
        while True:
            if self.process.poll() is not None:
                sys.exit(f"etcd has ended: {(BASE / 'etcd.log').read_text()[-500:]}")
            try:
                self.put(b"x", b"x")
                break
            except (OSError, http.client.HTTPException):
                self.connection = None
                time.sleep(0.1)
        account = BASE / "account"
        account.mkdir(mode=0o700)
        (account / "account").write_text(f"user anna\nendpoint {url}\n")
        self.place = f"etcd:{account}"

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
        self.process.kill()
        self.process.wait()


class Device:
    def __init__(self, name):
        self.name, self.home = name, BASE / name
        self.environment = {**os.environ, "VAUBAN_HOME": str(self.home)}
        self.children = []
        self.vauban("setup", passcode=True)
        self.vauban("unlock", passcode=True)

    def vauban(self, *words, passcode=False, given=None):
        descriptor, words = None, list(words)
        if passcode:
            reading, writing = os.pipe()
            os.write(writing, (PASSCODE + "\n").encode())
            os.close(writing)
            descriptor = reading
            words += ["--passcode-fd", str(reading)]
        ran = subprocess.run(
            [VAUBAN, *words], env=self.environment, pass_fds=[descriptor] if passcode else [], input=given or "", capture_output=True,
            text=True, start_new_session=True)
        if passcode:
            os.close(descriptor)
        if ran.returncode:
            sys.exit(f"{self.name}: vauban {' '.join(words)}: {ran.stderr}")
        return ran.stdout.strip()

    def start(self, *words):
        child = subprocess.Popen(
            [str(word) for word in words], env=self.environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
            stderr=open(BASE / f"{self.name}.log", "a"))
        self.children.append(child)
        return child

    def follow(self):
        child = subprocess.Popen(
            [VAUBAN, "sync", "--follow", "--no-input"], env=self.environment, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE, text=True)
        self.children.append(child)
        for line in child.stderr:
            if "received" in line:
                break
        # The rest is of no interest, and must not fill the pipe.
        subprocess.Popen(["cat"], stdin=child.stderr, stdout=subprocess.DEVNULL)

    def join(self, member, place):
        """Joins by the codes of both sides; returns the seconds of the last step, which receives everything."""
        self.vauban("sync", "join", place, "--name", self.name)
        member.vauban("sync", "approve")
        code = self.vauban("sync", "join", place)
        answer = member.vauban("sync", "approve", code, passcode=True)
        began = time.monotonic()
        self.vauban("sync", "join", place, answer, passcode=True)
        return time.monotonic() - began

    def close(self):
        for child in self.children:
            child.kill()
            child.wait()
        subprocess.run([VAUBAN, "stop"], env=self.environment, capture_output=True)
        shutil.rmtree(self.home, ignore_errors=True)


def ask(child, line):
    child.stdin.write(line + "\n")
    child.stdin.flush()


def answer(child):
    line = child.stdout.readline()
    if not line:
        sys.exit("benchmarks synced has ended")
    return [int(word) for word in line.split()]


def measure_changes(etcd, first, second, count):
    writer, reader = first.start(BENCHMARKS, "synced", "write"), second.start(BENCHMARKS, "synced", "read")
    first.follow()
    second.follow()
    watched, payload = etcd.watch(b"/benchmark"), random.randbytes(FILE_BYTES)
    device, write, acknowledged = [], [], []
    # The first ones warm everything up.
    for number in range(-3, count):
        value = f"value {number} {random.random()}"
        ask(reader, value)
        ask(writer, value)
        began, ended = answer(writer)
        (found,) = answer(reader)
        time.sleep(PAUSE_SECONDS / 2)
        start = time.monotonic_ns()
        etcd.put(b"/benchmark", payload)
        watched.readline()
        seen = time.monotonic_ns()
        time.sleep(PAUSE_SECONDS / 2)
        if number >= 0:
            device.append((found - began) / 1e6)
            acknowledged.append((ended - began) / 1e6)
            write.append((seen - start) / 1e6)
    print(f"{count} changes, one every {PAUSE_SECONDS:.1f} s and the time that they take; milliseconds")
    print(f"{'':44}{'p50':>9}{'p99':>9}")
    for words, values in [
        ("from the change on one device to the value on the other", device), ("  of these until the change is durable", acknowledged),
        ("etcd alone: from a write to its watch", write),
    ]:
        print(f"{words:58}{percentile(values, 0.5):9.1f}{percentile(values, 0.99):9.1f}")
    ratios = [percentile(device, part) / percentile(write, part) for part in (0.5, 0.99)]
    print(f"{'times':58}{ratios[0]:9.1f}{ratios[1]:9.1f}")


def measure_first_sync(etcd, member, count):
    items = "".join(
        json.dumps({"service": "bulk", "account": f"account-{number}@mail.example", "secret": f"secret of item {number:09}, 32 bytes",
                    "synchronizable": True}) + "\n" for number in range(count))
    began = time.monotonic()
    member.vauban("add", "--json", "-", given=items)
    print(f"{count} items are added in {time.monotonic() - began:.1f} s")
    began = time.monotonic()
    member.vauban("sync")
    print(f"{count} items are sent in {time.monotonic() - began:.1f} s")
    new = Device("new")
    try:
        print(f"{count} items are received by a device that joins in {new.join(member, etcd.place):.1f} s")
        found = new.vauban("get", f"bulk/account-{count - 1}@mail.example")
        if found != f"secret of item {count - 1:09}, 32 bytes":
            sys.exit("the new device has another value")
    finally:
        new.close()


def main():
    changes, items = (int(word) for word in (sys.argv[1:] + ["100", "10000"][len(sys.argv) - 1:])[:2])
    etcd, devices = Etcd(), []
    try:
        for name in ("desk", "laptop"):
            devices.append(Device(name))
        devices[0].vauban("sync", "new", etcd.place, "--name", "desk")
        devices[1].join(devices[0], etcd.place)
        if changes > 0:
            measure_changes(etcd, *devices, changes)
        devices.pop().close()
        if items > 0:
            measure_first_sync(etcd, devices[0], items)
    finally:
        for device in devices:
            device.close()
        etcd.close()


main()
