"""The web server of an application: another origin, as a page written for OpenTok has it."""

import http.server
import pathlib
import threading
import urllib.parse

FIXTURES = pathlib.Path(__file__).parent / "fixtures"


class Application:
    """Serves a page. Only its script tag names the server."""

    @classmethod
    def of_fixture(cls, fixture, script):
        """A page of the fixtures, where `SCRIPT` stands for the script's address."""
        return cls((FIXTURES / fixture).read_text().replace("SCRIPT", script))

    def __init__(self, html, media_type="text/html; charset=utf-8"):
        class Handler(http.server.BaseHTTPRequestHandler):
            def do_GET(self):
                self.send_response(200)
                self.send_header("Content-Type", media_type)
                self.end_headers()
                self.wfile.write(html.encode())

            def log_message(self, *_):
                pass

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.thread = threading.Thread(target=self.server.serve_forever)
        self.thread.start()
        self.url = f"http://127.0.0.1:{self.server.server_port}"

    def address(self, access):
        """The page's address with the credentials that `/room/{name}` returned."""
        return f"{self.url}/?{urllib.parse.urlencode(access)}"

    def stop(self):
        self.server.shutdown()
        self.thread.join()
        self.server.server_close()
