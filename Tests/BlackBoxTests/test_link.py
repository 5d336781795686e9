"""`signalbox link`: a URL of the page with which one user joins a session."""

import base64
import http.server
import json
import threading
import time
import urllib.parse

import pytest

from cluster import nodes
from credentials import Project
from server_process import Server, environment, run
from signalbox_client import Client


def project_settings(server):
    return {"api_key": server.project.key, "api_secret": server.project.secret, "server": server.url}


@pytest.fixture(scope="module")
def settings(server):
    return project_settings(server)


def parts(link):
    """The page's address, and the fields of the fragment as a browser reads them."""
    page, fragment = link.strip().split("#")
    fields = urllib.parse.parse_qs(fragment, strict_parsing=True)
    assert sorted(fields) in (["code"], ["key", "session", "token"])
    return page, {name: value for name, (value,) in fields.items()}


def post(server, path, body, **headers):
    """A request without credentials, unless they are among the headers."""
    headers["Content-Type"] = "application/json"
    return server.request("POST", path, json.dumps(body).encode(), headers)


def opened(server, link):
    """What the page gets for the code of a link."""
    page, fields = parts(link)
    assert sorted(fields) == ["code"] and page == server.url + "/", link
    answer = post(server, "/link", fields)
    assert answer.status == 200 and answer.headers["Cache-Control"] == "no-store", answer
    return answer.json()


def claims(token):
    """The fields of a T1 token."""
    return dict(urllib.parse.parse_qsl(base64.b64decode(token[4:]).decode().split(":", 1)[1]))


async def test_the_token_of_a_link_joins_its_session_with_name_and_role(server, settings):
    session = server.project.session()
    arguments = ["--name", "Zoë & co +#", "--role", "moderator", "--expires-in", "60", "--with-token"]
    made = run("link", session, *arguments, **settings)
    page, link = parts(made.stdout)
    assert (made.returncode, page, link["session"], link["key"]) == (0, server.url + "/", session, server.project.key)
    async with await Client.join(server, session, token=link["token"]) as user:
        assert (user.connected["role"], user.me["data"]) == ("moderator", "Zoë & co +#")
    assert abs(int(claims(link["token"])["expire_time"]) - time.time() - 60) < 30


async def test_rest_7_the_code_of_a_link_stands_for_the_token(server, settings):
    session = server.project.session()
    made = run("link", session, "--name", "Zoë & co +#", "--role", "moderator", "--expires-in", "60", **settings)
    access = opened(server, made.stdout)
    assert sorted(access) == ["apiKey", "sessionId", "token"]
    assert (access["apiKey"], access["sessionId"]) == (server.project.key, session)
    async with await Client.join(server, session, token=access["token"]) as user:
        assert (user.connected["role"], user.me["data"]) == ("moderator", "Zoë & co +#")
    assert opened(server, made.stdout) == access, "five minutes more"
    assert "works on this machine only" in made.stderr


@pytest.mark.parametrize("body, status", [
    ({"code": "0" * 32}, 404), ({"code": 1}, 400), ([], 400),
], ids=lambda each: str(each)[:20])  # fmt: skip
def test_rest_7_another_code_is_refused(server, body, status):
    answer = post(server, "/link", body)
    assert (answer.status, answer.json()["code"]) == (status, status)


def test_rest_7_a_code_needs_credentials_and_a_token_that_a_client_can_use(server):
    project, session = server.project, server.project.session()

    def make(sessionId=session, token=project.token(session), credentials=project.credentials()):
        headers = {"X-OPENTOK-AUTH": credentials} if credentials else {}
        return post(server, f"/v2/project/{project.key}/link", {"sessionId": sessionId, "token": token}, **headers).status

    other = Project("200", "another-secret")
    assert make() == 200
    assert make(credentials=None) == 403 and make(credentials=other.credentials()) == 403
    assert make(credentials=project.token(session)) == 403, "a client's token is no credential"
    assert make(token=None) == 400 and make(sessionId=None) == 400 and make(sessionId="lobby") == 400
    assert make(token=project.token(project.session())) == 403, "of another session"
    assert make(token=other.token(session)) == 403
    assert make(token=project.token(session, expire_time=1_700_000_000, create_time=1_690_000_000)) == 403
    assert make(sessionId=other.session(), token=other.token(other.session())) == 400


def test_rest_7_a_stopped_server_forgets_its_codes(settings):
    with Server() as first:
        link = run("link", first.project.session(), "--name", "Bob", **project_settings(first)).stdout
        opened(first, link)
    with Server() as second:
        answer = post(second, "/link", parts(link)[1])
        assert answer.status == 404 and "the server has restarted" in answer.json()["message"]


def test_rest_7_a_node_gives_no_codes_and_the_link_carries_the_token():
    with nodes(1) as (_, (node,)):
        session = node.project.session()
        made = run("link", session, "--name", "Bob", **project_settings(node))
        assert made.returncode == 0 and parts(made.stdout)[1]["session"] == session
        assert "several nodes share the sessions" in made.stderr and "history" in made.stderr, made


async def test_a_room_of_development_mode_has_links_too(dev_server):
    made = run("link", "lobby", "--name", "Bob", "--role", "subscriber", "--expires-in", "60", server=dev_server.url)
    link = opened(dev_server, made.stdout)
    assert made.stderr == "" and link["sessionId"] == dev_server.room("lobby")["sessionId"]
    assert claims(link["token"])["connection_data"] == "Bob" and claims(link["token"])["role"] == "subscriber"
    # Without the credentials that the server has left, the server makes the token, which lasts as long as it likes.
    elsewhere = run("link", "lobby", "--name", "Bob", env=without_state(dev_server.url))
    assert elsewhere.returncode == 0 and parts(elsewhere.stdout)[1]["session"] == link["sessionId"]
    assert "no credentials" in elsewhere.stderr, elsewhere
    refused = run("link", "lobby", "--name", "Bob", "--expires-in", "60", env=without_state(dev_server.url))
    assert refused.returncode == 64 and "--expires-in needs the secret" in refused.stderr, refused


def without_state(url):
    return environment(server=url) | {"XDG_STATE_HOME": "/nonexistent"}


@pytest.mark.parametrize("arguments, code, words", [
    (["SESSION"], 64, "--name"),
    (["SESSION", "--name", "b" * 1001], 64, "1000"),
    (["SESSION", "--name", "Bob", "--server", "http://x/?a"], 64, "http://x/?a"),
    (["SESSION", "--name", "Bob", "--api-key", "200"], 64, "another project"),
    (["lobby", "--name", "Bob"], 77, "not in development mode"),
    (["lobby", "--name", "Bob", "--server", "http://127.0.0.1:1"], 69, "cannot be reached"),
], ids=lambda each: " ".join(each)[:60] if isinstance(each, list) else None)  # fmt: skip
def test_bad_input_gets_a_sentence(server, settings, arguments, code, words):
    session = server.project.session()
    refused = run("link", *[session if each == "SESSION" else each for each in arguments], **settings)
    assert refused.returncode == code and words in refused.stderr and refused.stdout == "", refused
    assert "Fatal error" not in refused.stderr


def test_a_session_id_without_credentials_is_refused(server):
    refused = run("link", server.project.session(), "--name", "Bob", server=server.url)
    assert refused.returncode == 64 and "a session id needs credentials" in refused.stderr, refused


@pytest.mark.parametrize("session, status", [("lobby", 200), ("SESSION", 404)])
def test_a_server_that_is_no_signalbox_is_named(server, settings, session, status):
    class Other(http.server.BaseHTTPRequestHandler):
        def do_GET(self):
            self.send_response(status)
            self.end_headers()
            self.wfile.write(b"<!doctype html>hello")

        def log_message(self, *_):
            pass

    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Other) as other:
        threading.Thread(target=other.serve_forever, daemon=True).start()
        url = f"http://127.0.0.1:{other.server_port}"
        session = server.project.session() if session == "SESSION" else session
        refused = run("link", session, "--name", "Bob", **settings | {"server": url})
        assert refused.returncode == 1 and "does not answer like a Signalbox server" in refused.stderr, refused
        assert url in refused.stderr and refused.stdout == ""
        other.shutdown()


def test_a_server_that_cannot_be_reached_from_here_may_be_reachable_for_the_user(server, settings):
    """The server has a path, as behind a proxy that serves Signalbox below it."""
    made = run("link", server.project.session(), "--name", "Bob", **settings | {"server": "http://127.0.0.1:1/chat/"})
    assert parts(made.stdout)[0] == "http://127.0.0.1:1/chat/", made
    assert made.returncode == 0 and "cannot be reached from here" in made.stderr, made
    assert "The link carries the token" in made.stderr and "token" in parts(made.stdout)[1], made
