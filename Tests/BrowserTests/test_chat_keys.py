"""`<signalbox-chat>` keeps what users type in it from the shortcuts of the page."""

from chat_element import FAKE_SESSION, expect_messages, expect_state
from playwright.sync_api import expect

# Listeners as pages have them: they leave keys of text fields alone, and take the others.
SHORTCUTS = """
  () => {
    window.heard = [];
    const names = ['keydown', 'keypress', 'keyup', 'paste', 'cut', 'copy', 'input', 'beforeinput'];
    for (const [where, target] of [['window', window], ['document', document], ['body', document.body]]) {
      for (const phase of ['capture', 'bubble']) {
        for (const name of names) {
          // Every element and the window may capture what is typed in a native field, too: the page can tell by it.
          if (phase === 'capture' && ['input', 'beforeinput'].includes(name)) continue;
          target.addEventListener(name, (event) => {
            if (event.target.tagName === 'INPUT') return;
            heard.push(`${where} ${phase} ${name} ${event.key ?? ''}`.trim());
            if (name === 'keydown' && !event.ctrlKey && event.key.length === 1) event.preventDefault();
          }, phase === 'capture');
        }
      }
    }
  }
"""


def open_chat(open_host, content='<signalbox-chat id="chat"></signalbox-chat>'):
    page = open_host(content)
    page.evaluate(FAKE_SESSION)
    page.evaluate("chat.attach(window.session = fakeSession('room'))")
    expect_state(page, "connected")
    return page


def test_typing_does_not_reach_the_shortcuts_of_the_page(open_host):
    page = open_chat(open_host)
    page.evaluate(SHORTCUTS)
    box = page.locator("#composer-text")
    box.press_sequentially("jk/?g i")
    for key in ("Control+a", "Control+c", "Control+x", "Control+v", "Control+z", "ArrowLeft", "End", "Backspace"):
        box.press(key)
    assert page.evaluate("heard.filter((each) => !each.endsWith(' Control'))") == []
    box.fill("to send")
    page.evaluate("heard.length = 0")
    box.press("Enter")
    expect_messages(page, "to send")
    box.press("Shift+Enter")
    assert page.evaluate("heard.filter((each) => !each.endsWith(' Shift'))") == []
    expect(box).to_have_value("\n")


def test_keys_that_leave_the_field_or_command_the_page_reach_it(open_host):
    page = open_chat(open_host)
    page.evaluate(SHORTCUTS)
    box = page.locator("#composer-text")
    for key in ("Control+k", "Escape", "F2"):
        page.evaluate("heard.length = 0")
        box.press(key)
        name = key.split("+")[-1]
        for phase in ("capture", "bubble"):
            assert page.evaluate("heard").count(f"document {phase} keydown {name}") == 1


def test_the_list_keeps_the_keys_that_it_uses(open_host):
    page = open_chat(open_host)
    page.locator("#composer-text").fill("one")
    page.locator("#composer-text").press("Enter")
    page.evaluate(SHORTCUTS)
    page.locator("#messages-scroll").focus()
    said = "heard.filter((each) => each.startsWith('window bubble keydown'))"
    for key in ("ArrowUp", "Escape"):
        page.keyboard.press(key)
    assert page.evaluate(said) == []
    # The list has no more use for it: a dialog of the page may close.
    page.keyboard.press("Escape")
    assert page.evaluate(said) == ["window bubble keydown Escape"]


def test_a_field_of_the_page_in_a_slot_is_the_page_s(open_host):
    field = '<textarea slot="footer" id="own"></textarea>'
    page = open_chat(open_host, f'<signalbox-chat id="chat">{field}</signalbox-chat>')
    page.evaluate(
        """() => {
             window.keys = [];
             document.addEventListener('keydown', ({ key, target }) => keys.push(key + target.id));
           }"""
    )
    page.locator("#own").press_sequentially("j")
    assert page.evaluate("keys") == ["jown"]


def test_in_a_closed_tree_of_the_page_typing_still_stays_inside(open_host):
    """The window does not see into a closed tree. The field itself keeps its keys."""
    page = open_host()
    page.evaluate(FAKE_SESSION)
    page.evaluate(
        """() => {
             window.heard = [];
             document.addEventListener('keydown', ({ key }) => heard.push(key));
             const outer = document.createElement('div');
             document.body.append(outer);
             const tree = outer.attachShadow({ mode: 'closed' });
             window.made = document.createElement('signalbox-chat');
             tree.append(made);
             made.attach(fakeSession('room'));
             made.focus();
           }"""
    )
    page.wait_for_function("() => made.state === 'connected'")
    page.evaluate("made.focus()")
    page.keyboard.type("hello")
    assert page.evaluate("[made.draft, heard]") == ["hello", []]
