"""The page of the admin listener, with a real server and its sessions."""

import json
import re
import urllib.parse

import pytest
from conftest import READY, Server
from playwright.sync_api import expect
from test_accessibility import LOW_CONTRAST, NAMELESS, assert_contrast
from user import User
from waiting import free_port


class AdminServer(Server):
    """A server with an admin listener. `admin` is its URL."""

    def __init__(self, *arguments):
        super().__init__("--admin-port", "0", *arguments)

    def _wait_until_ready(self, lines):
        url = super()._wait_until_ready(lines)
        self.admin = READY.search(lines.get(timeout=60))[0].rstrip("/")
        return url


@pytest.fixture(scope="module")
def server(require_server):
    server = AdminServer()
    yield server
    server.stop()


def session_of(page, server, room):
    return page.request.get(f"{server.url}/room/{room}").json()["sessionId"]


def test_an_operator_sees_a_session_and_disconnects_a_client(open_page, server, room, screenshots):
    ada = User.join(open_page, server.url, room, "Ada")
    bob = User.join(open_page, server.url, room, "Bob")
    page = open_page(server.admin)
    session = session_of(page, server, room)
    expect(page.locator("#status")).to_have_text(re.compile("^Running for"))
    expect(page.get_by_role("group", name="Connections", exact=True).locator(".value")).to_have_text("2")
    page.get_by_role("link", name=session).click()
    detail = page.get_by_role("region", name=room)
    expect(detail.locator("#members tbody tr")).to_have_count(2)
    expect(detail.get_by_role("cell", name="Bob", exact=True)).to_be_visible()
    ada.send("nobody but Bob may read this")
    bob.expect_messages("nobody but Bob may read this")
    expect(detail.locator("#events li").first).to_contain_text(re.compile(r"^\d+\s+signal to all\s+\d+ bytes$"))
    expect(page.locator("body")).not_to_contain_text("nobody but Bob")
    page.screenshot(path=screenshots / "admin.png", full_page=True)

    row = detail.locator("#members tbody tr", has_text="Bob")
    row.get_by_role("button", name="Disconnect Bob", exact=True).click()
    expect(page.get_by_role("dialog")).to_contain_text("Disconnect Bob? The client cannot resume")
    page.get_by_role("dialog").get_by_role("button", name="Cancel").click()
    expect(page.get_by_role("dialog")).to_be_hidden()
    expect(detail.locator("#members tbody tr")).to_have_count(2)
    row.get_by_role("button").click()
    page.get_by_role("dialog").get_by_role("button", name="Disconnect").click()
    expect(detail.locator("#members tbody tr")).to_have_count(1)
    expect(detail.get_by_role("cell", name="Ada", exact=True)).to_be_visible()
    page.get_by_role("button", name="Close").click()
    expect(detail).to_be_hidden()


def test_mod_7_an_operator_sees_what_holds_in_a_session_and_undoes_it(open_page, server, room):
    User.join(open_page, server.url, room, "Ada")
    page = open_page(server.admin)
    session = session_of(page, server, room)
    moderation = f"{server.admin}/admin/v1/sessions/{urllib.parse.quote(session)}/moderation"
    page.get_by_role("link", name=session).click()
    detail = page.get_by_role("region", name=room)
    expect(detail).to_contain_text("Nobody is muted or banned")
    reason = "<b>Please</b> stay on topic"
    headers = {"Content-Type": "application/json"}
    for action in ({"action": "mute", "user": "u-17", "seconds": 600, "reason": reason}, {"action": "freeze"}):
        answer = page.request.post(moderation, data=json.dumps(action), headers=headers)
        assert answer.status == 200, answer.text()
    rows = detail.locator("#held tbody tr")
    expect(rows).to_have_count(2)
    muted = rows.filter(has_text="user u-17")
    expect(muted).to_contain_text(reason)
    expect(muted).to_contain_text("a backend")
    muted.get_by_role("button", name="Undo: muted, user u-17").click()
    dialog = page.get_by_role("dialog")
    expect(dialog).to_contain_text("Undo: muted, user u-17?")
    dialog.get_by_role("button", name="Cancel").click()
    expect(rows).to_have_count(2)
    muted.get_by_role("button").click()
    dialog.get_by_role("button", name="Undo").click()
    expect(rows).to_have_count(1)
    rows.get_by_role("button", name="Undo: frozen, the session").click()
    dialog.get_by_role("button", name="Undo").click()
    expect(rows).to_have_count(0)
    assert page.request.get(moderation).json()["restrictions"] == []
    assert page.evaluate(NAMELESS) == [] and page.evaluate(LOW_CONTRAST) == []


def test_his_3_an_operator_finds_who_sleeps_and_bans_and_erases_there(open_page, require_server, room, screenshots):
    # Nobody has to wait until the client could come back no more.
    server = AdminServer("--resume-seconds", "1", "--recovery-seconds", "1")
    try:
        ada = User.join(open_page, server.url, room, "Ada")
        ada.send("nobody may read this on the admin page")
        ada.expect_messages("nobody may read this on the admin page")
        ada.page.close()
        page = open_page(server.admin)
        session = session_of(page, server, room)
        moderation = f"{server.admin}/admin/v1/sessions/{urllib.parse.quote(session)}/moderation"
        page.get_by_label("Show").select_option("asleep")
        row = page.locator("#sleepers tbody tr", has_text=room)
        expect(row.get_by_role("cell", name="messages", exact=True)).to_be_visible()
        expect(page.locator("#range")).to_have_text("1–1")
        expect(page.locator("#sleepers-note")).to_contain_text("Nobody is in these sessions")
        page.screenshot(path=screenshots / "admin-asleep.png", full_page=True)
        page.get_by_role("link", name=session).click()
        detail = page.get_by_role("region", name=f"{room} (nobody is here)")
        expect(detail).to_contain_text("It sleeps until a client joins.")
        expect(detail.locator("#members")).to_be_hidden()
        expect(detail.locator("#events")).to_be_hidden()

        # Cancelled, and then confirmed.
        dialog = page.get_by_role("dialog")
        detail.get_by_label("User ID").fill("mallory")
        detail.get_by_label("Duration").select_option("1 day")
        detail.get_by_label("Reason").fill("<b>Spam</b>")
        detail.get_by_role("button", name="Ban").click()
        expect(dialog).to_contain_text("Ban user mallory for 1 day? The user's connections")
        expect(dialog).to_contain_text("The user reads the reason: “<b>Spam</b>”")
        dialog.get_by_role("button", name="Cancel").click()
        expect(dialog).to_be_hidden()
        assert page.request.get(moderation).json()["restrictions"] == []
        detail.get_by_role("button", name="Ban").click()
        dialog.get_by_role("button", name="Ban").click()
        expect(page.locator("#act-done")).to_have_text("Banned user mallory.")
        held = page.locator("#held tbody tr")
        expect(held).to_have_count(1)
        expect(held).to_contain_text("<b>Spam</b>")
        page.get_by_label("User ID").fill("u-18")
        page.get_by_role("button", name="Mute").click()
        dialog.get_by_role("button", name="Mute").click()
        expect(held).to_have_count(2)
        expect(held.filter(has_text="user u-18")).to_contain_text("undone")
        expect(held.filter(has_text="user u-18")).not_to_contain_text("Spam")

        # The actions have woken it. It sleeps again, is found by who is banned, and the view tells so.
        page.get_by_label("Search").fill("MALLORY")
        expect(row).to_contain_text("messages, 2 restrictions")
        expect(detail).to_be_visible()
        page.screenshot(path=screenshots / "admin-banned.png", full_page=True)
        held.filter(has_text="user mallory").get_by_role("button", name="Undo").click()
        dialog.get_by_role("button", name="Undo").click()
        expect(held).to_have_count(1)
        page.get_by_label("Search").fill("")
        expect(row).to_contain_text("1 restriction")
        page.get_by_label("User ID").fill("u-19")
        page.get_by_role("button", name="Erase messages").click()
        expect(dialog).to_contain_text("Nothing brings them back.")
        dialog.get_by_role("button", name="Erase").click()
        expect(page.locator("#act-done")).to_have_text("Erased the messages of user u-19.")
        assert page.evaluate(NAMELESS) == [] and page.evaluate(LOW_CONTRAST) == []
        expect(page.locator("body")).not_to_contain_text("nobody may read")
        page.set_viewport_size({"width": 390, "height": 844})
        assert page.evaluate("document.documentElement.scrollWidth") <= 390
        assert page.evaluate("(e => e.scrollWidth <= e.clientWidth)(document.getElementById('held').parentElement)")
        page.screenshot(path=screenshots / "admin-asleep-phone.png", full_page=True)
        page.get_by_label("Show").select_option("awake")
        expect(page.locator("#sleepers")).to_be_hidden()
        expect(page.locator("#sessions")).to_be_visible()
    finally:
        server.stop()


def test_his_3_a_search_in_many_sleepers_goes_on(open_page, server):
    """The server's answer is replaced: it takes thousands of sleepers to make it say this."""
    asked = []

    def answer(route):
        query = dict(urllib.parse.parse_qsl(urllib.parse.urlsplit(route.request.url).query))
        if "asleep" not in query:
            return route.continue_()
        # Of 15,000 sessions one is found, the last but one.
        number = int(query.get("before", 30)) - 1
        asked.append(number)
        row = {"sessionId": "1_found", "label": "Found", "apiKey": "100", "lastSeq": 7, "hasHistory": True,
               "restrictions": 1, "asleep": True}  # fmt: skip
        page = {"items": [row] if number == 1 else []} | ({"next": str(number)} if number else {})
        route.fulfill(content_type="application/json", body=json.dumps(page))

    page = open_page("about:blank")
    page.route("**/admin/v1/sessions?**", answer)
    page.goto(server.admin)
    page.get_by_label("Show").select_option("asleep")
    following = page.get_by_role("button", name="Next", exact=True)
    for _ in range(2):
        # The button waits for the answer.
        following.click()
        expect(page.locator("#range")).to_have_text("none so far")
    expect(page.locator("#sleepers tbody tr")).to_have_text(re.compile("Found.*messages, 1 restriction"))
    expect(page.locator("#range")).to_have_text("1–1")
    expect(following).to_be_disabled()
    assert set(asked) == set(range(30))
    page.complaints.clear()


def test_an_operator_sees_which_backend_is_behind(open_page, server, room, screenshots):
    other = open_page(server.admin)
    expect(other.locator("#status")).to_have_text(re.compile("^Running for"))
    expect(other.locator("#backends")).to_be_hidden()
    # Nobody listens there.
    receiver = f"http://127.0.0.1:{free_port()}"
    pushing = AdminServer("--webhook-url", receiver, "--webhook-types", "all")
    try:
        User.join(open_page, pushing.url, room, "Ada")
        page = open_page(pushing.admin)
        backends = page.get_by_role("region", name="Backends")
        rows = backends.locator("tbody tr")
        expect(rows).to_have_text(re.compile(rf"^{re.escape(receiver)}\w+push0[1-9]\d*\d+ s$"))
        expect(rows.get_by_role("cell").first).to_have_text(receiver)

        # The server's answer is replaced: it takes weeks to be so far behind.
        name = "<b>an-archive</b>-" + 50 * "x"
        pull = {"apiKey": "100", "kind": "pull", "events": 1_234_567}
        items = [
            pull | {"name": name, "waitingEntries": 1000, "hasMore": True, "waitingSeconds": 90_061.5},
            pull | {"name": "a-search-engine", "isGone": True},
            pull | {"name": "a-backend", "waitingEntries": 0, "hasMore": False, "waitingSeconds": 0},
        ]
        page.route("**/admin/v1/feeds", lambda route: route.fulfill(json={"count": 3, "items": items}))
        cells = [
            [name, "100", "pull", "1,234,567", "1,000+", "1 d 1 h"],
            ["a-search-engine", "100", "pull", "1,234,567", "further than the feed reaches", ""],
            ["a-backend", "100", "pull", "1,234,567", "0", "0 s"],
        ]
        expect(rows).to_have_count(3)
        for number, texts in enumerate(cells):
            expect(rows.nth(number).get_by_role("cell")).to_have_text(texts)
        page.screenshot(path=screenshots / "admin-backends.png", full_page=True)
        assert page.evaluate(NAMELESS) == []
        assert_contrast(page)
        page.screenshot(path=screenshots / "admin-backends-dark.png", full_page=True)
        page.set_viewport_size({"width": 360, "height": 800})
        assert page.evaluate("document.documentElement.scrollWidth") <= 360
        assert backends.locator(".scroll").evaluate("e => e.scrollWidth <= e.clientWidth")
        page.screenshot(path=screenshots / "admin-backends-phone.png", full_page=True)
        items.clear()
        expect(backends).to_be_hidden()
    finally:
        pushing.stop()


def test_a_session_has_a_name_an_address_and_is_found_by_a_person(open_page, server, room):
    User.join(open_page, server.url, room, "Ada Lovelace")
    page = open_page(server.admin)
    session = session_of(page, server, room)
    link = page.get_by_role("link", name=session)
    expect(link).to_contain_text(room)
    for text, count in ((room.upper(), 1), ("lovelace", 1), (session, 1), ("nobody has this name", 0)):
        page.get_by_label("Search").fill(text)
        expect(page.get_by_role("link", name=session)).to_have_count(count)
    page.get_by_label("Search").fill("")
    link.click()
    detail = page.get_by_role("region", name=room)
    expect(detail).to_contain_text(session)
    address = page.url
    assert urllib.parse.quote(session) in address
    page.reload()
    expect(detail.get_by_role("cell", name="Ada Lovelace", exact=True)).to_be_visible()
    page.get_by_role("button", name="Close").click()
    expect(detail).to_be_hidden()
    assert "#" not in page.url
    page.go_back()
    expect(detail).to_be_visible()
    # Shared with a colleague.
    other = open_page(address)
    expect(other.get_by_role("region", name=room).get_by_role("cell", name="Ada Lovelace", exact=True)).to_be_visible()


def test_on_a_phone_the_sessions_come_first_and_nothing_is_wider_than_the_screen(open_page, server, room, screenshots):
    User.join(open_page, server.url, room, "Ada")
    page = open_page(server.admin, viewport={"width": 390, "height": 844})
    page.get_by_role("link", name=room).click()
    expect(page.locator("#members tbody tr")).to_have_count(1)
    tops = page.evaluate("['sessions', 'detail', 'numbers'].map((id) => document.getElementById(id).getBoundingClientRect().top)")
    assert tops == sorted(tops), "sessions, then the chosen one, then the numbers"
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    box = page.get_by_role("button", name="Disconnect Ada").bounding_box()
    assert box["x"] >= 0 and box["x"] + box["width"] <= 390
    for table in ("sessions", "members"):
        assert page.evaluate(f"(e => e.scrollWidth <= e.clientWidth)(document.getElementById('{table}').parentElement)")
    page.screenshot(path=screenshots / "admin-phone.png")


def test_each_control_has_a_name_and_each_text_enough_contrast(open_page, server, room, screenshots):
    User.join(open_page, server.url, room, "Ada")
    page = open_page(server.admin)
    page.get_by_role("link", name=session_of(page, server, room)).click()
    expect(page.locator("#members tbody tr")).to_have_count(1)
    assert page.evaluate(NAMELESS) == []
    assert_contrast(page)
    page.screenshot(path=screenshots / "admin-dark.png", full_page=True)
    page.locator("#members tbody button").click()
    assert page.evaluate(NAMELESS) == []


def test_ten_thousand_sessions_are_shown_a_page_at_a_time(open_page, server):
    """The server's answer is replaced: 10,000 clients would take too long."""

    def answer(route):
        query = dict(urllib.parse.parse_qsl(urllib.parse.urlsplit(route.request.url).query))
        offset, search = int(query["offset"]), query.get("search", "")
        numbers = [number for number in range(10_000) if search in f"session-{number}"]
        items = [
            {
                "sessionId": f"session-{number}", "apiKey": "100", "connections": 2, "detached": 0, "lastSeq": number,
                "logEvents": 1, "logBytes": 100, "eventsPerSecond": 0.5, "sentBytesPerSecond": 10_000 - number,
                "sentBytes": 1,
            }
            for number in numbers[offset : offset + int(query["limit"])]
        ]  # fmt: skip
        route.fulfill(content_type="application/json", body=json.dumps({"count": len(numbers), "items": items}))

    page = open_page("about:blank")
    page.route("**/admin/v1/sessions?**", answer)
    page.goto(server.admin)
    rows = page.locator("#sessions tbody tr")
    expect(rows).to_have_count(100)
    expect(page.locator("#range")).to_have_text("1–100 of 10,000")
    page.get_by_role("button", name="Next", exact=True).click()
    expect(rows.first).to_contain_text("session-100")
    page.get_by_label("Search").fill("session-99")
    expect(page.locator("#range")).to_have_text("1–100 of 111")
    # A new answer changes rows in place: the focus stays.
    link = page.get_by_role("link", name="session-9900")
    link.focus()
    with page.expect_response("**/admin/v1/sessions?**"):
        pass
    expect(link).to_be_focused()


def test_the_page_asks_for_the_token(open_page, require_server):
    server = AdminServer("--admin-token", "a token of the tests")
    try:
        page = open_page(server.admin)
        page.get_by_label("Admin token").fill("wrong")
        page.get_by_role("button", name="Sign in").click()
        expect(page.locator("#status")).to_contain_text("asks for the admin token")
        page.get_by_label("Admin token").fill("a token of the tests")
        page.get_by_role("button", name="Sign in").click()
        expect(page.locator("#status")).to_have_text(re.compile("^Running for"))
        expect(page.get_by_label("Admin token")).to_be_hidden()
        # The browser reports each response with status 401.
        assert all("401" in complaint for complaint in page.complaints)
        page.complaints.clear()
    finally:
        server.stop()


def test_the_page_goes_on_when_the_server_comes_back(open_page, require_server):
    # A port that nobody else gets while no server listens on it.
    port = str(free_port())
    first = Server("--admin-port", port)
    page = open_page(f"http://127.0.0.1:{port}")
    expect(page.locator("#status")).to_have_text(re.compile("^Running for"))
    first.stop()
    expect(page.locator("#status")).to_contain_text("Trying again")
    second = Server("--admin-port", port)
    try:
        expect(page.locator("#status")).to_have_text(re.compile("^Running for"))
        page.complaints.clear()
    finally:
        second.stop()
