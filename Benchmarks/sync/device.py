"""A device of a circle: a keychain with all its rooms in user mode, and the program that synchronizes it."""
import collections, contextlib, json, os, pathlib, re, shutil, signal, subprocess, sys, threading, time

BASE = pathlib.Path(os.environ["TMPDIR"])
VAUBAN, BENCHMARKS = os.environ["VAUBAN_PROGRAM"], os.environ["BENCHMARKS"]
# Every command and every standing process is in a session of its own, so that Ctrl-C ends only the measurement, which then ends them.
OWN = {"start_new_session": True}
PASSCODE = "only-for-measuring"
SYNCHRONIZED = re.compile(r"([\d,]+) changes? received")


class Device:
    def __init__(self, name, launcher=None):
        self.name, self.home, self.launcher = name, BASE / name, launcher
        self.environment = {**os.environ, "VAUBAN_HOME": str(self.home)}
        self.children, self.said = [], collections.deque(maxlen=5)

    def set_up(self):
        if self.launcher:
            self.home.mkdir(mode=0o700)
            (self.home / "service").write_text(f"version 1\nlauncher {self.launcher}\n")
        self.vauban("setup", passcode=True)
        self.vauban("unlock", passcode=True)

    def run(self, *words, passcode=False, given=None):
        """Runs a command to its end, without a terminal."""
        descriptor, words = None, list(words)
        if passcode:
            reading, writing = os.pipe()
            os.write(writing, (PASSCODE + "\n").encode())
            os.close(writing)
            descriptor = reading
            words += ["--passcode-fd", str(reading)]
        try:
            return subprocess.run(
                [VAUBAN, *words], env=self.environment, pass_fds=[descriptor] if passcode else [], input=given or "",
                capture_output=True, text=True, **OWN)
        finally:
            if passcode:
                os.close(descriptor)

    def vauban(self, *words, **options):
        ran = self.run(*words, **options)
        if ran.returncode:
            sys.exit(f"{self.name}: vauban {' '.join(words)}: {ran.stderr}")
        return ran.stdout.strip()

    def add(self, secrets):
        """Adds synchronizable items by their accounts. Returns how many were acknowledged, the first ones, and an error or None."""
        items = "".join(
            json.dumps({"service": "load", "account": account, "secret": secret, "synchronizable": True}) + "\n"
            for account, secret in secrets.items())
        ran = self.run("add", "--json", "-", given=items)
        if ran.returncode == 0:
            return len(secrets), None
        before = re.search(r"; (\d+) of \d+ were added before it", ran.stderr)
        return int(before[1]) if before else 0, ran.stderr.strip() or f"vauban add ended with {ran.returncode}"

    def secrets(self):
        """Returns the secrets of the items by their accounts."""
        return {item["account"]: item["secret"] for item in json.loads(self.vauban("export", "--plain", "-", passcode=True))}

    def start(self, *words):
        child = subprocess.Popen(
            [str(word) for word in words], env=self.environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
            stderr=open(BASE / f"{self.name}.log", "a"), **OWN)
        self.children.append(child)
        return child

    def follow(self, hears=lambda line: None):
        """Starts `vauban sync --follow`, and returns when it has synchronized once. From then on, `hears` gets what it says."""
        child = subprocess.Popen(
            [VAUBAN, "sync", "--follow", "--no-input"], env=self.environment, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE, text=True, errors="replace", **OWN)
        self.children.append(child)
        self.follower, ready = child, threading.Event()

        def listen():
            for line in child.stderr:
                self.said.append(line.rstrip())
                if ready.is_set():
                    hears(line.rstrip())
                elif SYNCHRONIZED.match(line):
                    ready.set()
            if not ready.is_set():
                child.wait()
                ready.set()

        threading.Thread(target=listen, daemon=True).start()
        ready.wait()
        if child.poll() is not None:
            sys.exit(f"{self.name}: vauban sync --follow: {' '.join(self.said)}")

    def join(self, member, place):
        """Joins by the codes of both sides; returns the seconds of the last step, which receives everything."""
        self.vauban("sync", "join", place, "--name", self.name)
        member.vauban("sync", "approve")
        code = self.vauban("sync", "join", place)
        answer = member.vauban("sync", "approve", code, passcode=True)
        began = time.monotonic()
        self.vauban("sync", "join", place, answer, passcode=True)
        return time.monotonic() - began

    @property
    def launched(self):
        """The process of the launcher, whose children are the rooms."""
        return int(re.match(r"launcher (\d+) ", (self.home / "lock").read_text())[1])

    def close(self):
        for child in self.children:
            if child.poll() is None:
                os.killpg(child.pid, signal.SIGKILL)
            child.wait()
        subprocess.run([VAUBAN, "stop"], env=self.environment, capture_output=True, **OWN)
        shutil.rmtree(self.home, ignore_errors=True)


def end_leftovers(parent):
    """Ends launchers of devices that `vauban stop` did not reach, for example because their folders were removed before; rooms end with
    their launcher. The name of the folder is of this run alone. Its files are removed too if Benchmarks/run has ended before."""
    for folder in pathlib.Path("/proc").iterdir():
        try:
            words = (folder / "cmdline").read_text(errors="replace").split("\0") if folder.name.isdigit() else []
        except OSError:
            continue
        if "--home" in words and words[words.index("--home") + 1].startswith(f"{BASE}/"):
            with contextlib.suppress(ProcessLookupError):
                os.kill(int(folder.name), signal.SIGKILL)
    if os.getppid() != parent:
        shutil.rmtree(BASE, ignore_errors=True)
