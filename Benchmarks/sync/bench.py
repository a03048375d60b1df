#!/usr/bin/env python3
"""How long a change takes from one device to another that both run `vauban sync --follow`, through etcd, beside what etcd takes from a
write to a watch; the first sync of many items; and how many changes many devices can make. For Benchmarks/run, which names the programs in
VAUBAN_PROGRAM and BENCHMARKS.

  bench.py [--nodes N] [CHANGES [ITEMS]]
  bench.py [--nodes N] --load CIRCLES DEVICES [SECONDS [RATE]]

All devices, etcd and the measurement are on this machine. In each round of the first form a device changes an item once, waits until the
other device reads the value, and then writes a value of the same size as the device's file into etcd, for a watch of its own. Between
rounds there is a pause, as between the changes that users make.

The second form starts CIRCLES circles of DEVICES devices each, at most ten. For SECONDS all of them add items, as fast as they can or at
RATE a second, all devices together. At the end every device must have every item whose addition was acknowledged.
"""
import argparse, contextlib, ctypes, os, signal, sys

from device import Device, end_leftovers
from etcd import Etcd
from following import measure_changes, measure_first_sync
from load import Load

# prctl(2): the signal that this process gets when Benchmarks/run has ended, however it did.
PR_SET_PDEATHSIG = 1


def arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--nodes", type=int, help="nodes of etcd: 1 by default, 3 for --load")
    parser.add_argument("--load", action="store_true")
    parser.add_argument("numbers", type=int, nargs="*")
    found = parser.parse_args()
    if len(found.numbers) > (4 if found.load else 2) or found.load and len(found.numbers) < 2:
        parser.error("wrong number of arguments")
    return found


def measure_following(etcd, ending, changes=100, items=10000):
    devices = [Device(name) for name in ("desk", "laptop")]
    for device in devices:
        ending.callback(device.close)
        device.set_up()
    place = etcd.account("anna")
    devices[0].vauban("sync", "new", place, "--name", "desk")
    devices[1].join(devices[0], place)
    if changes > 0:
        measure_changes(etcd, *devices, changes)
    devices[1].close()
    if items > 0:
        measure_first_sync(place, devices[0], items)


def measure_load(etcd, ending, circles, devices, seconds=30, rate=0):
    load = Load(etcd, circles, devices, seconds, rate)
    ending.callback(load.close)
    load.set_up()
    load.measure()


def leave(number, _):
    # A second signal must not interrupt the ending of the processes.
    for each in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(each, signal.SIG_IGN)
    sys.exit(128 + number)


def main():
    found = arguments()
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, leave)
    ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGTERM)
    with contextlib.ExitStack() as ending:
        ending.callback(end_leftovers, os.getppid())
        etcd = Etcd(found.nodes or (3 if found.load else 1))
        ending.callback(etcd.close)
        etcd.start()
        (measure_load if found.load else measure_following)(etcd, ending, *found.numbers)


main()
