"""A throw-away home with a message bus of its own, and daemons tracked by their ids. Standard library only."""
import json, os, pathlib, shutil, signal, subprocess, tempfile, time

HERE = pathlib.Path(__file__).resolve().parent
BUILD = pathlib.Path(os.environ.get("BENCH_BUILD", HERE / "build")).resolve()
PASSWORD = "bench-password"

BUS_CONF = """<!DOCTYPE busconfig PUBLIC "-//freedesktop//DTD D-Bus Bus Configuration 1.0//EN" "busconfig.dtd">
<busconfig><type>session</type><listen>unix:path={sock}</listen><auth>EXTERNAL</auth>
<policy context="default"><allow send_destination="*" eavesdrop="true"/><allow eavesdrop="true"/><allow own="*"/></policy>
<limit name="max_message_size">1000000000</limit><limit name="max_incoming_bytes">1000000000</limit>
<limit name="max_outgoing_bytes">1000000000</limit><limit name="service_start_timeout">120000</limit>
<limit name="reply_timeout">600000</limit></busconfig>
"""


def now_ns():
    return time.clock_gettime_ns(time.CLOCK_MONOTONIC)


def rss_kib(pid, key="VmRSS"):
    try:
        for line in open(f"/proc/{pid}/status"):
            if line.startswith(key + ":"):
                return int(line.split()[1])
    except OSError:
        pass
    return 0


def tree_rss_kib(pid):
    """RSS of a process and all its descendants."""
    total, todo = 0, [pid]
    while todo:
        p = todo.pop()
        total += rss_kib(p)
        try:
            for t in os.listdir(f"/proc/{p}/task"):
                todo += [int(c) for c in open(f"/proc/{p}/task/{t}/children").read().split()]
        except OSError:
            pass
    return total


class Session:
    """A throw-away HOME with its own XDG directories and (if bus=True) its own dbus-daemon."""

    def __init__(self, bus=True):
        self.dir = pathlib.Path(tempfile.mkdtemp(prefix="bench."))
        self.procs = []
        h = self.dir
        self.env = {k: v for k, v in os.environ.items() if not k.startswith(("DBUS_", "XDG_", "SSH_", "GPG_", "GNOME_"))}
        self.env.update(HOME=str(h / "home"), XDG_RUNTIME_DIR=str(h / "run"), XDG_DATA_HOME=str(h / "home/.local/share"),
                        XDG_CONFIG_HOME=str(h / "home/.config"), XDG_CACHE_HOME=str(h / "home/.cache"), LC_ALL="C.UTF-8")
        for k in ("HOME", "XDG_RUNTIME_DIR", "XDG_DATA_HOME", "XDG_CONFIG_HOME", "XDG_CACHE_HOME"):
            os.makedirs(self.env[k], mode=0o700, exist_ok=True)
        if bus:
            sock, conf = h / "run/bus", h / "bus.conf"
            conf.write_text(BUS_CONF.format(sock=sock))
            self.bus = self.spawn(["dbus-daemon", f"--config-file={conf}", "--nofork", "--nosyslog"])
            self.env["DBUS_SESSION_BUS_ADDRESS"] = f"unix:path={sock}"
            self.wait_for(lambda: sock.exists())

    def wait_for(self, cond, secs=20):
        end = time.time() + secs
        while not cond():
            if time.time() > end:
                raise TimeoutError("condition not reached")
            time.sleep(0.002)

    def spawn(self, argv, stdin=None, env=None, **kw):
        """Start and track a process; stdin bytes are written and closed."""
        log = open(self.dir / "log", "ab")
        p = subprocess.Popen(argv, stdin=subprocess.PIPE if stdin is not None else subprocess.DEVNULL,
                             stdout=log, stderr=log, env={**self.env, **(env or {})}, cwd=self.dir, **kw)
        self.procs.append(p)
        if stdin is not None:
            try:
                p.stdin.write(stdin)
                p.stdin.close()
            except BrokenPipeError:
                pass
        return p

    def run(self, argv, env=None, timeout=300, **kw):
        return subprocess.run(argv, env={**self.env, **(env or {})}, cwd=self.dir, timeout=timeout,
                              capture_output=True, text=True, **kw)

    def client(self, name, *args, env=None, timeout=300):
        """Run a bench client that prints one JSON object."""
        argv = [str(BUILD / name) if not str(name).startswith("/") else str(name), *map(str, args)]
        r = self.run(argv, env, timeout)
        if r.returncode:
            raise RuntimeError(f"{' '.join(argv)}: rc {r.returncode}: {r.stderr[-400:]}")
        return json.loads(r.stdout)

    def stop(self, p, sig=signal.SIGTERM, wait=10):
        if p.poll() is None:
            p.send_signal(sig)
            try:
                p.wait(wait)
            except subprocess.TimeoutExpired:
                p.kill()
                p.wait()
        if p in self.procs:
            self.procs.remove(p)

    def close(self):
        for p in reversed(list(self.procs)):
            self.stop(p, wait=5)
        if not os.environ.get("BENCH_KEEP"):
            shutil.rmtree(self.dir, ignore_errors=True)

    def __enter__(self):
        return self

    def __exit__(self, *a):
        self.close()
