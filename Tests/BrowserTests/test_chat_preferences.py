"""`<signalbox-chat>` for users who have chosen their own colours, or no motion, and in pages with `autofocus`."""

import pytest
from chat_element import FAKE_SESSION, element, expect_messages, expect_state
from playwright.sync_api import expect

# What the browser computes for a part of the element, or for what a style adds before it.
STYLE = """
  ([selector, property, pseudo]) =>
    getComputedStyle(chat.shadowRoot.querySelector(selector), pseudo ?? undefined).getPropertyValue(property)
"""


@pytest.fixture
def chat(open_host):
    """Opens a page with an element in a session without a server, which acknowledges no message."""

    def chat(**options):
        page = open_host('<signalbox-chat id="chat"></signalbox-chat>', **options)
        page.evaluate(FAKE_SESSION)
        page.evaluate("chat.attach(window.session = fakeSession('one'))")
        page.locator("#chat #composer-text").fill("hello")
        page.locator("#chat #composer-text").press("Enter")
        expect_messages(page, "hello")
        return page

    return chat


def style(page, selector, property, pseudo=None):
    return page.evaluate(STYLE, [selector, property, pseudo])


def test_with_forced_colours_nothing_is_told_by_a_background_alone(chat, screenshots):
    page = chat(forced_colors="active")
    canvas = style(page, "#chat-frame", "background-color", None)
    assert style(page, ".day", "border-top-style", "::before") == "solid"
    page.evaluate(
        """() => session.emit('signal', { type: 'signal:typing', data: '{"action":"begin","n":1}',
                                          from: { connectionId: 'other', data: 'Bob' }, seq: 1 })"""
    )
    expect(page.locator("#chat #typing[data-state=typing]")).to_be_visible()
    assert style(page, ".typing-dots i", "background-color") not in (canvas, style(page, ".bubble", "background-color"))
    mark = [style(page, ".mark", f"border-{side}-color", "::before") for side in ("top", "bottom")]
    assert mark[0] != mark[1], "a message that is being sent has a ring with one side of another colour"
    page.locator("#chat .bubble").click()
    assert style(page, ".row.chosen .bubble", "outline-style") == "solid"
    assert style(page, "#message-facts", "border-top-style") == "solid"
    page.screenshot(path=screenshots / "chat-forced-colours.png")


def test_without_motion_nothing_moves_and_a_fast_message_does_not_flicker(chat):
    page = chat(reduced_motion="reduce")
    timings = page.evaluate(
        """() => chat.shadowRoot.getAnimations().map((each) => [each.effect.getComputedTiming().activeDuration,
                                                                each.effect.getTiming().delay])"""
    )
    assert all(duration == 0 for duration, _ in timings), timings
    delays = style(page, ".mark", "animation-delay", "::before").split(", ")
    assert set(delays) == {"0.5s"}, "the mark of a message that is being sent appears late"


def test_autofocus_focuses_the_field_when_the_user_can_write(open_host, access):
    page = open_host(element(access("Ada"), autofocus=""))
    expect(page.locator("#chat #composer-text")).to_be_focused()


def test_autofocus_takes_no_focus_from_another_field(open_host, access):
    page = open_host('<input id="other" autofocus>' + element(access("Ada"), autofocus=""))
    expect_state(page, "connected")
    expect(page.locator("#other")).to_be_focused()


def test_without_autofocus_the_page_keeps_the_focus(open_host, access):
    page = open_host(element(access("Ada")))
    expect_state(page, "connected")
    assert page.evaluate("document.activeElement === document.body")
