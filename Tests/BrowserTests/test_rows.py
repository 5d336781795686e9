"""The rows of a long list: what has elements, what screen readers announce, and that no part of the view is empty."""

import pytest
from chat_element import FAKE_SESSION, expect_state

# Puts messages into the chat, as if the session had delivered them, and waits until they are shown.
RECEIVE = """
  window.receive = async (texts) => {
    window.seq ??= 0;
    for (const text of texts) {
      const from = { connectionId: 'bob', data: 'Bob' };
      const data = JSON.stringify({ text, sentAt: Date.now() });
      chat.component.handle({ kind: 'signal', type: 'text-chat', data, from, seq: (seq += 1) }, Date.now());
    }
    for (let frame = 0; frame < 30; frame += 1) await new Promise(requestAnimationFrame);
  };
"""

# The pixels of the view that a block without elements covers.
EMPTY_PIXELS = """() => {
  const view = chat.shadowRoot.getElementById('messages-scroll').getBoundingClientRect();
  return [...chat.shadowRoot.querySelectorAll('.block')].filter((each) => each.childElementCount === 0)
    .map((each) => each.getBoundingClientRect())
    .reduce((sum, { top, bottom }) => sum + Math.max(0, Math.min(bottom, view.bottom) - Math.max(top, view.top)), 0);
}"""


@pytest.fixture
def chat(open_host):
    page = open_host('<signalbox-chat id="chat"></signalbox-chat>', viewport={"width": 480, "height": 2400})
    page.evaluate(FAKE_SESSION + RECEIVE + "; null")
    page.evaluate("() => { chat.style.height = '2300px'; chat.attach(window.session = fakeSession('room')); }")
    expect_state(page, "connected")
    return page


def test_bursts_with_a_very_high_row_at_the_end_leave_no_part_of_the_view_empty(chat):
    # With the row of the day, 1499 messages fill their blocks, so that the high row begins another.
    for count in (1499, 1999, 1999):
        chat.evaluate(
            "(count) => receive([...Array.from({ length: count }, (_, index) => `row ${index}`), 'x\\n'.repeat(50)])",
            count,
        )
        assert chat.evaluate(EMPTY_PIXELS) == 0
    # One high row is no measure for the others: the scroll bar would claim a list of millions of pixels.
    assert chat.evaluate("chat.shadowRoot.getElementById('messages-scroll').scrollHeight") < 5500 * 60


def test_rows_that_get_their_elements_again_are_not_announced(chat):
    chat.evaluate("receive(Array.from({ length: 1500 }, (_, index) => `row ${index}`))")
    live = """() => [...chat.shadowRoot.querySelectorAll('.block')].filter((each) => each.childElementCount > 0)
      .map((each) => each.closest('[aria-live]').getAttribute('aria-live'))"""
    assert chat.evaluate(live)[-1] == "polite"
    chat.evaluate(
        """async () => {
             window.added = [];
             const list = chat.shadowRoot.getElementById('messages');
             new MutationObserver((records) => {
               for (const { target, addedNodes } of records) {
                 if (addedNodes.length > 0) added.push(target.closest('[aria-live]').getAttribute('aria-live'));
               }
             }).observe(list, { childList: true, subtree: true });
             chat.shadowRoot.getElementById('messages-scroll').scrollTop = 5000;
             for (let frame = 0; frame < 30; frame += 1) await new Promise(requestAnimationFrame);
           }"""
    )
    assert set(chat.evaluate("added")) == {"off"}
    chat.evaluate("() => { added.length = 0; return receive(['new']); }")
    assert set(chat.evaluate("added")) == {"polite"}
