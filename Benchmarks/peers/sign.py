#!/usr/bin/env python3
"""P-256 signatures over 32 bytes, a second: Vauban's enclave and other keepers of keys, each in every round, so that what else the
machine does meets them all.

  sign.py [--clients 1,4] [--seconds 2] [--rounds 3] [--peers vauban,openssh]

Each client is a process with a connection of its own that makes one signature after the other. The keepers run in homes of their own;
BENCHMARKS names the program that signs with Vauban, whose keychain is there already, and VAUBAN_PROGRAM its command line. What is missing here is said and left out.
"""
import argparse, contextlib, json, os, pathlib, shutil, signal, socket, statistics, subprocess, sys
from session import BUILD, Session


def first_there(*paths):
    return next((str(p) for p in paths if p and os.path.exists(p)), None)


@contextlib.contextmanager
def vauban():
    def measure(clients, seconds):
        r = subprocess.run([os.environ["BENCHMARKS"], "sign", str(clients), str(seconds)], capture_output=True, text=True, timeout=300)
        if r.returncode:
            raise RuntimeError(r.stderr[-300:])
        return json.loads(r.stdout)
    yield measure


def by_bench(s, backend, env):
    return lambda clients, seconds: s.client("sign_bench", backend, "--clients", clients, "--seconds", seconds, env=env)


@contextlib.contextmanager
def openssl():
    with Session(bus=False) as s:
        yield by_bench(s, "openssl", {})


@contextlib.contextmanager
def ssh_agent():
    with Session(bus=False) as s:
        s.run(["ssh-keygen", "-q", "-t", "ecdsa", "-b", "256", "-N", "", "-f", str(s.dir / "k")]).check_returncode()
        at = s.dir / "agent"
        s.spawn(["ssh-agent", "-D", "-a", str(at)])
        s.wait_for(at.exists)
        env = {"SSH_AUTH_SOCK": str(at)}
        s.run(["ssh-add", "-q", str(s.dir / "k")], env=env).check_returncode()
        yield by_bench(s, "sshagent", env)


@contextlib.contextmanager
def vauban_agent():
    """The same keychain through its agent for SSH, by the client that asks OpenSSH's."""
    program = os.environ["VAUBAN_PROGRAM"]
    with Session(bus=False) as s:
        s.run([program, "ssh", "new", "measured"]).check_returncode()
        at = s.dir / "agent"
        s.spawn([program, "ssh-agent", "--foreground", "--socket", str(at), "--key", "measured"])
        s.wait_for(at.exists)
        yield by_bench(s, "sshagent", {"SSH_AUTH_SOCK": str(at)})


@contextlib.contextmanager
def softhsm():
    module = first_there("/usr/lib/softhsm/libsofthsm2.so", "/usr/lib64/softhsm/libsofthsm2.so")
    server = first_there("/usr/libexec/p11-kit/p11-kit-server", "/usr/lib/p11-kit/p11-kit-server")
    client = first_there(*pathlib.Path("/usr/lib").glob("*/pkcs11/p11-kit-client.so"))
    if not (module and server and client):
        raise FileNotFoundError("softhsm2, p11-kit-server or p11-kit-client.so")
    with Session(bus=False) as s:
        (s.dir / "tok").mkdir()
        (s.dir / "sh.conf").write_text(f"directories.tokendir = {s.dir}/tok\nobjectstore.backend = file\nlog.level = ERROR\n")
        env = {"SOFTHSM2_CONF": str(s.dir / "sh.conf"), "BENCH_P11_MODULE": module, "BENCH_P11_PIN": "1234"}
        s.run(["softhsm2-util", "--init-token", "--free", "--label", "bench", "--pin", "1234", "--so-pin", "1234"], env=env).check_returncode()
        s.run([str(BUILD / "sign_bench"), "pkcs11", "--keygen"], env=env).check_returncode()
        at = s.dir / "p11"
        s.spawn([server, "-f", "-n", str(at), "--provider", module, "pkcs11:"], env=env)
        s.wait_for(at.exists)
        yield by_bench(s, "pkcs11", {**env, "BENCH_P11_MODULE": client, "P11_KIT_SERVER_ADDRESS": f"unix:path={at}"})


def tpm(s):
    """Starts swtpm on a free port, its control channel on the next."""
    for port in range(20000 + os.getpid() % 20000, 60000, 2):
        with socket.socket() as x, socket.socket() as y:
            try:
                x.bind(("127.0.0.1", port))
                y.bind(("127.0.0.1", port + 1))
                break
            except OSError:
                continue
    (s.dir / "tpm").mkdir()
    s.spawn(["swtpm", "socket", "--tpm2", "--tpmstate", f"dir={s.dir}/tpm", "--server", f"type=tcp,port={port},bindaddr=127.0.0.1",
             "--ctrl", f"type=tcp,port={port + 1},bindaddr=127.0.0.1", "--flags", "not-need-init,startup-clear"])
    # Listening, without a connection that it would take for its one client's.
    listening = f":{port:04X} 00000000:0000 0A"
    s.wait_for(lambda: listening in open("/proc/net/tcp").read())
    return f"swtpm:host=127.0.0.1,port={port}"


@contextlib.contextmanager
def swtpm():
    def measure(clients, seconds):
        if clients > 1:
            raise NotImplementedError("it has one client at a time")
        # Anew each time: a key that nobody flushed stays in one of its three places.
        with Session(bus=False) as s:
            return by_bench(s, "esys", {"BENCH_TCTI": tpm(s)})(clients, seconds)
    yield measure


@contextlib.contextmanager
def swtpm_shared():
    with Session() as s:
        manager = s.spawn(["tpm2-abrmd", f"--tcti={tpm(s)}", "--session", "--allow-root", "--max-connections=20"])
        asked = ["busctl", f"--address={s.env['DBUS_SESSION_BUS_ADDRESS']}", "status", "com.intel.tss2.Tabrmd"]
        s.wait_for(lambda: manager.poll() is not None or s.run(asked).returncode == 0)
        yield by_bench(s, "esys", {"BENCH_TCTI": "tabrmd:bus_type=session"})


KEEPERS = [
    ("openssl in process, the limit", openssl, ()), ("vauban", vauban, ()),
    ("vauban's agent for SSH", vauban_agent, ()), ("openssh ssh-agent", ssh_agent, ("ssh-agent", "ssh-add")),
    ("softhsm2 behind p11-kit server", softhsm, ("softhsm2-util",)), ("swtpm by esys", swtpm, ("swtpm",)),
    ("swtpm by esys and tpm2-abrmd", swtpm_shared, ("swtpm", "tpm2-abrmd", "dbus-daemon", "busctl")),
]


def main():
    ap = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    ap.add_argument("--clients", default="1,4")
    ap.add_argument("--seconds", type=float, default=2)
    ap.add_argument("--rounds", type=int, default=3)
    ap.add_argument("--peers", help="comma list of how names begin")
    a = ap.parse_args()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # so that sessions are closed and their daemons stopped
    numbers = [int(x) for x in a.clients.split(",")]
    found = {}
    with contextlib.ExitStack() as stack:
        keepers = []
        for name, start, needs in KEEPERS:
            if a.peers and not any(name.startswith(w) for w in a.peers.split(",")):
                continue
            missing = [w for w in needs if not shutil.which(w)]
            try:
                if missing:
                    raise FileNotFoundError(", ".join(missing))
                keepers.append((name, stack.enter_context(start())))
            except Exception as e:  # one that fails must not keep the others from being measured
                print(f"{name}: not measured: {type(e).__name__}: {e}"[:300], flush=True)
        for _ in range(a.rounds):
            for name, measure in keepers:
                for clients in numbers:
                    try:
                        one = measure(clients, a.seconds)
                        found.setdefault((name, clients), []).append(one)
                    except NotImplementedError:
                        pass
                    except Exception as e:
                        print(f"{name}, {clients} clients: {type(e).__name__}: {e}"[:300], flush=True)
    print(f"{'medians of ' + str(a.rounds) + ' rounds':36}{'clients':>8}{'a second':>12}{'median us':>12}{'p99 us':>12}")
    for (name, clients), rounds in found.items():
        cells = (statistics.median(r["per_s"] for r in rounds),) + tuple(
            statistics.median(r["sign"][key] for r in rounds) for key in ("med_us", "p99_us"))
        print(f"{name:36}{clients:>8}" + "".join(f"{c:>12,.1f}" for c in cells))


if __name__ == "__main__":
    main()
