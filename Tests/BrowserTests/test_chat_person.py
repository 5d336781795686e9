"""Whose chat it is: two people use one tab, one after the other."""

import pytest
from chat_element import element, expect_messages, expect_state, send
from playwright.sync_api import expect

# The page renders the element anew, or only gives it the next token.
NEXT = {
    "a reload": "reload",
    "the same element": "token => { chat.token = token; }",
}


@pytest.mark.parametrize("users", [("u-ada", "u-bob"), (None, None), ("u-ada", None)])
@pytest.mark.parametrize("way", NEXT)
def test_the_next_person_in_a_tab_sees_nothing_of_the_last_one(open_host, access, way, users):
    named = [{} if user is None else {"user": user} for user in users]
    first, second = access("Ada", **named[0]), access("Bob", **named[1])
    page = open_host(element(first))
    expect_state(page, "connected")
    send(page, "hello")
    expect(page.locator(".row.sent, [data-kind=message].sent")).to_have_count(1)
    field = page.locator("#composer-text")
    field.fill("half a secret")
    if way == "a reload":
        page.reload()
        page.evaluate(NEXT["the same element"], second["token"])
    else:
        page.evaluate(NEXT[way], second["token"])
    # At once, and not only when the server has answered.
    assert page.evaluate("new Promise((done) => queueMicrotask(() => queueMicrotask(() => done(chat.draft))))") == ""
    expect_state(page, "connected")
    expect(field).to_have_value("")
    expect_messages(page, "hello")
    expect(page.locator("[data-kind=message].sent")).to_have_count(0)
    send(page, "hello, too")
    expect(page.locator("[data-kind=message].sent .bubble")).to_have_text(["hello, too"])
