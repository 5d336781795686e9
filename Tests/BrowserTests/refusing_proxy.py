"""A proxy between pages and the server, which refuses signals."""

import json
import re


class RefusingProxy:
    """A proxy between pages and the server. While `word` is set, it refuses signals that contain the word."""

    def __init__(self, open_page, word):
        self.open_page = open_page
        self.word = word

    def open(self, address, **options):
        page = self.open_page("about:blank", **options)
        page.route_web_socket(re.compile("/v1/signaling"), self._connect)
        page.goto(address)
        return page

    def _connect(self, socket):
        server = socket.connect_to_server()

        def from_page(text):
            for line in text.strip().split("\n"):
                if self.word and self.word in line:
                    refusal = {
                        "ev": "error", "id": json.loads(line)["id"], "code": 429, "name": "OT_RATE_LIMIT_EXCEEDED",
                        "message": "too many signals", "retryable": False,
                    }
                    socket.send(json.dumps(refusal))
                else:
                    server.send(line)

        socket.on_message(from_page)
