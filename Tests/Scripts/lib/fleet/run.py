"""Devices with all their rooms, several writers on each, and an etcd of three nodes, while faults come that a seed chooses. When they end, all devices
synchronize until nothing is left; then nothing that was acknowledged is lost, nothing that was deleted is there, and no device has a fault.

It is started by sync-fleet.sh, in namespaces of its own if the machine has them: FLEET_NETWORK and FLEET_DISKS say so.
"""
import os, pathlib, random, re, shutil, sys, threading

sys.path.insert(0, str(pathlib.Path(__file__).parent))
from common import BASE, Failed, Turns, run, say
from device import Device
from faults import Faults, KINDS, OF_DISKS, OF_NETWORK
from network import Clock, Loopback, Network
from nodes import Nodes
from record import Record
from writers import Plan, Writer

DEVICES, FAULTS, SEED = (int(os.environ[name]) for name in ("DEVICES", "FAULTS", "SEED"))
HAS_NETWORK, HAS_DISKS = os.environ["FLEET_NETWORK"] == "1", os.environ["FLEET_DISKS"] == "1"
CIRCLE_MAX = 10
WRITERS = 2
# Megabytes.
DISK, NODE_DISK = 48, 320
YEAR = 366 * 24 * 3600
EXPECTED = re.compile(r"\d+ changes? received, \d+ sent\.|Removed \d+ files? of this device from the folder, which every device has read\.|\w+ joined the circle\.")
# Messages that no device may print, since nothing was altered or rolled back.
NEVER = ["leave", "rolled back", "altered", "forked", "damaged", "put back", "were lost", "did not write", "is refused", "cannot be made here", "held back"]


class Circle:
    def __init__(self, number, count, network, nodes, library):
        self.name = f"user-{number}"
        account = nodes.add_user(self.name)
        chooser = random.Random(SEED * 1000 + number)
        self.devices, self.late, self.record = [], [], Record()
        for index in range(1, count + 1):
            name = f"{'abcdefgh'[number]}{index}"
            clock = None
            if library and index in (2, 3):
                clock = Clock(library, BASE / name / "etc", YEAR if index == 2 else -YEAR)
            device = Device(name, 10 + 16 * number + index, network, clock, DISK if HAS_DISKS else 0)
            device.account = device.folder / "account"
            shutil.copytree(account, device.account)
            self._shuffle(device.account / "account", chooser)
            self.devices.append(device)
        self.plan = Plan(self.record, self.devices, chooser)

    @staticmethod
    def _shuffle(file, chooser):
        # Each device contacts another node first.
        user, *endpoints = file.read_text().splitlines()
        chooser.shuffle(endpoints)
        file.write_text("\n".join([user, *endpoints]) + "\n")

    def set_up(self):
        every(self.devices, Device.set_up)
        for number, device in enumerate(self.devices):
            device.join(self.devices[0] if number else None, f"etcd:{device.account}")
        self.heads = {device: device.vauban("log", "--head")[1] for device in self.devices}

    def settle(self):
        """Synchronizes until nothing is left."""
        for turn in range(20):
            quiet = True
            for device in self.devices:
                said = device.sync()[2]
                device.said += said.splitlines()
                fault = next((line for line in said.splitlines() if not EXPECTED.match(line)), None)
                if fault:
                    raise Failed(f"{device.name} has a fault: {fault}")
                quiet = quiet and said == "0 changes received, 0 sent.\n"
            if quiet:
                return turn
        raise Failed(f"{self.name} does not come to rest: {said}")

    def check(self):
        for device in self.devices:
            for line in device.said:
                if any(words in line for words in NEVER):
                    raise Failed(f"{device.name} said: {line}")
            gave_up = [status for status in device.statuses if status in (51, 64)]
            if gave_up:
                raise Failed(f"{device.name} gave up with {gave_up[0]}: {device.said[-1:]}")
            device.vauban("doctor")
            status, _, said = device.vauban("log", "--verify", "-", given=self.heads[device].encode(), expecting=None)
            # The log states that it lacks what happened while the disk was full.
            if status and not (status == 1 and "could not be recorded" in said):
                raise Failed(f"the log of {device.name}: {said}")
        return self.record.check(self.devices + self.late)

    def join_another(self, network):
        """A device that joins now reads the items of all devices, from etcd alone."""
        number = len(self.devices) + 1
        if number > CIRCLE_MAX:
            raise Failed(f"{self.name} has no place for another device: at most {CIRCLE_MAX - 1} for each circle")
        first = self.devices[0]
        device = Device(f"{first.name[0]}{number}", first.number + 15, network)
        device.set_up()
        device.join(first, f"etcd:{first.account}")
        self.late.append(device)


def every(devices, work):
    failures = []

    def one(device):
        try:
            work(device)
        except Exception as error:
            failures.append(error)

    threads = [threading.Thread(target=one, args=(device,)) for device in devices]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if failures:
        raise failures[0]


def main():
    library = None
    if HAS_NETWORK and shutil.which("gcc"):
        library = BASE / "moved-clock.so"
        run(["gcc", "-O1", "-shared", "-fPIC", f'-DCLOCK_FILE="{Clock.FILE}"', "-o", library, pathlib.Path(__file__).parents[1] / "moved-clock.c"])
        library.chmod(0o755)
    network = Network() if HAS_NETWORK else Loopback()
    nodes = Nodes(network, library, NODE_DISK if HAS_DISKS else 0)
    count = -(-DEVICES // CIRCLE_MAX)
    circles = [Circle(number, DEVICES // count, network, nodes, library) for number in range(count)]
    devices = [device for circle in circles for device in circle.devices]
    try:
        every(circles, Circle.set_up)
        say(f"{len(devices)} devices in {count} circles")
        trial(circles, devices, nodes)
        for circle in circles:
            turns = circle.settle()
            say(f"{circle.name} rests after {turns} turns")
            circle.join_another(network)
            counts = circle.check()
            compacted = sum(any("of this device from the folder" in line for line in device.said) for device in circle.devices)
            say(f"{circle.name}: {compacted} devices compacted their files")
            if FAULTS >= 100 and not compacted:
                raise Failed("no device compacted its files")
            say(f"{circle.name}: {counts['values']} values, {counts['deletions']} deletions and {counts['earlier']} earlier values are as they must be")
    finally:
        for device in [*devices, *(device for circle in circles for device in circle.late)]:
            device.follows = False
            try:
                device.end()
            except Failed:
                pass
        nodes.end()


def trial(circles, devices, nodes):
    turns = Turns()
    kinds = [kind for kind in KINDS if (HAS_NETWORK or kind not in OF_NETWORK) and (HAS_DISKS or kind not in OF_DISKS)]
    for device in devices:
        device.follow(turns)
    writers = [
        Writer(device, number, circle.plan, turns, random.Random(f"{SEED} {device.name} {number}"))
        for circle in circles for device in circle.devices for number in range(WRITERS)]
    for circle in circles:
        for device in circle.devices:
            device.writer = Writer(device, WRITERS, circle.plan, turns, random.Random(f"{SEED} {device.name}"))
    for writer in writers:
        writer.start()
    processes = sum(len(device.processes) for device in devices) + len(nodes.nodes)
    faults = Faults(kinds, devices, nodes, turns, random.Random(f"{SEED} faults"))
    try:
        faults.have(FAULTS)
    finally:
        turns.finish()
    for writer in writers:
        writer.join()
    if turns.failure:
        raise turns.failure
    if not faults.counts:
        raise Failed("no fault began")
    if FAULTS >= 100 and processes < 100:
        raise Failed(f"only {processes} processes ran; a long run needs at least 100, so set DEVICES")
    ended = sum(turns.ended.values())
    say(f"{turns.acknowledged} of {ended} operations were acknowledged, with {sum(faults.counts.values())} faults and {processes} processes")
    nodes.wait()
    for device in devices:
        device.unlock()
        device.rest()


if __name__ == "__main__":
    try:
        main()
    except Failed as failure:
        print(f"FAILED: {failure} (SEED={SEED})")
        sys.exit(1)
