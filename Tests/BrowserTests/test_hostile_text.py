"""Text of other users is never markup, whether it is typed into a page or sent by a hostile program."""

import json

from conftest import REPOSITORY
from playwright.sync_api import expect
from user import User

TEXTS = json.loads((REPOSITORY / "Tests/Vectors/hostile/texts.json").read_text())["texts"]
# So many are shown before a test goes on.
AT_ONCE = 10
MARKUP = (
    "img, svg, script, iframe, details:not(.intervals), math, style, meta, base, object, x, form form, noscript, video, audio, "
    "embed, link, template, marquee, dialog, custom-element, frameset, portal, slot, "
    # The page makes links of addresses itself.
    "a:not([target=_blank][rel='noopener noreferrer']:is([href^='http://'], [href^='https://']))"
)

RAW_PEER = """async ({ access, signals }) => {
  const socket = new WebSocket(location.origin.replace('http', 'ws') + '/v1/signaling', 'signalbox.v1');
  const received = [];
  let wake = () => {};
  socket.onmessage = ({ data }) => {
    const events = data.trim().split('\\n').map((line) => JSON.parse(line));
    // A client that answers no ping is soon gone.
    if (events.some(({ ev }) => ev === 'ping')) socket.send(JSON.stringify({ op: 'pong' }));
    received.push(...events);
    wake();
  };
  const answer = async (id) => {
    for (;;) {
      const found = received.find((each) => each.id === id);
      if (found) return found;
      await new Promise((resolve) => (wake = resolve));
    }
  };
  await new Promise((resolve) => (socket.onopen = resolve));
  socket.send(JSON.stringify({ op: 'connect', id: 1, ...access }));
  if ((await answer(1)).ev !== 'connected') throw new Error('not connected');
  let id = 1;
  for (const signal of signals) {
    id += 1;
    socket.send(JSON.stringify({ op: 'signal', id, ...signal }));
    const { ev, code } = await answer(id);
    if (ev !== 'ack') throw new Error(`${ev} ${code}`);
  }
  return id;
}"""


def send_raw(open_page, url, room, signals, *names):
    """Joins with clients that use the protocol without the library, one for each name, and sends signals that the page
    would not send."""
    page = open_page(url + "/", is_warm=True)
    join_raw(page, room, signals, names or [""])
    return page


def join_raw(page, room, signals, names):
    """The same, from a page of the server."""
    page.evaluate(
        """async ({ room, signals, names }) => {
             const join = RAW_PEER;
             for (const name of names) {
               const answer = await fetch(`/room/${room}?data=${encodeURIComponent(name)}`);
               await join({ access: await answer.json(), signals });
             }
           }""".replace("RAW_PEER", RAW_PEER),
        {"room": room, "signals": signals, "names": names},
    )


def expect_no_markup(user):
    for part in ("#messages", "#participants", "#typing", "#log", "#signal-target", ".pane-head", "#room-name"):
        assert user.page.locator(part).locator(MARKUP).count() == 0, part
    assert "broken in" not in user.page.title()


def test_typed_text_is_never_markup(open_page, url, room):
    ada = User.join(open_page, url, room, "Ada")
    bob = User.join(open_page, url, room, TEXTS[0])
    ada.open_inspector()
    for start in range(0, len(TEXTS), AT_ONCE):
        # As a user who types and presses Enter, without a way to the browser for each key.
        texts = TEXTS[start : start + AT_ONCE]
        bob.page.locator("#composer-text").evaluate(
            """(box, texts) => {
                 for (const text of texts) {
                   box.value = text;
                   box.dispatchEvent(new InputEvent('input', { bubbles: true, composed: true }));
                   box.form.requestSubmit();
                 }
               }""",
            texts,
        )
        for user in (ada, bob):
            expect(user.page.locator(".bubble")).to_have_count(start + len(texts))
    for user in (ada, bob):
        assert user.page.locator(".bubble").all_text_contents() == TEXTS
        expect_no_markup(user)


def test_received_text_is_never_markup(open_page, url, room):
    ada = User.join(open_page, url, room, "Ada")
    ada.open_inspector()
    page = open_page(url + "/", is_warm=True)
    for start in range(0, len(TEXTS), AT_ONCE):
        texts = TEXTS[start : start + AT_ONCE]
        signals = []
        for index, text in enumerate(texts):
            chat = {"text": text, "sender": {"id": text, "alias": text}, "localId": f"{index} {text[:50]}"}
            signals.append({"type": "TextChat", "data": text})
            signals.append({"type": "text-chat", "data": json.dumps(chat)})
            signals.append({"type": "typing", "data": json.dumps({"action": text})})
            signals.append({"data": text})
        join_raw(page, room, signals, [""])
        expect(ada.page.locator(".bubble")).to_have_count(2 * (start + len(texts)))
    assert ada.page.locator(".bubble").all_text_contents() == [text for text in TEXTS for _ in range(2)]
    expect_no_markup(ada)


def test_addresses_in_a_message_are_links_that_give_nothing_away(open_page, url, room):
    ada = User.join(open_page, url, room, "Ada")
    bob = User.join(open_page, url, room, "Bob")
    text = "see https://example.org/a?b=1, not javascript:alert(1) or data:text/html,x"
    bob.send(text)
    for user in (ada, bob):
        user.expect_messages(text)
        link = user.page.locator(".bubble a")
        expect(link).to_have_count(1)
        expect(link).to_have_text("https://example.org/a?b=1")
        expect(link).to_have_attribute("href", "https://example.org/a?b=1")
        expect(link).to_have_attribute("target", "_blank")
        expect(link).to_have_attribute("rel", "noopener noreferrer")


def test_marks_before_a_link_do_not_reverse_it(open_page, url, room):
    """Where the browser draws the pieces, from left to right: the link, and its host before its path."""
    ada = User.join(open_page, url, room, "Ada")
    send_raw(open_page, url, room, [
        {"type": "TextChat", "data": "\u202e https://example.org/path"},
        {"type": "TextChat", "data": "שלום https://אב.גד/הו/example.org"},
    ])
    links = ada.page.locator(".bubble a")
    expect(links).to_have_count(2)
    for pieces in links.evaluate_all(DRAWN):
        assert pieces == sorted(pieces), pieces


# The left edges of the scheme, the host and the rest.
DRAWN = """(links) => links.map((link) => [...link.childNodes].map((piece) => {
  const range = document.createRange();
  range.selectNodeContents(piece);
  return range.getBoundingClientRect().left;
}))"""


def test_a_name_is_never_markup(open_page, url, room):
    ada = User.join(open_page, url, room, "Ada")
    ada.open_inspector()
    ada.hold_typing()
    typing = {"type": "typing", "data": '{"action":"begin","n":1}', "onlineOnly": True}
    # The connection data is part of a URL here, which has no control characters.
    names = [text for text in TEXTS if text.isprintable()]
    assert len(names) > 60
    page = open_page(url + "/", is_warm=True)
    for start in range(0, len(names), AT_ONCE):
        some = names[start : start + AT_ONCE]
        join_raw(page, room, [{"type": "TextChat", "data": "hello"}, typing], some)
        expect(ada.page.locator(".bubble")).to_have_count(start + len(some))
    expect(ada.page.locator("#participants .participant-name")).to_have_count(1 + len(names))
    expect(ada.page.locator("#typing-text")).to_contain_text("typing…")
    expect_no_markup(ada)


def test_a_type_is_never_markup(open_page, url, room):
    """The server refuses most of these types. The inspector shows what the user entered, and the refusal."""
    ada = User.join(open_page, url, room, "Ada")
    ada.open_inspector()
    ada.send_signal("first", "line")
    ada.page.evaluate(
        """(texts) => {
             const [type, data] = ['signal-type', 'signal-data'].map((id) => document.getElementById(id));
             for (const text of texts) {
               [type.value, data.value] = [text, text];
               type.form.requestSubmit();
             }
           }""",
        TEXTS,
    )
    ada.send_signal(type="last", data="line")
    expect(ada.log("last").first).to_be_visible()
    expect_no_markup(ada)
    ada.page.complaints.clear()


def test_the_policy_of_the_page_stops_a_script_that_forgets_to_escape(open_page, url):
    """With trusted types, text becomes neither markup nor code, even where a program asks for it."""
    page = open_page(url + "/")
    for forgetful in (
        "document.body.innerHTML = '<img src=x onerror=1>'", "document.write('<b>x</b>')",
        "document.body.insertAdjacentHTML('beforeend', '<b>x</b>')", "setTimeout('document.title = 1', 0)",
        "document.createElement('script').text = '1'", "document.createElement('script').src = '/main.js'",
        "document.createElement('iframe').srcdoc = '<b>x</b>'", "trustedTypes.createPolicy('mine', {})",
        "new DOMParser().parseFromString('<b>x</b>', 'text/html')",
    ):  # fmt: skip
        outcome = page.evaluate(
            f"() => {{ try {{ {forgetful}; return 'done'; }} catch (error) {{ return error.name; }} }}"
        )
        assert outcome == "TypeError", forgetful
    page.complaints.clear()
