#!/usr/bin/env bash
# Attacks on passwords in the browser: programs that use the browser's host, in user mode, and web pages, in a real Chromium. Each check is
# an attack of Manual/attacks.md.
# limit: 1800
set -u
. Tests/Scripts/lib/browser-host.sh
. Tests/Scripts/lib/attack-report.sh
set_passcode
printf 'tulips-and-rain-7' | vauban set --url https://anna@login.example.com/ || fail 'set failed'
printf 'the vault secret' | vauban set --url https://carla@bank.example.net/ --require presence || fail 'set failed'

# Programs that start the host. Control: a browser with Vauban's extension is served.
served() { as_browser chromium <<'PYTHON'
from native import *
host = Host()
assert [item["account"] for item in host.find()] == ["anna"]
assert host.end() == (0, "")
PYTHON
}
not_a_browser() { as_browser other <<'PYTHON'
from native import *
host = Host()
assert "not a browser that Vauban knows" in host.receive()["error"]
assert host.receive() is None and host.end()[0] == 53
PYTHON
}
foreign_extension() { as_browser "$1" <<'PYTHON'
from native import *
for arguments in (["chrome-extension://abcdefghijklmnopabcdefghijklmnop/"], [CHROMIUM + "x"], [CHROMIUM, CHROMIUM], ["/a.json", "other@vauban"], ["--version"]):
    host = Host(*arguments)
    assert "Only a browser starts this program" in host.receive()["error"]
    assert host.receive() is None and host.end()[0] == 53
PYTHON
}
other_family() { as_browser firefox-esr <<'PYTHON'
from native import *
host = Host(CHROMIUM)
assert "not a browser that Vauban knows" in host.receive()["error"] and host.end()[0] == 53
PYTHON
}
named_like_one() { as_browser chromium <<'PYTHON'
from native import *
host = Host()
item, = host.find()
assert host.ask("password", origin=SITE, item=item["item"])["password"] == "tulips-and-rain-7"
item, = host.find("https://bank.example.net")
assert "error" in host.ask("password", origin="https://bank.example.net", item=item["item"])
assert host.end() == (0, "")
PYTHON
}
check 'U60 a program that is no browser starts the host: refused' not_a_browser
check 'U60 control: a browser does' served
check 'U61 a browser starts the host for another extension: refused' foreign_extension chromium
check 'U61 the same in Firefox: refused' foreign_extension firefox-esr
check 'U61 Firefox with the words of Chromium: refused' other_family
check 'U62 a program of the user, named like a browser, starts the host: succeeds, but not for an item that needs approval' named_like_one

# Messages to the host.
lengths() { as_browser chromium <<'PYTHON'
import resource
from native import *
for length in (0xFFFFFFFF, 0x80000000, (1 << 20) + 1, 0):
    host = Host()
    host.send_bytes(struct.pack("=I", length) + b"{}")
    error = host.receive()["error"]
    assert str(length) in error or "empty" in error, error
    assert host.receive() is None and host.end()[0] == 65
    # The peak of all hosts so far, in KiB.
    assert resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss < 300_000
# The longest message is read, and refused for its content.
host = Host()
host.send(b'{"id":1,"request":"find","origin":"' + b"x" * ((1 << 20) - 40) + b'"}')
assert "error" in host.receive()
assert len(host.find()) == 1
# A truncated message.
host.send_bytes(struct.pack("=I", 100) + b"{")
assert host.end()[0] == 65
PYTHON
}
malformed() { as_browser chromium <<'PYTHON'
from native import *
host = Host()
for message in (
        b"", b" ", b"[]", b"7", b"text", b"{}", b'{"id":0}', b'{"id":1}', b'{"id":1,"request":"dance"}', b'{"id":1.5,"request":"unlock"}',
        b'{"id":1,"id":2,"request":"unlock"}', b'{"id":1,"request":"find","origin":"%s","origin":"https://evil.example"}' % SITE.encode(),
        b'{"id":1,"request":"find","origin":"http://login.example.com"}', b'{"id":1,"request":"find","origin":"https://login.example.com/"}',
        b'{"id":1,"request":"find","origin":["%s"]}' % SITE.encode(), b'{"id":1,"request":"find"}',
        b'{"id":1,"request":"find","origin":"%s","more":1}' % SITE.encode(), b'{"id":1,"request":"unlock"}{}',
        b'{"id":1,"request":"find","origin":' + b"[" * 200_000, b'{"id":1,"request":"save","origin":"%s","account":"a","password":""}' % SITE.encode(),
        b'{"id":1,"request":"save","origin":"%s","account":"a\\nb","password":"x"}' % SITE.encode(), b'{"id":1,"request":"find","origin":"\xff"}',
        b'{"id":99999999999999999999,"request":"unlock"}', b'{"id":1,"request":"password","origin":"%s","item":"../../x"}' % SITE.encode()):
    if not message:
        continue
    host.send(message)
    reply = host.receive()
    assert "error" in reply and "items" not in reply, (message[:80], reply)
assert len(host.find()) == 1 and host.end() == (0, "")
PYTHON
}
flood() { as_browser chromium <<'PYTHON'
from native import *
host = Host()
replies = drain(host, 3000)
for number in range(3000):
    host.send({"id": number + 1, "request": "find", "origin": SITE})
# It answers every message: with its result, or that it is busy.
replies = replies()
assert len(replies) == 3000 and sorted(reply["id"] for reply in replies) == list(range(1, 3001))
assert all("items" in reply or "still busy" in reply["error"] for reply in replies)
assert host.end() == (0, "")
PYTHON
}
flood_unread() { as_browser chromium <<'PYTHON'
import array, fcntl, glob, termios, time
from native import *
host = Host()
def states():
    found = []
    for path in glob.glob(f"/proc/{host.process.pid}/task/*/stat"):
        try:
            with open(path) as stat:
                found.append(stat.read().rpartition(")")[2].split()[0])
        except OSError:
            pass
    return found
def is_taken():
    """Whether what was sent is read, and all threads have nothing to do or wait for the browser; gives up after a while."""
    waiting, end = array.array("i", [0]), time.monotonic() + 5
    while time.monotonic() < end:
        fcntl.ioctl(host.process.stdin, termios.FIONREAD, waiting)
        if waiting[0] == 0 and set(states()) <= {"S"}:
            return True
    return False
# One request after the other, so that none is refused because others are served. Each reply that is not read has a thread.
for number in range(1, 5000):
    host.start("generate", origin=SITE, rules="")
    if not is_taken():
        break
    assert len(states()) < 64, len(states())
else:
    raise AssertionError("every request is read, although no reply is")
replies = drain(host, number)()
assert sorted(reply["id"] for reply in replies) == list(range(1, number + 1))
assert len(host.find()) == 1 and host.end() == (0, "")
PYTHON
}
# The browser ends in the middle of everything: the host ends too, whether it reads, serves or writes.
ends() { as_browser chromium <<'PYTHON'
from native import *
for cut in range(3):
    host = Host()
    assert len(host.find()) == 1
    if cut == 1:
        host.send_bytes(struct.pack("=I", 100) + b"{")
    if cut == 2:
        for number in range(500):
            host.send({"id": number + 10, "request": "find", "origin": SITE})
    host.process.stdout.close()
    host.process.stdin.close()
    assert host.process.wait(timeout=120) in (0, 65), host.process.returncode
PYTHON
}
check 'U63 a message of 4 GiB by its length, or of none: refused before anything is read' lengths
check 'U64 messages that are not strict JSON, with repeated keys, of deep nesting, for http: refused one by one' malformed
check 'U65 three thousand requests at once: a few at a time, each is answered' flood
check 'U65 the same, while no reply is read: no more of them are read' flood_unread
check 'U65 the browser ends within a message, and with hundreds of requests unanswered: the host ends' ends
check 'U65 control: afterwards a browser is served' served

# Web pages, in a real browser with the extension as it is shipped.
if . Tests/Scripts/lib/browser-pages.sh && start_pages chromium; then
    lookalike() { in_chromium <<'PYTHON'
for site in "https://1ogin.example.com", "https://login.example.com.evil.example", "https://loginexample.com", "https://evil.example":
    browser.go(site + "/login")
    popup = browser.popup()
    assert popup.buttons == [] and "no item for this site" in popup.status, (site, popup.buttons, popup.status)
    popup.close()
PYTHON
    }
    steals() { in_chromium <<'PYTHON'
# A page of another site, with the real login page within it.
browser.go("https://evil.example/steal")
popup = browser.popup()
assert popup.buttons == [], popup.buttons
popup.close()
# The real site, with the form of another site within it, alone and beside its own.
browser.go("https://login.example.com/framed-only")
popup = browser.popup()
assert popup.buttons == [] and "no fields" in popup.status, (popup.buttons, popup.status)
popup.close()
browser.go("https://login.example.com/framed")
browser.popup().choose("Fill anna")
assert browser.value("#password") == "tulips-and-rain-7"
assert browser.heard("evil.example") == [], browser.heard("evil.example")
PYTHON
    }
    hidden() { in_chromium <<'PYTHON'
browser.go("https://login.example.com/hidden")
browser.popup().choose("Fill anna")
assert browser.value("#password") == "tulips-and-rain-7"
assert browser.eval("[...document.querySelectorAll('.trap')].map(field => field.value).join('')") == ""
browser.go("https://login.example.com/hidden-only")
popup = browser.popup()
assert popup.buttons == [], popup.buttons
popup.close()
PYTHON
    }
    without_tls() { in_chromium <<'PYTHON'
browser.go("http://login.example.com/login")
popup = browser.popup()
assert popup.buttons == [] and "only pages with https" in popup.status, (popup.buttons, popup.status)
popup.close()
PYTHON
    }
    reads_early() { in_chromium <<'PYTHON'
browser.go("https://login.example.com/reads")
popup = browser.popup()
assert popup.buttons[0].startswith("Fill anna")
assert browser.eval("seen.join()") == "", browser.eval("seen.join()")
popup.choose("Fill anna")
assert browser.eval("seen.at(-1)") == "tulips-and-rain-7"
assert "the vault secret" not in browser.eval("seen.join()")
PYTHON
    }
    floods() { in_chromium <<'PYTHON'
browser.go("https://login.example.com/flood")
assert browser.eval("typeof chrome === 'undefined' || typeof chrome.runtime === 'undefined' || typeof chrome.runtime.connect === 'undefined'")
assert browser.eval("typeof globalThis.vaubanPage") == "undefined"
# The page computes without end, so it may not answer in time.
said = ""
while said is not None:
    popup = browser.popup()
    if popup.status.startswith("This page does not answer"):
        popup.close()
        continue
    said = popup.choose("Fill anna")
    assert said is None or said.startswith("The page does not answer"), said
assert browser.value("#password") == "tulips-and-rain-7"
assert browser.eval("Object.keys(globalThis).filter(name => /vauban/i.test(name)).length") == 0
# A page that blocks, before the popup opens and after it.
browser.go("https://login.example.com/login")
browser.hold()
popup = browser.popup()
assert popup.buttons == [] and "does not answer" in popup.status, (popup.buttons, popup.status)
popup.close()
browser.release()
popup = browser.popup()
browser.hold()
said = popup.choose("Fill anna")
assert "does not answer" in said, said
browser.release()
assert browser.later("document.querySelector('#password').value") == ""
PYTHON
    }
    in_page() { in_chromium <<'PYTHON'
browser.go("https://login.example.com/login")
assert browser.eval(f"fetch('chrome-extension://{browser.extension}/popup.html').then(() => 'read', () => 'refused')") == "refused"
assert browser.eval(f"""new Promise(done => {{
    const frame = document.createElement('iframe');
    frame.src = 'chrome-extension://{browser.extension}/popup.html';
    frame.onload = () => done(frame.contentDocument === null ? 'blocked' : 'same');
    frame.onerror = () => done('blocked');
    document.body.append(frame);
}})""") == "blocked"
assert browser.value("#password") == ""
PYTHON
    }
    # Offers to save. Control: what a user types is offered, and replaces nothing by itself.
    forges() { in_chromium <<'PYTHON'
browser.go("https://login.example.com/forge")
browser.click("#place")
assert browser.value("#password") == "forged"
assert browser.eval("navigator.userActivation.isActive")
browser.keys("x")
popup = browser.popup()
assert popup.buttons[0].startswith("Fill anna") and not offered(popup), popup.buttons
popup.close()
browser.go("https://login.example.com/login")
browser.type({"#account": "anna", "#password": "typed"})
popup = browser.popup()
assert any(text.startswith("Replace the password of anna") and text.endswith("as it is in the form") for text in offered(popup)), popup.buttons
popup.close()
browser.go("https://login.example.com/login")
browser.submit({"#account": "anna", "#password": "typed"})
popup = browser.popup()
assert popup.buttons[0].startswith("Replace the password of anna"), popup.buttons
popup.close()
PYTHON
    }
    alters() { in_chromium <<'PYTHON'
# Before the form is sent: the password, and one of two new ones.
browser.go("https://login.example.com/login")
browser.type({"#account": "anna", "#password": "typed"})
browser.eval("document.querySelector('#password').value = 'altered', true")
popup = browser.popup()
assert popup.buttons[0].startswith("Fill anna") and not offered(popup), popup.buttons
popup.close()
browser.go("https://login.example.com/signup")
browser.type({"#account": "bert", "#new": "typed", "#again": "typed"})
popup = browser.popup()
assert [text[:25] for text in offered(popup)] == ["Save the password of bert"], popup.buttons
popup.close()
browser.eval("document.querySelector('#again').value = 'altered', true")
popup = browser.popup()
assert not offered(popup), popup.buttons
popup.close()
# And when it is sent.
browser.go("https://login.example.com/signup")
browser.type({"#account": "bert", "#new": "typed", "#again": "typed"})
browser.await_worker()
browser.eval("document.querySelector('#again').value = 'altered', true")
browser.enter()
popup = browser.popup()
assert not offered(popup), popup.buttons
popup.close()
browser.go("https://login.example.com/alter")
browser.submit({"#account": "anna", "#password": "typed"})
popup = browser.popup()
assert not offered(popup), popup.buttons
popup.close()
browser.go("https://login.example.com/diverted")
browser.type({"#account": "anna"})
browser.click("#shown")
browser.keys("diverted")
assert browser.value(".trap") == "diverted"
browser.enter()
popup = browser.popup()
assert not offered(popup), popup.buttons
popup.close()
PYTHON
    }
    exchanges() { in_chromium <<'PYTHON'
# The popup shows the form that was sent, and meanwhile the page sends another one.
browser.go("https://login.example.com/resend")
browser.type({"#account": "bert", "#password": "typed"})
browser.keys("\r")
popup = browser.popup()
assert popup.buttons[0].startswith("Save the password of bert"), popup.buttons
assert browser.eval("resend('eve', 1)", gesture=True)
browser.await_worker()
said = popup.choose("Save the password of bert")
assert "Nothing was saved" in said, said
popup = browser.popup()
assert popup.buttons[0].startswith("Save the password of eve"), popup.buttons
popup.choose("Not now")
# The same before the form is sent: the page changes the password, or its account.
for field in "#password", "#account":
    browser.go("https://login.example.com/login")
    browser.type({"#account": "bert", "#password": "typed"})
    popup = browser.popup()
    assert popup.buttons[-1] == "Save the password of bertas it is in the form", popup.buttons
    browser.eval(f"document.querySelector('{field}').value = 'eve', true")
    said = popup.choose("Save the password of bert")
    assert said == "The form has changed. Nothing was saved.", said
PYTHON
    [ "$(vauban list | grep -c -e bert -e eve)" = 0 ]
    }
    frame_sends() { in_chromium <<'PYTHON'
for page in "https://evil.example/steal", "https://login.example.com/framed-only":
    browser.go(page)
    browser.keys_in_frame("/login", "anna\tin-a-frame\r")
    browser.event(lambda name, fields, _: name == "Target.targetInfoChanged" and fields["targetInfo"]["url"].endswith("/sent"))
    popup = browser.popup()
    assert not offered(popup), popup.buttons
    popup.close()
for host in "login.example.com", "evil.example":
    assert any("password=in-a-frame" in one["body"] for one in browser.heard(host)), browser.heard(host)
PYTHON
    }
    # The same on pages without a form. Control: what a user types and sends with the page's button.
    forges_without_form() { in_chromium <<'PYTHON'
browser.go("https://login.example.com/no-form-forges")
browser.click("#place")
browser.sees("#done")
popup = browser.popup()
assert not offered(popup), popup.buttons
popup.close()
browser.go("https://login.example.com/no-form-forges")
browser.type({"#account": "anna", "#password": "typed"})
browser.await_worker()
browser.click("#go")
browser.sees("#done")
popup = browser.popup()
assert popup.buttons[0].startswith("Replace the password of anna"), popup.buttons
popup.close()
PYTHON
    }
    alters_without_form() { in_chromium <<'PYTHON'
browser.go("https://login.example.com/no-form-alters")
browser.type({"#account": "anna", "#password": "typed"})
browser.await_worker()
browser.click("#go")
browser.sees("#done")
popup = browser.popup()
assert not offered(popup), popup.buttons
popup.close()
PYTHON
    }
    frame_sends_without_form() { in_chromium <<'PYTHON'
for page in "https://evil.example/steal-no-form", "https://login.example.com/nested":
    browser.go(page)
    browser.keys_in_frame("/no-form-leaves", "anna\tin-a-frame\r")
    browser.event(lambda name, fields, _: name == "Target.targetInfoChanged" and fields["targetInfo"]["url"] == "https://login.example.com/sent")
    popup = browser.popup()
    assert not offered(popup), (page, popup.buttons)
    popup.close()
told = [one["body"] for one in browser.heard("login.example.com") if one["path"] == "/told"]
assert told.count("in-a-frame") >= 2, told
# The control: a frame of the page's own site.
browser.go("https://login.example.com/own-frame-no-form")
with browser.frame("iframe"):
    browser.sees("#password")
    browser.type({"#account": "anna", "#password": "in own frame"})
    browser.await_worker()
    browser.keys("\r")
    browser.sees("#done")
popup = browser.popup()
assert popup.buttons[0].startswith("Replace the password of anna"), popup.buttons
popup.close()
PYTHON
    }
    sends_without_tls() { in_chromium <<'PYTHON'
browser.go("http://login.example.com/login")
browser.submit({"#account": "anna", "#password": "typed"})
browser.go("https://login.example.com/")
popup = browser.popup()
assert not offered(popup), popup.buttons
popup.close()
PYTHON
    }
    # Each comparison reads the item; the log counts.
    reads() { vauban log --action read --limit 1000 --json | python3 -c 'import json, sys; print(sum(json.loads(line)["count"] for line in sys.stdin))'; }
    sends_often() {
        before=$(reads)
        in_chromium <<'PYTHON' || return 1
browser.go("https://login.example.com/resend")
browser.type({"#account": "anna", "#password": "typed"})
browser.keys("\r")
assert browser.eval("resend('anna', 1000)", gesture=True)
popup = browser.popup()
assert [text[:7] for text in offered(popup)] == ["Replace", "Not now", "Never o"] and popup.badge() == "+", popup.buttons
popup.close()
browser.go("https://login.example.com/login")
browser.popup().choose("Fill anna")
assert browser.value("#password") == "tulips-and-rain-7"
PYTHON
        [ "$(($(reads) - before))" -lt 30 ]
    }
    check 'U66 a page of a look-alike domain, or below a domain like it: offered nothing' lookalike
    check 'U67 a frame of another site, around the login page or within it: gets nothing, while the page itself is filled' steals
    check 'U68 fields that the user cannot see: not filled, while the visible ones are' hidden
    check 'U69 a page without TLS: refused' without_tls
    check 'U70 a page reads its fields all the time: sees nothing before the user chooses; what is filled succeeds in reaching it' reads_early
    check 'U71 a page with endless scripts and fields: filled all the same, and finds nothing of the extension; one that blocks: said, and not filled later' floods
    check 'U72 a page opens the extension'"'"'s own pages, to click in them: refused' in_page
    check 'U73 a page forges typing, clicks and forms, so that a password is overwritten: nothing is offered, while what a user types is' forges
    check 'U74 a page alters what was typed, or diverts it into a field that the user does not see: nothing is offered' alters
    check 'U75 a page sends or shows another form after the popup has shown one: nothing is saved' exchanges
    check 'U76 a form is sent in a frame, of the real site in another or of another in the real site: nothing is offered' frame_sends
    check 'U77 a form is sent from a page without TLS: nothing is offered' sends_without_tls
    check 'U78 a page sends a thousand forms: one offer at most, and the browser is served' sends_often
    check 'U100 a page without a form forges typing and presses: nothing is offered, while what a user types and sends is' forges_without_form
    check 'U101 a page without a form alters what was typed: nothing is offered' alters_without_form
    check 'U102 a frame sends without a form, of the real site in another, also within the real site: nothing is offered, while its own frame is' frame_sends_without_form
    check 'U73 control: the password is the one before all of this' equals "$(vauban get --url https://anna@login.example.com/)" tulips-and-rain-7
    stop_pages
else
    not_tried 'U66 U67 U68 U69 U70 U71 U72 U73 U74 U75 U76 U77 U78 U100 U101 U102' "$pages_lack"
fi
end_attacks
