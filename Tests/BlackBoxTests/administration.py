"""The admin listener of a server."""

import http.client
import json
import re
import urllib.parse

from server_process import DEADLINE, Answer


class Admin:
    """The admin listener of a server that was started with `--admin-port 0`."""

    def __init__(self, server, token=None):
        line = server.out.until("administration is at")
        self.url = re.search(r"http://\S+", line)[0].rstrip("/")
        address = urllib.parse.urlsplit(self.url)
        self.host, self.port, self.token = address.hostname, address.port, token

    def request(self, method, path, headers=None):
        headers = dict(headers or {})
        if self.token:
            headers.setdefault("Authorization", f"Bearer {self.token}")
        connection = http.client.HTTPConnection(self.host, self.port, timeout=DEADLINE)
        try:
            connection.request(method, path, headers=headers)
            answer = connection.getresponse()
            return Answer(answer.status, answer.headers, answer.read())
        finally:
            connection.close()

    def get(self, path):
        """The JSON of a successful request for a resource below /admin/v1/."""
        answer = self.request("GET", "/admin/v1/" + path)
        assert answer.status == 200, answer
        return json.loads(answer.body)

    def metrics(self):
        """The present metrics: values by name and labels."""
        text = self.request("GET", "/metrics").body.decode()
        return dict(line.rsplit(" ", 1) for line in text.splitlines() if not line.startswith("#"))

    def value(self, series):
        return float(self.metrics()[series])
