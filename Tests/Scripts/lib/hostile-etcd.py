#!/usr/bin/env python3
"""hostile-etcd.py FOLDER [CERTIFICATE KEY [AUTHORITY]]: a server in etcd's place that answers as the file FOLDER/mode says, over TLS if it
has a certificate. With an authority, it requires a certificate of that in the handshake, as before TLS 1.3. It prints its port, and then
"accepted" for each connection."""
import base64, json, pathlib, socketserver, ssl, sys, threading

folder = pathlib.Path(sys.argv[1])
ended = threading.Event()


class Server(socketserver.StreamRequestHandler):
    def request_body(self):
        length = 0
        while (line := self.rfile.readline()) not in (b"\r\n", b""):
            if line.lower().startswith(b"content-length:"):
                length = int(line.split(b":")[1])
        return self.rfile.read(length)

    def answer(self, body, status="200 OK", more=""):
        body = body if isinstance(body, bytes) else json.dumps(body).encode()
        self.wfile.write(f"HTTP/1.1 {status}\r\nConnection: close\r\nContent-Length: {len(body)}\r\n{more}\r\n".encode() + body)

    def handle(self):
        mode = (folder / "mode").read_text().strip()
        print("accepted", flush=True)
        body = self.request_body()
        key = json.loads(body or "{}").get("key", "")
        row = {"key": key, "value": base64.b64encode(b"\0" + b"x" * 100).decode()}
        if mode == "silent":
            ended.wait()
        elif mode == "closes":
            pass
        elif mode == "words":
            self.wfile.write(b"SSH-2.0-OpenSSH_9.2\r\n")
        elif mode == "page":
            self.answer(b"<html>502 Bad Gateway</html>", "502 Bad Gateway")
        elif mode == "garbage":
            self.answer(b"\xff\xfe{]")
        elif mode == "deep":
            self.answer(b'{"header":' + b"[" * 100000)
        elif mode == "redirects":
            self.answer(b"", "302 Found", "Location: http://127.0.0.1:1/\r\n")
        elif mode == "error":
            self.answer({"error": "\x1b[2J" + "e" * 100000, "code": 5}, "404 Not Found")
        elif mode == "endless":
            self.wfile.write(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n")
            try:
                while True:
                    self.wfile.write(b"10000\r\n" + b" " * 65536 + b"\r\n")
            except OSError:
                pass
        elif mode == "long":
            self.wfile.write(b"HTTP/1.1 200 OK\r\nContent-Length: 99999999999\r\n\r\n{")
            ended.wait()
        elif mode == "drips":
            self.wfile.write(b"HTTP/1.1 200 OK\r\nContent-Length: 100000\r\n\r\n")
            try:
                while not ended.wait(0.5):
                    self.wfile.write(b" ")
            except OSError:
                pass
        elif mode == "other":
            self.answer({"header": {}, "kvs": [dict(row, key=base64.b64encode(b"/vauban/1/bert/x").decode())]})
        elif mode == "nonsense":
            self.answer({"header": {}, "token": "x.1", "kvs": [7]})
        elif mode == "file":
            self.answer({"header": {"cluster_id": "1", "revision": "7"}, "kvs": [row]})


class Threads(socketserver.ThreadingTCPServer):
    daemon_threads = True
    allow_reuse_address = True


server = Threads(("127.0.0.1", 0), Server)
if len(sys.argv) > 2:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(sys.argv[2], sys.argv[3])
    if len(sys.argv) > 4:
        context.maximum_version = ssl.TLSVersion.TLSv1_2
        context.verify_mode = ssl.CERT_REQUIRED
        context.load_verify_locations(sys.argv[4])
    server.socket = context.wrap_socket(server.socket, server_side=True)
print(server.server_address[1], flush=True)
server.serve_forever()
