"""How the page loads: few requests, and an answer for each failure."""

import pathlib
import re

from conftest import REPOSITORY
from playwright.sync_api import expect

ANSWER_MILLISECONDS = 8000
DIST = REPOSITORY / "web-test-client/dist"


def test_the_form_needs_at_most_four_requests_and_20_kilobytes(open_page, url):
    page = open_page("about:blank")
    cdp = page.context.new_cdp_session(page)
    cdp.send("Network.enable")
    addresses, sizes = {}, []
    cdp.on("Network.requestWillBeSent", lambda each: addresses.setdefault(each["requestId"], each["request"]["url"]))
    cdp.on("Network.loadingFinished", lambda each: sizes.append((addresses[each["requestId"]], each["encodedDataLength"])))
    # The room loads behind the form. It waits here, so that only what the form needs is counted.
    page.route("**/page-room-*.js", lambda route: None)
    page.goto(url + "/")
    expect(page.get_by_label("Room", exact=True)).to_be_visible()
    needed = [(address, size) for address, size in sizes if "page-room-" not in address]
    assert len(needed) <= 4, needed
    assert sum(size for _, size in needed) <= 20_000, needed


def test_files_named_by_their_content_are_kept_and_the_page_is_checked_each_time(open_page, url):
    page = open_page("about:blank")
    answers = []
    page.on("response", lambda answer: answers.append(answer))
    page.goto(url + "/")
    page.get_by_label("Room", exact=True).wait_for()
    kept = {pathlib.PurePath(each.url).name: each for each in answers if "/dist/page-" in each.url}
    assert len(kept) >= 2
    for name, answer in kept.items():
        assert answer.header_value("cache-control") == "public, max-age=31536000, immutable", name
        assert answer.header_value("content-encoding") == "gzip", name
        assert answer.text() == (DIST / name).read_text()
    document = next(each for each in answers if each.url == url + "/")
    assert document.header_value("cache-control") == "no-cache"
    assert document.header_value("vary") == "Accept-Encoding"


def test_the_modules_also_work_without_a_bundle(open_page, url, room):
    page = open_page(f"{url}/index.html?room={room}")
    page.get_by_role("button", name="Join").click()
    expect(page.locator("#status-text")).to_have_text("Connected")


def test_an_absent_server_gets_a_form_that_asks_again(open_page, url):
    page = open_page("about:blank")
    # Only the test lets time pass: the page would give up before a slow test has looked.
    page.clock.install(time=0)
    page.clock.pause_at(1000)
    is_frozen = True
    page.route("**/livez", lambda route: None if is_frozen else route.continue_())
    page.goto(url + "/")
    page.clock.fast_forward(500)
    expect(page.get_by_role("button", name="Waiting…")).to_be_disabled()
    page.clock.fast_forward(ANSWER_MILLISECONDS)
    expect(page.get_by_role("alert")).to_contain_text("The server does not answer.")
    is_frozen = False
    page.get_by_role("button", name="Try again").click()
    expect(page.get_by_label("Room", exact=True)).to_be_visible()
    expect(page.get_by_role("alert")).to_be_hidden()
    page.complaints.clear()


def test_a_joiner_before_a_frozen_server_can_try_again_or_cancel(open_page, url, room):
    """One part of the server freezes after the other: the tokens, and then the socket."""
    page = open_page("about:blank")
    page.clock.install()
    frozen = {"room", "socket"}
    page.route("**/room/*", lambda route: None if "room" in frozen else route.continue_())
    page.route_web_socket(
        re.compile("/v1/signaling"), lambda socket: None if "socket" in frozen else socket.connect_to_server()
    )
    page.goto(f"{url}/?room={room}")
    join = page.get_by_role("button", name="Join", exact=True)
    again = page.get_by_role("button", name="Try again")
    for part in ("room", "socket"):
        (join if part == "room" else again).click()
        expect(page.get_by_role("button", name="Joining…")).to_be_disabled()
        page.get_by_role("button", name="Cancel").click()
        expect(join).to_be_enabled()
        expect(page.get_by_role("alert")).to_be_hidden()
        join.click()
        expect(page.get_by_role("button", name="Joining…")).to_be_disabled()
        page.clock.run_for(ANSWER_MILLISECONDS + 100)
        expect(page.get_by_role("alert")).to_contain_text("does not answer")
        expect(again).to_be_enabled()
        frozen.discard(part)
    again.click()
    page.clock.run_for(1000)
    expect(page.locator("#status-text")).to_have_text("Connected")
    page.complaints.clear()
