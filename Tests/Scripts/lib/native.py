"""A browser's side of native messaging, for tests: starts vauban-browser-host and exchanges messages with it."""

import json
import os
import struct
import subprocess
import threading

CHROMIUM = "chrome-extension://%s/" % os.environ["EXTENSION"]
FIREFOX = ["/nowhere/vauban.browser.json", "browser@vauban"]
SITE = "https://login.example.com"


class Host:
    def __init__(self, *arguments):
        self.process = subprocess.Popen(
            [os.environ["VAUBAN_BUILD"] + "/vauban-browser-host", *(arguments or [CHROMIUM])],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        self.last = 0

    def send_bytes(self, data):
        self.process.stdin.write(data)
        self.process.stdin.flush()

    def send(self, message):
        data = message if isinstance(message, bytes) else json.dumps(message).encode()
        self.send_bytes(struct.pack("=I", len(data)) + data)

    def receive(self):
        """The next message; None at the end."""
        header = self.process.stdout.read(4)
        if len(header) < 4:
            return None
        body = self.process.stdout.read(struct.unpack("=I", header)[0])
        return json.loads(body)

    def start(self, request, **fields):
        self.last += 1
        self.send({"id": self.last, "request": request, **fields})
        return self.last

    def ask(self, request, **fields):
        """The reply to a request; the places where the user was prompted before it are in `waiting`."""
        number = self.start(request, **fields)
        waiting = []
        while True:
            reply = self.receive()
            assert reply is not None, "the host ended: " + self.end()[1]
            if reply.get("id") != number:
                continue
            if "waiting" not in reply:
                return {**reply, "waited": waiting}
            waiting.append(reply["waiting"])

    def find(self, origin=SITE):
        return self.ask("find", origin=origin)["items"]

    def end(self):
        """Closes the stream; returns the exit status, and the host's log output."""
        self.process.stdin.close()
        said = self.process.stderr.read().decode()
        return self.process.wait(), said


def drain(host, count):
    """Reads so many messages in the background, so that the host never has to wait; returns a function that waits for them."""
    replies = []

    def read():
        while len(replies) < count and (reply := host.receive()) is not None:
            replies.append(reply)

    thread = threading.Thread(target=read)
    thread.start()

    def all_of_them():
        thread.join()
        return replies
    return all_of_them
