#!/usr/bin/env python3
"""The same work over the Secret Service by Vauban and by gnome-keyring, each on a message bus of its own, in one run.

  secret_service.py [--sizes 1000,50000] [--budget 2] [--reps 2000] [--providers vauban,gnome-keyring]

Beside each: the bus's own round trip, to a program that answers at once. gnome-keyring reads a file that was written beforehand; Vauban is
filled over the bus by four clients. VAUBAN_PROGRAM is its command line, VAUBAN_BENCH_FILL a folder in memory in which it is filled.
"""
import argparse, os, pathlib, shutil, signal, subprocess, sys, tempfile
from bench import GnomeKeyring
from session import BUILD, PASSWORD, Session, rss_kib


class Keyring(GnomeKeyring):
    def memory(self, daemon):
        return rss_kib(daemon.pid), rss_kib(daemon.pid, "RssAnon")

    def end(self, s):
        pass


class Vauban:
    """Rooms in user mode. The keychain of one size is filled from that of the size before."""
    name, needs = "vauban", ("dbus-daemon",)

    def __init__(self):
        self.program = os.environ["VAUBAN_PROGRAM"]
        self.kept, self.items = pathlib.Path(tempfile.mkdtemp(prefix="vauban.", dir=os.environ.get("VAUBAN_BENCH_FILL", "/dev/shm"))), 0

    def vauban(self, s, *words):
        read, write = os.pipe()
        os.write(write, (PASSWORD + "\n").encode())
        os.close(write)
        argv = [self.program, *words] + (["--passcode-fd", str(read)] if words[0] in ("setup", "unlock") else [])
        subprocess.run(argv, env=s.env, pass_fds=(read,), check=True, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        os.close(read)

    def serve(self, s, home, is_new=False):
        s.env["VAUBAN_HOME"] = str(home)
        if is_new:
            self.vauban(s, "setup")
        self.vauban(s, "unlock")
        daemon = s.spawn([self.program, "secret-service", "--foreground"])
        owner = ["dbus-send", "--session", "--print-reply", "--dest=org.freedesktop.DBus", "/org/freedesktop/DBus",
                 "org.freedesktop.DBus.GetNameOwner", "string:org.freedesktop.secrets"]
        s.wait_for(lambda: s.run(owner).returncode == 0)
        return daemon

    def prepare(self, s, n):
        if n > self.items:
            with Session() as filling:
                step = -(-(n - self.items) // 4)
                try:
                    self.serve(filling, self.kept / "home", self.items == 0)
                    clients = [filling.spawn([BUILD / "store_sdbus", "fill", "--from", str(first), "--to", str(min(first + step, n)),
                                              "--budget", "7200"]) for first in range(self.items, n, step)]
                    if any([client.wait() for client in clients]):
                        raise RuntimeError("it could not be filled")
                finally:
                    self.end(filling)
            self.items = n
        shutil.copytree(self.kept / "home", s.dir / "keychain", ignore=lambda folder, names: [x for x in names if x.endswith(".socket")])

    def start(self, s):
        return self.serve(s, s.dir / "keychain")

    def memory(self, daemon):
        return rss_kib(daemon.pid), rss_kib(daemon.pid, "RssAnon")

    def end(self, s):
        self.vauban(s, "stop")


def point(p, n, a):
    with Session() as s:
        p.prepare(s, n)
        try:
            daemon = p.start(s)
            s.client("store_sdbus", "first", "--t0", 0, "--n", n, "--budget", 120)
            s.spawn([BUILD / "bus_bench", "echo"])
            s.wait_for(lambda: s.run([BUILD / "bus_bench", "ping", "--reps", "1"]).returncode == 0)
            ping = s.client("bus_bench", "ping", "--reps", a.reps)["ping"]
            read = s.client("bus_bench", "read", "--n", n, "--reps", a.reps, timeout=1800)["read"]
            ops = s.client("store_sdbus", "ops", "--n", n, "--reps", a.reps, "--wreps", 200, "--budget", a.budget, timeout=1800)
            resident, own = p.memory(daemon)
        finally:
            p.end(s)
    cells = [ping["med_us"], read["med_us"]] + [ops[o]["med_us"] if ops.get(o, {}).get("n") else None for o in
                                                ("get", "search", "searchload", "searchin", "add", "update", "delete")]
    row = "".join(f"{c:>11.1f}" if c is not None else f"{'-':>11}" for c in cells)
    print(f"{p.name:16}{n:>9}{row}{resident / 1024:>8.1f}{own / 1024:>8.1f}{ops['errors']:>8}", flush=True)


def main():
    ap = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    ap.add_argument("--providers", default="vauban,gnome-keyring")
    ap.add_argument("--sizes", default="1000,50000")
    ap.add_argument("--reps", type=int, default=2000)
    ap.add_argument("--budget", type=float, default=2, help="seconds for each kind of work")
    a = ap.parse_args()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    head = ("bus", "GetSecret", "look-up", "search 10", "read 10", "in 100", "store", "update", "delete")
    print(f"{'medians in µs':16}{'items':>9}" + "".join(f"{c:>11}" for c in head) + f"{'MiB':>8}{'own':>8}{'errors':>8}", flush=True)
    providers = [p for p in (Vauban(), Keyring()) if p.name in a.providers.split(",")]
    try:
        for n in (int(x) for x in a.sizes.split(",")):
            for p in providers:
                missing = [w for w in p.needs if not shutil.which(w)]
                if missing:
                    print(f"{p.name}: not measured, since there is no {', '.join(missing)} (Debian: apt install gnome-keyring dbus)", flush=True)
                    continue
                try:
                    point(p, n, a)
                except Exception as e:  # one that fails must not keep the other from being measured
                    print(f"{p.name:16}{n:>9}  failed: {type(e).__name__}: {e}"[:400], flush=True)
    finally:
        for p in providers:
            if isinstance(p, Vauban):
                shutil.rmtree(p.kept, ignore_errors=True)


if __name__ == "__main__":
    main()
