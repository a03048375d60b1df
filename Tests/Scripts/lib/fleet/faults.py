"""The faults of the test. Each begins, lasts until some operations have ended, and is then ended."""
import signal, subprocess

from common import Failed, children, program, say, signal as send


class Fault:
    """One fault at one device or node; `begin` returns whether it took effect, and `end` ends it."""

    def __init__(self, target, random):
        self.target, self.random = target, random

    def end(self):
        pass

    def __str__(self):
        return f"{type(self).__name__} {self.target.name}"


# MARK: Devices


class RoomKilled(Fault):
    room = ""

    def begin(self):
        rooms = self.target.rooms
        self.room = self.random.choice(sorted(rooms) or [""])
        return bool(rooms) and send(rooms[self.room], signal.SIGKILL)

    def end(self):
        # A new enclave has no keys, whoever killed the other one.
        self.target.unlock()

    def __str__(self):
        return f"{super().__str__()} ({self.room})"


class RoomStopped(RoomKilled):
    pid = None

    def begin(self):
        rooms = self.target.rooms
        self.room = self.random.choice(sorted(rooms) or [""])
        self.pid = rooms.get(self.room)
        return bool(rooms) and send(self.pid, signal.SIGSTOP)

    def end(self):
        if self.pid:
            send(self.pid, signal.SIGCONT)
        self.target.unlock()


class DeviceRestarted(Fault):
    """All rooms at once, as when a machine is switched off."""

    def begin(self):
        pids = [*self.target.rooms.values(), self.target.launcher]
        # The rooms end with their launcher too.
        return None not in pids and any([send(pid, signal.SIGKILL) for pid in pids])

    def end(self):
        self.target.unlock()


class FollowerKilled(Fault):
    def begin(self):
        follower = self.target.follower
        return follower is not None and follower.poll() is None and send(follower.pid, signal.SIGKILL)


class FollowerStopped(Fault):
    def begin(self):
        self.pid = self.target.follower.pid if self.target.follower else None
        return self.pid is not None and send(self.pid, signal.SIGSTOP)

    def end(self):
        if self.pid:
            send(self.pid, signal.SIGCONT)


class CarrierKilled(Fault):
    """vauban-sync-etcd: of the connection, of the watch, or both."""

    def begin(self):
        follower = self.target.follower
        pids = [pid for pid in children(follower.pid) if program(pid) == "vauban-sync-etcd"] if follower else []
        return bool(pids) and send(self.random.choice(pids), signal.SIGKILL)


class CarrierStopped(Fault):
    def begin(self):
        follower = self.target.follower
        self.pids = [pid for pid in children(follower.pid) if program(pid) == "vauban-sync-etcd"] if follower else []
        return bool(self.pids) and all([send(pid, signal.SIGSTOP) for pid in self.pids])

    def end(self):
        for pid in self.pids:
            send(pid, signal.SIGCONT)


class RunKilled(Fault):
    """A manual run of vauban sync, beside the follower."""

    def begin(self):
        self.process = self.target.start_sync(stderr=subprocess.DEVNULL)
        return True

    def end(self):
        self.process.kill()
        self.process.wait()


class DeviceCut(Fault):
    def begin(self):
        self.target.place.cut("clients")
        return True

    def end(self):
        self.target.place.mend("clients")


class DeviceFull(Fault):
    def begin(self):
        self.target.disk.fill()
        return True

    def end(self):
        self.target.disk.free()
        self.target.unlock()


# MARK: etcd


class NodeKilled(Fault):
    def __init__(self, target, random, nodes):
        super().__init__(target, random)
        self.nodes = nodes

    def begin(self):
        self.target.kill()
        return True

    def end(self):
        if not self.target.runs:
            self.target.start(self.nodes.nodes)


class NodeStopped(NodeKilled):
    def begin(self):
        self.target.signal(signal.SIGSTOP)
        return self.target.runs

    def end(self):
        self.target.signal(signal.SIGCONT)


class NodeCutFromDevices(NodeKilled):
    def begin(self):
        self.target.place.cut("clients")
        return True

    def end(self):
        self.target.place.mend("clients")


class NodeCutFromNodes(NodeKilled):
    """Devices can reach it, but it gets no changes from the other nodes."""

    def begin(self):
        self.target.place.cut("peers")
        return True

    def end(self):
        self.target.place.mend("peers")


class NodeFull(NodeKilled):
    def begin(self):
        self.target.disk.fill()
        return True

    def end(self):
        # A node that could not write has ended.
        self.target.disk.free()
        super().end()


class AllNodes(NodeKilled):
    name = "of etcd"

    def begin(self):
        for node in self.nodes.nodes:
            node.kill()
        return True

    def end(self):
        for node in self.nodes.nodes:
            if not node.runs:
                node.start(self.nodes.nodes)


class Compaction(NodeKilled):
    def begin(self):
        self.nodes.compact()
        return True

    def end(self):
        pass


KINDS = [
    RoomKilled, RoomStopped, DeviceRestarted, FollowerKilled, FollowerStopped, CarrierKilled, CarrierStopped, RunKilled, DeviceCut, DeviceFull,
    NodeKilled, NodeStopped, NodeCutFromDevices, NodeCutFromNodes, NodeFull, AllNodes, Compaction]
OF_NETWORK, OF_DISKS = {DeviceCut, NodeCutFromDevices, NodeCutFromNodes}, {DeviceFull, NodeFull}


class Faults:
    """Faults, one or several at once; no kind is repeated before each has occurred. Meanwhile the devices write; afterwards each writes and
    synchronizes once more."""

    def __init__(self, kinds, devices, nodes, turns, random):
        self.kinds, self.devices, self.nodes, self.turns, self.random = kinds, devices, nodes, turns, random
        self.counts, self.left = {}, []

    def have(self, count):
        while count > 0 and not self.turns.over:
            some = min(count, self.random.choice([1, 1, 2, 3]))
            count -= some
            self._have(some)

    def _have(self, count):
        faults = [fault for fault in (self._fault() for _ in range(count)) if fault]
        # Two faults at one target would end each other.
        faults = list({fault.target: fault for fault in faults}.values())
        began = []
        try:
            for fault in faults:
                began.append(fault)
                if fault.begin():
                    say(fault)
                    self.counts[type(fault).__name__] = self.counts.get(type(fault).__name__, 0) + 1
            self._write(self.random.randint(1, 4), [fault.target for fault in faults])
        finally:
            for fault in began:
                fault.end()
        self._write(0, [])
        self._synchronize()

    def _write(self, count, targets):
        """Makes each device perform so many operations, and waits for those of devices without a fault."""
        self.turns.allow(self.devices, count)
        due = {device: self.turns.expected(device) for device in self.devices if device not in targets}
        self.turns.wait(lambda: "operations do not end", lambda: all(self.turns.ended.get(device, 0) >= number for device, number in due.items()))

    def _synchronize(self):
        """Makes each device write once more, and waits until it has reported that it sent something."""
        before = {device: device.successes for device in self.devices}
        for device in self.devices:
            if not any(device.writer.add() for _ in range(10)):
                raise Failed(f"nothing can be written on {device.name}")
        self.turns.wait(
            lambda: f"{[(device.name, device.said[-3:]) for device in self.devices if device.successes == before[device]]} synchronize nothing",
            lambda: all(device.successes > before[device] for device in self.devices))

    def _fault(self):
        if not self.left:
            self.left = self.kinds[:]
            self.random.shuffle(self.left)
        kind = self.left.pop()
        if kind is NodeFull:
            return NodeFull(next(node for node in self.nodes.nodes if node.disk), self.random, self.nodes)
        if issubclass(kind, NodeKilled):
            target = AllNodes if kind in (AllNodes, Compaction) else self.random.choice(self.nodes.nodes)
            return kind(target, self.random, self.nodes)
        return kind(self.random.choice(self.devices), self.random)
