"""`<signalbox-chat>` stays in its session: newer tokens, connections that end, and policies that forbid them."""

import re

import pytest
from chat_element import element, expect_messages, expect_state, send
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


def test_a_connection_that_is_lost_for_good_comes_back(open_host, access):
    """`element-connection.test.js` has the attempts that fail, one after the other."""
    ada, bob = open_host(), open_host(element(access("Bob")))
    sockets = []
    ada.route_web_socket(re.compile("/v1/signaling"), lambda socket: (sockets.append(socket), socket.connect_to_server()))
    ada.evaluate(MAKE)
    watch_states(ada)
    ada.evaluate(GIVE, access("Ada"))
    expect_state(ada, "connected")
    send(bob, "seen")
    expect_messages(ada, "seen")
    # A code after which the client does not resume.
    sockets[-1].close(code=1011)
    ada.wait_for_function("() => states.join() === 'connecting,connected,disconnected,connected'")
    send(bob, "after")
    expect_messages(ada, "seen", "after")
    expect(ada.locator("#chat .gap")).to_have_count(0)
    ada.complaints.clear()


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
