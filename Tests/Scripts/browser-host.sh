#!/usr/bin/env bash
# The browser's host over real rooms, started by a simulated browser: finds, fills, saves, replaces, compares and generates; prompts and locks; and
# the manifests that vauban enable browser writes and vauban disable browser removes.
# proves: C-249
set -u
. Tests/Scripts/lib/browser-host.sh
[ -r /usr/share/publicsuffix/public_suffix_list.dat ] || { echo 'there is no publicsuffix here'; exit 77; }
unset XDG_CONFIG_HOME
set_passcode
printf 'tulips-and-rain-7' | vauban set --url https://anna@login.example.com/ || fail 'set failed'
printf 'of the domain' | vauban set --url https://bert@example.com/ || fail 'set failed'
printf 'of a neighbor' | vauban set --url https://anna@other.example.com/ || fail 'set failed'
printf 'the vault secret' | vauban set --url https://carla@bank.example.net/ --require presence || fail 'set failed'
printf 'of a company' | vauban set --url https://anna@shop.xn--55qx5d.cn/ || fail 'set failed'
printf 'by name' | vauban set named.example.org/dora || fail 'set failed'
printf 'otpauth://totp/Example:anna?secret=GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ&period=86400' | vauban code add login.example.com/anna || fail 'code add failed'
printf 'otpauth://totp/Example:emil?secret=GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ' | vauban code add login.example.com:8443/emil || fail 'code add failed'
printf 'otpauth://hotp/Example:anna?secret=GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ&counter=1' | vauban code add named.example.org/dora || fail 'code add failed'
CODE=$(vauban code get login.example.com/anna) || fail 'code get failed'
export CODE

as_browser chromium <<'PYTHON' || fail 'the host does not serve Chromium'
import json, os, subprocess
from native import *

host = Host()
items = host.find()
assert [(item["purpose"], item["account"], item["why"]) for item in items] == [
    ("password", "anna", "saved for this site"),
    ("password", "bert", "saved for example.com, which also belongs to example.com"),
    ("code", "anna", "one-time code of login.example.com")], items
assert not any(item["asks"] for item in items)
anna, bert, code = items
assert (anna["name"], bert["name"]) == ("login.example.com/anna", "example.com/bert") and "name" not in code, items
assert bert["options"] == ["--server", "example.com", "--account", "bert", "--protocol", "https", "--port", "0", "--path", ""] and "options" not in code, items
reply = host.ask("password", origin=SITE, item=anna["item"])
assert (reply["account"], reply["password"], reply["waited"]) == ("anna", "tulips-and-rain-7", []), reply
reply = host.ask("code", origin=SITE, item=code["item"])
# Another than before if it is midnight meanwhile (UTC).
words = [os.environ["VAUBAN_BUILD"] + "/vauban", "code", "get", "login.example.com/anna"]
codes = os.environ["CODE"], subprocess.run(words, capture_output=True, text=True).stdout.strip()
assert reply["code"] in codes and 0 < reply["seconds"] <= 86400, reply
# Items that are not offered for a page are not released to it, for any request.
other = host.find("https://other.example.com")
assert [item["why"] for item in other if item["account"] == "anna"] == ["saved for this site"], other
stranger = next(item for item in other if item["account"] == "anna")
for fields in ({"origin": SITE, "item": stranger["item"]}, {"origin": "https://example.org", "item": anna["item"]}, {"origin": SITE, "item": "0" * 32}):
    assert "no such item for this site" in host.ask("password", **fields)["error"]
# A suffix beyond ASCII, which browsers write in ASCII: each name below it is a separate domain.
assert len(host.find("https://login.shop.xn--55qx5d.cn")) == 1 and host.find("https://other.xn--55qx5d.cn") == host.find("https://xn--55qx5d.cn") == []
# A code is not a password, and a page does not use up one with a counter.
assert "error" in host.ask("password", origin=SITE, item=code["item"])
dora, counted = host.find("https://named.example.org")
assert dora["why"] == "named named.example.org", dora
assert "vauban code get" in host.ask("code", origin="https://named.example.org", item=counted["item"])["error"]
# A new password: by the page's rules, by the site's, by the limits of the field.
assert host.ask("generate", origin=SITE, rules="minlength: 30; required: digit; allowed: digit")["password"].isdigit()
reply = host.ask("generate", origin="https://www.act.org", rules="")
assert reply["summary"].endswith("by the rules of act.org"), reply
assert len(host.ask("generate", origin=SITE, rules="", maxlength=9)["password"]) == 9
assert "error" in host.ask("generate", origin=SITE, rules="minlength: 30", maxlength=9)
# Page rules with an error are ignored; the field's limits apply.
reply = host.ask("generate", origin=SITE, rules="minlength: 8; max-length: 10", maxlength=10)
assert len(reply["password"]) == 10 and reply["summary"].endswith("without the rules of the page, which have an error"), reply
# The user's own rules take precedence over those of Vauban, but not over the page's. They are read at each request.
rules = os.environ["HOME"] + "/.config/vauban/password-rules.json"
os.makedirs(os.path.dirname(rules))
def own(text):
    with open(rules, "w") as file: file.write(text)
own('{"act.org": {"password-rules": "minlength: 31; required: digit; allowed: digit"}, "example.com": {"password-rules": "maxlength: 7"}}')
for origin, page, count in ("https://www.act.org", "", 31), (SITE, "", 7), (SITE, "minlength: 30", 30), (SITE, "minlength: 30;;", 7):
    assert len(host.ask("generate", origin=origin, rules=page)["password"]) == count, (origin, page)
assert host.ask("generate", origin=SITE, rules="")["summary"].endswith("by the rules of example.com")
own('{"act.org": {"password-rules": "maxlength: 9"}, "example.com": {"password-rules": "maxlength: 7; required: uper"}}')
reply = host.ask("generate", origin="https://www.act.org", rules="")
assert "the rules of example.com: at character 25: no class of characters is called" in reply["error"], reply
own("{")
assert "password-rules.json is not in the format" in host.ask("generate", origin=SITE, rules="")["error"]
assert len(host.ask("generate", origin=SITE, rules="minlength: 30")["password"]) == 30
os.remove(rules)
# What is no file, or has no end, is refused and not waited for.
def refused_in_place_of(path, words, **request):
    for make in (os.mkfifo, os.mkdir, lambda path: os.symlink("/dev/zero", path), lambda path: os.symlink(os.path.dirname(path), path), huge):
        make(path)
        assert words in host.ask(**request)["error"], make
        os.rmdir(path) if os.path.isdir(path) and not os.path.islink(path) else os.remove(path)
def huge(path):
    with open(path, "w") as file: file.truncate(10 << 30)
refused_in_place_of(rules, "password-rules.json is not in the format", request="generate", origin=SITE, rules="")
# Sites that the user lists together have the same accounts: as listed now, and in this direction alone.
shared = os.path.dirname(rules) + "/shared-credentials.json"
def listed(text):
    with open(shared, "w") as file: file.write(text)
assert host.find("https://shop.example.net") == []
listed('[{"from": ["example.com"], "to": ["shop.example.net"]}]')
partner, = host.find("https://shop.example.net")
assert (partner["account"], partner["why"]) == ("bert", "saved for example.com, which you list together with shop.example.net"), partner
assert host.ask("password", origin="https://shop.example.net", item=partner["item"])["password"] == "of the domain"
assert host.ask("compare", version=2, origin="https://shop.example.net", account="bert", password="of the domain")["stored"] == "same"
assert len(host.find()) == 3
listed("{")
assert "shared-credentials.json is not in the format" in host.ask("find", origin=SITE)["error"]
os.remove(shared)
refused_in_place_of(shared, "shared-credentials.json is not in the format", request="find", origin=SITE)
assert "no such item for this site" in host.ask("password", origin="https://shop.example.net", item=partner["item"])["error"]
# Saved and replaced.
vauban = os.environ["VAUBAN_BUILD"] + "/vauban"
def run(*words): return subprocess.run([vauban, *words], capture_output=True, text=True)
reply = host.ask("save", origin=SITE, account="emil", password="new \" \\ \u00e9")
assert "error" not in reply and run("get", *reply["options"]).stdout == "new \" \\ \u00e9", reply
assert "error" in host.ask("save", origin=SITE, account="emil", password="twice")
assert "error" not in host.ask("save", origin="https://login.example.com:8443", account="emil", password="at a port")
emil = next(item for item in host.find() if item["account"] == "emil")
assert host.ask("password", origin=SITE, item=emil["item"])["password"] == "new \" \\ \u00e9"
reply = host.ask("replace", origin=SITE, item=emil["item"], password="newer")
assert "error" not in reply and reply["history"] is True, reply
assert host.ask("password", origin=SITE, item=emil["item"])["password"] == "newer"
# The options select one item, even if its name fits two.
assert run("undo", "login.example.com/emil").returncode == 64
for password in "new \" \\ \u00e9", "newer":
    undone = run("undo", *emil["options"])
    assert undone.returncode == 0 and host.ask("password", origin=SITE, item=emil["item"])["password"] == password, undone
# Without history the earlier password is lost. The extension is notified, and only one that reports that the user was warned may replace it.
assert host.ask("find", origin=SITE)["history"] is True
assert run("settings", "--history", "off").returncode == 0
assert host.ask("find", origin=SITE)["history"] is False
for fields in {}, {"version": 2}, {"version": 3}, {"version": 3, "mayLose": False}:
    reply = host.ask("replace", origin=SITE, item=emil["item"], password="newest", **fields)
    assert "the present one would be lost; to keep it: vauban settings --history on" in reply["error"], reply
assert "error" in host.ask("replace", origin=SITE, item=emil["item"], password="newest", mayLose=True)
assert host.ask("password", origin=SITE, item=emil["item"])["password"] == "newer"
reply = host.ask("replace", version=3, origin=SITE, item=emil["item"], password="newest", mayLose=True)
assert reply["history"] is False and host.ask("password", origin=SITE, item=emil["item"])["password"] == "newest", reply
# With history it is kept, whatever the extension sends.
assert run("settings", "--history", "on").returncode == 0
reply = host.ask("replace", version=3, origin=SITE, item=emil["item"], password="newer", mayLose=True)
assert reply["history"] is True, reply
# The typed password is compared with the items of the site and the account alone, and no reply contains a value.
def compare(account, password, origin=SITE, **fields): return host.ask("compare", **{"version": 2, "origin": origin, "account": account, "password": password, **fields})
for account, password, origin, stored, items in (
        ("emil", "newer", SITE, "same", ["emil"]), ("emil", "newer ", SITE, "other", ["emil"]), ("bert", "of the domain", SITE, "same", ["bert"]),
        ("bert", "newer", SITE, "other", ["bert"]), ("Emil", "newer", SITE, "no", []), ("", "newer", SITE, "no", []),
        ("emil", "newer", "https://example.com", "no", []), ("dora", "by name", "https://named.example.org", "same", ["dora"]),
        ("carla", "the vault secret", "https://bank.example.net", "unread", ["carla"]), ("carla", "xyzzy", "https://bank.example.net", "unread", ["carla"])):
    reply = compare(account, password, origin)
    assert (reply["stored"], [item["account"] for item in reply["items"]], reply["waited"]) == (stored, items, []), (account, password, reply)
    assert set(reply) == {"id", "stored", "items", "history", "waited"} and password not in json.dumps(reply), reply
assert "no such" in compare("emil", "newer", version=1)["error"]
assert "reload the extension" in compare("emil", "newer", version=4)["error"]
port = host.find("https://login.example.com:8443")
# The code that an import stores for the password of a site with a port.
assert [(item["purpose"], item["account"], item["why"]) for item in port] == [
    ("password", "emil", "saved for this site"), ("code", "emil", "one-time code of login.example.com:8443")], port
assert not any(item["why"].endswith(":8443") for item in host.find())
port = [item for item in port if item["purpose"] == "password"]
assert len(port) == 1 and host.ask("password", origin="https://login.example.com:8443", item=port[0]["item"])["password"] == "at a port"
assert host.end() == (0, "")
PYTHON
[ "$(vauban get --server login.example.com -a emil --port 0)" = newer ] || fail 'what the browser saved is not there'
vauban list >"$TMPDIR/out"; expect_text emil "$TMPDIR/out"

# A site with many items: those of other ports and protocols do not count, an account is found among more than are offered, and can be used. The
# reply states that there are more.
many() {
    for number in $(seq 60); do
        printf '{"class":"internet password","server":"many.example.org","account":"%s%02d","protocol":"%s"%s,"secret":"of %02d"}\n' \
            "$1" "$number" "$2" "$3" "$number"
    done
}
{ many other https ',"port":8443'; many shell ssh ''; } | vauban add --json - >"$TMPDIR/out" 2>&1 || { cat "$TMPDIR/out"; fail 'add of many failed'; }
printf 'of anna' | vauban set --url https://anna@many.example.org/ || fail 'set failed'
as_browser chromium <<'PYTHON' || fail 'an item is not found among many of its name'
from native import *

host = Host()
reply = host.ask("find", origin="https://many.example.org")
assert [item["account"] for item in reply["items"]] == ["anna"] and "more" not in reply, reply
assert host.end() == (0, "")
PYTHON
many user https '' | vauban add --json - >"$TMPDIR/out" 2>&1 || { cat "$TMPDIR/out"; fail 'add of many failed'; }
as_browser chromium <<'PYTHON' || fail 'an account is not found among many of its site'
from native import *

host = Host()
many = "https://many.example.org"
reply = host.ask("find", origin=many)
assert len(reply["items"]) == 50 and reply["more"] is True, len(reply["items"])
shown = {item["account"] for item in reply["items"]}
hidden = next(name for name in (f"user{number:02}" for number in range(1, 61)) if name not in shown)
reply = host.ask("compare", version=2, origin=many, account=hidden, password="of " + hidden[4:])
assert (reply["stored"], [item["account"] for item in reply["items"]]) == ("same", [hidden]), reply
reply = host.ask("compare", version=2, origin=many, account=hidden, password="another")
item, = reply["items"]
assert reply["stored"] == "other" and item["account"] == hidden, reply
assert "error" not in host.ask("replace", origin=many, item=item["item"], password="another")
assert host.ask("password", origin=many, item=item["item"])["password"] == "another"
assert "no such item" in host.ask("password", origin="https://example.org", item=item["item"])["error"]
assert host.end() == (0, "")
PYTHON

# A browser that was updated while it runs executes a file without a name. The reply asks the user to restart it.
as_browser chromium <<'PYTHON' || fail 'the reply to an updated browser does not ask for a restart'
import os, shutil
from native import *

path = os.readlink("/proc/self/exe")
shutil.copy(path, path + ".new")
os.rename(path + ".new", path)
host = Host()
assert "Chromium was updated while it was open; close it and open it again" in host.receive()["error"]
assert host.end()[0] == 53
PYTHON
# An item that requires the user prompts each time; a missing prompt agent is reported.
as_browser firefox-esr <<'PYTHON' || fail 'an item that prompts is not refused'
from native import *

host = Host(*FIREFOX)
bank = "https://bank.example.net"
item, = host.find(bank)
assert item["asks"], item
reply = host.ask("password", origin=bank, item=item["item"])
assert "error" in reply and "password" not in reply, reply
assert host.end() == (0, "")
PYTHON
start_prompt_agent
as_browser firefox-esr <<'PYTHON' || fail 'an approved item is not given'
from native import *

host = Host(*FIREFOX)
bank = "https://bank.example.net"
item, = host.find(bank)
reply = host.ask("password", origin=bank, item=item["item"])
assert reply["password"] == "the vault secret" and len(reply["waited"]) == 1, reply
assert host.end() == (0, "")
PYTHON
await_prompt_agent
tr -d '\r' <"$TMPDIR/approve.out" >"$TMPDIR/out"; expect_text 'fill the password of' "$TMPDIR/out"; expect_text 'on bank.example.net, in Firefox' "$TMPDIR/out"

# A locked keychain offers nothing, and opens by a prompt.
vauban lock 2>/dev/null || fail 'lock failed'
start_prompt_agent
as_browser chromium <<'PYTHON' || fail 'a locked keychain is not unlocked'
from native import *

host = Host()
reply = host.ask("find", origin=SITE)
assert reply["locked"] and "items" not in reply, reply
assert "error" not in host.ask("unlock")
assert len(host.find()) > 2
assert host.end() == (0, "")
PYTHON
await_prompt_agent
not_kept tulips-and-rain-7
# A comparison, which the extension requests for each sent form, starts no keychain that the user has stopped; what the user requests does.
as_browser chromium <<'PYTHON' || fail 'a comparison starts a stopped keychain, or nothing does'
import os, subprocess
from native import *

host = Host()
def stop(): return subprocess.run([os.environ["VAUBAN_BUILD"] + "/vauban", "stop"], capture_output=True, text=True).stderr
assert len(host.find()) > 2
typed = {"version": 2, "origin": SITE, "account": "anna", "password": "tulips-and-rain-7"}
assert host.ask("compare", **typed)["stored"] == "same"
assert stop().startswith("Stopped.")
for _ in range(2):
    reply = host.ask("compare", **typed)
    assert reply["locked"] and "has not been unlocked" in reply["error"] and "stored" not in reply, reply
    assert "was not running" in stop()
assert host.ask("find", origin=SITE)["locked"]
assert host.ask("compare", **typed)["locked"]
assert stop().startswith("Stopped.")
assert host.end() == (0, "")
PYTHON

# enable writes a manifest for each browser, which names an existing program; doctor reports it; disable removes exactly these.
mkdir -p "$HOME/.config/chromium/NativeMessagingHosts" "$HOME/.mozilla"
touch "$HOME/.config/chromium/NativeMessagingHosts/another.json"
vauban enable browser >"$TMPDIR/out" 2>&1 || { cat "$TMPDIR/out"; fail 'enable browser failed'; }
expect_text Chromium "$TMPDIR/out"; expect_text Firefox "$TMPDIR/out"
python3 - "$HOME/.config/chromium/NativeMessagingHosts/vauban.browser.json" "$HOME/.mozilla/native-messaging-hosts/vauban.browser.json" \
    <<'PYTHON' || fail 'a manifest is not what browsers take'
import json, os, sys
chromium, firefox = [json.load(open(path)) for path in sys.argv[1:]]
for manifest in chromium, firefox:
    assert manifest["name"] == "vauban.browser" and manifest["type"] == "stdio" and os.access(manifest["path"], os.X_OK), manifest
assert chromium["allowed_origins"] == ["chrome-extension://%s/" % os.environ["EXTENSION"]]
assert firefox["allowed_extensions"] == ["browser@vauban"]
PYTHON
vauban enable browser >/dev/null 2>&1 || fail 'enable twice failed'
vauban doctor >"$TMPDIR/out" 2>&1
grep -E '^ *Browsers .*Chromium enabled.*Firefox enabled' "$TMPDIR/out" >/dev/null || { cat "$TMPDIR/out"; fail 'doctor does not say that browsers are enabled'; }
echo >>"$HOME/.mozilla/native-messaging-hosts/vauban.browser.json"
expect_status 64 vauban disable browser
[ -e "$HOME/.config/chromium/NativeMessagingHosts/vauban.browser.json" ] || fail 'a manifest was removed although another was changed'
rm "$HOME/.mozilla/native-messaging-hosts/vauban.browser.json"
vauban disable browser >/dev/null 2>&1 || fail 'disable failed'
[ "$(cd "$HOME/.config/chromium" && find . -type f)" = ./NativeMessagingHosts/another.json ] || fail 'disable did not remove exactly the files of enable'
vauban disable browser 2>&1 | grep -q 'not enabled' || fail 'disable twice does not say that there is nothing'
vauban doctor 2>/dev/null | grep -q 'Browsers.*vauban enable browser' || fail 'doctor does not say how to enable'
# A browser that was never used and is not installed does not count.
if [ -z "$(find /usr/bin /usr/local/bin -maxdepth 1 \( -name 'chromium*' -o -name 'google-chrome*' -o -name 'firefox*' \))" ]; then
    HOME=$TMPDIR/nobody expect_status 53 vauban enable browser
    expect_text 'There is no Chromium, Chrome or Firefox here; those of a Flatpak or Snap cannot use Vauban' "$TMPDIR/err"
fi
# From version 147 on, Firefox has its profiles in another folder, and looks for manifests in the one of before.
rm -r "$HOME/.mozilla"; mkdir "$HOME/.config/mozilla"
vauban doctor 2>/dev/null | grep -q 'Browsers.*Firefox not enabled' || fail 'doctor does not see the profile of a new Firefox'
vauban enable browser >/dev/null 2>&1 && [ -e "$HOME/.mozilla/native-messaging-hosts/vauban.browser.json" ] || fail 'a new Firefox was not enabled'
vauban doctor 2>/dev/null | grep -q 'Browsers.*Firefox enabled' || fail 'doctor does not see that a new Firefox is enabled'
vauban disable browser >/dev/null 2>&1 || fail 'disable failed'
