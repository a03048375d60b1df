"""The writers of a device: programs that add, change and delete synchronizable items, at the same time as those of other devices."""
import threading


class Plan:
    """The items. Each is changed only so often that its history keeps all values."""

    CHANGES_MAX = 9

    def __init__(self, record, devices, random):
        self.record, self.devices, self.random, self.lock = record, devices, random, threading.Lock()
        self.numbers, self.shared = {}, ["shared-0", 0]

    def number(self, kind):
        with self.lock:
            self.numbers[kind] = self.numbers.get(kind, 0) + 1
            return self.numbers[kind]

    def other(self, device):
        with self.lock:
            return self.random.choice([other for other in self.devices if other is not device])

    def shared_item(self):
        with self.lock:
            if self.shared[1] == self.CHANGES_MAX:
                self.shared = [f"shared-{int(self.shared[0].split('-')[1]) + 1}", 0]
            self.shared[1] += 1
            return self.shared[0]


class Writer(threading.Thread):
    def __init__(self, device, number, plan, turns, random):
        super().__init__(daemon=True)
        self.device, self.name, self.plan, self.record, self.turns, self.random = device, f"{device.name}.{number}", plan, plan.record, turns, random
        self.own, self.value = None, 0

    def run(self):
        try:
            while self.turns.take(self.device):
                task = self._task() if self.random.random() < 0.6 else None
                step = task or self.random.choices([self.add, self.change_own, self.change_shared, self.hand_over, self.fight], [3, 2, 2, 3, 1])[0]
                self.turns.end(self.device, bool(step()))
        except Exception as error:
            self.turns.finish(error)

    def _task(self):
        with self.device.lock:
            return self.device.tasks.pop(0) if self.device.tasks else None

    def _later(self, task, device=None):
        device = device or self.device
        with device.lock:
            device.tasks.append(task)

    def new_value(self):
        self.value += 1
        return f"{self.name}.{self.value}"

    def put(self, verb, account):
        return self.record.perform(self.device, verb, account, self.new_value())

    def add(self):
        """An item that is never changed."""
        return self.put("add", f"once-{self.plan.number('once')}").is_acknowledged

    def change_own(self):
        """An item that this writer alone changes."""
        if self.own is None:
            self.own = [f"own-{self.plan.number('own')}", 0, False]
        change = self.put("update" if self.own[2] else "add", self.own[0])
        self.own[1] += 1
        # It may have been added without an acknowledgement.
        self.own[2] = self.own[2] or change.status in ("0", "-25299")
        if self.own[1] == Plan.CHANGES_MAX:
            self.own = None
        return change.is_acknowledged

    def change_shared(self):
        """An item that every device changes, or adds if it does not exist yet."""
        account = self.plan.shared_item()
        change = self.put("update", account)
        if change.status == "-25300":
            change.verb, change.value = "refused", ""
            change = self.put("add", account)
        return change.is_acknowledged

    def hand_over(self):
        """An item that another device deletes once it has it."""
        account, other = f"gone-{self.plan.number('gone')}", self.plan.other(self.device)
        change = self.put("add", account)
        if change.is_acknowledged:
            self._later(Deletion(self.record, other, account), other)
        return change.is_acknowledged

    def fight(self):
        """An item that one device changes while another deletes it."""
        account, other = f"fought-{self.plan.number('fought')}", self.plan.other(self.device)
        change = self.put("add", account)
        if change.is_acknowledged:
            self._later(lambda: self.put("update", account).is_acknowledged)
            self._later(Deletion(self.record, other, account), other)
        return change.is_acknowledged


class Deletion:
    """Deletes an item if this device has it by now; otherwise it is attempted again later."""

    def __init__(self, record, device, account):
        self.record, self.device, self.account, self.change = record, device, account, None

    def __call__(self):
        if self.change is None:
            if self.device.call("get", self.account)[0] != "0":
                return self._again()
        change = self.record.perform(self.device, "delete", self.account)
        if change.status == "-25300" and self.change is not None:
            # The unacknowledged operation was performed.
            self.change.status = "0"
        elif not change.is_acknowledged:
            self.change = change
            return self._again()
        return True

    def _again(self):
        with self.device.lock:
            self.device.tasks.append(self)
        return False
