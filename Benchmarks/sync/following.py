"""How long one change takes from device to device, and the first sync of many items."""
import contextlib, json, random, sys, time

from device import BENCHMARKS, Device

PAUSE_SECONDS = 1.5
FILE_BYTES = 4206


def percentile(values, part):
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(part * len(ordered)))]


def ask(child, line):
    child.stdin.write(line + "\n")
    child.stdin.flush()


def answer(child):
    line = child.stdout.readline()
    if not line:
        sys.exit("benchmarks synced has ended")
    return [int(word) for word in line.split()]


def measure_changes(etcd, first, second, count):
    writer, reader = first.start(BENCHMARKS, "synced", "write"), second.start(BENCHMARKS, "synced", "read")
    first.follow()
    second.follow()
    watched, payload = etcd.watch(b"/benchmark"), random.randbytes(FILE_BYTES)
    device, write, acknowledged = [], [], []
    # The first ones warm everything up.
    for number in range(-3, count):
        value = f"value {number} {random.random()}"
        ask(reader, value)
        ask(writer, value)
        began, ended = answer(writer)
        (found,) = answer(reader)
        time.sleep(PAUSE_SECONDS / 2)
        start = time.monotonic_ns()
        etcd.put(b"/benchmark", payload)
        watched.readline()
        seen = time.monotonic_ns()
        time.sleep(PAUSE_SECONDS / 2)
        if number >= 0:
            device.append((found - began) / 1e6)
            acknowledged.append((ended - began) / 1e6)
            write.append((seen - start) / 1e6)
    nodes = f"{len(etcd.clients)} {'node' if len(etcd.clients) == 1 else 'nodes'} of etcd"
    print(f"{nodes}; {count} changes, one every {PAUSE_SECONDS:.1f} s and the time that they take; milliseconds")
    print(f"{'':58}{'p50':>9}{'p99':>9}")
    for words, values in [
        ("from the change on one device to the value on the other", device), ("  of these until the change is durable", acknowledged),
        ("etcd alone: from a write to its watch", write),
    ]:
        print(f"{words:58}{percentile(values, 0.5):9.1f}{percentile(values, 0.99):9.1f}")
    ratios = [percentile(device, part) / percentile(write, part) for part in (0.5, 0.99)]
    print(f"{'times':58}{ratios[0]:9.1f}{ratios[1]:9.1f}")


def measure_first_sync(place, member, count):
    items = "".join(
        json.dumps({"service": "bulk", "account": f"account-{number}@mail.example", "secret": f"secret of item {number:09}, 32 bytes",
                    "synchronizable": True}) + "\n" for number in range(count))
    began = time.monotonic()
    member.vauban("add", "--json", "-", given=items)
    print(f"{count} items are added in {time.monotonic() - began:.1f} s")
    began = time.monotonic()
    member.vauban("sync")
    print(f"{count} items are sent in {time.monotonic() - began:.1f} s")
    with contextlib.closing(Device("new")) as new:
        new.set_up()
        print(f"{count} items are received by a device that joins in {new.join(member, place):.1f} s")
        found = new.vauban("get", f"bulk/account-{count - 1}@mail.example")
        if found != f"secret of item {count - 1:09}, 32 bytes":
            sys.exit("The new device has another value")
