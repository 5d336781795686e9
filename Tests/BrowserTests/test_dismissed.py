"""Somebody whose access ends reads why, is offered nothing that cannot work, and the program hears the cause."""

import json
import time
import urllib.request

import pytest
from application import Application
from chat_element import element, expect_state
from conftest import DEADLINE, Server
from credentials import Project
from playwright.sync_api import expect
from user import User

PROJECT = Project("100", "a-secret-of-this-test")
PAGE = """<!doctype html><html lang="en"><meta charset="utf-8"><title>Host</title><link rel="icon" href="data:,">
<script src="{url}/signalbox-chat.js"></script>
<script>window.errors = []; addEventListener('signalbox-error', ({{ detail }}) => errors.push(detail));</script>
<body>{content}</body></html>"""


@pytest.fixture(scope="module")
def server(require_server):
    server = Server("--api-key", PROJECT.key, "--api-secret", PROJECT.secret, is_development=False)
    yield server
    server.stop()


@pytest.fixture
def host(open_page, server):
    """A page of another origin with the element."""
    applications = []

    def host(access):
        applications.append(Application(PAGE.format(url=server.url, content=element(access))))
        return open_page(applications[-1].url)

    yield host
    for application in applications:
        application.stop()


def access(session, user, role="publisher", **fields):
    token = PROJECT.token(session, role=role, data=f"name={user}", user=user, **fields)
    return {"sessionId": session, "apiKey": PROJECT.key, "token": token}


def ask(server, method, path, body=None):
    headers = PROJECT.headers() | {"Content-Type": "application/json"}
    data = None if body is None else json.dumps(body).encode()
    request = urllib.request.Request(server.url + path, data, headers, method=method)
    with urllib.request.urlopen(request, timeout=DEADLINE) as answer:
        return answer.read()


def end_access(server, session, page, way):
    """Ends the access of the user `ada` whose element is in this page."""
    project = f"/v2/project/{PROJECT.key}"
    if way == "revoked":
        ask(server, "POST", f"{project}/revocation", {"user": "ada"})
    elif way == "removed":
        connection = page.evaluate("chat.component.channel.connectionId")
        ask(server, "DELETE", f"{project}/session/{session}/connection/{connection}")
    else:
        ask(server, "POST", f"{project}/session/{session}/moderation",
            {"action": "ban", "user": "ada", "reason": "No advertising"})  # fmt: skip


SENTENCES = {
    "revoked": "Your access to this chat was ended. Ask for a new link.",
    "removed": "You were removed from this chat.",
    "banned": "You are banned from this chat. Reason: No advertising",
}


@pytest.mark.parametrize("way", SENTENCES)
def test_the_element_says_why_and_tells_the_program(host, server, way, screenshots):
    session = PROJECT.session()
    page = host(access(session, "ada"))
    expect_state(page, "connected")
    end_access(server, session, page, way)
    expect(page.locator("#chat-status-text")).to_have_text(SENTENCES[way])
    expect(page.locator("#chat-retry")).to_be_hidden()
    expect(page.locator("#composer-text")).to_be_hidden()
    assert page.evaluate("errors.map(({ cause }) => cause)") == [way]
    page.screenshot(path=screenshots / f"dismissed-{way}.png")
    # The program has another token.
    if way == "revoked":
        # A token that was issued in the second of the revocation is refused, too (REST-8): the answer has waited for it.
        fresh = access(session, "ada", create_time=int(time.time()))
        page.evaluate("token => { chat.token = token; }", fresh["token"])
        expect_state(page, "connected")
        expect(page.locator("#composer-text")).to_be_editable()
        return
    other = access(session, f"another-{way}")
    page.evaluate("token => { chat.token = token; }", other["token"])
    expect_state(page, "connected")


@pytest.mark.parametrize("way", ["revoked", "banned"])
def test_the_page_offers_no_way_back_that_cannot_work(open_page, server, way, screenshots):
    session = PROJECT.session()
    given = access(session, "ada")
    page = open_page(f"{server.url}/#session={session}&key={PROJECT.key}&token={given['token']}")
    expect(page.locator("#status")).to_have_attribute("data-state", "connected")
    end_access(server, session, page, way)
    user = User(page)
    expect(user.page.get_by_role("alert")).to_contain_text(SENTENCES[way])
    expect(page.get_by_role("button", name="Join again")).to_be_hidden()
    page.screenshot(path=screenshots / f"dismissed-page-{way}.png")
