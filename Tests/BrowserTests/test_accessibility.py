"""Accessibility of the page: names, contrast, focus, text direction, live regions."""

import re

from playwright.sync_api import expect
from refusing_proxy import RefusingProxy
from user import User

# The chat's controls are in the shadow root of its element; other pages have none.
NAMELESS = """() => [document, document.getElementById('chat')?.shadowRoot].filter(Boolean).flatMap((root) =>
    [...root.querySelectorAll('button, input, select, textarea, [role=img], [tabindex="0"]')])
  .filter((each) => each.checkVisibility())
  .filter((each) => !(each.ariaLabel || each.getAttribute('aria-labelledby')
    || each.labels?.length || each.textContent.trim()))
  .map((each) => each.outerHTML)"""

# WCAG 2.2, 1.4.3: the contrast between text and background, where both are plain colours.
LOW_CONTRAST = """() => {
  const parse = (text) => { const [r, g, b, a = 1] = text.match(/[\\d.]+/g).map(Number); return { r, g, b, a }; };
  const light = ({ r, g, b }) => {
    const [x, y, z] = [r, g, b].map((c) => (c / 255 <= 0.04045 ? c / 255 / 12.92 : ((c / 255 + 0.055) / 1.055) ** 2.4));
    return 0.2126 * x + 0.7152 * y + 0.0722 * z;
  };
  const ground = (element) => {
    for (let each = element; each; each = each.parentElement ?? each.getRootNode().host) {
      const colour = parse(getComputedStyle(each).backgroundColor);
      if (colour.a === 1) return colour;
    }
    return { r: 255, g: 255, b: 255 };
  };
  const found = [];
  const texts = [document.body, document.getElementById('chat')?.shadowRoot.querySelector('section')].flatMap((root) => {
    const walker = root ? document.createTreeWalker(root, NodeFilter.SHOW_TEXT) : null;
    const found = [];
    while (walker?.nextNode()) found.push(walker.currentNode);
    return found;
  });
  for (const text of texts) {
    const element = text.parentElement;
    if (!text.data.trim() || !element.checkVisibility() || element.disabled) continue;
    const [one, other] = [light(parse(getComputedStyle(element).color)), light(ground(element))];
    const contrast = (Math.max(one, other) + 0.05) / (Math.min(one, other) + 0.05);
    const name = element.className || element.tagName;
    if (contrast < 4.5) found.push(`${contrast.toFixed(2)} ${name}: ${text.data}`);
  }
  return found;
}"""


def assert_contrast(page):
    """In both schemes. Without motion a colour changes at once."""
    for scheme in ("light", "dark"):
        page.emulate_media(color_scheme=scheme, reduced_motion="reduce")
        assert page.evaluate(LOW_CONTRAST) == [], scheme


def test_each_control_has_a_name_and_each_text_enough_contrast(open_page, url, room):
    calm = {"reduced_motion": "reduce"}
    form = open_page(url + "/", **calm)
    expect(form.get_by_label("Your name")).to_be_visible()
    assert_contrast(form)
    ada = User.join(RefusingProxy(open_page, "not permitted").open, url, room, "Ada", **calm)
    bob = User.join(open_page, url, room, "Bob", **calm)
    bob.send("hello")
    ada.expect_messages("hello")
    ada.send("not permitted")
    ada.send("waits for it")
    expect(ada.row("not permitted")).to_have_attribute("data-state", "failed")
    for user in (ada, bob):
        user.hold_typing()
    bob.press_keys("hm")
    ada.expect_typing("Bob is typing…")
    ada.open_inspector()
    ada.open_options()
    for user in (ada, bob):
        assert user.page.evaluate(NAMELESS) == []
        assert_contrast(user.page)


def test_messages_are_a_live_log_and_each_names_its_sender(open_page, url, room):
    ada = User.join(open_page, url, room, "Ada")
    log = ada.page.get_by_role("log", name="Messages")
    expect(log).to_have_attribute("aria-live", "polite")
    ada.send("one")
    ada.send("two")
    expect(log.get_by_role("listitem").filter(has_text="This is the beginning of the conversation.")).to_have_count(1)
    rows = log.locator("[data-kind=message][role=listitem]")
    expect(rows).to_have_count(2)
    for row in (rows.nth(0), rows.nth(1)):
        expect(row).to_contain_text("You")
    expect(ada.page.get_by_role("status").filter(has_text="Connected")).to_have_count(1)
    assert ada.page.locator("html").get_attribute("lang").startswith("en")


def test_each_message_has_the_direction_of_its_text(open_page, url, room):
    ada = User.join(open_page, url, room, "Ada")
    ada.send("مرحبا بالعالم")
    direction = ada.bubble("مرحبا بالعالم").evaluate("each => getComputedStyle(each).direction")
    assert direction == "rtl"
    ada.send("hello")
    assert ada.bubble("hello").evaluate("each => getComputedStyle(each).direction") == "ltr"


def test_focus_is_visible_and_moves_to_the_list_when_its_row_goes(open_page, url, room):
    ada = User.join(RefusingProxy(open_page, "not permitted").open, url, room, "Ada")
    ada.send("not permitted")
    discard = ada.page.get_by_role("button", name="Discard")
    discard.focus()
    assert discard.evaluate("each => getComputedStyle(each).outlineStyle") == "solid"
    ada.page.keyboard.press("Enter")
    ada.expect_messages()
    assert ada.page.evaluate("document.activeElement.shadowRoot.activeElement.id") == "messages-scroll"


def test_unchanged_rows_are_not_rendered_again(open_page, url, room):
    """A screen reader would read a new element again, and a selection in the old one would be lost."""
    ada = User.join(open_page, url, room, "Ada")
    for text in ("one", "two"):
        ada.send(text)
    expect(ada.row("two")).to_have_attribute("data-state", "sent")
    ada.page.evaluate(
        """() => {
             window.touched = [];
             const one = [...document.getElementById('chat').shadowRoot.querySelectorAll('#messages [role=listitem]')].slice(0, 2);
             new MutationObserver((records) => window.touched.push(...records.map(({ target }) => target.outerHTML)))
               .observe(document.getElementById('chat').shadowRoot.getElementById('messages'),
                 { subtree: true, childList: true, attributes: true, characterData: true });
             window.isOld = () => one.every((each) => each.isConnected);
           }"""
    )
    ada.send("three")
    expect(ada.row("three")).to_have_attribute("data-state", "sent")
    touched = ada.page.evaluate("window.touched")
    assert ada.page.evaluate("window.isOld()")
    assert not [each for each in touched if each.startswith("<li") and "one" in each]
    assert len(touched) < 20


def test_arrow_keys_choose_a_message_and_show_when_it_was_acknowledged(open_page, url, room, screenshots):
    ada = User.join(open_page, url, room, "Ada")
    bob = User.join(open_page, url, room, "Bob")
    ada.send("mine")
    bob.send("theirs")
    ada.expect_messages("mine", "theirs")
    facts = ada.page.locator("#message-facts")
    expect(facts).to_be_hidden()
    # A user reads when it was, and with the inspector a developer reads more.
    ada.bubble("theirs").hover()
    expect(facts).to_have_text(re.compile(r"^Received [A-Z][^0-9]* [0-9]+, [0-9]{4} at [0-9:]+\W[AP]M$"))
    ada.open_inspector()
    ada.page.locator("#composer-text").hover()
    ada.page.get_by_role("log", name="Messages").focus()
    ada.page.keyboard.press("ArrowUp")
    expect(facts).to_have_text(re.compile(r"^seq 4 · received [0-9]{2}:[0-9]{2}:[0-9]{2}\.[0-9]{3}$"))
    ada.page.keyboard.press("ArrowUp")
    expect(facts).to_have_text(
        re.compile(r"^seq 3 · acknowledged [0-9]{2}:[0-9]{2}:[0-9]{2}\.[0-9]{3}, [0-9]+ ms after sending$")
    )
    row = ada.page.locator("#messages [data-kind=message]").first
    expect(row).to_be_focused()
    expect(row).to_have_attribute("aria-describedby", "message-facts")
    ada.page.screenshot(path=screenshots / "facts.png")
    ada.page.keyboard.press("End")
    expect(facts).to_contain_text("seq 4")
    ada.page.keyboard.press("Escape")
    expect(facts).to_be_hidden()
    expect(ada.page.get_by_role("log", name="Messages")).to_be_focused()


def test_a_click_and_the_pointer_show_the_facts_of_a_message(open_page, url, room):
    ada = User.join(open_page, url, room, "Ada")
    for text in ("one", "two"):
        ada.send(text)
    expect(ada.row("two")).to_have_attribute("data-state", "sent")
    ada.open_inspector()
    facts = ada.page.locator("#message-facts")
    ada.bubble("one").hover()
    expect(facts).to_contain_text("seq 2")
    ada.bubble("two").hover()
    expect(facts).to_contain_text("seq 3")
    ada.bubble("two").click()
    ada.page.locator("#composer-text").hover()
    expect(facts).to_contain_text("seq 3")
    ada.bubble("two").click()
    ada.page.locator("#composer-text").hover()
    expect(facts).to_be_hidden()


def test_leave_2_a_removal_by_keyboard_is_confirmed_and_the_dialog_says_what_it_cannot_do(open_page, url, room, screenshots):
    ada = User.join(open_page, url, room, "Ada", role="moderator")
    bob = User.join(open_page, url, room, "Bob")
    page = ada.page
    menu = page.get_by_role("button", name="Menu for Bob")
    menu.press("Enter")
    expect(page.get_by_role("menuitem", name="Send a signal…")).to_be_focused()
    page.get_by_role("menuitem", name="Remove…").press("Home")
    page.keyboard.press("ArrowUp")
    expect(page.get_by_role("menuitem").last).to_be_focused()
    page.get_by_role("menuitem", name="Remove…").press("Enter")
    dialog = page.get_by_role("dialog", name="Remove Bob?")
    expect(dialog).to_contain_text("can come back with the same link")
    expect(dialog.get_by_role("button", name="Cancel")).to_be_focused()
    page.screenshot(path=screenshots / "remove.png")
    page.keyboard.press("Escape")
    expect(dialog).to_be_hidden()
    expect(menu).to_be_focused()
    ada.expect_participants("Ada", "Bob")
    menu.click()
    page.keyboard.press("Escape")
    expect(menu).to_be_focused()
    ada.choose("Bob", "Send a signal…")
    expect(page.locator("#signal-target option:checked")).to_contain_text("Bob")
    bob.page.close()
    ada.expect_participants("Ada")
