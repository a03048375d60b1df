"""The processor time of the measured processes by kind, and that of the whole machine. Seconds."""
import os, pathlib, resource, time


def descendants(roots):
    """Returns these processes and all processes below them."""
    children = {}
    for folder in pathlib.Path("/proc").iterdir():
        if folder.name.isdigit():
            try:
                # The second field, the program's name, may contain anything, so fields are counted from its end.
                parent = int((folder / "stat").read_text(errors="replace").rpartition(")")[2].split()[1])
            except OSError:
                continue
            children.setdefault(parent, []).append(int(folder.name))
    found, left = [], list(roots)
    while left:
        pid = left.pop()
        found.append(pid)
        left += children.get(pid, [])
    return found


def kind(pid):
    """Returns the name of a process; for the rooms for tests that of its room, which is its first argument."""
    try:
        words = pathlib.Path(f"/proc/{pid}/cmdline").read_text(errors="replace").split("\0")
    except OSError:
        return None
    name = os.path.basename(words[0])
    if name == "rooms-testing":
        return "vauban-launcher" if words[1].startswith("-") else words[1]
    return "vauban sync --follow" if name == "vauban" else name


def clock(pid):
    """Returns the processor time of all threads of a process so far, including threads that have ended; None if it has ended itself."""
    try:
        return time.clock_gettime(~pid << 3 | 2)  # The clock that clock_getcpuclockid(3) names.
    except OSError:
        return None


def busy():
    """Returns the processor time of all processors that were not idle."""
    words = pathlib.Path("/proc/stat").read_text().splitlines()[0].split()
    times = [int(word) for word in words[1:9]]
    return (sum(times) - times[3] - times[4]) / os.sysconf("SC_CLK_TCK")


def own_memory(pid):
    """Returns the bytes of a process that no file backs; it shares the others with all processes of its program."""
    try:
        for line in pathlib.Path(f"/proc/{pid}/status").read_text(errors="replace").splitlines():
            if line.startswith("RssAnon:"):
                return int(line.split()[1]) << 10
    except OSError:
        pass
    return 0


def used_by(who):
    usage = resource.getrusage(who)
    return usage.ru_utime + usage.ru_stime


def available_bytes():
    """Returns the memory that the machine has left."""
    for line in pathlib.Path("/proc/meminfo").read_text().splitlines():
        if line.startswith("MemAvailable:"):
            return int(line.split()[1]) << 10


class Costs:
    """What was used so far by the standing processes below `roots`, by clients that were run to their end, and by the machine."""

    def __init__(self, roots):
        self.time, self.machine = time.monotonic(), busy()
        self.clients, self.measuring = used_by(resource.RUSAGE_CHILDREN), used_by(resource.RUSAGE_SELF)
        self.processes = {}
        for pid in descendants(roots):
            name, used = kind(pid), clock(pid)
            if name and used is not None:
                self.processes[pid] = (name, used)

    def since(self, before):
        """Returns the seconds of each kind of process since then, and how many processes have ended, whose time is missing."""
        kinds = {"clients (vauban add)": self.clients - before.clients, "this measurement": self.measuring - before.measuring}
        for pid, (name, used) in self.processes.items():
            kinds[name] = kinds.get(name, 0) + used - before.processes.get(pid, (name, 0))[1]
        return kinds, len(before.processes.keys() - self.processes.keys())
