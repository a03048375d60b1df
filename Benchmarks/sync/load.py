"""Many circles of devices that all make changes at the same time (bench.py --load)."""
import concurrent.futures, os, pathlib, random, sys, threading, time

from device import SYNCHRONIZED, VAUBAN, Device
from processes import Costs, available_bytes, descendants, own_memory
from verdict import check, print_result

DEVICES_MAX = 10
# The items that one client process adds: so many that its start weighs little, and so few that it ends soon after the last change is due.
BATCH = 50
BATCH_OF_RATE_MIN, BATCH_SECONDS_MIN = 10, 1.0
# The longest time in which no device receives anything while changes are missing; a follower under load pauses for 5 s.
SILENCE_SECONDS_MAX = 120
# What must be left of the machine's memory when a device is added.
MEMORY_BYTES_MIN = 2 << 30
# The rooms for tests, whose key derivation is cheap. Nothing else differs, and only setup, joining and the check at the end derive keys.
CHEAP_ROOMS = pathlib.Path(VAUBAN).resolve().parent / "rooms-testing"


class LoadedDevice(Device):
    def __init__(self, name, load):
        super().__init__(name, CHEAP_ROOMS if CHEAP_ROOMS.exists() else None)
        self.load, self.added, self.received, self.times, self.errors = load, {}, 0, [], []

    def run(self, *words, **options):
        if self.load.over.is_set():
            sys.exit("The load was ended")
        return super().run(*words, **options)

    def write(self):
        """Adds items until the load ends, as fast as it can or at its rate."""
        load, number, due = self.load, 0, self.load.began + self.load.interval * random.random()
        while time.monotonic() < load.end and not load.over.wait(max(0, min(due, load.end) - time.monotonic())):
            if time.monotonic() >= load.end:
                break
            secrets = {f"{self.name}-{number + place}": f"secret {random.randbytes(12).hex()}" for place in range(load.batch)}
            number, due = number + load.batch, due + load.interval
            count, error = self.add(secrets)
            now = time.monotonic()
            self.added.update(list(secrets.items())[:count])
            self.times.append((now, count))
            if error:
                self.errors.append(error)
                # A device that can add nothing must not fill the time with failures.
                load.over.wait(1)

    def hear(self, line):
        found = SYNCHRONIZED.match(line)
        with self.load.changed:
            if found and int(found[1]):
                self.received += int(found[1])
                self.load.receipts.append((time.monotonic(), int(found[1])))
            elif not found:
                self.errors.append(line)
            self.load.changed.notify_all()


class Load:
    def __init__(self, etcd, circles, devices, seconds, rate):
        if not 2 <= devices <= DEVICES_MAX or circles < 1:
            sys.exit(f"A circle has 2 to {DEVICES_MAX} devices")
        self.etcd, self.seconds, self.rate = etcd, seconds, rate
        self.circles = [[LoadedDevice(f"c{circle}d{number}", self) for number in range(devices)] for circle in range(circles)]
        self.devices = [device for circle in self.circles for device in circle]
        self.changed, self.over, self.receipts = threading.Condition(), threading.Event(), []
        self.interval, self.batch = 0, BATCH
        if rate:
            # Each device's part of the rate, in batches that are no more frequent than a user's clients.
            own = rate / len(self.devices)
            self.batch = max(1, round(own * max(BATCH_SECONDS_MIN, BATCH_OF_RATE_MIN / own)))
            self.interval = self.batch / own

    # MARK: Before

    def set_up(self):
        """Starts the devices, one circle on each processor at a time, and then what follows."""
        began = time.monotonic()
        self.each(self.set_up_circle, self.circles, os.cpu_count())
        for device in self.devices:
            self.check_memory()
            device.follow(device.hear)
        memory = sum(own_memory(pid) for pid in descendants(self.roots)) / len(self.devices) / 2**20
        seconds = time.monotonic() - began
        rooms = "the rooms for tests" if CHEAP_ROOMS.exists() else "the shipped rooms"
        print(f"{len(self.devices)} devices with {rooms} run after {seconds:.0f} s; each has {memory:.0f} MiB of its own", flush=True)

    @property
    def roots(self):
        """The processes whose descendants are the processes of the devices."""
        return [pid for device in self.devices for pid in (device.launched, device.follower.pid)]

    def set_up_circle(self, circle):
        place = self.etcd.account(circle[0].name[:-2])
        for device in circle:
            self.check_memory()
            device.set_up()
            if device is circle[0]:
                device.vauban("sync", "new", place, "--name", device.name)
            else:
                device.join(circle[0], place)

    def check_memory(self):
        if available_bytes() < MEMORY_BYTES_MIN:
            sys.exit("The machine has too little memory for so many devices")

    def each(self, work, arguments, threads):
        """Works on all arguments in so many threads. If one fails, the others end soon, also if the failure is a signal."""
        with concurrent.futures.ThreadPoolExecutor(threads) as pool:
            futures = [pool.submit(work, argument) for argument in arguments]
            try:
                return [future.result() for future in futures]
            except BaseException:
                self.over.set()
                pool.shutdown(wait=False, cancel_futures=True)
                raise

    # MARK: The load

    @property
    def costs(self):
        return Costs(self.roots + [process.pid for process in self.etcd.processes])

    def measure(self):
        for device in self.devices:
            device.received, device.errors = 0, []
        self.receipts.clear()
        before, self.load_before = self.costs, os.getloadavg()[0]
        self.began = time.monotonic()
        self.end = self.began + self.seconds
        self.each(LoadedDevice.write, self.devices, len(self.devices))
        self.last = max((when for device in self.devices for when, count in device.times if count), default=self.end)
        self.wait()
        after = self.costs
        # A client that failed may have added one item more than it acknowledged, which then was counted above in place of another.
        while (missing := check(self)) and not self.is_silent:
            self.over.wait(1)
        print_result(self, before, after, not missing)
        if missing:
            sys.exit("\n".join(["Acknowledged changes are missing:", *missing[:20]]))

    @property
    def is_silent(self):
        return time.monotonic() - max([self.last] + [when for when, _ in self.receipts[-1:]]) > SILENCE_SECONDS_MAX

    def expected(self, device, circle):
        """Returns how many changes of others a device must receive."""
        return sum(len(other.added) for other in circle if other is not device)

    def wait(self):
        """Waits until every device says that it has received as many changes as the others made."""
        with self.changed:
            while any(device.received < self.expected(device, circle) for circle in self.circles for device in circle):
                if (ended := [device for device in self.devices if device.follower.poll() is not None]):
                    sys.exit(f"{ended[0].name}: vauban sync --follow has ended: {' '.join(ended[0].said)}")
                if self.is_silent:
                    return
                self.changed.wait(1)

    def close(self):
        """Ends what runs, also if setup or a write is under way."""
        self.over.set()
        self.each(Device.close, self.devices, 2 * os.cpu_count())
