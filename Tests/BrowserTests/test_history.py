"""A chat in a session with a history: the place that the user reads. `element-history.test.js` has the rest."""

import pytest
from chat_element import FAKE_SESSION, expect_state
from playwright.sync_api import expect

# A session with a history of `count` messages, one page of which is answered when the test says so.
KEEPING_SESSION = """
  window.keepingSession = (count, pageLength = 50) => {
    const kept = Array.from({ length: count }, (_, index) => ({
      seq: 10 + index, from: { connectionId: index % 5 === 4 ? 'former' : 'bob', data: 'Bob' },
      type: 'signal:text-chat', data: JSON.stringify({ text: `message ${index}`.padEnd((index * 37) % 160, ' long') }),
      time: 1_700_000_000_000 + index * 200_000,
    }));
    const session = fakeSession('room');
    const waiting = [];
    return Object.assign(session, {
      hasHistory: true, epoch: 'e', isHeld: false,
      history({ before = Infinity, after = -1, limit }) {
        const found = kept.filter(({ seq }) => seq < before && seq > after);
        const messages = found.slice(-Math.min(limit, pageLength));
        const page = { first: kept[0]?.seq, last: kept.at(-1)?.seq, more: found.length > messages.length, messages };
        if (!session.isHeld) return Promise.resolve(page);
        return new Promise((resolve, reject) => waiting.push({ answer: () => resolve(page), reject }));
      },
      answerPage: () => waiting.shift().answer(),
      refusePage: () => waiting.shift().reject(Object.assign(new Error('busy'), { code: 503 })),
    });
  };
  window.frames = async (count = 5) => {
    for (let frame = 0; frame < count; frame += 1) await new Promise(requestAnimationFrame);
  };
  // The messages in the view, and where they are in pixels.
  window.seen = () => {
    const view = chat.shadowRoot.getElementById('messages-scroll').getBoundingClientRect();
    return [...chat.shadowRoot.querySelectorAll('.bubble')]
      .map((each) => [each.textContent.trim(), each.getBoundingClientRect()])
      .filter(([, { top, bottom }]) => bottom > view.top && top < view.bottom)
      .map(([text, { top }]) => [text, top]);
  };
  // How far the messages have moved since.
  window.moved = (before) => {
    const now = new Map([...chat.shadowRoot.querySelectorAll('.bubble')]
      .map((each) => [each.textContent.trim(), each.getBoundingClientRect().top]));
    return Math.max(...before.map(([text, top]) => Math.abs(now.get(text) - top)));
  };
"""


@pytest.fixture
def keeping(open_host):
    page = open_host('<signalbox-chat id="chat"></signalbox-chat>', viewport={"width": 480, "height": 700})
    page.evaluate(FAKE_SESSION + KEEPING_SESSION + "; null")
    page.evaluate("() => { chat.style.height = '600px'; }")

    def attach(count, page_length=50):
        page.evaluate(
            "([count, length]) => chat.attach(window.session = keepingSession(count, length))", [count, page_length]
        )
        expect_state(page, "connected")
        # The fake session is connected already: it tells so, as a session does after its connect.
        page.evaluate("() => session.emit('sessionConnected', {})")
        return page

    return attach


def scroll_to_top(page):
    page.evaluate("() => { chat.shadowRoot.getElementById('messages-scroll').scrollTop = 40; }")


def test_earlier_messages_do_not_move_what_the_user_reads(keeping):
    page = keeping(850)
    page.evaluate("() => frames(10)")
    for round in range(3):
        page.evaluate("() => { session.isHeld = true; }")
        scroll_to_top(page)
        expect(page.locator("#earlier")).to_have_text("Loading earlier messages…")
        page.evaluate("() => frames()")
        before = page.evaluate("seen()")
        count = page.evaluate("chat.messages.length")
        assert len(before) > 2
        # In the first frame that has them, and in all after it. A list scrolls by whole pixels.
        jumps = page.evaluate(
            """async (before) => {
                 const jumps = [];
                 session.answerPage();
                 for (let turn = 0; turn < 20; turn += 1) await null;
                 for (let frame = 0; frame < 20; frame += 1) {
                   await new Promise(requestAnimationFrame);
                   jumps.push(moved(before));
                 }
                 return jumps;
               }""",
            before,
        )
        assert max(jumps) < 1, f"round {round}: {jumps}"
        assert page.evaluate("chat.messages.length") == count + 50


def test_loaded_messages_are_not_read_out_and_new_ones_are(keeping):
    page = keeping(0)
    page.evaluate(
        """() => {
             window.added = [];
             new MutationObserver((records) => {
               for (const { target, addedNodes } of records) {
                 if (addedNodes.length > 0) added.push(target.closest('[aria-live]').getAttribute('aria-live'));
               }
             }).observe(chat.shadowRoot.getElementById('messages'), { childList: true, subtree: true });
             chat.attach(window.session = keepingSession(80), { room: 'other' });
             session.emit('sessionConnected', {});
           }"""
    )
    expect(page.locator(".bubble")).to_have_count(50)
    scroll_to_top(page)
    expect(page.locator(".bubble")).to_have_count(80)
    assert set(page.evaluate("added")) == {"off"}
    page.wait_for_function("() => !chat.shadowRoot.getElementById('messages').hasAttribute('aria-live')")
    page.evaluate(
        """() => {
             added.length = 0;
             const from = { connectionId: 'bob', data: 'Bob' };
             session.emit('signal', { type: 'signal:text-chat', data: '{"text":"new"}', from, seq: 999 });
           }"""
    )
    expect(page.locator(".bubble").last).to_have_text("new")
    assert page.evaluate("added.at(-1)") == "polite"


def test_two_hundred_earlier_messages_are_measured_together(keeping):
    """However fast the machine is: the number of layouts says whether rows are measured one by one."""
    page = keeping(2000, 200)
    page.evaluate("() => frames(10)")
    page.evaluate(
        """() => {
             const { history } = session;
             session.history = (request) => history({ ...request, limit: 200 });
           }"""
    )
    developer = page.context.new_cdp_session(page)
    developer.send("Performance.enable")

    def layouts():
        metrics = {each["name"]: each["value"] for each in developer.send("Performance.getMetrics")["metrics"]}
        return metrics["LayoutCount"]

    for _ in range(3):
        page.evaluate("() => { session.isHeld = true; }")
        scroll_to_top(page)
        expect(page.locator("#earlier")).to_have_text("Loading earlier messages…")
        page.evaluate("() => frames()")
        before, count = layouts(), page.evaluate("chat.messages.length")
        page.evaluate("() => { session.answerPage(); return frames(2); }")
        assert layouts() - before <= 8, "rows are measured together"
        assert page.evaluate("chat.messages.length") == count + 200


@pytest.mark.parametrize("is_held", [True, False])
def test_on_a_phone_the_first_earlier_pages_move_nothing(open_host, is_held):
    """Rows are higher there than any estimate. The user jumps near the beginning, as by a long swipe."""
    phone = {"viewport": {"width": 360, "height": 640}, "has_touch": True, "is_mobile": True, "device_scale_factor": 2}
    page = open_host('<signalbox-chat id="chat"></signalbox-chat>', **phone)
    page.evaluate(FAKE_SESSION + KEEPING_SESSION + "; null")
    page.evaluate(
        """() => {
             const wide = document.createElement('meta');
             Object.assign(wide, { name: 'viewport', content: 'width=device-width' });
             document.head.append(wide);
             chat.style.height = '600px';
             chat.attach(window.session = keepingSession(850));
             session.emit('sessionConnected', {});
             return frames(60);
           }"""
    )
    jumps = page.evaluate(
        """async (isHeld) => {
             const list = chat.shadowRoot.getElementById('messages-scroll');
             const jumps = [];
             for (let round = 0; round < 6; round += 1) {
               session.isHeld = isHeld;
               list.scrollTop = 100;
               const before = seen();
               await frames(6);
               jumps.push(moved(before));
               if (isHeld) session.answerPage();
               await frames(20);
               jumps.push(moved(before));
               await new Promise((done) => setTimeout(done, 100));
             }
             return jumps;
           }""",
        is_held,
    )
    assert max(jumps) < 2, jumps
    assert page.evaluate("chat.messages.length") >= 350
