"""`<signalbox-chat>`: the page of docs/chat-element.md and README.md, attributes, events, slots, parts, looks, and bad input."""

import pathlib
import re

import pytest
from application import Application
from chat_element import (
    FAKE_SESSION, READ_MILLISECONDS, SETUP_MILLISECONDS, element, expect_messages, expect_state, send,
)  # fmt: skip
from conftest import REPOSITORY
from playwright.sync_api import expect

DOCUMENT = (REPOSITORY / "docs/chat-element.md").read_text()


@pytest.mark.parametrize("document", ["docs/chat-element.md", "README.md"])
def test_the_page_of_a_document_embeds_a_chat_in_ten_lines(open_page, url, document):
    text = (REPOSITORY / document).read_text()
    content = re.search(r"^```html\n(<!doctype html>.*?)^```$", text, re.MULTILINE | re.DOTALL)[1]
    assert len(content.strip().splitlines()) <= 10
    application = Application(content.replace("http://127.0.0.1:8080", url))
    try:
        ada, bob = open_page(application.url + "/?Ada"), open_page(application.url + "/?Bob")
        for page in (ada, bob):
            expect_state(page, "connected")
            # The browser asks for an icon, which this application does not have.
            page.complaints.clear()
        send(ada, "hello from the document")
        expect(bob.locator(".bubble").last).to_have_text("hello from the document")
        expect(bob.locator(".row-name").last).to_have_text("Ada")
        bob.locator("#composer-text").press_sequentially("h")
        expect(ada.locator("#typing-text")).to_have_text("Bob is typing…")
    finally:
        application.stop()


def test_the_element_works_under_a_strict_policy_of_another_origin(open_host, access):
    ada, bob = open_host(element(access("Ada"))), open_host(element(access("Bob")))
    for page in (ada, bob):
        expect_state(page, "connected")
    send(ada, "<b>not markup</b> https://example.org/")
    expect_messages(bob, "<b>not markup</b> https://example.org/")
    expect(bob.locator("#chat .bubble a")).to_have_attribute("href", "https://example.org/")
    background = bob.locator("#chat .bubble").evaluate("each => getComputedStyle(each).backgroundColor")
    assert background == "rgb(238, 241, 239)"


def test_two_elements_of_one_page_are_two_connections(open_host, access):
    page = open_host(element(access("Ada"), id="left") + element(access("Bob"), id="right"))
    for id in ("left", "right"):
        expect_state(page, "connected", id)
    send(page, "one", "left")
    expect_messages(page, "one", id="right")
    send(page, "two", "right")
    for id in ("left", "right"):
        expect_messages(page, "one", "two", id=id)


def test_events_report_state_messages_unread_and_errors_and_may_refuse(open_host, access):
    ada, bob = open_host(), open_host(element(access("Bob")))
    ada.evaluate(
        """(access) => {
             window.seen = [];
             for (const name of ['state', 'message', 'unread', 'send', 'error']) {
               document.addEventListener(`signalbox-${name}`, (event) => {
                 const { state, count, message } = event.detail;
                 window.seen.push([name, state ?? count ?? message?.text ?? message].join(' '));
                 if (name === 'send' && message.text === 'refuse me') event.preventDefault();
               });
             }
             const chat = document.createElement('signalbox-chat');
             chat.id = 'chat';
             document.body.append(chat);
             for (const [name, value] of [['session', access.sessionId], ['key', access.apiKey], ['token', access.token]]) {
               chat.setAttribute(name, value);
             }
           }""",
        access("Ada"),
    )
    for page in (ada, bob):
        expect_state(page, "connected")
    send(bob, "hi")
    expect_messages(ada, "hi")
    send(ada, "refuse me")
    expect(ada.locator("#composer-hint")).to_have_text("Not sent.")
    expect(ada.locator("#composer-text")).to_have_value("refuse me")
    send(ada, "and this")
    expect_messages(bob, "hi", "and this")
    seen = ada.evaluate("window.seen")
    assert seen[:2] == ["state connecting", "state connected"]
    assert {"message hi", "send refuse me", "send and this"} <= set(seen)
    assert ada.evaluate("chat.messages.map(({ text, direction }) => `${direction} ${text}`)") == [
        "received hi", "sent and this"
    ]
    ada.evaluate("chat.disconnect()")
    expect_state(ada, "disconnected")
    expect_messages(ada, "hi", "and this")


def test_attributes_change_limit_alias_sender_look_and_placeholder(open_host, access):
    ada = open_host(element(access("Ada"), max_length="5", alias="Countess", sender_id="ada-1", placeholder="Say it"))
    bob = open_host(element(access("Bob")))
    for page in (ada, bob):
        expect_state(page, "connected")
    box = ada.locator("#composer-text")
    expect(box).to_have_attribute("placeholder", "Say it")
    box.fill("123456")
    expect(box).to_have_value("123456")
    expect(box).to_have_attribute("aria-invalid", "true")
    ada.evaluate("chat.maxLength = 10")
    expect(box).to_have_attribute("aria-invalid", "false")
    box.press("Enter")
    expect_messages(bob, "123456")
    assert bob.evaluate("[chat.messages[0].alias, chat.messages[0].senderId !== 'ada-1']") == ["Countess", True]
    assert ada.evaluate("[chat.messages[0].senderId, chat.senderId, chat.maxLength]") == ["ada-1", "ada-1", 10]
    for wrong in ("0", "-1", "many", ""):
        ada.evaluate("(length) => chat.setAttribute('max-length', length)", wrong)
        assert ada.evaluate("chat.maxLength") == 1000


def test_the_opentok_look_has_dividers_a_counter_and_its_groups(open_host, access, screenshots):
    ada = open_host(element(access("Ada"), look="opentok", max_length="160"), viewport={"width": 480, "height": 520})
    bob = open_host(element(access("Bob")))
    for page in (ada, bob):
        expect_state(page, "connected")
    expect(ada.locator("#remaining")).to_have_text("160 characters left")
    ada.locator("#composer-text").fill("Hello")
    expect(ada.locator("#remaining")).to_have_text("155 characters left")
    ada.locator("#composer-text").press("Enter")
    send(ada, "How are you?")
    expect_messages(bob, "Hello", "How are you?")
    send(bob, "Fine, thank you.")
    expect_messages(ada, "Hello", "How are you?", "Fine, thank you.")
    rows = ada.locator("#chat [data-kind=message]")
    assert rows.nth(2).evaluate("each => getComputedStyle(each).borderTopWidth") == "1px"
    assert rows.nth(1).evaluate("each => getComputedStyle(each).borderTopWidth") == "0px"
    expect(rows.nth(0).locator(".row-name")).to_be_visible()
    assert rows.nth(0).locator(".bubble").evaluate("each => getComputedStyle(each).backgroundColor") == "rgba(0, 0, 0, 0)"
    ada.screenshot(path=screenshots / "element-opentok.png")
    # The look may change while the chat runs.
    ada.evaluate("chat.look = 'bubbles'")
    expect_messages(ada, "Hello", "How are you?", "Fine, thank you.")
    expect(ada.locator("#remaining")).to_have_text("")
    send(ada, "still here")
    expect_messages(bob, "Hello", "How are you?", "Fine, thank you.", "still here")


@pytest.mark.parametrize("scheme, attribute, is_dark", [
    ("light", "", False), ("dark", "", True), ("light", "dark", True), ("dark", "light", False),
])  # fmt: skip
def test_light_and_dark_follow_the_system_unless_the_page_chooses(open_host, access, screenshots, scheme, attribute, is_dark):
    given = {"scheme": attribute} if attribute else {}
    page = open_host(element(access("Ada"), **given), color_scheme=scheme, viewport={"width": 480, "height": 520})
    expect_state(page, "connected")
    send(page, "hello")
    expect_messages(page, "hello")
    colour = page.locator("#chat").evaluate("each => getComputedStyle(each).backgroundColor")
    red = int(re.findall(r"\d+", colour)[0])
    assert (red < 80) == is_dark
    page.screenshot(path=screenshots / f"element-{scheme}-{attribute or 'system'}.png")


def test_slots_parts_and_properties_change_the_view(open_page, url, access):
    application = Application(
        f"""<!doctype html><script src="{url}/signalbox-chat.js"></script>
            <style>signalbox-chat {{ --signalbox-accent: rgb(1, 2, 3) }}
              signalbox-chat::part(bubble) {{ font-weight: 700 }}</style>"""
        + element(access("Ada")).replace(
            "></signalbox-chat>",
            "><h2 slot=header>Support</h2><p slot=empty>Ask us.</p><p slot=footer>Be kind.</p></signalbox-chat>",
        )
    )
    try:
        page = open_page(application.url)
        expect_state(page, "connected")
        for text in ("Support", "Ask us.", "Be kind."):
            expect(page.get_by_text(text)).to_be_visible()
        expect(page.get_by_text("No messages yet.")).to_be_hidden()
        send(page, "hello")
        expect_messages(page, "hello")
        expect(page.get_by_text("Ask us.")).to_be_hidden()
        assert page.locator(".bubble").evaluate("each => getComputedStyle(each).fontWeight") == "700"
        page.locator("#composer-text").fill("x")
        page.wait_for_function(
            "() => getComputedStyle(chat.shadowRoot.getElementById('send')).backgroundColor === 'rgb(1, 2, 3)'"
        )
        page.complaints.clear()
    finally:
        application.stop()


def test_the_parts_of_the_document_exist(open_host, access):
    named = set(re.findall(r"`([\w-]+)`", DOCUMENT.partition("The parts for `::part()` are ")[2].partition(".\n")[0]))
    sources = "".join(path.read_text() for path in pathlib.Path(REPOSITORY / "web-test-client/chat/views").glob("*.js"))
    written = " ".join(re.findall(r"part: ['`]([^'`]*)['`]", sources))
    given = set(re.findall(r"[\w-]+", written.replace("${message.direction}", "sent received")))
    assert named == given


@pytest.mark.parametrize("changes, cause, words", [
    ({"token": ""}, "notSetUp", "it lacks token"), ({"session": "", "key": " "}, "notSetUp", "it lacks session, api-key"),
    ({"token": "T1==nonsense"}, "refused", "the token is refused"), ({"key": "200"}, "refused", "API key"),
    ({"session": "lobby"}, "wrongChat", "session"),
    ({"server": "ftp://x"}, "notSetUp", "The server’s address is not valid: ftp://x"),
])  # fmt: skip
def test_wrong_credentials_get_a_sentence_and_the_program_the_reason(open_host, access, changes, cause, words):
    good = access("Ada")
    page = open_host()
    page.clock.install()
    page.evaluate("() => addEventListener('signalbox-error', ({ detail }) => (window.detail = detail))")
    page.evaluate(
        """(attributes) => {
             const chat = document.createElement('signalbox-chat');
             chat.id = 'chat';
             for (const [name, value] of attributes) chat.setAttribute(name, value);
             document.body.append(chat);
           }""",
        list(
            ({"session": good["sessionId"], "key": good["apiKey"], "token": good["token"]} | changes).items()
        ),
    )
    lacking = words.startswith("it lacks")
    if lacking:
        page.clock.run_for(SETUP_MILLISECONDS)
    expect_state(page, "failed")
    assert page.evaluate("detail.cause") == cause
    assert words in page.evaluate("detail.message")
    sentence = f"This chat is not set up yet: {words}." if lacking else page.evaluate("chat.textOf(detail.cause)")
    expect(page.locator("#chat-status-text")).to_have_text(sentence)
    expect(page.locator("#composer-text")).to_be_disabled()
    # A page that is not set up correctly stays so: there is no button.
    expect(page.get_by_role("button", name="Try again")).to_have_count(0 if cause == "notSetUp" else 1)
    # Nobody is invited to write.
    expect(page.locator("#composer-text")).to_have_attribute("placeholder", "")
    expect(page.locator("#composer-keys")).to_be_hidden()
    page.evaluate(
        """(good) => {
             chat.removeAttribute('server');
             for (const [name, value] of [['session', good.sessionId], ['key', good.apiKey], ['token', good.token]]) {
               chat.setAttribute(name, value);
             }
           }""",
        good,
    )
    expect_state(page, "connected")
    expect(page.locator("#chat-status")).to_be_hidden()
    page.complaints.clear()


def test_a_frozen_server_gets_an_error_and_another_try(open_host, access):
    page = open_host()
    # Only the test lets time pass: the element would try again by itself before a slow test does.
    page.clock.install(time=0)
    page.clock.pause_at(1000)
    is_frozen = True
    page.route_web_socket("**/v1/signaling", lambda socket: None if is_frozen else socket.connect_to_server())
    page.evaluate(
        """({ apiKey, sessionId, token }) => {
             const chat = document.createElement('signalbox-chat');
             chat.id = 'chat';
             for (const [name, value] of [['session', sessionId], ['key', apiKey], ['token', token]]) {
               chat.setAttribute(name, value);
             }
             document.body.append(chat);
           }""",
        access("Ada"),
    )
    expect_state(page, "connecting")
    page.clock.run_for(8100)
    expect_state(page, "failed")
    expect(page.locator("#chat-status")).to_contain_text("does not answer. Try again later.")
    is_frozen = False
    page.get_by_role("button", name="Try again").click()
    page.clock.run_for(1000)
    expect_state(page, "connected")
    page.complaints.clear()


def test_removing_the_element_leaves_the_session_and_moving_it_does_not(open_host, access):
    ada, bob = open_host(element(access("Ada"))), open_host(element(access("Bob")))
    for page in (ada, bob):
        expect_state(page, "connected")
    bob.evaluate("() => { const box = document.createElement('div'); document.body.append(box); box.append(chat); }")
    send(bob, "moved")
    expect_messages(ada, "moved")
    ada.evaluate("window.left = new Promise((done) => chat.component.channel && done())")
    bob.evaluate("() => { window.kept = chat; chat.remove(); }")
    bob.wait_for_function("() => window.kept.state === 'disconnected'")
    # The messages and the place in the page are the program's again.
    bob.evaluate("() => document.body.append(window.kept)")
    expect_state(bob, "connected")
    expect_messages(bob, "moved")


def test_a_session_of_the_program_can_be_attached(open_application, open_host, access, url, room):
    bob = open_host(element(access("Bob")))
    page = open_host()
    page.evaluate(
        """async ({ url, access: { apiKey, sessionId, token } }) => {
             const { default: OT } = await import(`${url}/opentok/index.js`);
             const chat = document.createElement('signalbox-chat');
             chat.id = 'chat';
             document.body.append(chat);
             const session = OT.initSession(apiKey, sessionId);
             chat.attach(session);
             await new Promise((done, fail) => session.connect(token, (error) => (error ? fail(error) : done())));
             window.session = session;
           }""",
        {"url": url, "access": access("Ada")},
    )
    for each in (page, bob):
        expect_state(each, "connected")
    send(page, "attached")
    expect_messages(bob, "attached")
    page.evaluate("chat.detach()")
    assert page.evaluate("session.isConnected?.() ?? session.connection !== null")
    expect(page.locator("#composer-text")).to_be_disabled()


def test_a_change_of_the_look_keeps_gaps_unread_messages_and_those_under_way(open_host):
    page = open_host('<signalbox-chat id="chat"></signalbox-chat>')
    page.evaluate(FAKE_SESSION)
    page.evaluate("chat.attach(window.session = fakeSession('room'))")
    expect_state(page, "connected")
    send(page, "one")
    page.evaluate("session.answers.shift()(); chat.component.handle({ kind: 'lost' }, Date.now())")
    send(page, "two")
    expect(page.locator("#chat .mark").last).to_have_attribute("aria-label", "Sending")
    number = page.evaluate("chat.component.typing.typingN")
    for look in ("opentok", "bubbles"):
        page.evaluate("(look) => { chat.look = look; }", look)
        expect_messages(page, "one", "two")
        expect(page.locator("#chat .gap")).to_have_count(1)
        expect(page.locator("#chat .mark").last).to_have_attribute("aria-label", "Sending")
        assert page.evaluate("chat.component.typing.typingN") == number
    page.evaluate("session.answers.shift()()")
    expect(page.locator("#chat .mark").last).to_have_attribute("aria-label", "Sent")


def test_the_chat_of_an_earlier_room_writes_no_more_into_the_view(open_host):
    page = open_host('<signalbox-chat id="chat"></signalbox-chat>')
    page.evaluate(FAKE_SESSION)
    page.evaluate("chat.attach(window.first = fakeSession('first'))")
    send(page, "to the first room")
    page.evaluate("window.old = chat.component; chat.attach(window.second = fakeSession('second'))")
    send(page, "to the second room")
    page.evaluate(
        """async () => {
             window.counts = [];
             chat.addEventListener('signalbox-unread', ({ detail }) => window.counts.push(detail.count));
             first.answers.shift()();
             const from = { connectionId: 'bob', data: 'Bob' };
             old.isVisible = false;
             old.handle({ kind: 'signal', type: 'text-chat', data: '{"text":"late"}', from, seq: 9 }, Date.now());
             await new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)));
           }"""
    )
    expect_messages(page, "to the second room")
    assert page.evaluate("window.counts") == []


def test_a_move_within_the_page_keeps_the_connection_and_the_place_at_the_end(open_host, access):
    ada, bob = open_host(element(access("Ada"))), open_host(element(access("Bob")))
    for page in (ada, bob):
        expect_state(page, "connected")
    send(bob, "\n".join(["long"] * 60))
    expect(ada.locator("#chat .bubble")).to_have_count(1)
    before = bob.evaluate("chat.component.channel.connectionId")
    bob.evaluate(
        """() => {
             window.states = [];
             chat.addEventListener('signalbox-state', ({ detail }) => window.states.push(detail.state));
             const box = document.createElement('div');
             document.body.append(box);
             box.append(chat);
           }"""
    )
    send(bob, "moved")
    expect(ada.locator("#chat .bubble").last).to_have_text("moved")
    assert bob.evaluate("[chat.component.channel.connectionId, window.states]") == [before, []]
    expect(bob.locator("#chat .bubble").last).to_be_in_viewport()
    # Other credentials that were set while the element was out of the page still count.
    other = access("Carol")
    bob.evaluate(
        """(token) => {
             const moved = chat;
             const box = moved.parentElement;
             moved.remove();
             moved.setAttribute('token', token);
             box.append(moved);
           }""",
        other["token"],
    )
    bob.wait_for_function("(before) => ![null, undefined, before].includes(chat.component.channel?.connectionId)", arg=before)


def test_messages_that_arrive_while_the_page_hides_the_element_are_unread(open_host, access):
    ada, bob = open_host(element(access("Ada"))), open_host(f"<main id=box>{element(access('Bob'))}</main>")
    for page in (ada, bob):
        expect_state(page, "connected")
    send(ada, "seen")
    expect_messages(bob, "seen")
    assert bob.evaluate("chat.unreadCount") == 0
    bob.clock.install()
    bob.evaluate("() => { box.hidden = true; }")
    bob.wait_for_function("() => !chat.component.isVisible")
    send(ada, "not seen")
    bob.wait_for_function("() => chat.unreadCount === 1")
    bob.evaluate("() => { box.hidden = false; }")
    expect(bob.locator("#chat .unread-divider")).to_be_visible()
    # The user sees the messages now.
    bob.clock.run_for(READ_MILLISECONDS)
    bob.wait_for_function("() => chat.unreadCount === 0")
    assert bob.evaluate("chat.component.isVisible")


def test_an_element_that_is_made_before_it_is_in_the_page_is_read_there(open_host):
    page = open_host()
    page.evaluate(FAKE_SESSION)
    page.evaluate(
        """() => {
             const made = document.createElement('signalbox-chat');
             made.id = 'chat';
             made.attach(fakeSession('room'));
             document.body.append(made);
           }"""
    )
    page.wait_for_function("() => chat.component.isVisible")


def test_the_focus_stays_in_the_chat_when_the_session_ends_and_returns_to_the_box(open_host, access):
    page = open_host()
    sockets = []
    is_open = True
    page.route_web_socket(
        "**/v1/signaling", lambda socket: (sockets.append(socket), socket.connect_to_server() if is_open else None)
    )
    given = access("Ada")
    page.evaluate(
        """({ apiKey, sessionId, token }) => {
             const chat = document.createElement('signalbox-chat');
             chat.id = 'chat';
             for (const [name, value] of [['session', sessionId], ['key', apiKey], ['token', token]]) {
               chat.setAttribute(name, value);
             }
             document.body.append(chat);
           }""",
        given,
    )
    expect_state(page, "connected")
    page.locator("#composer-text").focus()
    # The element tries again by itself, too, which must not succeed before the user does.
    is_open = False
    sockets[-1].close(code=4503)
    expect_state(page, "disconnected")
    expect(page.get_by_role("button", name="Try again")).to_be_focused()
    is_open = True
    page.keyboard.press("Enter")
    expect_state(page, "connected")
    expect(page.locator("#composer-text")).to_be_focused()
    # A user who reads meanwhile is left alone.
    page.locator("#composer-text").focus()
    page.evaluate("chat.disconnect()")
    expect(page.locator("#messages-scroll")).to_be_focused()
    page.evaluate("() => { document.activeElement.blur(); chat.connect(); }")
    expect_state(page, "connected")
    assert page.evaluate("chat.shadowRoot.activeElement") is None


def test_the_line_about_reconnecting_is_read_by_screen_readers(open_host):
    page = open_host('<signalbox-chat id="chat"></signalbox-chat>')
    expect(page.locator("#offline-hint")).to_have_attribute("role", "status")


def test_his_4_a_new_connection_to_the_same_room_shows_what_was_missed(open_host, access):
    ada, bob = open_host(element(access("Ada"))), open_host(element(access("Bob")))
    for page in (ada, bob):
        expect_state(page, "connected")
    expect(bob.locator("#chat .gap")).to_have_count(0)
    send(ada, "one")
    expect_messages(bob, "one")
    bob.evaluate("chat.disconnect()")
    send(ada, "missed")
    expect_messages(ada, "one", "missed")
    bob.evaluate("chat.connect()")
    expect_state(bob, "connected")
    send(ada, "three")
    expect_messages(bob, "one", "missed", "three")
    expect(bob.locator("#chat .gap")).to_have_count(0)
