"""The inspector: every line on the socket, with a filter, a pause, and an export."""

import json

from playwright.sync_api import expect
from user import User

# Gives the page lines of its socket, as if the server had sent them.
LINES = """([first, count]) => {
  for (let n = first; n < first + count; n += 1) {
    const line = { ev: 'signal', seq: 1000 + n, from: null, type: n % 2 ? 'odd' : 'even', data: `line ${n}` };
    socket.dispatchEvent(new MessageEvent('message', { data: JSON.stringify(line) }));
  }
  return new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)));
}"""
KEEP_SOCKET = """
const Plain = WebSocket;
window.WebSocket = class extends Plain { constructor(...args) { super(...args); window.socket = this; } };
"""


def test_a_line_shows_seq_type_ends_and_size_and_opens_as_json(open_page, url, room, screenshots):
    ada = User.join(open_page, url, room, "Ada")
    bob = User.join(open_page, url, room, "Bob")
    bob.open_inspector()
    ada.open_inspector()
    ada.expect_participants("Ada", "Bob")
    ada.send_signal("note", '{"a":[1]}', to="Bob")
    line = bob.received("signal:note")
    expect(line).to_contain_text("Ada → Bob")
    expect(line.locator(".log-seq")).to_have_text("#3")
    size = int(line.locator(".log-size").inner_text().split()[0])
    line.click()
    frame = json.loads(bob.page.locator("#frame-text").inner_text())
    assert (frame["ev"], frame["seq"], frame["data"]) == ("signal", 3, '{"a":[1]}')
    bob.page.get_by_text("Raw line").click()
    assert len(bob.page.locator("#frame-raw").inner_text().encode()) == size
    bob.page.screenshot(path=screenshots / "inspector-frame.png")
    bob.page.locator("#log").focus()
    bob.page.keyboard.press("Home")
    expect(bob.page.locator("#frame-title")).to_contain_text("connect")
    bob.page.keyboard.press("Escape")
    expect(bob.page.locator("#frame")).to_be_hidden()


def test_the_inspector_and_its_export_have_no_token(open_page, url, room):
    page = open_page("about:blank")
    token = []
    page.on("response", lambda answer: "/room/" in answer.url and token.append(answer.json()["token"]))
    page.goto(f"{url}/?room={room}")
    page.get_by_role("button", name="Join").click()
    expect(page.locator("#status-text")).to_have_text("Connected")
    page.get_by_role("button", name="Inspector").click()
    for name in ("connect", "connected"):
        page.locator("#log .log-line .log-name").get_by_text(name, exact=True).click()
        expect(page.locator("#frame-text")).to_contain_text("(hidden)")
    with page.expect_download() as download:
        page.get_by_role("button", name="Export").click()
    text = open(download.value.path()).read()
    lines = [json.loads(line) for line in text.splitlines()]
    assert [line["type"] for line in lines][:2] == ["connect", "connected"]
    assert lines[0]["frame"]["token"] == "(hidden)"
    assert token and token[0] not in text


def test_filter_and_pause(open_page, url, room):
    ada = User.join(open_page, url, room, "Ada")
    ada.open_inspector()
    for text in ("apple", "pear"):
        ada.send_signal("fruit", text)
    # Each is listed twice: sent, and received.
    expect(ada.log("signal:fruit")).to_have_count(4)
    ada.page.get_by_label("Filter events").fill("FRUIT pear")
    expect(ada.page.locator("#log .log-line")).to_have_count(2)
    expect(ada.page.locator("#log-count")).to_contain_text("2 of ")
    ada.page.get_by_role("button", name="Pause").click()
    ada.send_signal("fruit", "another pear")
    expect(ada.page.locator("#log-count")).to_contain_text("waiting")
    expect(ada.page.locator("#log .log-line")).to_have_count(2)
    ada.page.get_by_role("button", name="Pause").click()
    expect(ada.page.locator("#log .log-line")).to_have_count(4)
    ada.page.get_by_role("button", name="Clear").click()
    expect(ada.page.locator("#log .log-line")).to_have_count(0)


def test_of_many_events_only_those_in_the_view_are_in_the_document(open_page, url, room):
    page = open_page("about:blank")
    page.add_init_script(KEEP_SOCKET)
    page.goto(f"{url}/?room={room}")
    page.get_by_role("button", name="Join").click()
    expect(page.locator("#status-text")).to_have_text("Connected")
    page.evaluate(LINES, [0, 2000])
    assert page.locator("#log .log-line").count() == 0, "a closed inspector costs nothing"
    page.get_by_role("button", name="Inspector").click()
    page.evaluate(LINES, [2000, 10_000])
    expect(page.locator("#log .log-line").last).to_contain_text("line 11999")
    assert page.locator("#log .log-line").count() < 100
    expect(page.locator("#log-count")).to_contain_text("older ones removed")
    page.locator("#log").evaluate("each => { each.scrollTop = each.scrollHeight / 2; }")
    expect(page.locator("#log .log-line").last).not_to_contain_text("line 11999")
    assert 20 < page.locator("#log .log-line").count() < 100
    page.get_by_label("Filter events").fill("seq:12999")
    expect(page.locator("#log .log-line")).to_have_count(1)
