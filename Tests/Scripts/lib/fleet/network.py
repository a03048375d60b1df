"""A separate network: bridges in the namespace of the test, and for each device and each node of etcd a namespace, whose links can be cut."""
import os, pathlib, subprocess

from common import Failed, run


class Place:
    """The place where the programs of a device or node run: a separate namespace, kept by a process that only waits, or that of the test."""

    def __init__(self, holder=None, links=None):
        self.holder, self.links = holder, links or {}

    @property
    def prefix(self):
        if self.holder is None:
            return []
        own = f"/proc/{self.holder.pid}/ns"
        return ["nsenter", f"--net={own}/net", f"--mount={own}/mnt", "--"]

    def cut(self, bridge):
        run(["ip", "link", "set", self.links[bridge], "down"])
        shown = run([*self.prefix, "ip", "-brief", "link", "show", bridge])[1]
        if "NO-CARRIER" not in shown:
            raise Failed(f"a link is not cut: {shown}")

    def mend(self, bridge):
        run(["ip", "link", "set", self.links[bridge], "up"])


class Network:
    """Bridges `clients` and, for messages between nodes, `peers`."""

    NETS = {"clients": "10.77.0", "peers": "10.78.0"}
    can_cut = True

    def __init__(self):
        run(["ip", "link", "set", "lo", "up"])
        for bridge in self.NETS:
            run(["ip", "link", "add", bridge, "type", "bridge"])
            run(["ip", "link", "set", bridge, "up"])
        run(["ip", "address", "add", f"{self.NETS['clients']}.254/24", "dev", "clients"])

    def place(self, name, number, bridges=("clients",), clock=None):
        """Makes a namespace with a link to each bridge. With a clock, a number of seconds, programs there have another date."""
        holder = subprocess.Popen(
            ["unshare", "--net", "--mount", "sh", "-c", "echo; exec sleep infinity"], stdout=subprocess.PIPE, stdin=subprocess.DEVNULL)
        holder.stdout.readline()
        place = Place(holder, {bridge: f"{name}-{bridge[0]}" for bridge in bridges})
        for bridge, link in place.links.items():
            run(["ip", "link", "add", link, "type", "veth", "peer", "name", bridge, "netns", str(holder.pid)])
            run(["ip", "link", "set", link, "master", bridge, "up"])
            run([*place.prefix, "ip", "address", "add", f"{self.NETS[bridge]}.{number}/24", "dev", bridge])
            run([*place.prefix, "ip", "link", "set", bridge, "up"])
        run([*place.prefix, "ip", "link", "set", "lo", "up"])
        if clock is not None:
            clock.move(place)
        return place

    def node(self, number):
        place = self.place(f"n{number}", number, ("clients", "peers"))
        return place, f"{self.NETS['clients']}.{number}:2379", f"{self.NETS['peers']}.{number}:2380"


class Loopback:
    """Replaces the network if this machine does not permit one."""

    can_cut = False

    def __init__(self):
        self.port = int(os.environ["PORT"])

    def place(self, name, number, bridges=(), clock=None):
        return Place()

    def node(self, number):
        first = self.port + 2 * (number - 1)
        return Place(), f"127.0.0.1:{first}", f"127.0.0.1:{first + 1}"


class Clock:
    """Another date for the programs of a place: a library of lib/moved-clock.c, which the loader puts into each of them."""

    FILE = "/etc/moved-clock"

    def __init__(self, library, folder, seconds):
        self.library, self.folder, self.seconds = library, pathlib.Path(folder), seconds

    def move(self, place):
        # The loader reads its list from one fixed path, which is a copy here.
        self.folder.mkdir(parents=True)
        run(["cp", "-a", "/etc/.", self.folder])
        run([*place.prefix, "mount", "--bind", self.folder, "/etc"])
        self.set(self.seconds)
        (self.folder / "ld.so.preload").write_text(f"{self.library}\n")

    def set(self, seconds):
        self.seconds = seconds
        (self.folder / "moved-clock").write_text(f"{seconds}\n")


class Disk:
    """A small file system in memory, which can be filled."""

    def __init__(self, folder, megabytes):
        self.folder, self.ballast = pathlib.Path(folder), pathlib.Path(folder) / ".ballast"
        self.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        run(["mount", "-t", "tmpfs", "-o", f"size={megabytes}m,mode=700", "tmpfs", self.folder])

    def fill(self):
        with open(self.ballast, "wb", buffering=0) as file:
            step = 1 << 20
            while step:
                try:
                    file.write(bytes(step))
                except OSError:
                    step //= 2
        if os.statvfs(self.folder).f_bavail:
            raise Failed(f"{self.folder} is not full")

    def free(self):
        self.ballast.unlink(missing_ok=True)
