"""Firefox on a display, with the extension, driven by its remote protocol (Marionette)."""

import contextlib
import json
import os
import signal
import socket
import subprocess
import tempfile

from chromium import OPENED, SETTLED, Gone

PREFERENCES = {
    "marionette.port": 0, "network.proxy.type": 1, "network.proxy.ssl": "127.0.0.1", "network.proxy.http": "127.0.0.1",
    "network.proxy.allow_hijacking_localhost": True, "dom.security.https_first": False, "dom.security.https_only_mode": False,
    "browser.shell.checkDefaultBrowser": False, "browser.aboutwelcome.enabled": False, "datareporting.policy.dataSubmissionEnabled": False,
    "app.normandy.enabled": False, "extensions.autoDisableScopes": 0, "browser.startup.page": 0, "toolkit.telemetry.enabled": False,
    "browser.tabs.remote.autostart": True, "privacy.reduceTimerPrecision": False, "security.sandbox.content.level": 0,
}
# Runs a script in the popup's document, by messages to its process; returns nothing if it closes meanwhile.
POPUP = """
    const [script, resolve] = arguments;
    const element = document.querySelector(".webextension-popup-browser");
    if (!element) return resolve(null);
    const closed = () => { window.removeEventListener("popuphidden", closed, true); resolve(null); };
    window.addEventListener("popuphidden", closed, true);
    element.messageManager.addMessageListener("vauban:done", function done({ data }) {
        element.messageManager.removeMessageListener("vauban:done", done);
        window.removeEventListener("popuphidden", closed, true);
        resolve(data);
    });
    const code = `{ const { document, MutationObserver } = content; (async () => sendAsyncMessage("vauban:done", await (${script})))(); }`;
    element.messageManager.loadFrameScript("data:," + encodeURIComponent(code), false);
"""
# Presses a button of the popup, if one is named; then waits until the popup's title fits, or until the popup closes.
END = """
    const [pattern, index, resolve] = arguments;
    const element = document.querySelector(".webextension-popup-browser");
    if (!element) return resolve("closed");
    const end = state => { window.removeEventListener("popuphidden", closed, true); resolve(state); };
    const closed = () => end("closed");
    window.addEventListener("popuphidden", closed, true);
    element.messageManager.addMessageListener("vauban:end", () => end("shown"));
    const code = `{
        const { document } = content;
        const look = () => {
            if (!/${pattern}/.test(document.title)) return;
            observer.disconnect();
            sendAsyncMessage("vauban:end");
        };
        const observer = new content.MutationObserver(look);
        observer.observe(document.querySelector("title"), { childList: true });
        ${index === null ? "" : `document.querySelectorAll("button")[${index}].click();`}
        look();
    }`;
    element.messageManager.loadFrameScript("data:," + encodeURIComponent(code), false);
"""
# Presses Enter in the popup, and waits until it closes.
ENTER = """
    const [resolve] = arguments;
    const element = document.querySelector(".webextension-popup-browser");
    let pressed = 0;
    const closed = () => { window.removeEventListener("popuphidden", closed, true); resolve(pressed); };
    window.addEventListener("popuphidden", closed, true);
    element.messageManager.addMessageListener("vauban:pressed", ({ data }) => { pressed = data; });
    const code = `{
        content.addEventListener("keydown", event =>
            sendAsyncMessage("vauban:pressed", content.performance.timeOrigin + event.timeStamp), { capture: true, once: true });
        const processor = Cc["@mozilla.org/text-input-processor;1"].createInstance(Ci.nsITextInputProcessor);
        processor.beginInputTransactionForTests(content);
        const enter = new content.KeyboardEvent("", { key: "Enter", code: "Enter", keyCode: 13 });
        processor.keydown(enter);
        processor.keyup(enter);
    }`;
    element.messageManager.loadFrameScript("data:," + encodeURIComponent(code), false);
"""


class Browser:
    def __init__(self, profile):
        preferences = {**PREFERENCES, "network.proxy.ssl_port": int(os.environ["PAGES_PORT"]), "network.proxy.http_port": int(os.environ["PAGES_PORT"])}
        with open(f"{profile}/user.js", "w") as file:
            file.writelines(f"user_pref({json.dumps(name)}, {json.dumps(value)});\n" for name, value in preferences.items())
        self.log = open(f"{profile}/log", "w+")
        self.process = subprocess.Popen(
            ["firefox-esr", "--marionette", "--no-remote", "--profile", profile, "--remote-allow-system-access"],
            stdout=self.log, stderr=self.log, start_new_session=True)
        path = f"{profile}/MarionetteActivePort"
        while not (os.path.exists(path) and (port := open(path).read().strip())):
            assert self.process.poll() is None, open(self.log.name).read()
        self.stream = socket.create_connection(("127.0.0.1", int(port)))
        self.reader = self.stream.makefile("rb")
        self.receive()
        self.last = 0
        self.call("WebDriver:NewSession", acceptInsecureCerts=True)
        self.call("WebDriver:SetTimeouts", script=600000, pageLoad=600000)
        self.call("Addon:Install", path=f"{os.environ['TMPDIR']}/extension/firefox", temporary=True)

    def receive(self):
        length = b""
        while (digit := self.reader.read(1)) != b":":
            assert digit, "Firefox ended"
            length += digit
        return json.loads(self.reader.read(int(length)))

    def call(self, command, **parameters):
        self.last += 1
        data = json.dumps([0, self.last, command, parameters]).encode()
        self.stream.sendall(str(len(data)).encode() + b":" + data)
        _, _, error, result = self.receive()
        assert error is None, (command, error)
        return result

    def eval(self, script):
        return self.call("WebDriver:ExecuteAsyncScript", script="const done = arguments[1]; Promise.resolve(window.eval(arguments[0])).then(done)", args=[script])["value"]

    def chrome(self, script, *arguments):
        self.call("Marionette:SetContext", value="chrome")
        try:
            return self.call("WebDriver:ExecuteAsyncScript", script=script, args=list(arguments))["value"]
        finally:
            self.call("Marionette:SetContext", value="content")

    def go(self, url):
        self.call("WebDriver:Navigate", url=url)

    def element(self, selector):
        return next(iter(self.call("WebDriver:FindElement", using="css selector", value=selector)["value"].values()))

    def click(self, selector):
        self.call("WebDriver:ElementClick", id=self.element(selector))

    @contextlib.contextmanager
    def frame(self, selector):
        """Steps within are performed in this frame of the page."""
        self.call("WebDriver:SwitchToFrame", element=self.element(selector))
        try:
            yield
        finally:
            self.call("WebDriver:SwitchToFrame", id=None)

    def type(self, fields):
        """Types into fields, replacing their content."""
        for selector, text in fields.items():
            element = self.element(selector)
            self.call("WebDriver:ElementClear", id=element)
            self.call("WebDriver:ElementSendKeys", id=element, text=text)

    def sees(self, selector):
        """Waits until there is such an element."""
        while not self.eval(f"document.querySelector({json.dumps(selector)}) !== null"):
            pass

    def submit(self, fields):
        """Types into fields and sends their form with Enter; returns when the next page is there."""
        before = self.eval("performance.timeOrigin")
        self.type(fields)
        self.enter(list(fields)[-1])
        while self.eval("document.readyState === 'complete' ? performance.timeOrigin : 0") in (0, before):
            pass

    def press(self, name, _):
        """Presses a function key."""
        key = chr(0xE030 + int(name[1:]))
        actions = [{"type": kind, "value": key} for kind in ("keyDown", "keyUp")]
        self.call("WebDriver:PerformActions", actions=[{"type": "key", "id": "keys", "actions": actions}])

    def enter(self, selector):
        """Presses Enter in a field."""
        self.call("WebDriver:ElementSendKeys", id=self.element(selector), text="\ue007")

    def value(self, selector):
        return self.eval(f"document.querySelector({json.dumps(selector)}).value")

    def heard(self, host):
        self.go(f"https://{host}/")
        return self.eval("fetch('/heard').then(reply => reply.json())")

    def popup(self):
        """Opens the extension's popup, as its key does; again if a loaded machine keeps the page from replying in time."""
        popup = self.open_popup()
        earlier = popup.earlier
        for _ in range(3):
            if not popup.status.startswith("This page does not answer"):
                break
            popup.close()
            popup = self.open_popup()
            # It is shown once.
            earlier = popup.earlier or earlier
        popup.earlier = earlier
        return popup

    def open_popup(self):
        self.chrome("""
            const [id, resolve] = arguments;
            const { ExtensionParent } = ChromeUtils.importESModule("resource://gre/modules/ExtensionParent.sys.mjs");
            const extension = ExtensionParent.GlobalManager.getExtension(id);
            const opened = event => { if (event.target.querySelector?.(".webextension-popup-browser")) { window.removeEventListener("popupshown", opened, true); resolve(true); } };
            window.addEventListener("popupshown", opened, true);
            ExtensionParent.apiManager.global.browserActionFor(extension).triggerAction(window);
        """, "browser@vauban")
        return Popup(self)

    def end(self):
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()


class Popup:
    def __init__(self, browser):
        self.browser = browser
        self.look()

    def run(self, script):
        result = self.browser.chrome(POPUP, script)
        if result is None:
            raise Gone
        return result

    def look(self):
        shown = json.loads(self.run(SETTLED))
        self.title, self.status, self.buttons, self.earlier = shown["title"], shown["status"], shown["buttons"], shown["earlier"]

    def choose(self, beginning):
        """Chooses the entry that begins with these words; returns the text of the popup afterwards, or nothing if it closes."""
        index = next((index for index, text in enumerate(self.buttons) if text.startswith(beginning)), None)
        assert index is not None, (beginning, self.buttons, self.status)
        try:
            if self.browser.chrome(END, ": (?!busy)", index) == "closed":
                return None
            self.look()
        except Gone:
            return None
        if self.title in ("Vauban: done", "Vauban: refused"):
            self.close()
        return self.status

    def press_enter(self):
        """Presses Enter, and waits until the popup closes; returns when it was pressed, by the browser's clock."""
        return self.browser.chrome(ENTER)

    def opened(self):
        """The times at which its document and its choices were shown, by the browser's clock."""
        return self.run(OPENED)

    def settle(self, state):
        """Waits until the popup shows this state, or, for none, until it closes."""
        with contextlib.suppress(Gone):
            if self.browser.chrome(END, f": {state}$" if state else "(?!)", None) == "shown":
                self.look()

    def close(self):
        self.browser.chrome("""
            const [resolve] = arguments;
            const panel = document.querySelector(".webextension-popup-browser")?.closest("panel");
            if (!panel) return resolve(true);
            panel.addEventListener("popuphidden", () => resolve(true), { once: true });
            panel.hidePopup();
        """)


@contextlib.contextmanager
def start():
    with tempfile.TemporaryDirectory(dir=os.environ["TMPDIR"], ignore_cleanup_errors=True) as profile:
        browser = Browser(profile)
        try:
            yield browser
        finally:
            browser.end()
