"""The texts of `<signalbox-chat>`: its language. `element-connection.test.js` has what a user reads of failures."""

import datetime
import json
import subprocess

import pytest
from chat_element import element, expect_state, send
from conftest import REPOSITORY
from playwright.sync_api import expect

STRINGS = REPOSITORY / "web-test-client/chat/strings/index.js"

# A session without a server. `answers` has the handlers of the messages that wait for an answer.
SESSION = """
  window.newSession = (members = {}) => {
    const listeners = [];
    const session = {
      sessionId: crypto.randomUUID(), connection: { connectionId: 'own', data: 'Ada' }, connections: { length: () => 3 },
      answers: [],
      on: (name, act) => listeners.push({ name, act }),
      off: (name, act) => listeners.splice(listeners.findIndex((each) => each.act === act), 1),
      emit: (name, event = {}) => listeners.filter((each) => each.name === name).forEach(({ act }) => act(event)),
      signal({ type }, done) {
        if (type === 'text-chat') this.answers.push((code) => done(code ? { code, message: `plain ${code}` } : undefined));
        else done();
      },
      receive: (data, from, type = 'TextChat') => session.emit('signal', {
        type: `signal:${type}`, data, from: from && { connectionId: from, data: '' }, seq: (session.seq = (session.seq ?? 0) + 1),
      }),
      ...members,
    };
    return session;
  };
"""

# Every visible text of the element that is in no table: not a name, a message, or a date.
UNMARKED = """
  () => {
    const root = document.getElementById('chat').shadowRoot;
    const isShown = (node) => node.checkVisibility({ visibilityProperty: true });
    const texts = [];
    const walker = document.createTreeWalker(root, NodeFilter.SHOW_TEXT);
    while (walker.nextNode()) {
      const holder = walker.currentNode.parentElement;
      if (holder.closest('.bubble:not(.erased), .row.received .row-name, time, .avatar, style')) continue;
      if (isShown(holder)) texts.push((holder.closest('.keys') ?? walker.currentNode).textContent);
    }
    for (const each of root.querySelectorAll(':not(time)')) {
      for (const name of ['aria-label', 'aria-description', 'placeholder', 'title', 'alt']) {
        if (each.hasAttribute(name)) texts.push(each.getAttribute(name));
      }
    }
    const rest = (text) => {
      for (let before = ''; before !== text;) [before, text] = [text, text.replace(/⟦[^⟦⟧]*⟧/g, '')];
      return text;
    };
    return [...new Set(texts.filter((text) => /[\\p{L}]/u.test(rest(text))))];
  }
"""


def marked_strings():
    """A language whose every text is in ⟦brackets⟧, as JSON."""
    script = f"""
      import {{ CHAT_STRINGS }} from '{STRINGS}';
      const marked = (text) => typeof text === 'string' ? `⟦${{text}}⟧`
        : Object.fromEntries(Object.entries(text).map(([category, form]) => [category, `⟦${{form}}⟧`]));
      console.log(JSON.stringify(Object.fromEntries(
        Object.entries(CHAT_STRINGS.en).map(([key, text]) => [key, marked(text)]),
      )));
    """
    made = subprocess.run(["node", "--input-type=module", "-e", script], capture_output=True, text=True, check=True)
    return json.loads(made.stdout) | {"partner": "{name}"}


@pytest.fixture
def chat(open_host):
    """A page with an element in a session without a server; `page.attach(members)` begins another one."""
    page = open_host('<signalbox-chat id="chat"></signalbox-chat>')
    page.evaluate(SESSION)
    page.attach = lambda members="{}": page.evaluate(f"chat.attach(window.session = newSession({members}))")
    return page


def answer(page, code=None):
    page.wait_for_function("() => session.answers.length > 0")
    page.evaluate("(code) => session.answers.shift()(code)", code)


def text_of(page, selector):
    return page.locator(f"#chat {selector}")


def test_every_visible_text_of_every_state_is_in_the_tables(chat):
    chat.evaluate("(strings) => { chat.strings = strings; }", marked_strings())
    found = set()

    def look(ready=None):
        if ready:
            expect(text_of(chat, ready).first).to_be_visible()
        found.update(chat.evaluate(UNMARKED))

    look()
    chat.attach()
    look("#composer-text")
    chat.evaluate("() => { session.receive('one', 'b1'); session.receive('server', null); }")
    look(".row.received")
    text_of(chat, ".bubble").first.click()
    look("#message-facts")
    for code in (400, 403, 413, 429, 500, 9999):
        chat.attach()
        send(chat, f"refused with {code}")
        send(chat, "waits")
        look(".mark")
        answer(chat, code)
        look(".row-state")
    chat.attach("{ maySignal: false }")
    look("#composer-text")
    chat.attach()
    text_of(chat, "#composer-text").fill("x" * 950)
    look("#remaining")
    text_of(chat, "#composer-text").fill("x" * 1001)
    look("#composer-hint")
    text_of(chat, "#composer-text").fill("")
    chat.evaluate("() => session.emit('sessionReconnecting')")
    look("#offline-hint")
    chat.evaluate("() => { session.emit('sessionReconnected', { outcome: 'lost' }); session.receive('two', 'b1'); }")
    look(".gap")
    chat.evaluate("() => session.receive(JSON.stringify({ action: 'begin', n: 1 }), 'b1', 'typing')")
    look("#typing[data-state=typing]")
    chat.evaluate("() => chat.attach(session = newSession({ sessionId: session.sessionId }), { isNew: true })")
    look(".gap")
    chat.evaluate("() => session.emit('sessionDisconnected', { reason: 'forceDisconnected' })")
    look()
    # The element's own session: each way in which it cannot connect.
    chat.evaluate("() => { chat.detach(); chat.server = 'ftp://x'; chat.token = 't'; }")
    expect_state(chat, "failed")
    look("#chat-status")
    causes = ["expired", "refused", "wrongChat", "full", "offline", "unreachable", "noAnswer", "serverFault", "removed"]
    assert [cause for cause in causes if "⟦" not in chat.evaluate("(cause) => chat.textOf(cause)", cause)] == []
    assert sorted(found) == []
    chat.complaints.clear()


def test_the_element_follows_the_language_around_it_over_shadow_roots_and_its_changes(chat):
    # It stays the same day.
    chat.clock.set_fixed_time(datetime.datetime(2030, 3, 3, 12))
    chat.attach()
    expect(text_of(chat, "#send")).to_have_text("Send")
    text_of(chat, "#composer-text").fill("draft")
    chat.evaluate("() => session.receive('hello', 'b1234')")
    expect(text_of(chat, ".row-name")).to_have_text("Guest 6016")
    chat.evaluate("() => { document.documentElement.lang = 'de'; }")
    expect(text_of(chat, "#send")).to_have_text("Senden")
    expect(text_of(chat, ".row-name")).to_have_text("Gast 6016")
    expect(text_of(chat, ".day")).to_have_text("Heute")
    expect(text_of(chat, "#composer-text")).to_have_value("draft")
    expect(text_of(chat, "#composer-text")).to_be_focused()
    # Into a shadow root whose host is Arabic.
    chat.evaluate(
        """() => {
             const host = document.createElement('div');
             host.lang = 'ar';
             document.body.append(host);
             host.attachShadow({ mode: 'open' }).append(document.getElementById('chat'));
             window.host = host;
           }"""
    )
    inner = "host.shadowRoot.getElementById('chat').shadowRoot"
    shown = f"() => [{inner}.getElementById('send').textContent, getComputedStyle({inner}.getElementById('chat-frame')).direction]"
    chat.wait_for_function(f"() => {inner}.getElementById('send').textContent === 'إرسال'")
    assert chat.evaluate(shown) == ["إرسال", "rtl"]
    chat.evaluate("() => { host.lang = 'ja-JP'; }")
    chat.wait_for_function(f"() => {inner}.getElementById('send').textContent === '送信'")
    assert chat.evaluate(shown) == ["送信", "ltr"]


def test_con_10_a_role_that_may_not_write_sees_a_field_that_says_so(open_host, access, screenshots):
    page = open_host(element(access("Ada", role="publisheronly")))
    expect_state(page, "connected")
    box = text_of(page, "#composer-text")
    expect(box).not_to_be_editable()
    expect(box).to_have_attribute("placeholder", "You can read this chat, but you cannot write in it.")
    expect(text_of(page, "#send")).to_be_hidden()
    page.screenshot(path=screenshots / "chat-read-only.png")
