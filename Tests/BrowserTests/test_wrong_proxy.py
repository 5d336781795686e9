"""A page behind an nginx that does not pass WebSocket upgrades: browsers hide why the handshake fails."""

import subprocess
import sys
import urllib.parse

import pytest
from conftest import REPOSITORY

sys.path.append(str(REPOSITORY / "Tests/BlackBoxTests"))

from waiting import accepts, free_port, wait_for  # noqa: E402

CONFIGURATION = """
events {}
http { server { listen 127.0.0.1:PORT; location / { proxy_pass http://SERVER; proxy_http_version 1.1; } } }
"""

CONNECT = """
async ({ server, room }) => {
  const { createOT } = await import('/opentok/api/ot.js');
  const { browserEnvironment } = await import('/client/browser.js');
  const { apiKey, sessionId, token } = await (await fetch('/room/' + room)).json();
  const session = createOT(browserEnvironment(), server).initSession(apiKey, sessionId);
  return new Promise((resolve) => session.connect(token, ({ code, message }) => resolve({ code, message })));
}
"""


@pytest.fixture
def proxy(url, tmp_path):
    """The URL of the proxy."""
    port = free_port()
    text = CONFIGURATION.replace("PORT", str(port)).replace("SERVER", urllib.parse.urlsplit(url).netloc)
    (tmp_path / "nginx.conf").write_text(text)
    process = subprocess.Popen(
        ["nginx", "-p", tmp_path, "-c", tmp_path / "nginx.conf", "-e", "stderr", "-g", f"daemon off; pid {tmp_path}/pid;"],
        stderr=subprocess.DEVNULL,
    )  # fmt: skip
    wait_for(lambda: accepts(port), "nginx")
    yield f"http://127.0.0.1:{port}"
    process.terminate()
    process.wait()


def test_a_proxy_that_does_not_pass_upgrades_is_named_in_the_error(open_page, proxy, room):
    page = open_page(proxy)
    error = page.evaluate(CONNECT, {"server": proxy, "room": room})
    assert error["code"] == 1006, error
    assert error["message"].startswith("The proxy in front does not pass WebSocket upgrades."), error
    # The browser's own complaint about the handshake, and the status of the question.
    page.complaints.clear()
