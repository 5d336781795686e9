"""A receiver of webhooks: writes down what is posted to it, and answers as it is told."""

import base64
import collections
import hashlib
import hmac
import http.server
import json
import queue
import socket
import ssl
import threading
import time


class Post:
    def __init__(self, path, headers, raw):
        self.path, self.headers, self.raw = path, headers, raw
        self.event = json.loads(raw)
        self.id = headers["webhook-id"]

    @property
    def name(self):
        return self.event["event"]

    @property
    def number(self):
        return int(self.id.rpartition("-")[2])

    def is_signed_with(self, secret, now=None):
        """As docs/webhooks.md says."""
        timestamp = self.headers["webhook-timestamp"]
        if abs((now or time.time()) - int(timestamp)) > 300:
            return False
        signed = f"{self.id}.{timestamp}.".encode() + self.raw
        expected = "v1," + base64.b64encode(hmac.new(secret.encode(), signed, hashlib.sha256).digest()).decode()
        return any(hmac.compare_digest(expected, each) for each in self.headers["webhook-signature"].split(" "))


class Receiver:
    """`answers`: what each post gets, one after another, and then 200. Each is a status; or bytes that are sent as they
    stand, after which the connection is closed; or "silence": nothing, until the test is over."""

    def __init__(self, *answers, tls=None, port=0):
        self.answers = collections.deque(answers)
        self.posts = queue.Queue()
        self.seen = []
        self.concurrent = self.most_concurrent = 0
        self._over = threading.Event()
        self._lock = threading.Lock()
        receiver = self

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"
            # Without it each answer of two writes waits for the client's delayed acknowledgement.
            disable_nagle_algorithm = True

            def do_POST(self):
                receiver._received(self)

            def do_GET(self):
                receiver.posts.put("GET " + self.path)
                self.send_error(404)

            def log_message(self, *_):
                pass

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", port), Handler)
        if tls:
            context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            context.load_cert_chain(*tls)
            self.server.socket = context.wrap_socket(self.server.socket, server_side=True, do_handshake_on_connect=False)
        self.server.handle_error = lambda *_: None
        self.port = self.server.server_address[1]
        self.url = f"{'https' if tls else 'http'}://127.0.0.1:{self.port}/hooks"

    def _received(self, handler):
        raw = handler.rfile.read(int(handler.headers["Content-Length"]))
        with self._lock:
            self.concurrent += 1
            self.most_concurrent = max(self.concurrent, self.most_concurrent)
            answer = self.answers.popleft() if self.answers else 200
        self.posts.put(Post(handler.path, dict((k.lower(), v) for k, v in handler.headers.items()), raw))
        if answer == "silence":
            self._over.wait(60)
            answer = b""
        with self._lock:
            self.concurrent -= 1
        if isinstance(answer, bytes):
            handler.wfile.write(answer)
            handler.close_connection = True
            return
        handler.send_response(answer)
        handler.send_header("Content-Length", "2")
        if 300 <= answer < 400:
            handler.send_header("Location", "/elsewhere")
        if answer == 401:
            handler.send_header("WWW-Authenticate", 'Basic realm="r"')
        handler.end_headers()
        handler.wfile.write(b"ok")

    def __enter__(self):
        self._thread = threading.Thread(target=self.server.serve_forever, kwargs={"poll_interval": 0.02})
        self._thread.start()
        return self

    def __exit__(self, *_):
        self._over.set()
        self.server.shutdown()
        self._thread.join()
        self.server.server_close()

    def next(self, timeout=15):
        post = self.posts.get(timeout=timeout)
        self.seen.append(post)
        return post

    def expect(self, *names, timeout=15):
        """The next posts have to be these events."""
        posts = [self.next(timeout) for _ in names]
        assert [post.name for post in posts] == list(names), [post.event for post in posts]
        return posts


def closed_port():
    """A port that nobody listens on. It stays taken, so that nobody else gets it, as long as the socket is kept."""
    taken = socket.socket()
    taken.bind(("127.0.0.1", 0))
    return taken, taken.getsockname()[1]
