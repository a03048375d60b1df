"""Websites of every kind on loopback, over HTTPS at port 443: websites.py FOLDER, with the certificates in FOLDER. Prints `HOST PATH` for
each request, and `connection ADDRESS` for each connection to INSIDE. `websites.py --hosts` prints the hosts with a good certificate."""
import fcntl
import http.server
import json
import os
import socket
import ssl
import struct
import sys
import threading

APP = 'TEAM123456.com.example.shop'
WELL_KNOWN, ROOT = '/.well-known/apple-app-site-association', '/apple-app-site-association'


def listing(*apps, **more):
    return json.dumps({'webcredentials': {'apps': list(apps)}, **more}).encode()


# The file of 2015: details by application, and the other sections beside it. The newer form is an array.
OLD = listing(APP, 'TEAM123456.com.example.more', activitycontinuation={'apps': [APP]},
              applinks={'apps': [], 'details': {APP: {'paths': ['/wwdc/*', 'NOT /private/*', '/?']}}})
NEW = listing(APP, applinks={'details': [{'appIDs': [APP], 'components': [{'/': '/buy/*'}]}, {'appID': APP, 'paths': ['*']}]})
JSON = 'application/json'
# Each host: a status, a type and a body for each path.
SITES = {
    'shop.example': {WELL_KNOWN: (200, JSON, OLD)},
    'www.shop.example': {WELL_KNOWN: (200, f'{JSON}; charset=utf-8', NEW)},
    'root.example': {ROOT: (200, JSON, listing(APP))},
    'others.example': {WELL_KNOWN: (200, JSON, listing('TEAM123456.com.example.else'))},
    'none.example': {},
    'types.example': {WELL_KNOWN: (200, JSON, json.dumps({'webcredentials': {'apps': APP}}).encode())},
    'duplicate.example': {WELL_KNOWN: (200, JSON, listing(APP)[:-1] + b',"webcredentials":{"apps":[]}}')},
    'signed.example': {WELL_KNOWN: (200, JSON, bytes([0x30, 0x80, 0x06, 0x09]) + listing(APP))},
    'html.example': {WELL_KNOWN: (200, 'text/html', listing(APP))},
    'broken.example': {WELL_KNOWN: (200, JSON, listing(APP)[:-3])},
    'status.example': {WELL_KNOWN: (503, JSON, listing(APP))},
    'huge.example': {WELL_KNOWN: (200, JSON, b' ' * 10_000_000 + listing(APP))},
    'redirect.example': {WELL_KNOWN: (302, JSON, b'')},
    # Its file lists what FOLDER/listed names, which a test writes.
    'team.example': {},
    # At another address, where connections are counted.
    'inside.example': {WELL_KNOWN: (200, JSON, listing(APP))},
    # These are written by hand below.
    'endless.example': {}, 'slow.example': {}, 'changing.example': {},
}
# The address of inside.example, which websites.sh writes into the list of hosts too.
INSIDE = '127.0.0.2'
BAD = {'self.example': 'self', 'expired.example': 'expired', 'misnamed.example': 'misnamed'}
if sys.argv[1] == '--hosts':
    print(*SITES)
    sys.exit()


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = 'HTTP/1.1'

    def do_GET(self):
        host = self.headers['Host'].split(':')[0]
        print(host, self.path, flush=True)
        try:
            if host == 'endless.example':
                return self.endless()
            if host == 'slow.example':
                return self.slow()
            status, kind, body = SITES.get(host, {}).get(self.path, (404, 'text/plain', b'nothing'))
            if host == 'team.example' and self.path == WELL_KNOWN:
                with open('listed') as file:
                    status, kind, body = 200, JSON, listing(*file.read().split())
            self.send_response(status)
            self.send_header('Content-Type', kind)
            self.send_header('Content-Length', str(len(body)))
            if status == 302:
                self.send_header('Location', f'https://shop.example{WELL_KNOWN}')
            self.end_headers()
            self.wfile.write(body)
        except OSError:
            self.close_connection = True

    def head(self):
        self.send_response(200)
        self.send_header('Content-Type', JSON)
        self.send_header('Transfer-Encoding', 'chunked')
        self.end_headers()

    def endless(self):
        self.head()
        for _ in range(1000):
            self.wfile.write(b'2800\r\n' + b' ' * 0x2800 + b'\r\n')

    def slow(self):
        """Sends a byte a second, without end."""
        self.head()
        while True:
            self.wfile.write(b'1\r\n \r\n')
            threading.Event().wait(1)

    def log_message(self, *words):
        pass


def context(name):
    made = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    made.load_cert_chain(f'{name}.pem', f'{name}.key')
    return made


def up():
    """Loopback is down in a new network namespace."""
    with socket.socket() as any_socket:
        fcntl.ioctl(any_socket, 0x8914, struct.pack('16sH14x', b'lo', 0x41))


class Server(http.server.ThreadingHTTPServer):
    daemon_threads = True

    def handle_error(self, request, address):
        pass

    def verify_request(self, request, address):
        if self.server_address[0] == INSIDE:
            print('connection', INSIDE, flush=True)
        return True

    def finish_request(self, request, address):
        # The handshake on the thread of its connection: one that hangs holds up nobody.
        with contexts['good'].wrap_socket(request, server_side=True) as secure:
            if secure.context in changing:
                # The beginning of HTTP/2, and an end soon after.
                secure.send(bytes([0, 0, 0, 4, 0, 0, 0, 0, 0]))
                threading.Event().wait(0.05)
                return
            super().finish_request(secure, address)


os.chdir(sys.argv[1])
up()
contexts = {name: context(name) for name in ['good', *BAD.values()]}
# Shows one certificate and another one in turn.
changing = [context('good'), context('changing')]
for one in changing:
    one.set_alpn_protocols(['h2'])


def choose(connection, host, _):
    connection.context = contexts[BAD.get(host, 'good')]
    if host == 'changing.example':
        connection.context = changing[0]
        changing.reverse()


contexts['good'].sni_callback = choose
server = Server(('127.0.0.1', 443), Handler)
threading.Thread(target=Server((INSIDE, 443), Handler).serve_forever, daemon=True).start()
print('listening', flush=True)
server.serve_forever()
