"""Messages that are higher, longer or fuller of links than any that a person writes."""

import pytest
from chat_element import FAKE_SESSION, expect_messages
from playwright.sync_api import expect

RECEIVE = """
  window.receive = (text) => session.emit('signal', {
    type: 'signal:text-chat', from: { connectionId: 'other', data: 'Bob' }, data: JSON.stringify({ text }),
    seq: (window.seq = (window.seq ?? 0) + 1),
  });
"""


@pytest.fixture
def page(open_host):
    page = open_host('<signalbox-chat id="chat"></signalbox-chat>', viewport={"width": 420, "height": 640})
    page.evaluate(FAKE_SESSION + RECEIVE + "; null")
    page.evaluate("chat.attach(window.session = fakeSession('one'))")
    return page


@pytest.mark.parametrize("text", ["a" + "\\n" * 990, "\\n" * 990 + "a", "\\u2028" * 990 + "a", "\\u2800\\n" * 990 + "a"])
def test_blank_lines_take_no_space(page, text):
    page.evaluate(f"receive('{text}')")
    expect_messages(page, "a")
    assert page.locator("#chat .bubble").bounding_box()["height"] < 50


@pytest.mark.parametrize("text", ["line\\n" * 400, "word " * 1600, "w" * 8000, "漢" * 4000])
def test_a_long_message_is_folded_and_opens_in_its_place(page, text):
    page.evaluate(f"receive('before')\nreceive('{text}')\nreceive('behind')")
    bubble = page.locator("#chat .bubble").nth(1)
    more = page.locator("#chat").get_by_role("button", name="Show more")
    expect(more).to_be_visible()
    folded = bubble.bounding_box()
    assert folded["height"] < 2000
    more.focus()
    # A new message moves to its place.
    page.evaluate("() => Promise.all(chat.shadowRoot.getAnimations().map((each) => each.finished))")
    place = bubble.bounding_box()["y"]
    page.keyboard.press("Enter")
    expect(more).to_have_count(0)
    assert bubble.bounding_box()["height"] > 2.5 * folded["height"]
    assert abs(bubble.bounding_box()["y"] - place) < 1
    assert page.evaluate("chat.shadowRoot.activeElement.id") == "messages-scroll"
    # It stays open in another language, and is gone when it is erased.
    page.evaluate("chat.lang = 'de'")
    expect(page.locator("#chat").get_by_role("button", name="Mehr anzeigen")).to_have_count(0)


def test_a_new_message_on_its_way_does_not_move_the_list(page):
    """A user scrolls while new messages still move to their places."""
    page.evaluate("receive('before')\nreceive('line\\n'.repeat(25))\nreceive('line\\n'.repeat(25))")
    page.evaluate(
        """async () => {
             const frames = () => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)));
             await frames();
             const motions = chat.shadowRoot.getAnimations();
             for (const each of motions) each.pause();
             chat.shadowRoot.getElementById('messages-scroll').scrollTop = 120;
             await frames();
             for (const each of motions) each.finish();
             receive('behind');
             await frames();
           }""")
    assert page.evaluate("chat.shadowRoot.getElementById('messages-scroll').scrollTop") == 120


def test_an_erased_message_cannot_be_opened(page):
    page.evaluate("receive('line\\n'.repeat(400))")
    more = page.locator("#chat .show-more")
    expect(more).to_be_visible()
    page.evaluate("() => { chat.lang = 'de'; }")
    expect(more).to_have_text("Mehr anzeigen")
    page.evaluate("session.emit('messagesErased', { ref: 1 })")
    expect(more).to_have_count(0)


def test_the_cost_of_a_message_is_bounded(page):
    """A reader of 300 messages of 640 links each gets the elements of a bounded number of links."""
    costs = page.evaluate(
        """async () => {
             const cost = async (text) => {
               const before = chat.shadowRoot.querySelectorAll('.bubble').length;
               for (let count = 0; count < 300; count += 1) receive(text);
               while (chat.shadowRoot.querySelectorAll('.bubble').length < before + 300) {
                 await new Promise((done) => requestAnimationFrame(() => setTimeout(done)));
               }
               return chat.shadowRoot.querySelectorAll('.bubble a').length;
             };
             const few = await cost('http://a.bc');
             return { few, many: await cost('http://a.bc '.repeat(640)) };
           }"""
    )
    assert costs == {"few": 300, "many": 300 * 51}
