"""What a reader does with a chat besides reading: selecting, copying, printing, enlarging."""

import pytest
from chat_element import FAKE_SESSION
from playwright.sync_api import expect

RECEIVE = """
  window.receive = (text, name = 'Bob') => session.emit('signal', {
    type: 'signal:text-chat', from: { connectionId: name, data: name }, data: JSON.stringify({ text }),
    seq: (window.seq = (window.seq ?? 0) + 1),
  });
  window.frames = async (count = 4) => {
    for (let frame = 0; frame < count; frame += 1) await new Promise(requestAnimationFrame);
  };
"""


@pytest.fixture
def open_chat(open_host):
    def open_chat(**options):
        page = open_host('<signalbox-chat id="chat"></signalbox-chat>', **options)
        page.evaluate(FAKE_SESSION + RECEIVE + "; null")
        page.evaluate("chat.attach(window.session = fakeSession('one'))")
        return page

    return open_chat


def select(page, first, last):
    """Drags the pointer from the beginning of one message to the end of another."""
    start, end = (page.locator("#chat .bubble").nth(number).bounding_box() for number in (first, last))
    page.mouse.move(start["x"] + 13, start["y"] + 12)
    page.mouse.down()
    page.mouse.move(end["x"] + end["width"] - 4, end["y"] + end["height"] - 10, steps=8)


def test_the_list_does_not_scroll_while_its_text_is_selected(open_chat):
    page = open_chat()
    page.evaluate("() => { for (let number = 0; number < 30; number += 1) receive(`message ${number}`); return frames(); }")
    top = "chat.shadowRoot.getElementById('messages-scroll').scrollTop"
    place = page.evaluate(top)
    assert place > 0
    select(page, 27, 29)
    page.evaluate("() => { for (const text of 'abcdef') receive(text); return frames(); }")
    assert page.evaluate(top) == place
    page.mouse.up()
    page.evaluate("() => { receive('g'); return frames(); }")
    assert page.evaluate(top) == place, "the user copies what is selected"
    expect(page.locator("#chat #new-messages")).to_be_visible()
    # With the selection gone, the user goes to the end, and the list follows it again.
    page.locator("#chat #composer-text").click()
    page.locator("#chat #new-messages").click()
    page.evaluate("() => { chat.scrollToEnd(); receive('h'); return frames(); }")
    expect(page.locator("#chat .bubble").last).to_be_in_viewport()


def test_copied_messages_have_no_letters_of_avatars(open_chat):
    page = open_chat(permissions=["clipboard-read", "clipboard-write"])
    page.evaluate("() => { receive('one', 'Bob'); receive('two', 'Cy'); receive('three', 'Dan'); return frames(); }")
    select(page, 0, 2)
    page.mouse.up()
    page.keyboard.press("Control+C")
    lines = page.evaluate("navigator.clipboard.readText()").split("\n")
    assert [line for line in lines if len(line.strip()) == 1] == []
    assert {"one", "two", "three"} <= {line.strip() for line in lines}


def test_all_loaded_messages_are_printed_in_light_colours(open_chat):
    page = open_chat(color_scheme="dark")
    page.evaluate(
        """async () => {
             document.documentElement.style.colorScheme = 'dark';
             for (let number = 0; number < 1500; number += 1) receive(`message ${number}`);
             while (chat.shadowRoot.querySelectorAll('.bubble').length < 20) await frames();
             await frames(20);
           }"""
    )
    assert page.locator("#chat .bubble").count() < 1500, "far rows have no elements"
    page.emulate_media(media="print", color_scheme="dark")
    page.evaluate("() => dispatchEvent(new Event('beforeprint'))")
    printed = page.evaluate(
        """() => {
             const root = chat.shadowRoot;
             const bubbles = [...root.querySelectorAll('.bubble')];
             const style = (selector) => getComputedStyle(root.querySelector(selector));
             return {
               count: bubbles.filter((each) => each.checkVisibility({ contentVisibilityAuto: true })).length,
               height: chat.getBoundingClientRect().height,
               paper: style('#chat-frame').backgroundColor, ink: style('.bubble').color,
               end: bubbles.at(-1).getBoundingClientRect().bottom - chat.getBoundingClientRect().bottom,
             };
           }"""
    )
    assert printed["count"] == 1500
    assert printed["height"] > 1500 * 24 and printed["end"] <= 0
    assert (printed["paper"], printed["ink"]) == ("rgb(255, 255, 255)", "rgb(24, 33, 31)")
    page.evaluate("() => dispatchEvent(new Event('afterprint'))")
    page.emulate_media(media="screen")
    page.evaluate("async () => { await frames(); receive('after'); await frames(); }")
    assert page.locator("#chat .bubble").count() < 1500
    expect(page.locator("#chat .bubble").last).to_be_in_viewport()


def test_at_400_percent_each_command_of_a_menu_can_be_reached(open_chat):
    """A window of 1280 by 800 pixels has 320 by 200 then."""
    page = open_chat(viewport={"width": 320, "height": 200})
    page.evaluate(
        """() => {
             const commands = Array.from({ length: 9 }, (_, number) => ({ text: `Command ${number}`, act() {} }));
             const button = document.createElement('button');
             document.body.prepend(button);
             receive('hello');
             chat.openPersonMenu({ user: 'u', connectionId: 'Bob', name: 'Bob' }, button, commands);
           }"""
    )
    menu = page.locator("#chat #action-menu")
    box = menu.bounding_box()
    assert box["y"] >= 0 and box["y"] + box["height"] <= 200
    page.keyboard.press("End")
    expect(menu.get_by_role("menuitem").last).to_be_in_viewport(ratio=1)
    page.keyboard.press("Home")
    expect(menu.get_by_role("menuitem").first).to_be_in_viewport(ratio=1)
