"""`<signalbox-chat>`: the page of docs/chat-element.md and README.md, slots, parts, looks, focus, moves, and policies.

`element-attributes.test.js`, `element-connection.test.js` and `element-messages.test.js` have what needs no browser.
"""

import datetime
import re

import pytest
from application import Application
from chat_element import FAKE_SESSION, READ_MILLISECONDS, element, expect_messages, expect_state, hold_typing, send
from conftest import REPOSITORY
from playwright.sync_api import expect


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
        for page in (ada, bob):
            hold_typing(page)
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


@pytest.mark.parametrize("changes, cause, words", [
    ({"token": "T1==nonsense"}, "refused", "the token is refused"), ({"session": "lobby"}, "wrongChat", "session"),
])  # fmt: skip
def test_wrong_credentials_get_a_sentence_and_the_program_the_reason(open_host, access, changes, cause, words):
    """The server's words. `element-connection.test.js` has the other causes."""
    good = access("Ada")
    page = open_host()
    page.evaluate(
        """({ good, changes }) => {
             addEventListener('signalbox-error', ({ detail }) => (window.detail = detail));
             window.give = ({ sessionId: session, apiKey, token }) => Object.assign(chat, { session, apiKey, token });
             document.body.append(Object.assign(document.createElement('signalbox-chat'), { id: 'chat' }));
             give(good);
             Object.assign(chat, changes);
           }""",
        {"good": good, "changes": changes},
    )
    expect_state(page, "failed")
    assert page.evaluate("detail.cause") == cause
    assert words in page.evaluate("detail.message")
    expect(page.locator("#chat-status-text")).to_have_text(page.evaluate("chat.textOf(detail.cause)"))
    expect(page.locator("#composer-text")).to_be_disabled()
    page.evaluate("good => { give(good); }", good)
    expect_state(page, "connected")
    expect(page.locator("#chat-status")).to_be_hidden()
    page.complaints.clear()


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


def test_a_library_that_puts_the_element_back_in_its_task_is_a_move_too(open_host, access):
    """As Turbo does with permanent elements: a place holder, another body, and the element again, with waits between."""
    ada, bob = open_host(element(access("Ada"))), open_host(f"<main>{element(access('Bob'))}</main>")
    for page in (ada, bob):
        expect_state(page, "connected")
    send(ada, "\n".join(f"line {number}" for number in range(25)))
    send(ada, "\n".join(f"line {number}" for number in range(25)))
    expect(bob.locator("#chat .bubble")).to_have_count(2)
    bob.evaluate("chat.shadowRoot.getElementById('messages-scroll').scrollTop = 120")
    bob.locator("#chat #composer-text").fill("half a sent")
    before = bob.evaluate(
        """async () => {
             window.states = [];
             chat.addEventListener('signalbox-state', ({ detail }) => window.states.push(detail.state));
             await new Promise(requestAnimationFrame);
             const moved = window.chat;
             const id = moved.component.channel.connectionId;
             for (let visit = 0; visit < 3; visit += 1) {
               const holder = document.createElement('meta');
               moved.replaceWith(holder);
               for (let wait = 0; wait < 20; wait += 1) await null;
               const body = document.createElement('body');
               body.append(holder);
               document.documentElement.replaceChild(body, document.body);
               for (let wait = 0; wait < 20; wait += 1) await new Promise((done) => queueMicrotask(done));
               holder.replaceWith(moved);
             }
             await new Promise((done) => setTimeout(done, 50));
             return id;
           }"""
    )
    assert bob.evaluate("[chat.component.channel.connectionId, window.states, chat.draft]") == [before, [], "half a sent"]
    expect(bob.locator("#chat .gap")).to_have_count(0)
    assert bob.evaluate("chat.shadowRoot.getElementById('messages-scroll').scrollTop") == 120
    send(ada, "still here")
    expect(bob.locator("#chat .bubble")).to_have_count(3)


def test_messages_that_arrive_while_the_page_hides_the_element_are_unread(open_host, access):
    ada, bob = open_host(element(access("Ada"))), open_host(f"<main id=box>{element(access('Bob'))}</main>")
    for page in (ada, bob):
        expect_state(page, "connected")
    send(ada, "seen")
    expect_messages(bob, "seen")
    assert bob.evaluate("chat.unreadCount") == 0
    # Only the test lets time pass: the divider goes after a while.
    bob.clock.install()
    bob.clock.pause_at(datetime.datetime.now() + datetime.timedelta(minutes=1))
    bob.evaluate("() => { box.hidden = true; }")
    bob.wait_for_function("() => !chat.component.isVisible")
    send(ada, "not seen")
    bob.wait_for_function("() => chat.unreadCount === 1")
    bob.evaluate("() => { box.hidden = false; }")
    bob.wait_for_function("() => chat.component.isVisible")
    bob.clock.run_for(100)
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
        re.compile("/v1/signaling"), lambda socket: (sockets.append(socket), socket.connect_to_server() if is_open else None)
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
