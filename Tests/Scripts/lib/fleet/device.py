"""One device of a circle: a keychain with all its rooms, and the program that synchronizes it."""
import os, re, signal, subprocess, threading

from common import BASE, BUILD, Failed, HANG, children, program, run, say
from network import Disk

PASSCODE = b"correct horse battery\n"


class Device:
    SYNC = "vauban-compaction-testing"

    def __init__(self, name, number, network, clock=None, disk=0):
        self.name, self.number, self.folder = name, number, BASE / name
        self.folder.mkdir(mode=0o700)
        # The disk first, so that a namespace that is created later has it.
        self.disk = Disk(self.folder / "disk", disk) if disk else None
        self.place = network.place(name, number, clock=clock)
        self.home = (self.disk or self).folder / "keychain"
        # The command line that compacts after a few files.
        self.environment = {
            "PATH": os.environ["PATH"], "HOME": str(BASE), "TERM": "xterm", "VAUBAN_HOME": str(self.home), "VAUBAN_TEST_COMPACTION": "8 3 4"}
        self.follower, self.follows, self.said, self.statuses, self.successes = None, False, [], [], 0
        # Tasks that another device's operation left for this one.
        self.tasks, self.lock = [], threading.Lock()

    # MARK: Commands

    def run(self, program, *words, given=b"", expecting=0, passcode=False):
        reading = None
        words = [*self.place.prefix, BUILD / program, *words]
        if passcode:
            reading, writing = os.pipe()
            os.write(writing, PASSCODE)
            os.close(writing)
            words += ["--passcode-fd", reading]
        try:
            return run(words, given, expecting, env=self.environment, pass_fds=[reading] if passcode else [])
        finally:
            if passcode:
                os.close(reading)

    def vauban(self, *words, **options):
        return self.run("vauban", *words, **options)

    def call(self, verb, account, value=""):
        """Calls Apple's API in a program. Returns the status and the result."""
        _, out, _ = self.run("keychain-caller", f"synced-{verb}", account, *([value] if value else []), expecting=None)
        status, _, found = out.strip().partition(" ")
        return status, found

    def set_up(self):
        self.home.mkdir(mode=0o700)
        (self.home / "service").write_text(f"version 1\nlauncher {BUILD}/rooms-testing\n")
        self.vauban("passcode", "set", "--passcode-fd", "0", given=PASSCODE)

    def unlock(self):
        for attempt in range(30):
            status, out, err = self.vauban("unlock", "--passcode-fd", "0", given=PASSCODE, expecting=None)
            if status == 0:
                return
        raise Failed(f"{self.name} cannot be unlocked: {out}{err}")

    def join(self, member, place):
        if member is None:
            return self.vauban("sync", "new", place, "--name", self.name)
        self.vauban("sync", "join", place, "--name", self.name)
        member.vauban("sync", "approve")
        code = self.vauban("sync", "join", place)[1].strip()
        answer = member.vauban("sync", "approve", code, passcode=True)[1].strip()
        self.vauban("sync", "join", place, answer, passcode=True)

    def sync(self, expecting=0):
        return self.run(self.SYNC, "sync", "--no-input", expecting=expecting)

    def start_sync(self, *words, **streams):
        return subprocess.Popen(
            [*self.place.prefix, BUILD / self.SYNC, "sync", "--no-input", *words], env=self.environment, stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL, start_new_session=True, **streams)

    def items(self):
        """Returns every item by its account."""
        import json

        out = self.vauban("export", "--plain", "-", passcode=True)[1]
        return {item["account"]: item["secret"] for item in json.loads(out)}

    # MARK: Processes

    @property
    def launcher(self):
        try:
            found = re.match(r"launcher (\d+) ", (self.home / "lock").read_text())
        except OSError:
            return None
        return int(found[1]) if found and program(int(found[1])) == "launcher" else None

    @property
    def rooms(self):
        launcher = self.launcher
        return {program(pid): pid for pid in children(launcher)} if launcher else {}

    @property
    def processes(self):
        own = [self.launcher, *self.rooms.values()]
        if self.follower and self.follower.poll() is None:
            own += [self.follower.pid, *children(self.follower.pid)]
        return [pid for pid in own if pid]

    def follow(self, turns):
        """Synchronizes changes until `rest`; the follower is started again whenever it ends, as by systemd."""
        self.follows = True
        self.thread = threading.Thread(target=self._follow, args=(turns,), daemon=True)
        self.thread.start()

    def _follow(self, turns):
        while self.follows:
            with self.lock:
                if not self.follows:
                    return
                self.follower = self.start_sync("--follow", stderr=subprocess.PIPE, text=True, errors="replace")
            for line in self.follower.stderr:
                self.said.append(line.rstrip())
                # A run that failed does not report what it sent; the next one has sent everything.
                if line.startswith("Synchronizing again.") or ("received, " in line and "received, 0 sent" not in line):
                    self.successes += 1
                    turns.note()
                if os.environ.get("FLEET_VERBOSE"):
                    say(f"{self.name}: {line.rstrip()}")
            self.statuses.append(self.follower.wait())

    def rest(self):
        with self.lock:
            self.follows = False
            if self.follower and self.follower.poll() is None:
                for pid in children(self.follower.pid):
                    os.kill(pid, signal.SIGCONT)
                self.follower.send_signal(signal.SIGCONT)
                self.follower.terminate()
        self.thread.join(HANG)
        if self.thread.is_alive():
            raise Failed(f"vauban sync --follow of {self.name} does not end")

    def end(self):
        self.vauban("stop", expecting=None)
