"""Measures what vauban-browser-host answers, without a browser: the time from a request to its reply, and from the host's start to its first
reply, which is the one that a popup waits for.

    host.py ROUNDS
"""
import statistics
import sys
import time

from native import SITE, Host


def timed(step):
    begin = time.monotonic()
    result = step()
    return result, (time.monotonic() - begin) * 1000


def report(name, times):
    print(f"{name:52} {statistics.median(times):7.1f} {sorted(times)[len(times) * 9 // 10]:7.1f} {max(times):7.1f}")


rounds = int(sys.argv[1])
first, found, filled = [], [], []
for _ in range(rounds):
    (host, items), spent = timed(lambda: (host := Host(), host.find()))
    first.append(spent)
    found.append(timed(host.find)[1])
    anna = next(item for item in items if item["account"] == "anna")
    reply, spent = timed(lambda: host.ask("password", origin=SITE, item=anna["item"]))
    assert reply["password"] == "tulips-and-rain-7", reply
    filled.append(spent)
    host.end()
print(f"{'milliseconds':52} {'median':>7} {'90 %':>7} {'longest':>7}")
report("host: start and first find", first)
report("host: another find", found)
report("host: password", filled)
