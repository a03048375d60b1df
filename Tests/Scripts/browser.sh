#!/usr/bin/env bash
# The browsers' extension: its types are checked; and as it is shipped, in a real Chromium, over real rooms, on pages over HTTPS: login, account
# first, code, sign-up with a generated password, password change, saving, offers to save what was typed and sent, pages that show the
# password, pages that block, a keychain without history, a locked one, what demands the user, and a stopped keychain. browser-firefox.sh
# does the same in Firefox.
# Its pictures stay in .build/test-results/browser.
# proves: C-249
# limit: 1800
set -u
. Tests/Scripts/lib/browser-host.sh
. Tests/Scripts/lib/browser-pages.sh
command -v tsc >/dev/null || { echo 'there is no tsc here'; exit 77; }
(cd Browser && tsc -p . --noEmit) >"$TMPDIR/types" 2>&1 || { cat "$TMPDIR/types"; fail 'the types of the extension do not fit'; }
start_pages chromium || { echo "$pages_lack"; exit 77; }
set_passcode
printf 'tulips-and-rain-7' | vauban set --url https://anna@login.example.com/ || fail 'set failed'
printf 'otpauth://totp/Example:anna?secret=GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ&period=86400' | vauban code add login.example.com/anna || fail 'code add failed'
CODE=$(vauban code get login.example.com/anna) || fail 'code get failed'
export CODE

in_chromium <<'PYTHON' || fail 'a step of filling in Chromium failed'
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
# Another than before if it is midnight meanwhile (UTC).
words = [os.environ["VAUBAN_BUILD"] + "/vauban", "code", "get", "login.example.com/anna"]
codes = os.environ["CODE"], subprocess.run(words, capture_output=True, text=True).stdout.strip()
assert browser.value("#code") in codes, codes
# Looking for fields does not scroll the page; filling shows the filled fields.
browser.go(site + "/far")
scrolled = "JSON.stringify([scrollY, document.querySelector('#box').scrollTop])"
browser.eval("scrollTo(0, 70); document.querySelector('#box').scrollTop = 30; 0")
popup = browser.popup()
assert popup.buttons == ["Fill annalogin.example.com · saved for this site"], popup.buttons
assert browser.eval(scrolled) == "[70,30]", browser.eval(scrolled)
assert popup.choose("Fill anna") is None
assert (browser.value("#account"), browser.value("#password")) == ("anna", "tulips-and-rain-7")
assert browser.eval("document.querySelector('#password').getBoundingClientRect().top < innerHeight")
# A label may be in the middle of its field, as long as it does not cover it.
browser.go(site + "/floating")
assert browser.popup().choose("Fill anna") is None
assert (browser.value("#account"), browser.value("#password")) == ("anna", "tulips-and-rain-7")
# Sign up: by the page's rules, stored before it is filled. A new item needs an account.
browser.go(site + "/signup")
popup = browser.popup()
assert popup.buttons[-1] == "New account: generate and save a passwordenter the account first", popup.buttons
popup.choose("New account")
popup.close()
assert browser.value("#new") == ""
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
# The same at once: the form also gets the old password, which the item then no longer has. The content of its field stays.
browser.go(site + "/change")
said = browser.popup().choose("New password for emil")
assert said.startswith("Saved and filled: 14 characters") and browser.value("#password") == password, said
password = browser.value("#new")
assert password == browser.value("#again") == stored("https://emil@login.example.com/") and len(password) == 14
browser.go(site + "/change")
browser.type({"#password": "typed"})
assert browser.popup().choose("New password for emil").startswith("Saved and filled")
assert browser.value("#password") == "typed"
password = browser.value("#new")
# The page changes before the new password is filled: the popup reports that the item has it already, and the command that reverts that.
def unfilled(account, choice):
    browser.go(site + "/signup")
    browser.eval(f"document.querySelector('#account').value = {json.dumps(account)}, true")
    popup = browser.popup()
    browser.eval("document.querySelector('form').remove()")
    said = popup.choose(choice)
    start, _, command = said.rpartition(": ")
    assert start.startswith("The page has changed. Nothing was filled, but the new password is saved."), said
    return command
def run(command): subprocess.run(["sh", "-c", command], check=True, env={**os.environ, "PATH": os.environ["VAUBAN_BUILD"] + ":" + os.environ["PATH"]})
command = unfilled("emil", "New password for emil")
options = "--server login.example.com --account emil --protocol https --port 0 --path ''"
assert command == "vauban undo " + options and stored("https://emil@login.example.com/") not in ("", password), command
# An item of another port has the same name, and is not used.
other = "https://emil@login.example.com:8443/"
subprocess.run([os.environ["VAUBAN_BUILD"] + "/vauban", "set", "--url", other], input=b"at a port", check=True)
run(command)
assert stored(other) == "at a port"
subprocess.run([os.environ["VAUBAN_BUILD"] + "/vauban", "delete", "--yes", "--url", other], check=True)
assert stored("https://emil@login.example.com/") == password
command = unfilled("o'neil", "New account")
assert command.startswith("vauban delete ") and len(stored("https://o%27neil@login.example.com/")) == 24, command
run(command)
assert stored("https://o%27neil@login.example.com/") == ""
# Save what was typed, and replace it, before it is sent. What a script enters is not offered.
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
# Nothing is saved without an account; but it can replace an existing password.
browser.type({"#password": "without"})
browser.eval("document.querySelector('#account').value = '', true")
popup = browser.popup()
assert offered(popup) == ["Replace the password of dorawww.example.com · saved for this site · as it is in the form"], popup.buttons
popup.close()
# Two different new passwords are not a password.
browser.go("https://www.example.com/signup")
browser.type({"#account": "hugo", "#new": "one", "#again": "two"})
popup = browser.popup()
assert not offered(popup), popup.buttons
popup.close()
browser.type({"#again": "one"})
popup = browser.popup()
assert offered(popup) == ["Save the password of hugoas it is in the form"], popup.buttons
popup.close()
# Between the popup and the choice the tab loaded another page.
browser.go(site + "/login")
popup = browser.popup()
browser.go("https://evil.example/login")
said = popup.choose("Fill anna")
assert said is None or "has changed" in said, said
assert browser.value("#password") == "", "another page was filled"
PYTHON
vauban undo --url https://anna@login.example.com/ >/dev/null 2>&1 || fail 'undo failed'
[ "$(vauban get --url https://anna@login.example.com/)" = tulips-and-rain-7 ] || fail 'the password before the change is not there'

# What was typed and sent is offered to be saved, and is saved only by a choice.
in_chromium <<'PYTHON' || fail 'a step of offers to save in Chromium failed'
import os, subprocess
site = "https://www.example.com"
def stored(url): return subprocess.run([os.environ["VAUBAN_BUILD"] + "/vauban", "get", "--url", url], capture_output=True, text=True).stdout
def look():
    popup = browser.popup()
    found, badge = offered(popup), popup.badge()
    popup.close()
    return found, badge
# A new account on a site that then redirects to another one.
browser.go(site + "/login")
browser.submit({"#account": "fay", "#password": "first one"})
browser.go("https://login.example.com/")
popup = browser.popup()
assert offered(popup) == ["Save the password of fayas you typed it on www.example.com", "Not nowwhat you typed is forgotten",
                          "Never on this sitedo not offer to save on www.example.com"], popup.buttons
assert popup.badge() == "+" and popup.buttons[0].startswith("Save"), (popup.badge(), popup.buttons)
popup.picture("offer")
assert stored("https://fay@www.example.com/") == ""
assert popup.choose("Save the password of fay") == "Saved."
assert stored("https://fay@www.example.com/") == "first one"
assert look() == ([], "")
# The same password again is not new; another one is.
browser.go(site + "/login")
browser.submit({"#account": "fay", "#password": "first one"})
assert look() == ([], "")
browser.go(site + "/login")
browser.submit({"#account": "fay", "#password": "second"})
popup = browser.popup()
assert popup.buttons[0] == "Replace the password of faywww.example.com · saved for this site · as you typed it on www.example.com", popup.buttons
popup.choose("Not now")
assert look() == ([], "") and stored("https://fay@www.example.com/") == "first one"
# A sign-up and a change, by their fields for a new password; two different ones are not a password.
browser.go(site + "/signup")
browser.submit({"#account": "gus", "#new": "one", "#again": "two"})
assert look() == ([], "")
browser.go(site + "/signup")
browser.submit({"#account": "gus", "#new": "one", "#again": "one"})
assert browser.popup().choose("Save the password of gus") == "Saved."
browser.go(site + "/change")
browser.submit({"#account": "gus", "#password": "one", "#new": "three", "#again": "three"})
assert browser.popup().choose("Replace the password of gus") == "Saved."
assert stored("https://gus@www.example.com/") == "three"
# A change without an account: the user chooses the item, and no new one is saved.
browser.go(site + "/change-only")
browser.submit({"#password": "first one", "#new": "four", "#again": "four"})
popup = browser.popup()
assert sorted(text.split("www.")[0] for text in offered(popup)[:-2]) == [f"Replace the password of {name}" for name in ("dora", "fay", "gus")], popup.buttons
assert popup.badge() == "+"
assert popup.choose("Replace the password of fay") == "Saved."
assert stored("https://fay@www.example.com/") == "four" and look() == ([], "")
# A login without an account is not offered: finding its item would mean reading the passwords of all.
browser.go(site + "/password-only")
browser.submit({"#password": "four"})
assert look() == ([], "")
# The account on one page, the password on the next.
browser.go(site + "/account-first")
browser.submit({"#account": "hal@example.com"})
assert look() == ([], "")
browser.go(site + "/password-only")
browser.submit({"#password": "of hal"})
assert browser.popup().choose("Save the password of hal@example.com") == "Saved."
assert stored("https://hal%40example.com@www.example.com/") == "of hal"
# A page that the browser kept and shows again.
browser.go(site + "/cached")
browser.eval("window.shown = new Promise(done => addEventListener('pageshow', event => done(event.persisted))), true")
browser.submit({"#account": "lea", "#password": "first"})
browser.back()
assert browser.eval("window.shown")
browser.submit({"#account": "lea", "#password": "second"})
assert browser.popup().choose("Save the password of lea") == "Saved."
assert stored("https://lea@www.example.com/") == "second"
# A page that sends by a script.
browser.go(site + "/script")
browser.type({"#account": "ida", "#password": "of ida"})
browser.keys("\r")
popup = browser.popup()
assert popup.buttons[0].startswith("Save the password of ida"), popup.buttons
# Never on this site, until that is reverted.
popup.choose("Never on this site")
browser.go(site + "/login")
browser.submit({"#account": "ida", "#password": "of ida"})
popup = browser.popup()
assert offered(popup) == ["Offer again to saveon www.example.com"] and popup.badge() == "", popup.buttons
popup.choose("Offer again to save")
assert offered(popup) == [], popup.buttons
popup.close()
browser.go(site + "/login")
browser.submit({"#account": "ida", "#password": "of ida"})
popup = browser.popup()
assert popup.buttons[0].startswith("Save the password of ida"), popup.buttons
popup.close()
PYTHON
vauban undo --url https://gus@www.example.com/ >/dev/null 2>&1 || fail 'undo after an accepted offer failed'
[ "$(vauban get --url https://gus@www.example.com/)" = one ] || fail 'the password before the accepted offer is not there'

# What the page shows of a password on a click is still one: it is saved, is no account, and is not filled where all can see it.
printf 'by itself' | vauban set --url https://www.act.org/ || fail 'set without an account failed'
in_chromium <<'PYTHON' || fail 'a step with a shown password in Chromium failed'
import os, subprocess
site = "https://www.example.com"
def stored(url): return subprocess.run([os.environ["VAUBAN_BUILD"] + "/vauban", "get", "--url", url], capture_output=True, text=True).stdout
def show(fields):
    browser.type(fields)
    browser.click("#eye")
    assert browser.eval("document.querySelector('#password').type") == "text"
def chosen(beginning):
    """The offers, of which one that begins so is chosen."""
    popup = browser.popup()
    found = offered(popup)
    popup.choose(beginning)
    return found
browser.go(site + "/shows-signup")
show({"#account": "kim@example.com", "#password": "S3cret"})
browser.submit({"#again": "S3cret"})
assert chosen("Save the password of kim@example.com")[0].startswith("Save"), "the shown password is not offered"
assert stored("https://kim%40example.com@www.example.com/") == "S3cret"
# A login: typed before it is shown, and while it is.
browser.go(site + "/shows")
show({"#password": "another"})
browser.submit({"#account": "kim@example.com"})
assert chosen("Not now")[0].startswith("Replace the password of kim@example.com"), "the shown password of a login is not offered"
browser.go(site + "/shows")
show({})
popup = browser.popup()
assert popup.status.startswith("This page shows the password, so Vauban does not fill it."), popup.status
assert popup.choose("Fill kim@example.com") is None
assert (browser.value("#account"), browser.value("#password")) == ("kim@example.com", "")
browser.type({"#password": "typed while shown"})
assert chosen("Replace the password of kim@example.com")[0].endswith("as it is in the form")
assert stored("https://kim%40example.com@www.example.com/") == "typed while shown"
# Hidden again, it is filled.
browser.go(site + "/shows")
show({})
browser.click("#eye")
assert browser.popup().choose("Fill kim@example.com") is None and browser.value("#password") == "typed while shown"
# A change that shows the present password, which is no account of the new one.
browser.go(site + "/shows-change")
show({"#password": "OldSecret"})
browser.submit({"#new": "new one", "#again": "new one"})
found = chosen("Not now")
assert found and not any(text.startswith("Save") or "OldSecret" in text for text in found), found
# A page that replaces the field by another one.
browser.go(site + "/shows-another")
show({"#account": "lin", "#password": "of lin"})
browser.submit({"#again": "of lin"})
assert chosen("Save the password of lin")[0].startswith("Save")
assert stored("https://lin@www.example.com/") == "of lin"
# A login that marks its only password field as one for a new password: it is filled, and that is the first choice.
for page in "/login-as-new", "/password-as-new":
    browser.go("https://login.example.com" + page)
    popup = browser.popup()
    assert popup.buttons[0].startswith("Fill ") and any(text.startswith("New password for anna") for text in popup.buttons), popup.buttons
    assert popup.choose("Fill anna") is None
    assert browser.value("#password") == "tulips-and-rain-7", page
    assert page == "/password-as-new" or browser.value("#account") == "anna"
# An item without an account leaves the account that the user typed, and cannot be filled where only that is asked for.
browser.go("https://www.act.org/login")
browser.type({"#account": "zoe"})
assert browser.popup().choose("Fill www.act.org") is None
assert (browser.value("#account"), browser.value("#password")) == ("zoe", "by itself")
browser.go("https://www.act.org/account-first")
popup = browser.popup()
assert popup.buttons == ["Fill www.act.orgit has no account, which the page asks for first"], popup.buttons
popup.close()
# The tab shows a page that the browser lets no extension into: what was typed before can be saved.
browser.go(site + "/login")
browser.submit({"#account": "nia", "#password": "of nia"})
browser.events.clear()
assert "errorText" in browser.call("Page.navigate", browser.session, url=site + "/broken")
browser.event(lambda name, _, session: name == "Page.loadEventFired" and session == browser.session)
popup = browser.popup()
assert popup.buttons[0].startswith("Save the password of nia") and popup.badge() == "+", (popup.buttons, popup.status)
assert popup.choose("Save the password of nia") == "Saved." and stored("https://nia@www.example.com/") == "of nia"
popup = browser.popup()
assert popup.buttons == [] and popup.status.startswith("The browser lets no extension into this page"), (popup.buttons, popup.status)
popup.close()
PYTHON
vauban delete --yes --url https://www.act.org/ 2>/dev/null || fail 'delete failed'

# Pages that send by a script, without a form: after the button or Enter the fields disappear, or the page.
in_chromium <<'PYTHON' || fail 'Chromium does not notice what a script sends'
import os, subprocess
site = "https://www.example.com"
def stored(url): return subprocess.run([os.environ["VAUBAN_BUILD"] + "/vauban", "get", "--url", url], capture_output=True, text=True).stdout
def look():
    popup = browser.popup()
    found, badge = offered(popup), popup.badge()
    popup.close()
    return found, badge
def typed(page, account, password):
    browser.go(site + page)
    browser.type({"#account": account, "#password": password})
    browser.await_worker()
for page, account in ("/no-form", "mia"), ("/no-form-empties", "moe"), ("/no-form-leaves", "max"), ("/button", "may"):
    typed(page, account, "of " + account)
    browser.click("#go")
    browser.sees("#done")
    assert browser.popup().choose(f"Save the password of {account}") == "Saved.", page
    assert stored(f"https://{account}@www.example.com/") == "of " + account
typed("/no-form", "mia", "by Enter")
browser.keys("\r")
browser.sees("#done")
popup = browser.popup()
assert popup.buttons[0].startswith("Replace the password of mia"), popup.buttons
popup.choose("Not now")
typed("/no-form-hides", "nat", "of nat")
browser.click("#go")
until_offered(browser, "Save the password of nat").choose("Not now")
# What the page refuses stays, and is typed again.
typed("/no-form-stays", "ned", "wrong")
browser.click("#go")
browser.sees("#wrong")
# Nothing was sent. What was typed is still in the form, and can be saved from there.
found, badge = look()
assert badge == "" and not any("as you typed it on" in text for text in found), (found, badge)
browser.type({"#password": "right"})
browser.click("#go")
browser.sees("#done")
assert browser.popup().choose("Save the password of ned") == "Saved."
assert stored("https://ned@www.example.com/") == "right"
# The account first, in one page.
browser.go(site + "/no-form-steps")
browser.type({"#account": "ole"})
browser.await_worker()
browser.click("#go")
browser.sees("#password")
browser.type({"#password": "of ole"})
browser.click("#go")
browser.sees("#done")
popup = browser.popup()
assert popup.buttons[0].startswith("Save the password of ole"), popup.buttons
popup.choose("Not now")
# Nothing was pressed: a page that unloads sends nothing of it.
typed("/no-form", "pia", "of pia")
browser.go(site + "/")
assert look() == ([], "")
# In a frame of the page's own site, with a form and without.
for page, account in ("/own-frame", "quin"), ("/own-frame-no-form", "ruth"):
    browser.go(site + page)
    with browser.frame("iframe"):
        browser.sees("#password")
        browser.type({"#account": account, "#password": "in own frame"})
        browser.await_worker()
        browser.keys("\r")
        browser.sees("#done")
    popup = browser.popup()
    assert popup.buttons[0].startswith(f"Save the password of {account}"), popup.buttons
    popup.choose("Not now")
PYTHON

# A page that blocks: the popup reports that, nothing is filled later, and the result of a request is shown at the next opening.
in_chromium <<'PYTHON' || fail 'Chromium waits for a page that blocks'
import os, subprocess
site = "https://login.example.com"
def stored(url): return subprocess.run([os.environ["VAUBAN_BUILD"] + "/vauban", "get", "--url", url], capture_output=True, text=True).stdout
undo = "the new password is saved. To get the old one back: vauban undo --server login.example.com --account emil --protocol https --port 0 --path ''"
browser.go(site + "/login")
browser.hold()
popup = browser.popup()
assert popup.buttons == [] and popup.status.startswith("This page does not answer"), (popup.buttons, popup.status)
popup.close()
browser.release()
popup = browser.popup()
assert popup.earlier == "", popup.earlier
browser.hold()
said = popup.choose("Fill anna")
assert said == "The page does not answer. It may not be filled.", said
browser.release()
assert browser.later("document.querySelector('#password').value") == ""
# The new password is saved, and is no longer filled into the form.
before = stored("https://emil@login.example.com/")
browser.go(site + "/signup")
popup = browser.popup()
browser.hold()
said = popup.choose("New password for emil")
assert said == "The page does not answer. It may not be filled, but " + undo, said
browser.release()
assert browser.later("document.querySelector('#new').value") == "" and stored("https://emil@login.example.com/") not in ("", before)
# The same, with a popup that closes before the result is known.
popup = browser.popup()
browser.hold()
popup.press("New password for emil")
popup.close()
until_marked(browser, "!")
browser.release()
browser.go(site + "/login")
until_marked(browser, "!")
popup = browser.popup()
assert popup.earlier == "Your last choice: The page does not answer. It may not be filled, but " + undo, popup.earlier
assert popup.buttons[0].startswith("Fill "), popup.buttons
until_marked(browser, "")
popup.close()
popup = browser.popup()
assert popup.earlier == "", popup.earlier
popup.close()
PYTHON

# Without history the earlier password is lost: the popup warns of that, and then a page that cannot be filled loses nothing.
vauban settings --history off >/dev/null 2>&1 || fail 'settings failed'
printf 'before' | vauban set --url https://gina@login.example.com/ || fail 'set failed'
in_chromium <<'PYTHON' || fail 'Chromium does not say that the password before is lost'
import os, subprocess
site = "https://login.example.com"
def stored(url): return subprocess.run([os.environ["VAUBAN_BUILD"] + "/vauban", "get", "--url", url], capture_output=True, text=True).stdout
gina = "https://gina@login.example.com/"
def asked(popup, choice):
    said = popup.choose(choice)
    assert said.startswith("Your keychain keeps no earlier passwords.") and "vauban settings --history on" in said, said
    back, lose = popup.buttons
    assert back == "Backnothing is replaced" and lose == "Replace the password of gina for goodlogin.example.com · saved for this site", popup.buttons
    assert stored(gina) == "before"
    return popup
browser.go(site + "/signup")
popup = asked(browser.popup(), "New password for gina")
popup.choose("Back")
assert any(text.startswith("New password for gina") for text in popup.buttons), popup.buttons
asked(popup, "New password for gina")
browser.eval("document.querySelector('form').remove()")
assert popup.choose("Replace the password of gina for good") == "The page has changed. Nothing was filled."
assert stored(gina) == "before"
browser.go(site + "/change")
said = asked(browser.popup(), "New password for gina").choose("Replace the password of gina for good")
assert said.startswith("Filled and saved: 14 characters") and said.endswith(" The password before is not kept."), said
assert browser.value("#password") == "before" and browser.value("#new") == browser.value("#again") == stored(gina)
# What was typed, before it is sent and afterwards.
subprocess.run([os.environ["VAUBAN_BUILD"] + "/vauban", "set", "--replace", "--url", gina], input=b"before", check=True)
browser.go(site + "/login")
browser.type({"#account": "gina", "#password": "typed"})
popup = asked(browser.popup(), "Replace the password of gina")
assert popup.choose("Replace the password of gina for good") == "Saved. The password before is not kept."
assert stored(gina) == "typed"
subprocess.run([os.environ["VAUBAN_BUILD"] + "/vauban", "set", "--replace", "--url", gina], input=b"before", check=True)
browser.submit({"#account": "gina", "#password": "sent"})
popup = asked(browser.popup(), "Replace the password of gina")
assert popup.choose("Replace the password of gina for good") == "Saved. The password before is not kept."
assert stored(gina) == "sent"
PYTHON
vauban settings --history on >/dev/null 2>&1 || fail 'settings failed'
vauban delete --yes --url https://gina@login.example.com/ 2>/dev/null || fail 'delete failed'

# A locked keychain is unlocked by a prompt, and an item that demands the user prompts them.
printf 'the vault secret' | vauban set --url https://carla@www.act.org/ --require presence || fail 'set failed'
vauban lock 2>/dev/null || fail 'lock failed'
start_prompt_agent
in_chromium <<'PYTHON' || fail 'a locked keychain is not unlocked'
browser.go("https://login.example.com/login")
popup = browser.popup()
assert popup.buttons[0].startswith("Unlock"), (popup.buttons, popup.status)
popup.choose("Unlock")
assert popup.title in ("Vauban: waiting", "Vauban: ready"), popup.title
popup.settle("ready")
assert popup.choose("Fill anna") is None and browser.value("#password") == "tulips-and-rain-7"
PYTHON
await_prompt_agent
# What was typed while it was locked is offered after it has been unlocked.
vauban lock 2>/dev/null || fail 'lock failed'
start_prompt_agent
in_chromium <<'PYTHON' || fail 'what was typed while the keychain was locked is not offered'
browser.go("https://www.example.com/login")
browser.submit({"#account": "jo", "#password": "of jo"})
popup = browser.popup()
assert popup.buttons[0].startswith("Unlock") and popup.badge() == "+", (popup.buttons, popup.badge())
popup.choose("Unlock")
popup.settle("ready")
assert popup.choose("Save the password of jo") == "Saved."
PYTHON
await_prompt_agent
start_prompt_agent
in_chromium <<'PYTHON' || fail 'an item that prompts is not filled'
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

# A form that is sent starts no keychain that the user has stopped, and is offered after it has been unlocked. Opening the popup starts it.
vauban stop 2>/dev/null || fail 'stop failed'
in_chromium <<'PYTHON' || fail 'a sent form and a stopped keychain do not fit together'
import os, subprocess
def stop(): return subprocess.run([os.environ["VAUBAN_BUILD"] + "/vauban", "stop"], capture_output=True, text=True).stderr
browser.go("https://www.example.com/login")
browser.submit({"#account": "uma", "#password": "of uma"})
until_marked(browser, "+")
assert "was not running" in stop(), "a sent form started the keychain"
popup = browser.popup()
assert popup.buttons[0].startswith("Unlock"), (popup.buttons, popup.status)
popup.close()
assert stop().startswith("Stopped."), "the popup did not start the keychain"
PYTHON
