"""`<signalbox-chat>` stays in its session: newer tokens, first connects that fail, missing attributes, policies."""

import time

import pytest
from chat_element import element, expect_messages, expect_state, send
from conftest import DEADLINE
from playwright.sync_api import expect

MAKE = "() => { document.body.append(Object.assign(document.createElement('signalbox-chat'), { id: 'chat' })); }"
GIVE = "({ sessionId: session, apiKey, token }) => { Object.assign(chat, { session, apiKey, token }); }"


def watch_states(page):
    page.evaluate(
        """() => {
             window.states = [];
             chat.addEventListener('signalbox-state', ({ detail }) => states.push(detail.state));
           }"""
    )


def test_con_12_a_new_token_keeps_the_connection_the_text_and_the_focus(open_host, access):
    ada, bob = open_host(element(access("Ada"))), open_host(element(access("Bob")))
    for page in (ada, bob):
        expect_state(page, "connected")
    send(ada, "before")
    expect_messages(bob, "before")
    watch_states(ada)
    before = ada.evaluate("chat.component.channel.connectionId")
    requests = []
    ada.on("websocket", lambda socket: requests.append(socket.url))
    ada.locator("#composer-text").press_sequentially("half a ")
    ada.evaluate("(token) => { chat.token = token; }", access("Ada")["token"])
    ada.locator("#composer-text").press_sequentially("sentence")
    expect(ada.locator("#composer-text")).to_have_value("half a sentence")
    ada.locator("#composer-text").press("Enter")
    expect_messages(bob, "before", "half a sentence")
    assert ada.evaluate("[chat.component.channel.connectionId, states]") == [before, []]
    expect(ada.locator("#chat .gap")).to_have_count(0)
    assert requests == []


def test_a_token_of_another_user_begins_a_connection_of_that_user(open_host, access):
    page = open_host(element(access("Ada")))
    expect_state(page, "connected")
    before = page.evaluate("chat.component.channel.connectionId")
    page.evaluate("(token) => { chat.token = token; }", access("Carol")["token"])
    page.wait_for_function(
        "(before) => ![null, undefined, before].includes(chat.component.channel?.connectionId)", arg=before
    )
    assert page.evaluate("chat.component.alias") == "Carol"


@pytest.mark.parametrize("sign", ["online", "visible", "back-off"])
def test_a_first_connect_that_fails_is_tried_again(open_host, access, sign):
    page = open_host()
    page.clock.install()
    is_away = True
    page.route_web_socket(
        "**/v1/signaling", lambda socket: socket.close(code=1013) if is_away else socket.connect_to_server()
    )
    page.evaluate("() => { Math.random = () => 0.999; }")
    page.evaluate(MAKE)
    watch_states(page)
    page.evaluate(GIVE, access("Ada"))
    expect_state(page, "failed")
    expect(page.locator("#chat-status")).to_contain_text("The chat tries again by itself.")
    expect(page.locator("#chat-retry")).to_be_visible()
    is_away = False
    if sign == "online":
        page.evaluate("dispatchEvent(new Event('online'))")
    elif sign == "visible":
        page.evaluate("document.dispatchEvent(new Event('visibilitychange'))")
    else:
        page.clock.run_for(300)
    expect_state(page, "connected")
    expect(page.locator("#chat-status")).to_be_hidden()
    assert page.evaluate("states") == ["connecting", "failed", "connected"]
    page.complaints.clear()


def test_a_connection_that_is_lost_for_good_comes_back(open_host, access):
    ada, bob = open_host(), open_host(element(access("Bob")))
    sockets = []
    is_away = False

    def connect(socket):
        sockets.append(socket)
        if is_away:
            socket.close(code=1013)
        else:
            socket.connect_to_server()

    ada.route_web_socket("**/v1/signaling", connect)
    ada.evaluate("() => { Math.random = () => 0.1; }")
    ada.evaluate(MAKE)
    ada.evaluate(GIVE, access("Ada"))
    expect_state(ada, "connected")
    send(bob, "seen")
    expect_messages(ada, "seen")
    is_away = True
    count = len(sockets)
    # A code after which the client does not resume.
    sockets[-1].close(code=1011)
    expect_state(ada, "failed")
    expect(ada.locator("#chat .gap")).to_have_count(0)
    deadline = time.monotonic() + DEADLINE
    while len(sockets) < count + 3:
        assert time.monotonic() < deadline, "waited in vain for three attempts"
        # The routes of sockets run while the page waits.
        ada.wait_for_timeout(20)
    is_away = False
    expect_state(ada, "connected")
    send(bob, "after")
    expect_messages(ada, "seen", "after")
    expect(ada.locator("#chat .gap")).to_have_count(0)
    ada.complaints.clear()


def test_an_element_without_attributes_says_so_once_and_invites_nobody_to_write(open_host, screenshots):
    page = open_host()
    # Only the test lets time pass: a slow one would see the sentence too early.
    page.clock.install(time=0)
    page.clock.pause_at(1000)
    page.evaluate(MAKE)
    page.clock.run_for(2000)
    expect(page.locator("#composer-text")).to_have_attribute("placeholder", "")
    expect(page.locator("#chat-status")).to_be_hidden()
    page.clock.run_for(2500)
    sentence = "This chat is not set up yet: it lacks session, api-key, token."
    expect(page.locator("#chat-status-text")).to_have_text(sentence)
    expect(page.locator("#chat-retry")).to_be_hidden()
    said = ["<signalbox-chat>: The chat cannot connect: it lacks session, api-key, token."]
    assert page.complaints == said
    page.screenshot(path=screenshots / "unconfigured.png")
    page.evaluate("document.body.append(chat)")
    page.clock.run_for(10_000)
    assert page.complaints == said
    page.complaints.clear()


@pytest.mark.parametrize("policy", [
    "connect-src 'none'",
    # The server permits requests to it, but no sockets.
    "connect-src https: http:",
])  # fmt: skip
def test_a_policy_that_blocks_the_socket_is_named_at_once(open_with_policy, access, url, screenshots, policy):
    page = open_with_policy(policy, element(access("Ada")))
    expect_state(page, "failed")
    sentence = "This page does not allow the chat to connect. Tell the owner of this page."
    expect(page.locator("#chat-status-text")).to_have_text(sentence)
    expect(page.locator("#chat-retry")).to_be_hidden()
    source = url.replace("http", "ws")
    said = f"The page’s Content-Security-Policy blocks the connection to {source}. Add {source} to its connect-src."
    assert page.complaints.count(f"<signalbox-chat>: {said}") == 1
    page.screenshot(path=screenshots / "policy.png")
    page.complaints.clear()
