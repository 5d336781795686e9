"""A chat in a session with a history: earlier messages, the place that the user reads, and what is said of an empty room."""

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


def test_a_user_who_joins_late_sees_the_newest_messages_and_scrolls_up_to_the_beginning(keeping):
    page = keeping(120)
    expect(page.locator(".bubble")).to_have_count(50)
    expect(page.locator(".bubble").last).to_be_in_viewport()
    expect(page.locator("#empty")).to_be_hidden()
    for count in (100, 120):
        scroll_to_top(page)
        expect(page.locator(".bubble")).to_have_count(count)
    expect(page.locator(".beginning")).to_have_text("This is the beginning of the conversation.")
    expect(page.locator("#earlier")).to_be_hidden()
    texts = page.evaluate("chat.messages.map(({ text }) => text.split(' ', 2).join(' '))")
    assert texts == [f"message {index}" for index in range(120)]


@pytest.mark.parametrize("length", [50, 200])
def test_earlier_messages_do_not_move_what_the_user_reads(keeping, length):
    page = keeping(850, length)
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


def test_a_failure_is_shown_and_the_keyboard_tries_again(keeping):
    page = keeping(60)
    expect(page.locator(".bubble")).to_have_count(50)
    page.evaluate("() => { session.isHeld = true; }")
    button = page.locator("#earlier")
    expect(button).to_have_text("Show earlier messages")
    button.press("Enter")
    page.evaluate("() => session.refusePage()")
    expect(button).to_have_text("Earlier messages could not be loaded. Try again")
    page.evaluate("() => { session.isHeld = false; }")
    button.press("Enter")
    expect(page.locator(".bubble")).to_have_count(60)
    # The button is gone, and the keyboard goes on where it was.
    assert page.evaluate("chat.shadowRoot.activeElement.id") == "messages-scroll"


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


def test_the_text_of_an_empty_room_is_true(keeping):
    page = keeping(0)
    expect(page.locator("#empty")).to_have_text("No messages yet. Write the first one.")
    page.evaluate("() => { chat.attach(window.session = fakeSession('plain')); session.emit('sessionConnected', {}); }")
    expect(page.locator("#empty")).to_have_text("You see messages from now on.")


def test_own_messages_are_recognized_after_a_reload_and_erased_ones_lose_their_content(keeping):
    page = keeping(0)
    page.evaluate("() => { sessionStorage.setItem('signalbox.own.chat.third', 'former'); }")
    page.evaluate(
        """() => {
             chat.attach(window.session = keepingSession(5), { room: 'third' });
             session.emit('sessionConnected', {});
           }"""
    )
    expect(page.locator(".row.sent .bubble")).to_have_count(1)
    assert page.evaluate("sessionStorage.getItem('signalbox.own.chat.third')") == "former room-own"
    page.evaluate("() => session.emit('messagesErased', { ref: 10 })")
    expect(page.locator(".bubble").first).to_have_text("This message was removed.")
    page.evaluate("() => session.emit('messagesErased', { through: 13 })")
    expect(page.locator(".bubble")).to_have_count(1)
    expect(page.locator("#messages-dropped")).to_be_hidden()


def test_two_hundred_earlier_messages_are_inserted_in_a_frame(keeping, record_property):
    """By the processor time of the page's thread, which other work on the machine does not prolong."""
    page = keeping(2000, 200)
    page.evaluate("() => frames(10)")
    page.evaluate(
        """() => {
             const { history } = session;
             session.history = (request) => history({ ...request, limit: 200 });
           }"""
    )
    developer = page.context.new_cdp_session(page)
    developer.send("Performance.enable", {"timeDomain": "threadTicks"})

    def work():
        """The layouts so far, and the milliseconds of scripts, styles and layouts."""
        metrics = {each["name"]: each["value"] for each in developer.send("Performance.getMetrics")["metrics"]}
        seconds = metrics["ScriptDuration"] + metrics["RecalcStyleDuration"] + metrics["LayoutDuration"]
        return metrics["LayoutCount"], seconds * 1000

    times = []
    for _ in range(6):
        page.evaluate("() => { session.isHeld = true; }")
        scroll_to_top(page)
        page.evaluate("() => frames(20)")
        layouts, before = work()
        page.evaluate("() => { session.answerPage(); return frames(2); }")
        layouts_after, after = work()
        times.append(after - before)
        assert layouts_after - layouts <= 8, "rows are measured together"
    record_property("milliseconds", times)
    print("200 rows in front:", [round(each, 1) for each in times])
    assert page.evaluate("chat.messages.length") >= 1250
    # The first ones include the compilation of the page's code.
    assert min(times) < 50
