"""https and wss with the certificates of Tests/Vectors/tls."""

import http.client
from os import EX_CONFIG, EX_UNAVAILABLE, EX_USAGE
import re
import ssl

import pytest

from credentials import Project
from server_process import DEADLINE, TLS, Command, run

PROJECT = Project("100", "a-secret-of-the-tests")


@pytest.fixture(scope="module")
def secure_port():
    settings = {"api_key": PROJECT.key, "api_secret": PROJECT.secret}
    files = ("--tls-cert", TLS / "server.pem", "--tls-key", TLS / "server.key.pem")
    with Command("serve", "--port", "0", *files, **settings) as server:
        yield int(re.search(r"https://127\.0\.0\.1:(\d+)/", server.out.until("ready"))[1])


def test_tls_rest_works_over_https(secure_port):
    context = ssl.create_default_context(cafile=TLS / "authority.pem")
    connection = http.client.HTTPSConnection("127.0.0.1", secure_port, timeout=DEADLINE, context=context)
    connection.request("POST", "/session/create", b"", {"X-OPENTOK-AUTH": PROJECT.credentials()})
    assert connection.getresponse().status == 200
    assert connection.sock.version() in ("TLSv1.2", "TLSv1.3")
    connection.close()


def test_tls_the_signal_command_uses_wss_and_verifies_the_certificate(secure_port):
    session = PROJECT.session()
    command = ("signal", session, "--type", "t", "--server", f"https://127.0.0.1:{secure_port}")
    token = PROJECT.token(session)
    trusting = run(*command, "--ca-file", TLS / "authority.pem", token=token)
    assert (trusting.returncode, trusting.stdout.strip()) == (0, "2"), trusting
    for untrusting in ((), ("--ca-file", TLS / "other-authority.pem")):
        refused = run(*command, *untrusting, token=token)
        assert refused.returncode == EX_UNAVAILABLE and "certificate" in refused.stderr, refused


def test_tls_a_plain_http_request_gets_no_response(secure_port):
    connection = http.client.HTTPConnection("127.0.0.1", secure_port, timeout=DEADLINE)
    with pytest.raises((http.client.HTTPException, ConnectionError)):
        connection.request("GET", "/livez")
        connection.getresponse()


@pytest.mark.parametrize("files, status, words", [
    (("--tls-cert", "server.pem"), EX_USAGE, "--tls-key"), (("--tls-key", "server.key.pem"), EX_USAGE, "--tls-cert"),
    (("--tls-cert", "nothing.pem", "--tls-key", "server.key.pem"), EX_CONFIG, "nothing.pem"),
    (("--tls-cert", "server.pem", "--tls-key", "elsewhere.key.pem"), EX_CONFIG, "elsewhere.key.pem"),
    (("--tls-cert", "server.pem", "--tls-key", "encrypted.key.pem"), EX_CONFIG, "encrypted.key.pem"),
])
def test_tls_serve_names_the_file_or_option_that_is_wrong(files, status, words):
    arguments = [argument if argument.startswith("--") else str(TLS / argument) for argument in files]
    refused = run("serve", "--port", "0", *arguments)
    assert refused.returncode == status and words in refused.stderr and refused.stderr.count("\n") == 1, refused
