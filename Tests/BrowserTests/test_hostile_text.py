"""Text of other users is never markup, whether it is typed into a page or sent by a hostile program."""

import json

import pytest
from playwright.sync_api import expect
from user import User

BREAK_IN = "document.title='broken in'"
TEXTS = [
    f'<img src=x onerror="{BREAK_IN}">',
    f"<script>{BREAK_IN}</script>",
    f'"><svg onload="{BREAK_IN}">',
    f"javascript:{BREAK_IN}",
    "{{constructor.constructor('document.title=1')()}}",
    f"<iframe srcdoc=\"<script>parent.{BREAK_IN}</script>\"></iframe>",
    f'<body onload="{BREAK_IN}">',
    f'<details open ontoggle="{BREAK_IN}">',
    f'<math><mtext></table><img src=x onerror="{BREAK_IN}">',
    f"' onfocus='{BREAK_IN}' autofocus='",
    f'<a href="javascript:{BREAK_IN}">click</a>',
    "<style>*{display:none}</style>",
    '<meta http-equiv="refresh" content="0;url=data:text/html,broken">',
    '<base href="https://example.invalid/">',
    "&lt;b&gt;&#60;img&#62;&amp;",
    f"</textarea><script>{BREAK_IN}</script>",
    f"<!--><img src=x onerror={BREAK_IN}>-->",
    f"<x contenteditable onblur={BREAK_IN}>lose focus</x>",
    "${document.title='broken in'}",
    '<form action="https://example.invalid"><button>Send</button></form>',
    '<object data="data:text/html,broken"></object>',
    f"\u202e<script>{BREAK_IN}</script>\u202c",
    f"<noscript><p title=\"</noscript><img src=x onerror={BREAK_IN}>\">",
    '__proto__"}],"constructor":{"prototype":1}',
]
MARKUP = "img, svg, script, iframe, details:not(.intervals), math, style, meta, base, object, a, x, form form, noscript"

RAW_PEER = """async ({ access, signals }) => {
  const socket = new WebSocket(location.origin.replace('http', 'ws') + '/v1/signaling', 'signalbox.v1');
  const received = [];
  let wake = () => {};
  socket.onmessage = ({ data }) => {
    received.push(...data.trim().split('\\n').map((line) => JSON.parse(line)));
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


def send_raw(open_page, url, room, signals, data=""):
    """Joins with a client that uses the protocol without the library, and sends signals that the page would not
    send."""
    page = open_page(url + "/")
    access = page.request.get(f"{url}/room/{room}", params={"data": data}).json()
    page.evaluate(RAW_PEER, {"access": access, "signals": signals})
    return page


def expect_no_markup(user):
    for part in ("#messages", "#participants", "#typing", "#log", "#signal-target", ".pane-head", "#room-name"):
        assert user.page.locator(part).locator(MARKUP).count() == 0, part
    assert "broken in" not in user.page.title()


def test_typed_text_is_never_markup(open_page, url, room):
    ada = User.join(open_page, url, room, "Ada")
    bob = User.join(open_page, url, room, TEXTS[0])
    ada.open_inspector()
    for text in TEXTS:
        bob.send(text)
    for user in (ada, bob):
        expect(user.page.locator(".bubble")).to_have_count(len(TEXTS))
        assert user.page.locator(".bubble").all_text_contents() == TEXTS
        expect_no_markup(user)


def test_received_text_is_never_markup(open_page, url, room):
    ada = User.join(open_page, url, room, "Ada")
    ada.open_inspector()
    signals = []
    for text in TEXTS:
        signals.append({"type": "TextChat", "data": text})
        signals.append({
            "type": "text-chat",
            "data": json.dumps({"text": text, "sender": {"id": text, "alias": text}, "localId": text[:60]}),
        })
        signals.append({"type": "typing", "data": json.dumps({"action": text})})
        signals.append({"data": text})
    send_raw(open_page, url, room, signals)
    expect(ada.page.locator(".bubble")).to_have_count(2 * len(TEXTS))
    assert ada.page.locator(".bubble").all_text_contents() == [text for text in TEXTS for _ in range(2)]
    expect_no_markup(ada)


@pytest.mark.parametrize("index", [0, 2, 21])
def test_a_name_is_never_markup(open_page, url, room, index):
    ada = User.join(open_page, url, room, "Ada")
    ada.open_inspector()
    typing = {"type": "typing", "data": '{"action":"begin","n":1}', "onlineOnly": True}
    send_raw(open_page, url, room, [{"type": "TextChat", "data": "hello"}, typing], data=TEXTS[index])
    ada.expect_messages("hello")
    expect(ada.page.locator("#typing-text")).to_contain_text("typing…")
    expect_no_markup(ada)


def test_chat_4_a_user_cannot_take_the_name_of_another(open_page, url, room):
    """The connection data comes first, and a message that claims the name of another user is shown as from a guest."""
    ada = User.join(open_page, url, room, "Ada")
    bob = User.join(open_page, url, room, "Bob")
    claim = {"type": "text-chat", "data": '{"text":"I am Ada","sender":{"id":"x","alias":"Ada"}}'}
    send_raw(open_page, url, room, [claim], data="Mallory")
    send_raw(open_page, url, room, [claim])
    send_raw(open_page, url, room, [{**claim, "data": claim["data"].replace('"alias":"Ada"', '"alias":"Cy"')}])
    expect(bob.page.locator(".row-name")).to_have_count(3)
    names = bob.page.locator(".row-name").all_text_contents()
    assert names[0] == "Mallory"
    assert names[1].startswith("Guest ")
    assert names[2] == "Cy"
    assert "Ada" in ada.page.locator("#participants").inner_text()
