"""The texts of `<signalbox-chat>`: its language, and what a user reads when something does not work."""

import json
import subprocess

import pytest
from chat_element import element, expect_messages, expect_state, send
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

# Adds an element with these credentials to a page in this language.
MAKE = """
  ([{ sessionId, apiKey, token }, lang]) => {
    document.documentElement.lang = lang;
    const chat = document.createElement('signalbox-chat');
    chat.addEventListener('signalbox-error', ({ detail }) => (window.detail = detail));
    Object.assign(chat, { id: 'chat', session: sessionId, apiKey, token });
    document.body.append(chat);
  }
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


def test_a_program_may_replace_single_texts(chat):
    chat.evaluate("() => { document.documentElement.lang = 'fr'; chat.strings = { send: 'Hop' }; }")
    expect(text_of(chat, "#send")).to_have_text("Hop")
    expect(text_of(chat, "#chat-retry")).to_have_text("Réessayer")
    chat.evaluate("() => { chat.strings = null; }")
    expect(text_of(chat, "#send")).to_have_text("Envoyer")


def test_con_10_a_role_that_may_not_write_sees_a_field_that_says_so(open_host, access, screenshots):
    page = open_host(element(access("Ada", role="publisheronly")))
    expect_state(page, "connected")
    box = text_of(page, "#composer-text")
    expect(box).not_to_be_editable()
    expect(box).to_have_attribute("placeholder", "You can read this chat, but you cannot write in it.")
    expect(text_of(page, "#send")).to_be_disabled()
    page.screenshot(path=screenshots / "chat-read-only.png")


def test_a_refusal_because_of_the_role_blocks_no_queue_and_offers_no_other_try(chat):
    chat.attach()
    send(chat, "one")
    answer(chat, 403)
    note = text_of(chat, ".row-state")
    expect(note).to_contain_text("Not sent: you cannot write in this chat.")
    expect(note.get_by_role("button")).to_have_text(["Discard"])
    expect(text_of(chat, "#composer-text")).not_to_be_editable()


def test_a_message_that_is_too_large_goes_back_into_the_field(chat):
    chat.attach()
    send(chat, "much too large")
    answer(chat, 413)
    expect(text_of(chat, ".row-state")).to_contain_text("Not sent: the message is too large. Shorten it.")
    text_of(chat, ".row-state").get_by_role("button", name="Edit").click()
    expect(text_of(chat, "#composer-text")).to_have_value("much too large")
    expect(text_of(chat, "#composer-text")).to_be_focused()
    expect_messages(chat)


def test_a_removed_user_reads_so_and_no_key_brings_them_back(open_host, access, url, screenshots):
    page = open_host(element(access("Ada")))
    expect_state(page, "connected")
    text_of(page, "#composer-text").focus()
    page.evaluate(
        """async ({ url, access: { apiKey, sessionId, token } }) => {
             const { default: OT } = await import(`${url}/opentok/index.js`);
             const moderator = OT.initSession(apiKey, sessionId);
             await new Promise((done) => moderator.connect(token, done));
             await moderator.forceDisconnect(chat.component.channel.connectionId);
           }""",
        {"url": url, "access": access("Mo", role="moderator")},
    )
    expect_state(page, "disconnected")
    expect(text_of(page, "#chat-status-text")).to_have_text("You were removed from this chat.")
    expect(text_of(page, "#chat-retry")).to_be_hidden()
    assert page.evaluate("() => chat.shadowRoot.activeElement.id") == "messages-scroll"
    page.screenshot(path=screenshots / "chat-removed.png")


def refuse(page, code, message):
    """From now on the server refuses each connect."""

    def answer_connect(socket):
        def received(line):
            request = json.loads(line)
            refusal = {"ev": "error", "id": request["id"], "code": code, "name": "X", "message": message, "retryable": False}
            socket.send(json.dumps(refusal))

        socket.on_message(received)

    page.route_web_socket("**/v1/signaling", answer_connect)


@pytest.mark.parametrize("language, sentence", [
    ("en", "Your link has expired. Ask for a new one."),
    ("de", "Ihr Link ist abgelaufen. Bitten Sie um einen neuen."),
])  # fmt: skip
def test_an_expired_token_is_told_as_such_without_a_try_in_vain(open_host, access, screenshots, language, sentence):
    page = open_host()
    refuse(page, 1004, "the token is refused: it has expired")
    page.evaluate(MAKE, [access("Ada"), language])
    expect_state(page, "failed")
    expect(text_of(page, "#chat-status-text")).to_have_text(sentence)
    expect(text_of(page, "#chat-retry")).to_be_hidden()
    assert page.evaluate("() => [detail.code, detail.cause]") == [1004, "expired"]
    page.screenshot(path=screenshots / f"chat-expired-{language}.png")
    page.complaints.clear()


def test_tok_9_a_token_that_expires_in_the_session_is_told_as_such(open_host, access):
    page = open_host()
    expire = []

    def relay(socket):
        socket.connect_to_server()
        expire.append(lambda: socket.send('{"ev":"disconnected","reason":"networkDisconnected","reconnect":false}'))

    page.route_web_socket("**/v1/signaling", relay)
    page.evaluate(MAKE, [access("Ada"), "en"])
    expect_state(page, "connected")
    expire[0]()
    expect_state(page, "disconnected")
    expect(text_of(page, "#chat-status-text")).to_have_text("Your link has expired. Ask for a new one.")
    expect(text_of(page, "#chat-retry")).to_be_hidden()


def test_a_server_that_cannot_be_reached_is_named(open_with_policy, access, screenshots):
    page = open_with_policy("connect-src ws://127.0.0.1:9", element(access("Ada"), server="http://127.0.0.1:9"))
    expect_state(page, "failed")
    status = text_of(page, "#chat-status-text")
    sentence = "Cannot reach 127.0.0.1:9. Check your internet connection, and try again later."
    expect(status).to_have_text(f"{sentence} The chat tries again by itself.")
    expect(text_of(page, "#chat-retry")).to_be_visible()
    page.screenshot(path=screenshots / "chat-unreachable.png")
    page.complaints.clear()
