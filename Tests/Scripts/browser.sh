#!/usr/bin/env bash
# The browsers' extension: its types are checked; and as it is shipped, in a real Chromium and a real Firefox, over real rooms, on pages over
# HTTPS: login, account first, code, sign-up with a generated password, password change, saving, a locked keychain, and what demands the user.
# Its pictures stay in .build/test-results/browser.
# proves: C-249
# limit: 400
set -u
. Tests/Scripts/lib/browser-host.sh
. Tests/Scripts/lib/browser-pages.sh
if command -v tsc >/dev/null; then
    (cd Browser && tsc -p . --noEmit) >"$TMPDIR/types" 2>&1 || { cat "$TMPDIR/types"; fail 'the types of the extension do not fit'; }
else
    echo 'open: types of the extension: there is no tsc here'
fi
start_pages || { echo "$pages_lack"; exit 77; }
set_passcode
printf 'tulips-and-rain-7' | vauban set --url https://anna@login.example.com/ || fail 'set failed'
printf 'otpauth://totp/Example:anna?secret=GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ&period=86400' | vauban code add login.example.com/anna || fail 'code add failed'
CODE=$(vauban code get login.example.com/anna) || fail 'code get failed'
export CODE

in_chromium <<'PYTHON' || fail 'Chromium is not filled as it should be'
import json, os, subprocess
site = "https://login.example.com"
def stored(url): return subprocess.run([os.environ["VAUBAN_BUILD"] + "/vauban", "get", "--url", url], capture_output=True, text=True).stdout
# Log in: filled by a choice, and sent by the form.
browser.go(site + "/login")
popup = browser.popup()
assert popup.buttons == ["Fill annalogin.example.com · saved for this site"], popup.buttons
popup.picture("login")
assert popup.choose("Fill anna") is None
assert (browser.value("#account"), browser.value("#password")) == ("anna", "tulips-and-rain-7")
browser.eval("document.querySelector('form').submit()")
browser.event(lambda name, _, session: name == "Page.loadEventFired" and session == browser.session)
sent, = [one for one in browser.heard("login.example.com") if one["path"] == "/sent"]
assert "user=anna&password=tulips-and-rain-7" in sent["body"] and sent["secure"], sent
# A page that asks for the account first gets no password.
browser.go(site + "/account-first")
browser.popup().choose("Fill anna")
assert browser.value("#account") == "anna"
# The code.
browser.go(site + "/code")
browser.popup().choose("Fill the code of anna")
assert browser.value("#code") == os.environ["CODE"]
# Sign up: by the page's rules, stored before it is filled.
browser.go(site + "/signup")
browser.eval("document.querySelector('#account').value = 'emil'")
popup = browser.popup()
popup.picture("sign-up")
said = popup.choose("New account")
assert said.startswith("Saved and filled: 24 characters") and said.endswith("by the rules of the page."), said
password = browser.value("#new")
assert password == browser.value("#again") and len(password) == 24 and password.isalnum()
assert stored("https://emil@login.example.com/") == password
# Change a password: the old one is filled, the new one by the limits of the field.
browser.go(site + "/change")
browser.popup().choose("Fill anna")
assert browser.value("#password") == "tulips-and-rain-7" and browser.value("#new") == ""
said = browser.popup().choose("New password for anna")
changed = browser.value("#new")
assert said.startswith("Saved and filled: 14 characters") and len(changed) == 14 and browser.value("#again") == changed, said
assert stored("https://anna@login.example.com/") == changed and browser.value("#password") == "tulips-and-rain-7"
# Save what was typed, and replace it.
browser.go("https://www.example.com/login")
browser.eval("document.querySelector('#account').value = 'dora'; document.querySelector('#password').value = 'typed'; 0")
assert browser.popup().choose("Save the password of dora") == "Saved."
browser.eval("document.querySelector('#password').value = 'typed again'; 0")
assert browser.popup().choose("Replace the password of dora") == "Saved."
assert stored("https://dora@www.example.com/") == "typed again"
# Between the popup and the choice the tab went to another page.
browser.go(site + "/login")
popup = browser.popup()
browser.go("https://evil.example/login")
said = popup.choose("Fill anna")
assert said is None or "has changed" in said, said
assert browser.value("#password") == "", "another page was filled"
PYTHON
vauban undo --url https://anna@login.example.com/ >/dev/null 2>&1 || fail 'undo failed'
[ "$(vauban get --url https://anna@login.example.com/)" = tulips-and-rain-7 ] || fail 'the password before the change is not there'

# A locked keychain is unlocked by a prompt, and an item that demands the user prompts them.
printf 'the vault secret' | vauban set --url https://carla@www.act.org/ --require presence || fail 'set failed'
vauban lock 2>/dev/null || fail 'lock failed'
start_approver
in_chromium <<'PYTHON' || fail 'a locked keychain is not unlocked'
browser.go("https://login.example.com/login")
popup = browser.popup()
assert popup.buttons[0].startswith("Unlock"), (popup.buttons, popup.status)
popup.choose("Unlock")
assert popup.title in ("Vauban: waiting", "Vauban: ready"), popup.title
popup.settle("ready")
assert popup.choose("Fill anna") is None and browser.value("#password") == "tulips-and-rain-7"
PYTHON
await_approver
start_approver
in_chromium <<'PYTHON' || fail 'an item that prompts is not filled'
browser.go("https://www.act.org/login")
popup = browser.popup()
assert "asks you first" in popup.buttons[0], popup.buttons
popup.choose("Fill carla")
popup.settle(None)
assert browser.value("#password") == "the vault secret"
PYTHON
await_approver

command -v firefox-esr >/dev/null || { echo 'open: Firefox: there is no firefox-esr here'; exit 0; }
in_firefox <<'PYTHON' || fail 'Firefox is not filled as it should be'
import os
site = "https://login.example.com"
browser.go(site + "/login")
popup = browser.popup()
assert popup.buttons[0].startswith("Fill anna"), (popup.buttons, popup.status)
assert popup.choose("Fill anna") is None
assert (browser.value("#account"), browser.value("#password")) == ("anna", "tulips-and-rain-7")
browser.go(site + "/code")
browser.popup().choose("Fill the code of anna")
assert browser.value("#code") == os.environ["CODE"]
browser.go(site + "/signup")
said = browser.popup().choose("New account")
assert said.startswith("Saved and filled: 24 characters"), said
assert browser.value("#new") == browser.value("#again") and len(browser.value("#new")) == 24
for page in ("https://evil.example/login", "https://evil.example/steal", "https://loginexample.com/login", site + "/framed-only", site + "/hidden-only", "http://login.example.com/login"):
    browser.go(page)
    popup = browser.popup()
    assert not any(text.startswith("Fill") for text in popup.buttons), (page, popup.buttons)
    popup.close()
browser.go(site + "/framed")
browser.popup().choose("Fill anna")
assert browser.value("#password") == "tulips-and-rain-7" and browser.heard("evil.example") == []
PYTHON
