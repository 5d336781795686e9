"""A receiver of webhooks: it records the posts, and answers as the test requires."""

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

from server_process import DEADLINE


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
        """Checks the signature as docs/backend.md says."""
        timestamp = self.headers["webhook-timestamp"]
        if abs((now or time.time()) - int(timestamp)) > 300:
            return False
        signed = f"{self.id}.{timestamp}.".encode() + self.raw
        expected = "v1," + base64.b64encode(hmac.new(secret.encode(), signed, hashlib.sha256).digest()).decode()
        return any(hmac.compare_digest(expected, each) for each in self.headers["webhook-signature"].split(" "))


class Receiver:
    """An HTTP or HTTPS server.

    `answers` are the answers to the posts, in their order; every later post gets 200. An answer is a status; or bytes,
    which are sent unchanged before the connection is closed; or "silence": no answer until the test is over; or a
    function that gets the handler of the connection, which is closed afterwards.
    """

    def __init__(self, *answers, tls=None, port=0):
        self.answers = collections.deque(answers)
        self.posts = queue.Queue()
        self.seen = []
        self.concurrent = self.most_concurrent = self.connections = 0
        self._over = threading.Event()
        self._lock = threading.Lock()
        receiver = self

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"
            # With Nagle's algorithm, each answer of two writes would wait for the client's delayed acknowledgement.
            disable_nagle_algorithm = True

            def setup(self):
                receiver.connections += 1
                super().setup()

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
            self.server.socket = context.wrap_socket(
                self.server.socket, server_side=True, do_handshake_on_connect=False
            )
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
            self._over.wait()
            answer = b""
        with self._lock:
            self.concurrent -= 1
        if callable(answer):
            answer(handler)
            answer = b""
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

    def next(self, timeout=DEADLINE):
        post = self.posts.get(timeout=timeout)
        self.seen.append(post)
        return post

    def expect(self, *names, timeout=DEADLINE):
        """Requires the next posts to be these events, and returns them."""
        posts = [self.next(timeout) for _ in names]
        assert [post.name for post in posts] == list(names), [post.event for post in posts]
        return posts

    def expect_new(self, *names, timeout=DEADLINE):
        """As `expect`, without the repetitions of events that were seen before."""
        posts = []
        while len(posts) < len(names):
            seen = {post.id for post in self.seen}
            post = self.next(timeout)
            if post.id not in seen:
                posts.append(post)
        assert [post.name for post in posts] == list(names), [post.event for post in posts]
        return posts


def closed_port():
    """A socket that is bound but does not listen, and its port.

    No other process gets the port while the socket is open.
    """
    bound = socket.socket()
    bound.bind(("127.0.0.1", 0))
    return bound, bound.getsockname()[1]
