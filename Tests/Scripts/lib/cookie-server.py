"""A web server on a port of its own, which it prints: it sets a cookie for a year, and adds a line to the file for each page, with the
cookies that came: cookie-server.py FILE."""
import http.server, sys


class Page(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        if self.path == "/":
            with open(sys.argv[1], "a") as file:
                file.write((self.headers.get("Cookie") or "none").replace('"', "") + "\n")
        body = b"<p>visited"
        self.send_response(200)
        self.send_header("Set-Cookie", 'crumb="a cookie of the test"; Max-Age=31536000')
        self.send_header("Content-Type", "text/html")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *words): pass


server = http.server.HTTPServer(("127.0.0.1", 0), Page)
print(server.server_address[1], flush=True)
server.serve_forever()
