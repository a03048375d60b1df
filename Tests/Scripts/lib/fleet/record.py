"""The operations of the writers, and which were acknowledged, for each item; checks at the end that all devices have them."""
import threading

from common import Failed, say


class Change:
    """One operation on an item. It is acknowledged once the keychain has reported success; otherwise it may have been performed or not."""

    def __init__(self, device, verb, account, value):
        self.device, self.verb, self.account, self.value, self.status = device, verb, account, value, None

    @property
    def is_acknowledged(self):
        return self.status == "0"

    def __str__(self):
        return f"{self.verb} {self.account} {self.value} on {self.device.name}: {self.status}"


class Record:
    def __init__(self):
        self.lock, self.changes = threading.Lock(), {}

    def perform(self, device, verb, account, value=""):
        change = Change(device, verb, account, value)
        with self.lock:
            self.changes.setdefault(account, []).append(change)
        change.status, _ = device.call(verb, account, value)
        return change

    # MARK: The end

    def check(self, devices):
        """Raises an error that names lost and returned items, and differences between devices."""
        items = {device: device.items() for device in devices}
        first = items[devices[0]]
        faults = []
        for device in devices[1:]:
            for account in sorted(first.keys() | items[device].keys()):
                if first.get(account) != items[device].get(account):
                    faults.append(f"{account} is {first.get(account)} on {devices[0].name} and {items[device].get(account)} on {device.name}")
        counts = {"values": 0, "deletions": 0, "earlier": 0}
        for account, changes in sorted(self.changes.items()):
            faults += self._faults(account, changes, first.get(account), devices, counts)
        for account in first.keys() - self.changes.keys():
            faults.append(f"{account} is there, and nobody wrote it")
        if faults:
            for fault in faults[:20]:
                account = fault.split()[0]
                say(fault)
                for change in self.changes.get(account, []):
                    say(f"    {change}")
            raise Failed(f"{len(faults)} faults, the first: {faults[0]}")
        return counts

    def _faults(self, account, changes, final, devices, counts):
        puts = [change for change in changes if change.verb != "delete"]
        deletions = [change for change in changes if change.verb == "delete"]
        done = [change for change in puts if change.is_acknowledged]
        if final is not None and final not in [change.value for change in puts]:
            return [f"{account} is {final}, which nobody wrote"]
        kind = account.split("-")[0]
        if kind == "gone" and any(change.is_acknowledged for change in deletions):
            counts["deletions"] += 1
            return [f"{account} was deleted and returned"] if final is not None else []
        if kind in ("once", "gone", "own"):
            # One device wrote it, one value after the other.
            last = max((puts.index(change) for change in done), default=None)
            if last is None or (kind == "gone" and deletions and final is None):
                return []
            counts["values"] += 1
            if final not in [change.value for change in puts[last:]]:
                return [f"{account} is {final}, and {puts[last].value} was acknowledged"]
        if final is None and not deletions and done:
            return [f"{account} is gone, and nobody deleted it"]
        missing = [change for change in done if change.value != final]
        if kind == "fought":
            # A value that its last writer replaced is not lost.
            missing = [change for change in missing if change.verb == "update"]
        faults = []
        for change in missing:
            others = [device for device in devices if device is not change.device]
            if any(self._keeps(device, account, change.value, final) for device in [change.device, *others]):
                counts["earlier"] += 1
            else:
                faults.append(f"{account} is {final}, and {change.value} is lost")
        return faults

    def _keeps(self, device, account, value, final):
        """Whether a device has an earlier value in its history, or the value of an item that was deleted."""
        name = f"callers/{account}"
        if final is None and device.vauban("undelete", name, expecting=None)[0] == 0 and device.vauban("get", name)[1].strip() == value:
            return True
        for number in range(1, 11):
            status, found, _ = device.vauban("history", name, "--show", str(number), expecting=None)
            if status or found.strip() == value:
                return status == 0
        return False
