"""A room that remembers: over a closed browser, a killed server, a long history and a long absence."""

import pathlib
import re
import tempfile

import pytest
from conftest import Server
from playwright.sync_api import expect
from relay import Relay
from user import MESSAGE_ROWS, User

# A connection without a network is gone after a second, and soon the server can replay nothing that it missed: so a
# long absence is a short test.
WINDOWS = ("--resume-seconds", "1", "--log-events", "100")
PHONE = {"width": 390, "height": 844}
# Several pages of history.
COUNT = 400

# Sends chat messages as another connection of the room, and waits until the server has them all.
WRITE = """
async ([room, texts]) => {
  const { apiKey, sessionId, token } = await (await fetch(`/room/${room}?data=Writer`)).json();
  const socket = new WebSocket(`ws://${location.host}/v1/signaling`, 'signalbox.v1');
  await new Promise((resolve) => socket.addEventListener('open', resolve));
  const lines = texts.map((text, index) => JSON.stringify(
    { op: 'signal', id: index + 2, type: 'text-chat', data: JSON.stringify({ text, sender: { alias: 'Writer' } }) }));
  const acknowledged = new Promise((resolve) => {
    let count = 0;
    socket.addEventListener('message', ({ data }) => {
      count += data.split('\\n').filter((line) => line.includes('"ev":"ack"')).length;
      if (count >= texts.length) resolve();
    });
  });
  socket.send(JSON.stringify({ op: 'connect', id: 1, apiKey, sessionId, token }));
  await new Promise((resolve) => socket.addEventListener('message', resolve, { once: true }));
  for (let start = 0; start < lines.length; start += 100) socket.send(lines.slice(start, start + 100).join('\\n'));
  await acknowledged;
  socket.close(1000);
}
"""


@pytest.fixture
def keeping_servers(require_server):
    """Servers that continue the same state folder, one after the other."""
    servers = []
    with tempfile.TemporaryDirectory() as folder:

        def start():
            servers.append(Server("--state-dir", folder, *WINDOWS))
            return servers[-1]

        yield start
        for server in servers:
            server.stop()


def write(user, room, texts):
    user.page.evaluate(WRITE, [room, texts])


def texts_of(user):
    return [text.strip() for text in user.page.locator(f"{MESSAGE_ROWS} .bubble").all_text_contents()]


def scroll_to_the_beginning(user):
    """Page after page."""
    beginning = user.page.locator("#messages [data-kind=beginning]")
    while beginning.count() == 0:
        before = len(texts_of(user))
        # As a user who goes on scrolling: the list may put the place right once more after the last page.
        user.page.wait_for_function(
            """count => {
                 const root = document.getElementById('chat').shadowRoot;
                 root.getElementById('messages-scroll').scrollTop = 0;
                 return root.querySelectorAll('.bubble').length > count || root.querySelector('[data-kind=beginning]');
               }""",
            arg=before,
        )


def test_his_3_his_5_who_comes_later_reads_what_was_written_before(open_page, keeping_servers, room, screenshots):
    first = keeping_servers()
    relay = Relay(first.url)
    ada = User.join(open_page, relay.url, room, "Ada")
    write(ada, room, [f"message {number}" for number in range(COUNT)])
    ada.send("See you tomorrow")
    expect(ada.row("See you tomorrow")).to_have_attribute("data-state", "sent")
    ada.page.close()

    first.process.kill()
    first.process.wait()
    relay.cut()
    relay.route_to(keeping_servers().url)
    relay.restore()

    bob = User.join(open_page, relay.url, room, "Bob", viewport=PHONE)
    expect(bob.bubble("See you tomorrow")).to_be_visible()
    expect(bob.bubble(f"message {COUNT - 1}")).to_be_visible()
    bob.page.screenshot(path=pathlib.Path(screenshots) / "remembering-phone.png")

    scroll_to_the_beginning(bob)
    assert texts_of(bob) == [f"message {number}" for number in range(COUNT)] + ["See you tomorrow"]

    bob.page.complaints.clear()
    relay.stop()


def test_his_4_a_long_absence_leaves_no_gap(open_page, keeping_servers, room, screenshots):
    server = keeping_servers()
    tunnel = Relay(server.url)
    eve = User.join(open_page, server.url, room, "Eve")
    bob = User.join(open_page, tunnel.url, room, "Bob")
    eve.send("Before the tunnel")
    expect(bob.bubble("Before the tunnel")).to_be_visible()
    tunnel.cut()
    # The server has given Bob's connection up, and cannot replay what he misses.
    expect(eve.page.locator("#participants")).not_to_contain_text("Bob")
    write(eve, room, [f"missed {number}" for number in range(260)])
    eve.send("After the tunnel")
    expect(eve.row("After the tunnel")).to_have_attribute("data-state", "sent")
    tunnel.restore()
    expect(bob.page.locator("#status-text")).to_have_text("Connected")
    expect(bob.bubble("After the tunnel")).to_be_visible()
    expect(bob.page.locator("#messages [data-kind=gap]")).to_have_count(0)
    expected = ["Before the tunnel"] + [f"missed {number}" for number in range(260)] + ["After the tunnel"]
    bob.page.wait_for_function(
        "count => document.getElementById('chat').shadowRoot.querySelectorAll('.bubble').length === count",
        arg=len(expected),
    )
    assert texts_of(bob) == expected
    bob.page.screenshot(path=pathlib.Path(screenshots) / "remembering-tunnel.png")
    bob.page.complaints.clear()
    tunnel.stop()


def choose(user, text, command):
    """Opens the menu of a message, and chooses a command."""
    bubble = user.page.locator(".bubble", has_text=re.compile(f"^{re.escape(text)}$"))
    bubble.hover()
    # A row that quotes the message has its text, too.
    user.page.locator(MESSAGE_ROWS, has=bubble).locator(".row-menu").click()
    user.page.get_by_role("menuitem", name=command).click()


def rewrite(user, text):
    """Replaces the text in the open editor, and saves it."""
    user.page.locator(".editor textarea").fill(text)
    user.page.locator(".editor textarea").press("Enter")


def test_c1_edits_deletes_and_quotes_survive_a_pulled_cable_and_a_killed_server(open_page, keeping_servers, room):
    first = keeping_servers()
    relay, cable = Relay(first.url), Relay(first.url)
    ada = User.join(open_page, relay.url, room, "Ada")
    bob = User.join(open_page, cable.url, room, "Bob")
    for text in ("Shall we meat on Tuesday?", "My number is 555"):
        ada.send(text)
        expect(ada.row(text)).to_have_attribute("data-state", "sent")
        expect(bob.bubble(text)).to_be_visible()
    choose(bob, "Shall we meat on Tuesday?", "Reply")
    bob.send("Yes, at nine")
    expect(bob.row("Yes, at nine")).to_have_attribute("data-state", "sent")

    # Bob's cable is out for longer than the server keeps what he misses.
    cable.cut()
    choose(ada, "Shall we meat on Tuesday?", "Edit")
    rewrite(ada, "Shall we meet on Tuesday?")
    expect(ada.page.locator(".edited")).to_be_visible()
    write(ada, room, [f"filler {number}" for number in range(120)])
    expect(ada.bubble("filler 119")).to_be_visible()
    cable.restore()
    expect(bob.bubble("filler 119")).to_be_visible()
    expect(bob.bubble("Shall we meet on Tuesday?")).to_be_visible()
    expect(bob.bubble("Shall we meat on Tuesday?")).to_have_count(0)

    first.process.kill()
    first.process.wait()
    second = keeping_servers()
    for each in (relay, cable):
        each.cut()
        each.route_to(second.url)
        each.restore()
    choose(ada, "My number is 555", "Delete this message…")
    ada.page.get_by_role("dialog").get_by_role("button", name="Delete").click()
    for user in (ada, bob):
        expect(user.bubble("This message was deleted.")).to_be_visible()
        expect(user.bubble("My number is 555")).to_have_count(0)

    # Who comes later sees the same.
    eve = User.join(open_page, relay.url, room, "Eve")
    scroll_to_the_beginning(eve)
    expect(eve.bubble("Shall we meet on Tuesday?")).to_be_attached()
    expect(eve.bubble("This message was deleted.")).to_be_attached()
    expect(eve.row("Yes, at nine").locator(".quote")).to_contain_text("Shall we meet on Tuesday?")
    for user in (ada, bob):
        # The cable was out, and the server was gone.
        user.page.complaints.clear()
    for each in (relay, cable):
        each.stop()
