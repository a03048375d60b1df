#!/usr/bin/env bash
# The browsers' extension as it is shipped, in a real Firefox, over real rooms, on pages over HTTPS: what browser.sh does in Chromium.
# proves: C-249
# limit: 1800
set -u
. Tests/Scripts/lib/browser-host.sh
. Tests/Scripts/lib/browser-pages.sh
start_pages firefox-esr || { echo "$pages_lack"; exit 77; }
set_passcode
printf 'tulips-and-rain-7' | vauban set --url https://anna@login.example.com/ || fail 'set failed'
printf 'otpauth://totp/Example:anna?secret=GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ&period=86400' | vauban code add login.example.com/anna || fail 'code add failed'
CODE=$(vauban code get login.example.com/anna) || fail 'code get failed'
export CODE

in_firefox <<'PYTHON' || fail 'a step of filling in Firefox failed'
import os, subprocess
site = "https://login.example.com"
def stored(url): return subprocess.run([os.environ["VAUBAN_BUILD"] + "/vauban", "get", "--url", url], capture_output=True, text=True).stdout
# Log in: filled by a choice, and sent by the form.
browser.go(site + "/login")
popup = browser.popup()
assert popup.buttons == ["Fill annalogin.example.com · saved for this site"], (popup.buttons, popup.status)
assert popup.choose("Fill anna") is None
assert (browser.value("#account"), browser.value("#password")) == ("anna", "tulips-and-rain-7")
browser.click("form button")
browser.sees("#done")
sent, = [one for one in browser.heard("login.example.com") if one["path"] == "/sent"]
assert "user=anna&password=tulips-and-rain-7" in sent["body"] and sent["secure"], sent
# A page that asks for the account first gets no password.
browser.go(site + "/account-first")
assert browser.popup().choose("Fill anna") is None
assert browser.value("#account") == "anna"
# The code.
browser.go(site + "/code")
browser.popup().choose("Fill the code of anna")
# Another than before if it is midnight meanwhile (UTC).
words = [os.environ["VAUBAN_BUILD"] + "/vauban", "code", "get", "login.example.com/anna"]
codes = os.environ["CODE"], subprocess.run(words, capture_output=True, text=True).stdout.strip()
assert browser.value("#code") in codes, codes
# Looking for fields does not scroll the page; filling shows the filled fields.
browser.go(site + "/far")
browser.eval("scrollTo(0, 70); document.querySelector('#box').scrollTop = 30; 0")
popup = browser.popup()
assert popup.buttons == ["Fill annalogin.example.com · saved for this site"], popup.buttons
assert browser.eval("JSON.stringify([scrollY, document.querySelector('#box').scrollTop])") == "[70,30]"
assert popup.choose("Fill anna") is None
assert browser.value("#password") == "tulips-and-rain-7"
assert browser.eval("document.querySelector('#password').getBoundingClientRect().top < innerHeight")
# Sign up, by the page's rules.
browser.go(site + "/signup")
browser.type({"#account": "emil"})
said = browser.popup().choose("New account")
assert said.startswith("Saved and filled: 24 characters") and said.endswith("by the rules of the page."), said
password = browser.value("#new")
assert browser.value("#again") == password and len(password) == 24
assert stored("https://emil@login.example.com/") == password
# Change a password: the old one is filled, the new one by the limits of the field.
browser.go(site + "/change")
assert browser.popup().choose("Fill anna") is None
assert browser.value("#password") == "tulips-and-rain-7" and browser.value("#new") == ""
said = browser.popup().choose("New password for anna")
changed = browser.value("#new")
assert said.startswith("Saved and filled: 14 characters") and len(changed) == 14 and browser.value("#again") == changed, said
assert stored("https://anna@login.example.com/") == changed and browser.value("#password") == "tulips-and-rain-7"
subprocess.run([os.environ["VAUBAN_BUILD"] + "/vauban", "undo", "login.example.com/anna"], check=True)
assert stored("https://anna@login.example.com/") == "tulips-and-rain-7"
# The same at once: the form also gets the old password, which the item then no longer has.
browser.go(site + "/change")
assert browser.popup().choose("New password for emil").startswith("Saved and filled: 14 characters")
assert browser.value("#password") == password
password = browser.value("#new")
assert stored("https://emil@login.example.com/") == password
# A label may be in the middle of its field, as long as it does not cover it.
browser.go(site + "/floating")
assert browser.popup().choose("Fill anna") is None and browser.value("#password") == "tulips-and-rain-7"
# The page changes before the new password is filled: the popup reports that the item has it already.
browser.go(site + "/signup")
popup = browser.popup()
browser.eval("document.querySelector('form').remove()")
said = popup.choose("New password for emil")
options = "--server login.example.com --account emil --protocol https --port 0 --path ''"
assert said.endswith("the new password is saved. To get the old one back: vauban undo " + options), said
assert stored("https://emil@login.example.com/") not in ("", password)
# Saved and replaced before it is sent; what a script enters is not offered.
browser.go("https://www.example.com/login")
browser.eval("document.querySelector('#account').value = 'dora'; document.querySelector('#password').value = 'put there'; 0")
popup = browser.popup()
assert not offered(popup), popup.buttons
popup.close()
browser.type({"#password": "typed"})
assert browser.popup().choose("Save the password of dora") == "Saved."
browser.type({"#password": "typed again"})
assert browser.popup().choose("Replace the password of dora") == "Saved."
assert stored("https://dora@www.example.com/") == "typed again"
# A change without an account: the user chooses the item.
browser.go("https://www.example.com/change-only")
browser.submit({"#password": "typed again", "#new": "changed", "#again": "changed"})
popup = browser.popup()
assert offered(popup)[0].startswith("Replace the password of dora") and len(offered(popup)) == 3, popup.buttons
assert popup.choose("Replace the password of dora") == "Saved."
assert stored("https://dora@www.example.com/") == "changed"
# Pages that get nothing.
for page in ("https://evil.example/login", "https://evil.example/steal", "https://loginexample.com/login", site + "/framed-only", site + "/hidden-only", "http://login.example.com/login"):
    browser.go(page)
    popup = browser.popup()
    assert not any(text.startswith("Fill") for text in popup.buttons), (page, popup.buttons)
    popup.close()
browser.go(site + "/framed")
browser.popup().choose("Fill anna")
assert browser.value("#password") == "tulips-and-rain-7" and browser.heard("evil.example") == []
# What was typed and sent is offered to be saved.
browser.go("https://www.example.com/login")
browser.submit({"#account": "kai", "#password": "of kai"})
popup = browser.popup()
assert popup.buttons[0].startswith("Save the password of kai"), (popup.buttons, popup.status)
assert popup.choose("Save the password of kai") == "Saved."
browser.go("https://www.example.com/login")
browser.submit({"#account": "kai", "#password": "of kai"})
popup = browser.popup()
assert not offered(popup), popup.buttons
popup.close()
PYTHON
# What the page shows of a password, a login that marks its password as a new one, and a page that the browser lets no extension into.
in_firefox <<'PYTHON' || fail 'a step with a shown password in Firefox failed'
site = "https://www.example.com"
browser.go(site + "/shows-signup")
browser.type({"#account": "kim@example.com", "#password": "S3cret"})
browser.click("#eye")
browser.submit({"#again": "S3cret"})
popup = browser.popup()
assert popup.buttons[0].startswith("Save the password of kim@example.com"), popup.buttons
assert popup.choose("Save the password of kim@example.com") == "Saved."
browser.go(site + "/shows")
browser.click("#eye")
popup = browser.popup()
assert popup.status.startswith("This page shows the password, so Vauban does not fill it."), popup.status
assert popup.choose("Fill kim@example.com") is None
assert (browser.value("#account"), browser.value("#password")) == ("kim@example.com", "")
browser.type({"#password": "another"})
popup = browser.popup()
assert offered(popup)[0].startswith("Replace the password of kim@example.com"), popup.buttons
popup.close()
for page in "/login-as-new", "/password-as-new":
    browser.go("https://login.example.com" + page)
    popup = browser.popup()
    assert popup.buttons[0].startswith("Fill "), popup.buttons
    assert popup.choose("Fill anna") is None and browser.value("#password") == "tulips-and-rain-7", page
browser.go(site + "/login")
browser.submit({"#account": "nia", "#password": "of nia"})
try:
    browser.go(site + "/broken")
except AssertionError as error:
    assert "neterror" in str(error), error
else:
    raise AssertionError("the page is not broken")
popup = browser.popup()
assert popup.buttons[0].startswith("Save the password of nia"), (popup.buttons, popup.status)
assert popup.choose("Save the password of nia") == "Saved."
popup = browser.popup()
assert popup.buttons == [] and popup.status.startswith("The browser lets no extension into this page"), (popup.buttons, popup.status)
popup.close()
PYTHON
[ "$(vauban get --url https://kim%40example.com@www.example.com/)" = S3cret ] || fail 'the password that the page showed was not stored'
[ "$(vauban get --url https://nia@www.example.com/)" = 'of nia' ] || fail 'what waited behind a page of the browser was not stored'
in_firefox <<'PYTHON' || fail 'Firefox does not notice what a script sends'
site = "https://login.example.com"
# What a script sends, and in a frame of the page's own site, too.
browser.go("https://www.example.com/no-form")
browser.type({"#account": "lou", "#password": "of lou"})
browser.click("#go")
browser.sees("#done")
assert browser.popup().choose("Save the password of lou") == "Saved."
for page in ("/no-form-leaves", "/no-form-hides", "/button"):
    browser.go("https://www.example.com" + page)
    browser.type({"#account": "lou", "#password": "of lou" + page})
    browser.click("#go")
    browser.sees("#done")
    until_offered(browser, "Replace the password of lou").choose("Not now")
for page in ("/own-frame", "/own-frame-no-form"):
    browser.go("https://www.example.com" + page)
    with browser.frame("iframe"):
        browser.type({"#account": "lou", "#password": "in own frame"})
        browser.enter("#password")
        browser.sees("#done")
    popup = browser.popup()
    assert popup.buttons[0].startswith("Replace the password of lou"), (page, popup.buttons)
    popup.choose("Not now")
# What a page forges is not offered, and neither is what is sent in a frame of another site, or within one.
browser.go("https://www.example.com/forge")
browser.click("#place")
popup = browser.popup()
assert browser.value("#password") == "forged" and not offered(popup), popup.buttons
popup.close()
for page in ("https://evil.example/steal", site + "/framed-only"):
    browser.go(page)
    with browser.frame("iframe"):
        browser.submit({"#account": "anna", "#password": "in-a-frame"})
    popup = browser.popup()
    assert not offered(popup), popup.buttons
    popup.close()
browser.go("https://www.example.com/no-form-forges")
browser.click("#place")
browser.sees("#done")
popup = browser.popup()
assert not offered(popup), popup.buttons
popup.close()
PYTHON
[ "$(vauban get --url https://lou@www.example.com/)" = 'of lou' ] || fail 'the password that a script sent, and Firefox offered to save, was not stored'
[ "$(vauban get --url https://kai@www.example.com/)" = 'of kai' ] || fail 'what Firefox offered to save is not there'

# Without history the earlier password is lost, and the popup warns of that.
vauban settings --history off >/dev/null 2>&1 || fail 'settings failed'
in_firefox <<'PYTHON' || fail 'Firefox does not say that the password before is lost'
browser.go("https://www.example.com/signup")
popup = browser.popup()
assert popup.choose("New password for kai").startswith("Your keychain keeps no earlier passwords."), popup.status
said = popup.choose("Replace the password of kai for good")
assert said.startswith("Filled and saved: 24 characters") and said.endswith(" The password before is not kept."), said
assert browser.value("#new") == browser.value("#again") != ""
PYTHON
vauban settings --history on >/dev/null 2>&1 || fail 'settings failed'

# A locked keychain is unlocked by a prompt, what was typed meanwhile is offered then, and an item that demands the user prompts them.
printf 'the vault secret' | vauban set --url https://carla@www.act.org/ --require presence || fail 'set failed'
vauban lock 2>/dev/null || fail 'lock failed'
start_prompt_agent
in_firefox <<'PYTHON' || fail 'a locked keychain is not unlocked in Firefox'
browser.go("https://www.example.com/login")
browser.submit({"#account": "jo", "#password": "of jo"})
popup = browser.popup()
assert popup.buttons[0].startswith("Unlock"), (popup.buttons, popup.status)
popup.choose("Unlock")
assert popup.title in ("Vauban: waiting", "Vauban: ready"), popup.title
popup.settle("ready")
assert popup.choose("Save the password of jo") == "Saved."
browser.go("https://login.example.com/login")
assert browser.popup().choose("Fill anna") is None and browser.value("#password") == "tulips-and-rain-7"
PYTHON
await_prompt_agent
[ "$(vauban get --url https://jo@www.example.com/)" = 'of jo' ] || fail 'what was typed while the keychain was locked is not saved'
start_prompt_agent
in_firefox <<'PYTHON' || fail 'an item that prompts is not filled in Firefox'
browser.go("https://www.act.org/login")
popup = browser.popup()
assert "asks you first" in popup.buttons[0], popup.buttons
popup.choose("Fill carla")
popup.settle(None)
assert browser.value("#password") == "the vault secret"
# It is not read for the comparison, so a login with it offers nothing, and a form for a new password does.
browser.go("https://www.act.org/login")
browser.submit({"#account": "carla", "#password": "another secret"})
popup = browser.popup()
assert not any("carla" in text for text in popup.buttons), popup.buttons
popup.close()
browser.go("https://www.act.org/change")
browser.submit({"#account": "carla", "#password": "the vault secret", "#new": "another secret", "#again": "another secret"})
popup = browser.popup()
assert popup.buttons[0].startswith("Replace the password of carla") and "asks you first" in popup.buttons[0], popup.buttons
popup.close()
PYTHON
await_prompt_agent
