#!/usr/bin/env python3
"""The same work as `benchmarks scale`, by other keepers of secrets: get, search, add, update and delete at so many items.

  bench.py [--sizes 1000,10000] [--budget 2] [--reps 200] [--peers gnome-keyring,floor]

Each runs in a home of its own with a message bus of its own, filled beforehand: through a file that it reads (gnome-keyring,
KeePassXC), by copies of one ciphertext (pass), or in one go (the SQLite floor). A wrong or a missing answer is an error, never a
fast answer. Item i has a service, an account of its own, a group of ten, one of a hundred, and 32 bytes. What is missing here is said and left out.
"""
import argparse, base64, hashlib, os, pathlib, shutil, signal, sys, time
from session import BUILD, PASSWORD, Session, now_ns, tree_rss_kib


class Peer:
    client, has_daemon, needs, sizes_max, wreps = "store_sdbus", True, (), 10**9, None

    def session(self):
        return Session()

    def env(self, s):
        return {}

    def first(self, s, t0, n):
        """Milliseconds from t0 until item n/2 can be read."""
        return s.client(self.client, "first", "--t0", t0, "--n", n, "--budget", 60, env=self.env(s))["first_ms"]


class GnomeKeyring(Peer):
    name, needs, sizes_max = "gnome-keyring", ("gnome-keyring-daemon", "dbus-daemon"), 100_000

    def prepare(self, s, n):
        k = s.dir / "home/.local/share/keyrings"
        k.mkdir(parents=True, exist_ok=True)
        s.run([BUILD / "mkgkr", k / "login.keyring", str(n), PASSWORD]).check_returncode()
        (k / "default").write_text("login")

    def start(self, s):
        return s.spawn(["gnome-keyring-daemon", "--foreground", "--components=secrets", "--unlock"], stdin=PASSWORD.encode())


class KeePassXC(Peer):
    # KeePassXC 2.7.4 ended with SIGSEGV when it was asked while it opened its database, and within a second of adds sent back to back. So
    # it is not asked before it is open (there is no time to a first answer), and its writes are 0.3 s apart.
    name, needs, sizes_max, wreps = "keepassxc", ("keepassxc", "keepassxc-cli", "dbus-daemon"), 10_000, 15

    def env(self, s):
        return {"BENCH_PACE_MS": "300"}

    def first(self, s, t0, n):
        time.sleep(6 + n / 2000)
        s.client(self.client, "first", "--t0", t0, "--n", n, "--budget", 60, env=self.env(s))

    def prepare(self, s, n):
        (s.dir / "kp").mkdir(exist_ok=True)
        kp_xml(s.dir / "in.xml", n)
        r = s.run(["keepassxc-cli", "import", "-p", str(s.dir / "in.xml"), str(s.dir / "kp/db.kdbx")],
                  input=f"{PASSWORD}\n{PASSWORD}\n", env={"QT_QPA_PLATFORM": "offscreen"})
        if r.returncode:
            raise RuntimeError(r.stderr)

    def start(self, s):
        cfg = s.dir / "kp.ini"
        cfg.write_text("[General]\nSingleInstance=false\nUpdateCheckMessageShown=true\n[GUI]\nCheckForUpdates=false\n"
                       "[FdoSecrets]\nEnabled=true\nShowNotification=false\nConfirmDeleteItem=false\n"
                       "ConfirmAccessItem=false\nUnlockBeforeSearch=false\n[Security]\nLockDatabaseIdle=false\n")
        return s.spawn(["keepassxc", "--config", str(cfg), "--localconfig", str(s.dir / "kpl.ini"), "--pw-stdin", str(s.dir / "kp/db.kdbx")],
                       stdin=(PASSWORD + "\n").encode(), env={"QT_QPA_PLATFORM": "offscreen"})


def kp_xml(path, n):
    """KeePass XML for keepassxc-cli import; the root group is exposed to the Secret Service."""
    m = (1 << 64) - 1

    def mix(x):
        x = (x + 0x9E3779B97F4A7C15) & m
        x = ((x ^ (x >> 30)) * 0xBF58476D1CE4E5B9) & m
        x = ((x ^ (x >> 27)) * 0x94D049BB133111EB) & m
        return x ^ (x >> 31)

    def secret(i):  # as item_make() in src/common.h
        return "".join("".join("0123456789abcdef"[(v >> (4 * k)) & 15] for k in range(16)) for v in (mix(i * 4), mix(i * 4 + 1)))

    def uid(i):
        return base64.b64encode(hashlib.md5(f"bench{i}".encode()).digest()).decode()
    raw = hashlib.md5(b"benchroot").hexdigest()
    root = f"{raw[:8]}-{raw[8:12]}-{raw[12:16]}-{raw[16:20]}-{raw[20:]}"
    with open(path, "w") as f:
        f.write('<?xml version="1.0" encoding="UTF-8"?><KeePassFile><Meta><Generator>bench</Generator><DatabaseName>bench</DatabaseName>'
                f"<CustomData><Item><Key>FDO_SECRETS_EXPOSED_GROUP</Key><Value>{{{root}}}</Value></Item></CustomData></Meta>"
                f"<Root><Group><UUID>{uid('root')}</UUID><Name>Root</Name>")
        for i in range(n):
            kv = (("Title", f"bench item {i:08d}"), ("UserName", ""), ("Password", secret(i)), ("URL", ""), ("Notes", ""),
                  ("service", "svc.bench.example"), ("account", f"user-{i:08d}"), ("group", f"g-{i // 10:07d}"),
                  ("hundred", f"h-{i // 100:06d}"), ("xdg:schema", "org.example.bench.Item"))
            f.write(f"<Entry><UUID>{uid(i)}</UUID>" + "".join(f"<String><Key>{k}</Key><Value>{v}</Value></String>" for k, v in kv) + "</Entry>")
        f.write("</Group></Root></KeePassFile>")


class Pass(Peer):
    name, client, has_daemon, needs, sizes_max = "pass", "store_pass", False, ("pass", "gpg"), 10_000

    def session(self):
        s = Session(bus=False)
        s.env["GNUPGHOME"] = str(s.dir / "g")
        os.mkdir(s.env["GNUPGHOME"], 0o700)
        s.run(["gpg", "--batch", "--passphrase", "", "--quick-gen-key", "bench@example.org", "rsa3072", "encrypt,sign", "never"])
        s.run(["pass", "init", "bench@example.org"])
        return s

    def prepare(self, s, n):
        # One real ciphertext, copied: the size of the store is real, its contents repeat.
        store = s.dir / "home/.password-store"
        s.client("store_pass", "fill", "--to", 1)
        one = (store / "bench/g-0000000/user-00000000.gpg").read_bytes()
        for i in range(1, n):
            d = store / f"bench/g-{i // 10:07d}"
            if i % 10 == 0:
                d.mkdir(parents=True)
            (d / f"user-{i:08d}.gpg").write_bytes(one)


class Sqlite(Peer):
    """No keeper: SQLite with a synced write and AES-GCM in the client's own process, the least that anybody could need."""
    name, client, has_daemon = "floor: sqlite, aes-gcm, synced", "store_sqlite", False

    def session(self):
        return Session(bus=False)

    def env(self, s):
        return {"BENCH_DB": str(s.dir / "items.db"), "BENCH_SYNC": "FULL"}

    def prepare(self, s, n):
        s.client("store_sqlite", "fill", "--to", n, "--budget", 120, env={**self.env(s), "BENCH_SYNC": "OFF"})


PEERS = [GnomeKeyring(), KeePassXC(), Pass(), Sqlite()]


def point(p, n, a):
    with p.session() as s:
        p.prepare(s, n)
        daemon, first = None, None
        if p.has_daemon:
            t0 = now_ns()
            daemon = p.start(s)
            first = p.first(s, t0, n)
        args = ["ops", "--n", n, "--reps", a.reps, "--budget", a.budget] + (["--wreps", p.wreps] if p.wreps else [])
        ops = s.client(p.client, *args, env=p.env(s), timeout=900)
        memory = tree_rss_kib(daemon.pid) if daemon else None
        note = "  it ended by itself" if daemon and daemon.poll() is not None else ""
        if isinstance(p, Pass):
            s.run(["gpgconf", "--kill", "gpg-agent"])
    cells = [f"{ops[o]['med_us']:.1f}" if ops.get(o, {}).get("n") else "-" for o in ("get", "search", "add", "update", "delete")]
    cells += [f"{first:.0f}" if first else "-", f"{memory / 1024:.0f}" if memory else "-", str(ops.get("errors", 0))]
    print(f"{p.name:32}{n:>10}" + "".join(f"{c:>12}" for c in cells) + note, flush=True)


def main():
    ap = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    ap.add_argument("--peers", help="comma list of how names begin")
    ap.add_argument("--sizes", default="1000,10000")
    ap.add_argument("--reps", type=int, default=200)
    ap.add_argument("--budget", type=float, default=2, help="seconds for each kind of work")
    a = ap.parse_args()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # so that sessions are closed and their daemons stopped
    head = ("get", "search", "add", "update", "delete", "first ms", "MiB", "errors")
    print(f"{'medians in microseconds':32}{'items':>10}" + "".join(f"{c:>12}" for c in head), flush=True)
    for p in PEERS:
        if a.peers and not any(p.name.startswith(w) for w in a.peers.split(",")):
            continue
        missing = [w for w in p.needs if not shutil.which(w)]
        if missing:
            print(f"{p.name}: not measured, since there is no {', '.join(missing)} (Debian: apt install gnome-keyring keepassxc pass dbus)", flush=True)
            continue
        for n in (int(x) for x in a.sizes.split(",")):
            if n > p.sizes_max:
                print(f"{p.name:32}{n:>10}  not measured: it would take too long to fill or to answer", flush=True)
                continue
            try:
                point(p, n, a)
            except Exception as e:  # one that fails must not keep the others from being measured
                print(f"{p.name:32}{n:>10}  failed: {type(e).__name__}: {e}"[:300], flush=True)
                break


if __name__ == "__main__":
    main()
