"""What the load showed: which acknowledged changes are missing, and the figures."""
import os


def check(load):
    """Compares every device's items with all acknowledged ones; returns a sentence for each item that is missing or differs."""
    found = []
    for circle in load.circles:
        added = {account: secret for device in circle for account, secret in device.added.items()}
        owners = {account: device.name for device in circle for account in device.added}
        for device, secrets in zip(circle, load.each(lambda each: each.secrets(), circle, os.cpu_count())):
            found += [
                f"{device.name}: {account} of {owners[account]} {'is missing' if account not in secrets else 'has another secret'}"
                for account, secret in added.items() if secrets.get(account) != secret]
    return found


def print_result(load, before, after, is_complete):
    processors = os.cpu_count()
    added = sum(len(device.added) for device in load.devices)
    expected = sum(load.expected(device, circle) for circle in load.circles for device in circle)
    received = sum(count for _, count in load.receipts)
    meanwhile = sum(count for when, count in load.receipts if when <= load.last)
    latest = max([when for when, _ in load.receipts] + [load.last])
    making, whole = load.last - load.began, latest - load.began
    asked = f"{load.rate:g} a second asked for" if load.rate else "as fast as they can"
    print(
        f"{len(load.circles)} circles of {len(load.circles[0])} devices, {len(load.etcd.clients)} nodes of etcd; all devices add items, "
        f"{load.batch} in each client process, {asked}")
    row("changes acknowledged", f"{added} in {making:.1f} s", f"{added / making:.1f} a second")
    row("received by other devices meanwhile", f"{meanwhile} of {expected}", f"{meanwhile / making:.1f} a second")
    row("received by other devices in all", f"{received} of {expected}", f"{received / whole:.1f} a second")
    if is_complete:
        row("changes that every device has", f"{added} in {whole:.1f} s", f"{added / whole:.1f} a second")
        row("from the last acknowledgment until all have all", f"{latest - load.last:.1f} s", "")
    print(f"load average: {load.load_before:.1f} before, {os.getloadavg()[0]:.1f} at the end")
    print_costs(before, after, max(received, 1), processors)
    print_errors(load)


def print_costs(before, after, received, processors):
    kinds, ended = after.since(before)
    window = (after.time - before.time) * processors
    total, machine = sum(kinds.values()), after.machine - before.machine
    print(f"processor time from the first change to the last receipt, of {processors} processors: {window:.1f} s")
    print(f"  {'':30}{'seconds':>9}{'of these':>10}{'of all':>9}{'us a receipt':>14}")
    for name, seconds in [*sorted(kinds.items(), key=lambda each: -each[1]), ("together", total)]:
        print(f"  {name:30}{seconds:9.2f}{seconds / total:10.1%}{seconds / window:9.1%}{seconds * 1e6 / received:14.0f}")
    for name, seconds in [("kernel and other programs", machine - total), ("idle", window - machine)]:
        print(f"  {name:30}{seconds:9.2f}{'':10}{seconds / window:9.1%}")
    row("received for each second of a processor", "", f"{received / total:.1f}")
    if ended:
        print(f"{ended} processes have ended meanwhile, and their time is missing above")


def print_errors(load):
    """Prints what clients and followers said besides counts, each sentence with how often."""
    said = {}
    for device in load.devices:
        for error in device.errors:
            said[error] = said.get(error, 0) + 1
    for error, count in sorted(said.items(), key=lambda each: -each[1])[:10]:
        print(f"said {count} times: {error}")


def row(words, first, second):
    print(f"{words:50}{first:>24}{second:>22}")
