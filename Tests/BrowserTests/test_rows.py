"""The rows of a long list: what screen readers announce."""

import pytest
from test_chat_element import FAKE_SESSION, expect_state, open_host  # noqa: F401

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

@pytest.fixture
def chat(open_host):  # noqa: F811
    page = open_host('<signalbox-chat id="chat"></signalbox-chat>', viewport={"width": 480, "height": 2400})
    page.evaluate(FAKE_SESSION + RECEIVE + "; null")
    page.evaluate("() => { chat.style.height = '2300px'; chat.attach(window.session = fakeSession('room')); }")
    expect_state(page, "connected")
    return page


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
