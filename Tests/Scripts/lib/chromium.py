"""Chromium on a display, with the extension, driven over the pipe of its debugging protocol."""

import base64
import collections
import contextlib
import http.client
import json
import os
import signal
import subprocess
import tempfile

# Waits, in the popup, until its content is complete.
SETTLED = """new Promise(done => {
    const look = () => {
        if (/^(Vauban(: busy)?)?$/.test(document.title)) return;
        done(JSON.stringify({ title: document.title, status: document.getElementById("status").textContent,
            earlier: document.getElementById("earlier").textContent,
            buttons: [...document.querySelectorAll("button")].map(button => button.textContent) }));
    };
    new MutationObserver(look).observe(document, { childList: true, subtree: true });
    look();
})"""

WAITING = """new Promise(done => {
    const look = () => document.title === %s && done(true);
    new MutationObserver(look).observe(document, { childList: true, subtree: true });
    look();
})"""

# Times by the popup's clock: when its document was loaded, when its choices were shown, and when a key was pressed in it.
OPENED = "(({ performance }) => [performance.getEntriesByType('navigation')[0].domInteractive, performance.getEntriesByName('ready')[0].startTime]" \
    ".map(time => performance.timeOrigin + time))(document.defaultView)"
PRESSED = """window.pressed = new Promise(done => addEventListener("keydown", event => done(performance.timeOrigin + event.timeStamp),
    { capture: true, once: true })), true"""

BADGE = "chrome.tabs.query({ active: true, lastFocusedWindow: true }).then(([tab]) => chrome.action.getBadgeText({ tabId: tab.id }))"


class Gone(Exception):
    """The target of the message has ended."""


class Browser:
    # Whether the page is blocked deliberately.
    held = False

    def __init__(self, profile):
        to_browser, from_browser = os.pipe(), os.pipe()
        home = os.environ["HOME"]
        os.symlink(f"{home}/.config/chromium/NativeMessagingHosts", f"{profile}/NativeMessagingHosts")

        def pipes():
            # The numbers of messages in the debugging protocol.
            reading, writing = os.dup(to_browser[0]), os.dup(from_browser[1])
            os.dup2(reading, 3)
            os.dup2(writing, 4)
        # Without this, Chromium drops clicks and keys that come before a page is first painted, which may be after it is loaded.
        flags = ["--allow-pre-commit-input"] + (["--no-sandbox"] if os.getuid() == 0 else [])
        self.process = subprocess.Popen(
            ["chromium", *flags, f"--user-data-dir={profile}", "--no-first-run", "--no-default-browser-check", "--disable-gpu",
             "--disable-dev-shm-usage", "--password-store=basic", "--disable-background-networking", "--disable-component-update",
             "--disable-sync", "--remote-debugging-pipe", "--enable-unsafe-extension-debugging",
             f"--proxy-server=127.0.0.1:{os.environ['PAGES_PORT']}", "--proxy-bypass-list=<-loopback>",
             f"--ignore-certificate-errors-spki-list={os.environ['PAGES_PIN']}", "--disable-features=HttpsUpgrades,HttpsFirstBalancedModeAutoEnable",
             "--window-size=1200,850", "about:blank"],
            preexec_fn=pipes, close_fds=False, stdout=subprocess.DEVNULL, stderr=open(f"{profile}/log", "w"), start_new_session=True)
        os.close(to_browser[0])
        os.close(from_browser[1])
        self.output, self.input = os.fdopen(to_browser[1], "wb"), os.fdopen(from_browser[0], "rb")
        self.rest, self.last, self.events, self.within = b"", 0, collections.deque(), None
        # Replies that came while another one was waited for.
        self.early = {}
        self.extension = self.call("Extensions.loadUnpacked", path=f"{os.environ['TMPDIR']}/extension/chromium")["id"]
        assert self.extension == os.environ["EXTENSION"], self.extension
        self.call("Target.setDiscoverTargets", discover=True)
        self.target = next(one["targetId"] for one in self.targets() if one["type"] == "page" and not one["url"].startswith("chrome-extension"))
        self.tab = self.call("Target.getTargets", filter=[{"type": "tab"}])["targetInfos"][0]["targetId"]
        self.session = self.attach(self.target)
        self.call("Page.enable", self.session)

    def message(self):
        while b"\0" not in self.rest:
            part = self.input.read1(1 << 16)
            assert part, "Chromium ended"
            self.rest += part
        text, self.rest = self.rest.split(b"\0", 1)
        return json.loads(text)

    def call(self, method, session=None, **parameters):
        return self.reply(self.send(method, session, **parameters), method, session)

    def send(self, method, session=None, **parameters):
        self.last += 1
        number = self.last
        self.output.write(json.dumps({"id": number, "method": method, "params": parameters, **({"sessionId": session} if session else {})}).encode() + b"\0")
        self.output.flush()
        return number

    def reply(self, number, method, session=None):
        while True:
            message = self.early.pop(number, None) or self.message()
            if message.get("method") == "Target.detachedFromTarget" and message["params"]["sessionId"] == session:
                raise Gone
            if "method" in message:
                self.events.append(message)
            elif message["id"] != number:
                self.early[message["id"]] = message
            else:
                if "error" in message:
                    if session and any(word in message["error"]["message"] for word in ("closed", "Session with given id", "destroyed")):
                        raise Gone
                    raise AssertionError(f"{method}: {message['error']['message']}")
                return message["result"]

    def event(self, is_wanted):
        """The next event of this kind."""
        while True:
            message = self.events.popleft() if self.events else self.message()
            if "method" in message and is_wanted(message["method"], message["params"], message.get("sessionId")):
                return message["params"]

    def targets(self):
        return self.call("Target.getTargets")["targetInfos"]

    def attach(self, target):
        return self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]

    def eval(self, script, session=None, gesture=False):
        """The result of a script; with `gesture` as if the user had just pressed a key."""
        result = self.call("Runtime.evaluate", session or self.session, expression=script, awaitPromise=True, returnByValue=True, userGesture=gesture)
        assert "exceptionDetails" not in result, (script, result["exceptionDetails"])
        return result["result"].get("value")

    def go(self, url):
        self.events.clear()
        assert "errorText" not in self.call("Page.navigate", self.session, url=url), url
        self.event(lambda name, _, session: name == "Page.loadEventFired" and session == self.session)

    def keys(self, text):
        """Presses keys, as a user does: the focused element gets them."""
        self.call("Page.bringToFront", self.session)
        for character in text:
            key = {"\t": {"key": "Tab", "code": "Tab", "windowsVirtualKeyCode": 9},
                   "\r": {"key": "Enter", "code": "Enter", "windowsVirtualKeyCode": 13, "text": "\r"}}.get(character, {"key": character, "text": character})
            self.call("Input.dispatchKeyEvent", self.session, type="keyDown" if "text" in key else "rawKeyDown", **key)
            self.call("Input.dispatchKeyEvent", self.session, type="keyUp", **{name: value for name, value in key.items() if name != "text"})

    def keys_in_frame(self, path, text):
        """Focuses the first field of a frame of another site, which runs in a process of its own, and presses keys there."""
        self.call("Page.bringToFront", self.session)
        session = self.attach(next(one["targetId"] for one in self.targets() if one["type"] == "iframe" and one["url"].endswith(path)))
        while not self.eval("document.querySelector('input').focus(), document.hasFocus()", session, gesture=True):
            pass
        self.call("Target.detachFromTarget", sessionId=session)
        self.keys(text)

    def press(self, name, code):
        """Presses a key of this name that writes nothing."""
        self.call("Page.bringToFront", self.session)
        for kind in "rawKeyDown", "keyUp":
            self.call("Input.dispatchKeyEvent", self.session, type=kind, key=name, code=name, windowsVirtualKeyCode=code)

    def click(self, selector):
        """Clicks in the middle of an element."""
        self.call("Page.bringToFront", self.session)
        x, y = self.eval(f"(({{ left, top, width, height }}) => [left + width / 2, top + height / 2])({self.part(selector)}.getBoundingClientRect())")
        if self.within:
            left, top = self.eval(f"(({{ left, top }}) => [left, top])(document.querySelector({json.dumps(self.within)}).getBoundingClientRect())")
            x, y = x + left, y + top
        for kind in "mousePressed", "mouseReleased":
            self.call("Input.dispatchMouseEvent", self.session, type=kind, x=x, y=y, button="left", clickCount=1)

    def type(self, fields):
        """Types into fields, replacing their content."""
        for selector, text in fields.items():
            # A key that is pressed while the window gets the focus is lost.
            while self.value(selector) != text:
                self.eval(f"{self.part(selector)}.select(), true")
                self.keys(text)

    def await_worker(self):
        """Waits until the extension's background script runs. Typing has started it, and users type more slowly."""
        self.in_worker("chrome.runtime.id")

    def badge(self):
        """The badge of the extension's icon for the front tab, by its background script."""
        return self.in_worker(BADGE)

    def in_worker(self, script):
        """The result of a script in the extension's background script, once that runs."""
        def is_worker(one):
            return one["type"] == "service_worker" and self.extension in one["url"]
        worker = next((one for one in self.targets() if is_worker(one)), None) or self.event(
            lambda name, fields, _: name == "Target.targetCreated" and is_worker(fields["targetInfo"]))["targetInfo"]
        session = self.attach(worker["targetId"])
        # A worker can be attached before it has the extension's interface.
        while self.eval("typeof chrome", session) != "object":
            pass
        result = self.eval(script, session)
        self.call("Target.detachFromTarget", sessionId=session)
        return result

    def hold(self):
        """Blocks the page until `release`: no script runs in it, not even one of the extension."""
        self.held = True
        self.eval("setTimeout(() => { const wait = new XMLHttpRequest(); wait.open('GET', '/hold', false); wait.send(); }), true")
        ask_pages("/holding")

    def release(self):
        ask_pages("/release")
        self.held = False

    def later(self, script):
        """The result of a script in the page, after pending scripts."""
        return self.eval(f"new Promise(done => setTimeout(() => done({script})))")

    def submit(self, fields):
        """Types into fields and sends their form with Enter; returns when the next page is there."""
        self.type(fields)
        self.await_worker()
        self.enter()

    def enter(self):
        """Sends the form that has the focus with Enter; returns when the next page is there."""
        self.events.clear()
        self.keys("\r")
        self.event(lambda name, _, session: name == "Page.loadEventFired" and session == self.session)

    def back(self):
        """Goes back to the page before; returns when it is shown."""
        self.events.clear()
        self.eval("history.back(), true")
        self.event(lambda name, fields, session: name == "Page.frameNavigated" and session == self.session and "parentId" not in fields["frame"])

    def value(self, selector):
        return self.eval(f"{self.part(selector)}.value")

    def part(self, selector):
        """The script that finds an element in the page, or in the frame of it that is used."""
        document = f"document.querySelector({json.dumps(self.within)}).contentDocument" if self.within else "document"
        return f"{document}.querySelector({json.dumps(selector)})"

    @contextlib.contextmanager
    def frame(self, selector):
        """Steps within are performed in this frame of the page, which has the page's own origin."""
        self.within = selector
        try:
            yield
        finally:
            self.within = None

    def sees(self, selector):
        """Waits until there is such an element."""
        while not self.eval(f"{self.part(selector)} !== null"):
            pass

    def heard(self, host):
        """The data that forms and scripts sent to a host."""
        script = f"fetch('https://{host}/heard').then(reply => reply.json())"
        if json.loads(self.eval("JSON.stringify(location.host)")) != host:
            self.go(f"https://{host}/")
        return self.eval(script)

    def popup(self):
        """Opens the extension's popup, as its key does; again if a loaded machine, and not `hold`, keeps the page from replying in time."""
        popup = self.open_popup()
        earlier = popup.earlier
        for _ in range(3):
            if self.held or not popup.status.startswith("This page does not answer"):
                break
            popup.close()
            popup = self.open_popup()
            # It is shown once.
            earlier = popup.earlier or earlier
        popup.earlier = earlier
        return popup

    def open_popup(self):
        self.events.clear()
        self.call("Page.bringToFront", self.session)
        self.call("Extensions.triggerAction", id=self.extension, targetId=self.tab)
        url = f"chrome-extension://{self.extension}/popup.html"
        known = next((one["targetId"] for one in self.targets() if one["url"] == url), None)
        if known is None:
            known = self.event(lambda name, fields, _: name in ("Target.targetCreated", "Target.targetInfoChanged")
                               and fields["targetInfo"]["url"] == url)["targetInfo"]["targetId"]
        return Popup(self, known)

    def end(self):
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()


class Popup:
    def __init__(self, browser, target):
        self.browser, self.target = browser, target
        self.session = browser.attach(target)
        self.look()

    def look(self):
        shown = json.loads(self.browser.eval(SETTLED, self.session))
        self.title, self.status, self.buttons, self.earlier = shown["title"], shown["status"], shown["buttons"], shown["earlier"]

    def press(self, beginning):
        """Presses the button that begins with these words, without waiting."""
        index = next((index for index, text in enumerate(self.buttons) if text.startswith(beginning)), None)
        assert index is not None, (beginning, self.buttons, self.status)
        self.browser.eval(f"document.querySelectorAll('button')[{index}].click(), true", self.session)

    def choose(self, beginning):
        """Chooses the entry that begins with these words; returns the text of the popup afterwards, or nothing if it closes."""
        try:
            self.press(beginning)
            self.look()
        except Gone:
            self.close()
            return None
        if self.title in ("Vauban: done", "Vauban: refused"):
            self.close()
        return self.status

    def press_enter(self):
        """Presses Enter, and waits until the popup closes; returns when it was pressed, by the browser's clock."""
        self.browser.eval(PRESSED, self.session)
        number = self.browser.send("Runtime.evaluate", self.session, expression="window.pressed", awaitPromise=True, returnByValue=True)
        with contextlib.suppress(Gone):
            self.browser.call("Input.dispatchKeyEvent", self.session, type="keyDown", key="Enter", code="Enter", windowsVirtualKeyCode=13, text="\r")
        pressed = self.browser.reply(number, "Runtime.evaluate", self.session)["result"]["value"]
        self.settle(None)
        return pressed

    def opened(self):
        """The times at which its document and its choices were shown, by the browser's clock."""
        return self.browser.eval(OPENED, self.session)

    def badge(self):
        """The badge of the extension's icon for the front tab."""
        return self.browser.eval(BADGE, self.session)

    def picture(self, name):
        folder = ".build/test-results/browser"
        os.makedirs(folder, exist_ok=True)
        with open(f"{folder}/{name}.png", "wb") as file:
            file.write(base64.b64decode(self.browser.call("Page.captureScreenshot", self.session)["data"]))

    def settle(self, state):
        """Waits until the popup shows this state, or, for none, until it closes."""
        with contextlib.suppress(Gone):
            self.browser.eval(WAITING % json.dumps(f"Vauban: {state}"), self.session)
            self.look()
            return
        self.close()

    def close(self):
        """Closes the popup, and waits until it is gone."""
        if any(one["targetId"] == self.target for one in self.browser.targets()):
            with contextlib.suppress(Gone):
                self.browser.eval("window.close()", self.session)
            self.browser.event(lambda name, fields, _: name == "Target.targetDestroyed" and fields["targetId"] == self.target)


def until_offered(browser, beginning):
    """Opens the popup until it offers an entry that begins so; a page that hides its fields is examined a few times a second."""
    while True:
        popup = browser.popup()
        if any(text.startswith(beginning) for text in offered(popup)):
            return popup
        popup.close()


def until_marked(browser, mark):
    """Waits until the extension's icon shows this."""
    while browser.badge() != mark:
        pass


def ask_pages(path):
    """Has the server of the pages do something; returns when it has."""
    connection = http.client.HTTPConnection("127.0.0.1", int(os.environ["PAGES_PORT"]))
    connection.request("GET", path)
    connection.getresponse().read()
    connection.close()


def offered(popup):
    """The offers of the popup to save typed and sent logins and merely typed ones, and its other text."""
    return [text for text in popup.buttons if "as you typed it on" in text or "as it is in the form" in text
            or text.startswith(("Save", "Replace", "Not now", "Never", "Offer"))]


@contextlib.contextmanager
def start():
    with tempfile.TemporaryDirectory(dir=os.environ["TMPDIR"], ignore_cleanup_errors=True) as profile:
        browser = Browser(profile)
        try:
            yield browser
        finally:
            browser.end()
