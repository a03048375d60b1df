"""Shared by the parts of fleet: running programs, and an error that names the failure."""
import os, pathlib, subprocess, threading, time

REPOSITORY = pathlib.Path(__file__).resolve().parents[4]
BUILD, BASE = pathlib.Path(os.environ["VAUBAN_BUILD"]), pathlib.Path(os.environ["TMPDIR"])
# Makes a test that hangs end with a reason (lib/deadline.sh).
HANG = int(os.environ["hang_seconds"])
STARTED = time.monotonic()
_said = threading.Lock()


class Failed(Exception):
    pass


def say(text):
    with _said:
        print(f"{time.monotonic() - STARTED:7.2f}  {text}", flush=True)


def run(words, given=b"", expecting=0, **options):
    """Runs a program to its end in a separate session; returns its status, output and errors as text."""
    words = [str(word) for word in words]
    try:
        ran = subprocess.run(words, input=given, capture_output=True, start_new_session=True, timeout=HANG, **options)
    except subprocess.TimeoutExpired:
        raise Failed(f"{' '.join(words)} does not end within {HANG} s") from None
    status, out, err = ran.returncode, ran.stdout.decode(errors="replace"), ran.stderr.decode(errors="replace")
    if expecting is not None and status != expecting:
        raise Failed(f"{' '.join(words)} ended with {status}: {out}{err}")
    return status, out, err


def children(pid):
    try:
        return [int(child) for child in pathlib.Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]
    except OSError:
        return []


def program(pid):
    """Returns the name of a process; for rooms-testing that of its room, which is its first argument."""
    try:
        words = pathlib.Path(f"/proc/{pid}/cmdline").read_text(errors="replace").split("\0")
    except OSError:
        return ""
    name = os.path.basename(words[0])
    return name if name != "rooms-testing" else "launcher" if words[1].startswith("-") else words[1]


def signal(pid, number):
    try:
        os.kill(pid, number)
        return True
    except ProcessLookupError:
        return False


class Turns:
    """The time of the test, counted in operations: each device may perform so many, and a fault lasts until the others have performed theirs."""

    def __init__(self):
        self.changed, self.over, self.failure = threading.Condition(), False, None
        self.allowed, self.given, self.ended, self.acknowledged = {}, {}, {}, 0

    def allow(self, devices, count):
        with self.changed:
            for device in devices:
                self.allowed[device] = self.allowed.get(device, 0) + count
                self.given[device] = self.given.get(device, 0) + count
            self.changed.notify_all()

    def expected(self, device):
        return self.given.get(device, 0)

    def take(self, device):
        """Waits until a device may perform one more operation; returns whether it may."""
        with self.changed:
            self.changed.wait_for(lambda: self.over or self.allowed.get(device, 0) > 0)
            if self.over:
                return False
            self.allowed[device] -= 1
            return True

    def end(self, device, acknowledged):
        with self.changed:
            self.ended[device] = self.ended.get(device, 0) + 1
            self.acknowledged += acknowledged
            self.changed.notify_all()

    def note(self):
        """Makes the waiting threads check again."""
        with self.changed:
            self.changed.notify_all()

    def wait(self, what, condition):
        with self.changed:
            if not self.changed.wait_for(lambda: self.over or condition(), HANG):
                raise Failed(f"{what()} within {HANG} s")

    def finish(self, failure=None):
        with self.changed:
            self.over, self.failure = True, self.failure or failure
            self.changed.notify_all()
