"""Links of `signalbox link` on the page, also on a page without TLS that is not of this machine."""

import contextlib
import os
import sqlite3
import subprocess
import sys
import urllib.parse

import pytest
from conftest import DEADLINE, REPOSITORY, Server, environment, make_patient
from playwright.sync_api import expect
from user import User

sys.path.append(str(REPOSITORY / "Tests/BlackBoxTests"))
from credentials import Project  # noqa: E402

KEY, SECRET = "100", "a-secret-of-this-test"
CREDENTIALS = ["--api-key", KEY, "--api-secret", SECRET]
HOST = "signalbox.test"


# From now on, `copied` has each text of a button, however briefly it is shown.
NOTE_TEXTS = """(id) => {
  window.copied = [];
  const button = document.getElementById(id);
  new MutationObserver(() => copied.push(button.textContent)).observe(button, { childList: true });
}"""


def run(*arguments):
    result = subprocess.run(
        [os.environ["SIGNALBOX_BIN"], *arguments, *CREDENTIALS], capture_output=True, text=True, timeout=DEADLINE,
        check=True, env=environment(),
    )  # fmt: skip
    return result.stdout.strip()


@pytest.fixture(scope="module")
def server(require_server):
    server = Server(*CREDENTIALS, is_development=False)
    yield server
    server.stop()


@pytest.fixture
def session():
    return run("session", "create")


def link(server, session, name, *arguments, url=None):
    return run("link", session, "--name", name, "--server", url or server.url, *arguments)


def token_link(*arguments, **settings):
    return link(*arguments, "--with-token", **settings)


def expect_joined(page):
    expect(page.locator("#status-text")).to_have_text("Connected")
    return User(page)


def alert(page):
    return page.locator("#join-error")


def expect_sentence(page, sentence):
    """There is nothing else to read, and nothing to fill in."""
    expect(page.locator("#join")).to_have_text(sentence, use_inner_text=True)
    expect(page.get_by_label("Session ID")).to_be_hidden()


def with_tools(address):
    return address.replace("/#", "/?tools#")


def test_two_users_join_with_their_links_and_a_reload_keeps_the_link(open_page, server, session):
    ada = expect_joined(open_page(link(server, session, "Ada")))
    bob = expect_joined(open_page(link(server, session, "Bob")))
    ada.expect_participants("Ada", "Bob")
    for user in (ada, bob):
        assert user.page.url == server.url + "/", "the token is not in the address bar"
        assert "token" not in user.page.evaluate("JSON.stringify(history.state) + location.href")
    bob.page.reload()
    expect_joined(bob.page)
    bob.send("after the reload")
    ada.expect_messages("after the reload")
    expect(ada.page.locator(".row-name").first).to_have_text("Bob")
    expect(ada.page.get_by_role("button", name="Copy link")).to_be_hidden()


def recorded(profile):
    """The addresses in the history of a browser that has ended."""
    with contextlib.closing(sqlite3.connect(profile / "Default/History")) as history:
        return [address for (address,) in history.execute("SELECT url FROM urls")]


def test_rest_7_no_token_is_in_the_history_of_the_browser(playwright_driver, server, session, tmp_path):
    """The browser records the address before the page can change it. The link with a token shows that the test sees it."""
    for kind, address in {"code": link(server, session, "Ada"), "token": token_link(server, session, "Ada")}.items():
        context = make_patient(playwright_driver(profile=tmp_path / kind))
        page = context.new_page()
        page.goto(address)
        expect_joined(page)
        # The history of the tab: the page before the link, and the form and the room without it.
        assert page.url == server.url + "/" and page.evaluate("history.length") == 3
        assert "T1" not in page.evaluate("JSON.stringify(history.state)")
        context.close()
        addresses = recorded(tmp_path / kind)
        assert address in addresses, "the browser keeps the address with its fragment"
        assert any("T1" in each for each in addresses) == (kind == "token"), addresses


def test_rest_7_a_used_link_says_so_and_a_second_click_works(open_page, server, session):
    address = link(server, session, "Ada")
    expect_joined(open_page(address))
    expect_joined(open_page(address))
    unknown = open_page(address[:-4] + "0000")
    expect_sentence(unknown, "This link has been used, or it is no longer valid. Ask for a new one.")
    # The browser itself reports the status 404.
    unknown.complaints.clear()


def test_rest_7_a_page_that_cannot_reach_the_server_tries_the_code_again(open_page, server, session):
    page = open_page("about:blank")
    page.route("**/link", lambda route: route.fulfill(status=502, body="bad gateway"))
    page.goto(link(server, session, "Ada"))
    expect(alert(page)).to_contain_text("The server does not answer.")
    page.unroute("**/link")
    page.complaints.clear()
    page.reload()
    expect_joined(page)


@pytest.mark.parametrize("make", [link, token_link], ids=["code", "token"])
def test_the_token_is_in_no_request_for_a_page(open_page, server, session, make):
    page = open_page("about:blank")
    addresses = []
    page.on("request", lambda request: addresses.append(request.url + str(request.headers)))
    page.goto(make(server, session, "Ada"))
    expect_joined(page)
    assert len(addresses) > 3 and not any("T1" in each for each in addresses)


def test_after_leaving_the_link_joins_again_or_is_put_aside(open_page, server, session):
    page = open_page(with_tools(link(server, session, "Ada")))
    expect_joined(page)
    page.get_by_role("button", name="Leave").click()
    page.get_by_role("button", name="Join", exact=True).click()
    expect_joined(page)
    page.get_by_role("button", name="Leave").click()
    page.get_by_role("button", name="Use another session").click()
    expect(page.get_by_label("Session ID")).to_be_visible()
    page.reload()
    expect(page.get_by_label("Session ID")).to_be_visible()


def test_a_link_in_the_address_bar_of_an_open_page_is_taken(open_page, server, session):
    page = open_page(server.url + "/")
    expect_sentence(page, "To open a chat, use the link that you were given.")
    page.evaluate("address => { location.href = address; }", link(server, session, "Ada"))
    expect_joined(page)


def test_a_broken_link_gets_a_sentence(open_page, server, session):
    """`page-link.test.js` has the ways in which a link is broken."""
    page = open_page(token_link(server, session, "Ada").split("&token=")[0])
    expect_sentence(page, "This link is not complete. Ask for it again, and copy all of it.")
    assert page.url == server.url + "/"


def test_an_expired_link_says_so(open_page, server, session):
    """The server accepts clocks that differ by some seconds, so the token of this test is made in the past."""
    page = open_page(expired(server, session))
    expect_sentence(page, "Your link has expired. Ask for a new one.")
    page = open_page(with_tools(expired(server, session)))
    expect(alert(page)).to_have_text("Your link has expired. Ask for a new one.")
    expect(page.get_by_role("button", name="Use another session")).to_be_visible()


def expired(server, session):
    token = Project(KEY, SECRET).token(session, expire_time=1_700_000_000, create_time=1_690_000_000)
    fields = {"session": session, "key": KEY, "token": token}
    return f"{server.url}/#{urllib.parse.urlencode(fields)}"


def test_a_room_in_the_address_that_is_none_is_named(open_page, url):
    page = open_page(f"{url}/?room=no%20room!")
    expect(alert(page)).to_contain_text("The room in the address is not valid.")
    page.get_by_label("Your name").fill("Ada")
    page.get_by_role("button", name="Join").click()
    expect_joined(page)


def test_a_server_that_is_no_signalbox_is_named(open_page, url):
    page = open_page("about:blank")
    page.route("**/livez", lambda route: route.fulfill(body="<!doctype html>hello"))
    page.goto(url + "/")
    expect(alert(page)).to_contain_text("it is not a Signalbox server")
    page.unroute("**/livez")
    page.get_by_role("button", name="Try again").click()
    expect(page.get_by_label("Room", exact=True)).to_be_visible()


def test_the_page_works_without_tls_in_a_local_network(playwright_driver, server, session):
    """Such a page is not secure: browsers switch off the clipboard, `crypto.randomUUID` and more."""
    browser = playwright_driver([f"--host-resolver-rules=MAP {HOST} 127.0.0.1"])
    try:
        users = []
        for name in ("Ada", "Bob"):
            page = make_patient(browser.new_context()).new_page()
            page.complaints = []
            page.on("pageerror", lambda error: page.complaints.append(str(error)))
            address = server.url.replace("127.0.0.1", HOST)
            page.goto(with_tools(link(server, session, name, url=address)))
            assert page.evaluate("isSecureContext") is False
            assert page.evaluate("navigator.clipboard === undefined && crypto.randomUUID === undefined")
            users.append(expect_joined(page))
        ada, bob = users
        ada.send("hello")
        bob.expect_messages("hello")
        ada.open_inspector()
        ada.log("connected").first.click()
        ada.page.evaluate(NOTE_TEXTS, "frame-copy")
        ada.page.locator("#frame-copy").click()
        ada.page.wait_for_function("() => copied.includes('Copied')")
        assert ada.page.complaints == [] and bob.page.complaints == []
    finally:
        browser.close()


def test_copy_link_copies_the_rooms_address(open_page, url, room):
    ada = User.join(open_page, url, room, "Ada")
    ada.page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    ada.page.evaluate(NOTE_TEXTS, "invite")
    ada.page.get_by_role("button", name="Copy link").click()
    ada.page.wait_for_function("() => copied.includes('Link copied')")
    assert ada.page.evaluate("navigator.clipboard.readText()") == f"{url}/?room={room}"
