"""A browser page over https and wss."""

import pytest

from conftest import REPOSITORY, Server

TLS = REPOSITORY / "Tests/Vectors/tls"

SIGNAL = """async () => {
  const { apiKey, sessionId, token } = await (await fetch('/room/secure')).json();
  const session = OT.initSession(apiKey, sessionId);
  const received = new Promise((done) => session.on('signal:chat', (event) =>
    done([event.data, event.from === session.connection])));
  await new Promise((done, fail) => session.connect(token, (error) => (error ? fail(error) : done())));
  session.signal({ type: 'chat', data: 'Zoë 😀' });
  const signal = await received;
  const resources = performance.getEntriesByType('resource');
  return [...signal, ...resources.map((entry) => new URL(entry.name).protocol)];
}"""


@pytest.fixture(scope="module")
def secure_url(require_server):
    server = Server("--tls-cert", str(TLS / "server.pem"), "--tls-key", str(TLS / "server.key.pem"))
    yield server.url
    server.stop()


def test_a_page_over_https_signals_over_wss(open_page, secure_url):
    assert secure_url.startswith("https://")
    # The browser does not trust the authority of the tests.
    # The policy of this page forbids scripts that a script adds; other pages may have none.
    page = open_page(secure_url + "/", ignore_https_errors=True, bypass_csp=True)
    sockets = []
    page.on("websocket", lambda socket: sockets.append(socket.url))
    page.add_script_tag(url="/v2.24.5/js/opentok.min.js")
    data, is_mine, *protocols = page.evaluate(SIGNAL)
    assert (data, is_mine) == ("Zoë 😀", True)
    assert set(protocols) == {"https:"}
    [socket] = sockets
    assert socket.startswith(secure_url.replace("https:", "wss:") + "/v1/signaling?sessionId=")
