"""The pages of the browser tests: a proxy that replies in place of every host, with TLS on request. Prints its port.

It records the data that forms and scripts send; `/heard` of a host lists what was sent to it.
"""

import json
import socket
import ssl
import sys
import threading
import urllib.parse

CREDENTIALS = '<label>Account <input id="account" name="user" autocomplete="username"></label>' \
    '<label>Password <input id="password" name="password" type="password" autocomplete="current-password"></label>'
FORM = '<form method="post" action="/sent">%s<button>Go</button></form>'
# A button that shows the password.
EYE = "<button type='button' id='eye'>Show</button>"
SHOW = "<script>document.querySelector('#eye').addEventListener('click', () => {" \
    " const field = document.querySelector('#password'); field.type = field.type === 'password' ? 'text' : 'password'; });</script>"
TRAP = '<input class="trap" type="password" name="trap" autocomplete="current-password" style="%s">'
HIDDEN = ["display:none", "visibility:hidden", "opacity:0", "opacity:0.05", "position:absolute;left:-9999px", "width:1px;height:1px",
          "clip-path:inset(50%)", "position:fixed;top:-500px", "transform:scale(0)"]
COVERED = '<div style="position:relative">' + TRAP % "" + '<div style="position:absolute;inset:0;background:white"></div></div>' \
    '<div style="position:relative">' + TRAP.replace("input", 'input id="labelled"') % "" \
    + '<label for="labelled" style="position:absolute;inset:0;background:white">A nice word</label></div>' \
    '<div style="opacity:0.1"><div style="opacity:0.9">' + TRAP % "" + "</div></div>"
READER = "<script>const seen = []; for (const field of document.querySelectorAll('input[type=password]')) {" \
    " const own = Object.getOwnPropertyDescriptor(HTMLInputElement.prototype, 'value');" \
    " const look = () => { const text = own.get.call(field); if (text && seen.at(-1) !== text) seen.push(text); requestAnimationFrame(look); };" \
    " field.addEventListener('input', look); look(); }</script>"
TELLER = "<script>for (const field of document.querySelectorAll('input')) field.addEventListener('input', () =>" \
    " fetch('/told', { method: 'POST', body: field.value }));</script>"
FORGER = """
    const forge = () => {
        for (const [name, text] of [["account", "anna"], ["password", "forged"]]) {
            const field = document.getElementById(name);
            field.value = "";
            field.focus();
            document.execCommand("insertText", false, text);
            field.dispatchEvent(new KeyboardEvent("keydown", { key: "d", bubbles: true }));
            field.dispatchEvent(new InputEvent("input", { data: "d", inputType: "insertText", bubbles: true }));
        }
        document.forms[0].dispatchEvent(new SubmitEvent("submit", { bubbles: true, cancelable: true }));
        document.forms[0].requestSubmit();
        document.querySelector("button").click();
    };
    forge();
    for (const name of ["click", "keyup"]) addEventListener(name, forge);
    </script>"""
def unnamed(**kinds):
    """Fields without autocomplete, whose purpose follows from their types and order."""
    return "".join(f'<label>{name} <input id="{name}" name="{name}" type="{kind}"></label>' for name, kind in kinds.items())


def scripted(content, after, before=""):
    """A page without a form: on its button or Enter a script sends the typed text, and then runs `after`."""
    return f"<div id='app'>{content}<button id='go'>Go</button></div><p id='place'>Click here.</p><script>" \
        "const app = document.querySelector('#app'); const done = '<p id=done>Sent.</p>'; const go = () => {" \
        f" {before}; fetch('/told', {{ method: 'POST', body: document.querySelector('#password')?.value ?? '' }}).then(() => {{ {after} }}); }};" \
        " app.addEventListener('click', event => { if (event.target.id === 'go') go(); });" \
        " app.addEventListener('keydown', event => { if (event.key === 'Enter' && event.target.id === 'password') go(); });</script>"


PAGES = {
    "/": "<p>Nothing to fill.</p>",
    "/login": FORM % CREDENTIALS + TELLER,
    "/account-first": FORM % '<label>Account <input id="account" name="user" type="email" autocomplete="username"></label>',
    "/code": FORM % '<label>Code <input id="code" name="code" inputmode="numeric" autocomplete="one-time-code"></label>',
    "/signup": FORM % (
        '<label>Account <input id="account" name="user" autocomplete="username"></label>'
        '<label>Password <input id="new" type="password" name="password" autocomplete="new-password"'
        ' passwordrules="minlength: 24; required: lower; required: digit; allowed: upper"></label>'
        '<label>Again <input id="again" type="password" name="again" autocomplete="new-password"></label>'),
    "/change": FORM % (
        '<label>Account <input id="account" name="user" autocomplete="username" value="anna"></label>'
        '<label>Password <input id="password" type="password" name="old" autocomplete="current-password"></label>'
        '<label>New password <input id="new" type="password" name="password" autocomplete="new-password" maxlength="14"></label>'
        '<label>Again <input id="again" type="password" name="again" autocomplete="new-password" maxlength="14"></label>'),
    # A password change for a known account.
    "/change-only": FORM % (
        '<label>Password <input id="password" type="password" name="old" autocomplete="current-password"></label>'
        '<label>New password <input id="new" type="password" name="password" autocomplete="new-password"></label>'
        '<label>Again <input id="again" type="password" name="again" autocomplete="new-password"></label>'),
    # Pages that show the password on a click: they change its field, or replace it by another one.
    "/shows": FORM % (unnamed(account="text", password="password") + EYE) + SHOW,
    "/shows-signup": FORM % (unnamed(account="email", password="password", again="password") + EYE) + SHOW,
    "/shows-change": FORM % (unnamed(password="password", new="password", again="password") + EYE) + SHOW,
    "/shows-another": FORM % (
        unnamed(account="text", password="password", again="password").replace('"password">', '"password" autocomplete="new-password">')
        + EYE)
    + "<script>document.querySelector('#eye').addEventListener('click', () => { const field = document.querySelector('#password');"
    " const other = field.cloneNode(); other.type = 'text'; other.value = field.value; field.replaceWith(other); });</script>",
    # A login whose only password field is marked as one for a new password.
    "/login-as-new": FORM % CREDENTIALS.replace("current-password", "new-password"),
    "/password-as-new": FORM % '<label>Password <input id="password" type="password" autocomplete="new-password"></label>',
    # Labels above their fields, also in the middle of a field.
    "/floating": FORM % "".join(
        f'<p style="position:relative"><input id="{name}" name="{name}" type="{kind}" autocomplete="{purpose}" style="width:200px">'
        f'<label for="{name}" style="position:absolute;left:0;top:0;width:120px;height:20px">{name}</label></p>'
        for name, kind, purpose in (("account", "text", "username"), ("password", "password", "current-password"))),
    # Far below the visible part, beside an element that scrolls separately.
    "/far": '<div id="box" style="height:120px;overflow:auto"><div style="height:900px">Box</div><label>Mail <input name="news"></label>'
            '<input type="checkbox"></div><div style="height:4000px"></div>' + FORM % CREDENTIALS,
    "/password-only": FORM % '<label>Password <input id="password" name="password" type="password" autocomplete="current-password"></label>',
    # The only page that a browser may cache in memory, to show it again at once.
    "/cached": FORM % CREDENTIALS,
    # Sends its form by a script, and shows another page without loading one.
    "/script": FORM % CREDENTIALS + "<script>addEventListener('submit', event => { event.preventDefault(); event.target.remove(); });</script>",
    # Forges a user's actions, at once and at each click and key: values, events, commands, and submitted forms.
    "/forge": FORM % CREDENTIALS + "<p id='place'>Click here.</p><script>addEventListener('submit', event => event.preventDefault());" + FORGER,
    # Changes what was typed, before it is sent.
    "/alter": FORM % CREDENTIALS + "<script>addEventListener('keydown', event => { if (event.key === 'Enter')"
    " document.querySelector('#password').value = 'altered'; }, true);</script>",
    # Sends its form repeatedly, while the user's last key still counts.
    "/resend": FORM % CREDENTIALS + "<script>addEventListener('submit', event => event.preventDefault()); function resend(account, count) {"
    " document.querySelector('#account').value = account; for (let i = 0; i < count; i++) document.forms[0].requestSubmit();"
    " return navigator.userActivation.isActive; }</script>",
    # Pages without a form, which send by a script; then the fields are removed, hidden, emptied, or kept, or the browser opens another page.
    "/no-form": scripted(CREDENTIALS, "app.innerHTML = done"),
    "/no-form-leaves": scripted(CREDENTIALS, "location = '/sent'"),
    "/no-form-hides": scripted(CREDENTIALS, "app.hidden = true; app.insertAdjacentHTML('afterend', done)"),
    "/no-form-empties": scripted(CREDENTIALS, "for (const field of app.querySelectorAll('input')) field.value = ''; app.innerHTML = done"),
    "/no-form-stays": scripted(CREDENTIALS, "app.insertAdjacentHTML('beforeend', document.querySelector('#password').value === 'right'"
                               " ? (app.innerHTML = '', done) : '<p id=wrong>Wrong.</p>')"),
    "/no-form-steps": scripted('<label>Account <input id="account" name="user" autocomplete="username"></label>',
                               "app.innerHTML = document.querySelector('#password') ? done : '<label>Password <input id=password type=password>"
                               "</label><button id=go>Go</button>'"),
    # A form that is sent by a script as soon as its button is pressed, without a submit event.
    "/button": "<form method='post' action='/sent'>%s<button type='button' id='go'>Go</button></form><script>"
    "document.querySelector('#go').addEventListener('click', event => event.target.form.submit());</script>" % CREDENTIALS,
    "/no-form-alters": scripted(CREDENTIALS, "app.innerHTML = done", "document.querySelector('#password').value = 'altered'"),
    "/no-form-forges": scripted(CREDENTIALS, "app.innerHTML = done") + "<script>const forge = () => {"
    " for (const [name, text] of [['account', 'anna'], ['password', 'forged']]) { const field = document.getElementById(name); if (!field) return;"
    " field.focus(); field.value = ''; document.execCommand('insertText', false, text);"
    " field.dispatchEvent(new KeyboardEvent('keydown', { key: 'Enter', bubbles: true })); }"
    " document.querySelector('#go').click(); document.querySelector('#go').dispatchEvent(new PointerEvent('click', { bubbles: true })); };"
    " document.querySelector('#place').addEventListener('click', forge);</script>",
    # Frames of the page's own site, and of the site within another one within the site.
    "/own-frame": '<iframe src="/login" width="600" height="300"></iframe>',
    "/own-frame-no-form": '<iframe src="/no-form" width="600" height="300"></iframe>',
    "/steal-no-form": '<iframe src="https://login.example.com/no-form-leaves" width="600" height="300"></iframe>',
    "/nested": '<iframe src="https://evil.example/steal-no-form" width="700" height="400"></iframe>',
    # Has the user type into a field that they do not see.
    "/diverted": FORM % ('<label>Account <input id="account" name="user"></label><label>A nice word <input id="shown"></label>'
                         + TRAP % "position:fixed;left:-9999px") + "<script>document.querySelector('#shown').addEventListener('focus', () =>"
    " document.querySelector('.trap').focus());</script>",
    "/steal": '<iframe src="https://login.example.com/login" width="600" height="300"></iframe>',
    "/framed": FORM % CREDENTIALS + '<iframe src="https://evil.example/login" width="600" height="300"></iframe>',
    "/framed-only": '<iframe src="https://evil.example/login" width="600" height="300"></iframe>',
    "/hidden": FORM % ("".join(TRAP % style for style in HIDDEN) + COVERED + CREDENTIALS),
    "/hidden-only": FORM % ("".join(TRAP % style for style in HIDDEN) + COVERED),
    "/reads": FORM % CREDENTIALS + READER,
    "/flood": FORM % CREDENTIALS + "<script>for (let i = 0; i < 3000; i++) document.body.append(document.createElement('input'));"
    " setInterval(() => { for (let i = 0; i < 100; i++) { window.postMessage({ order: 'fill', i }, '*');"
    " document.body.toggleAttribute('data-x'); } }, 1);</script>",
    "/sent": "<p id='done'>Sent.</p>",
}
heard = []
# A page that waits for /hold, which ends with /release; /holding waits until there is one.
holding, released = threading.Event(), threading.Event()


def wait_for(path):
    if path == "/hold":
        holding.set()
        released.wait()
        holding.clear()
        released.clear()
    elif path == "/holding":
        holding.wait()
    elif path == "/release":
        released.set()


def answer(stream, is_secure):
    """One request and its answer; the connection then ends."""
    reader = stream.makefile("rb")
    words = reader.readline().decode().split()
    if len(words) < 3:
        return
    headers = {}
    while (line := reader.readline().strip()):
        name, _, value = line.decode().partition(":")
        headers[name.lower()] = value.strip()
    body = reader.read(int(headers.get("content-length", 0))).decode()
    host = headers.get("host", "").split(":")[0]
    path = urllib.parse.urlsplit(words[1]).path
    # The browser shows a page of its own about this.
    if path == "/broken":
        return
    if words[0] == "POST":
        heard.append({"host": host, "path": path, "body": body, "secure": is_secure})
    kind = "text/html; charset=utf-8"
    wait_for(path)
    if path == "/heard":
        text, kind = json.dumps([one for one in heard if one["host"] == host]), "application/json"
    else:
        text = "<!doctype html><title>page</title><body>" + PAGES.get(path, "")
    data = text.encode()
    status = "200 OK" if path in PAGES or path in ("/heard", "/told", "/hold", "/holding", "/release") else "404 Not Found"
    kept = "no-cache" if path == "/cached" else "no-store"
    head = f"HTTP/1.1 {status}\r\nContent-Type: {kind}\r\nContent-Length: {len(data)}\r\nCache-Control: {kept}\r\nConnection: close\r\n\r\n"
    stream.sendall(head.encode() + data)


def serve(plain, context):
    try:
        first = plain.recv(8, socket.MSG_PEEK)
        if not first.startswith(b"CONNECT "):
            return answer(plain, False)
        request = b""
        while not request.endswith(b"\r\n\r\n"):
            part = plain.recv(1)
            if not part:
                return
            request += part
        plain.sendall(b"HTTP/1.1 200 OK\r\n\r\n")
        with context.wrap_socket(plain, server_side=True) as stream:
            answer(stream, True)
    except (OSError, ValueError):
        pass
    finally:
        plain.close()


context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
context.load_cert_chain(sys.argv[1], sys.argv[2])
server = socket.create_server(("127.0.0.1", 0), backlog=64)
print(server.getsockname()[1], flush=True)
while True:
    connection, _ = server.accept()
    threading.Thread(target=serve, args=(connection, context), daemon=True).start()
