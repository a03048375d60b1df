"""Measures fills in real browsers, by the browsers' own clock: from the key that chooses an item in the popup to the field that has its password;
and, on the same page in turns, from a key to the field that a script of the page fills. All fills are checked.

    fills.py ROUNDS BROWSER...
"""
import importlib
import json
import statistics
import sys

LOGIN = "https://login.example.com/login"
NOW = "performance.timeOrigin + performance.now()"
# Notes when the password's field is filled, and by a script of the page's own fills both fields when F2 is pressed.
PAGE = f"""(() => {{
    const [account, password] = ["#account", "#password"].map(name => document.querySelector(name));
    addEventListener("input", event => {{ if (event.target === password) window.filled = {NOW}; }}, true);
    addEventListener("keydown", event => {{
        if (event.key !== "F2") return;
        window.pressed = performance.timeOrigin + event.timeStamp;
        for (const [field, text] of [[account, "anna"], [password, "tulips-and-rain-7"]]) {{
            field.focus();
            field.value = text;
            field.dispatchEvent(new InputEvent("input", {{ bubbles: true, inputType: "insertReplacementText" }}));
            field.dispatchEvent(new Event("change", {{ bubbles: true }}));
        }}
    }});
    return true;
}})()"""
TIMES = "JSON.stringify([window.pressed ?? 0, window.filled ?? 0])"
WARM = 3


def report(name, times):
    print(f"{name:52} {statistics.median(times):7.1f} {sorted(times)[len(times) * 9 // 10]:7.1f} {max(times):7.1f}")


def prepared(browser):
    browser.go(LOGIN)
    browser.eval(PAGE)


def times(browser):
    assert browser.value("#password") == "tulips-and-rain-7"
    return json.loads(browser.eval(TIMES))


for name in sys.argv[2:]:
    loaded, listed, filled, scripted = [], [], [], []
    with importlib.import_module(name).start() as browser:
        for _ in range(WARM + int(sys.argv[1])):
            prepared(browser)
            # What is pressed while the window gets the focus is lost.
            while not browser.value("#password"):
                browser.press("F2", 113)
            pressed, done = times(browser)
            scripted.append(done - pressed)
            prepared(browser)
            start = browser.eval(NOW)
            popup = browser.popup()
            there, ready = popup.opened()
            loaded.append(there - start)
            listed.append(ready - there)
            assert popup.buttons[0].startswith("Fill anna"), popup.buttons
            pressed = popup.press_enter()
            filled.append(times(browser)[1] - pressed)
    report(f"{name}: the popup's key to its document", loaded[WARM:])
    report(f"{name}: from there to its choices", listed[WARM:])
    report(f"{name}: Enter to the filled field", filled[WARM:])
    report(f"{name}: the same fields by a script of the page", scripted[WARM:])
