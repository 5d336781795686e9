"""One page with two users of a room."""

from chat_element import hold_typing
from playwright.sync_api import expect
from user import User


def send(page, suffix, text):
    page.locator(f"#chat{suffix} #composer-text").fill(text)
    page.locator(f"#chat{suffix} #composer-text").press("Enter")


def expect_messages(page, *texts):
    for suffix in ("", "-2"):
        expect(page.locator(f"#chat{suffix} #messages .bubble")).to_have_text(list(texts))


def expect_ids_of_their_own(page):
    """Ids are unique, and labels refer to their own user."""
    ids = page.evaluate("[...document.querySelectorAll('[id]')].map((each) => each.id)")
    assert len(ids) == len(set(ids))
    broken = page.evaluate(
        """['for', 'aria-labelledby', 'aria-describedby', 'aria-controls'].flatMap((name) =>
             [...document.querySelectorAll(`[${name}]`)].flatMap((each) => each.getAttribute(name).split(' '))
               .filter((id) => !document.getElementById(id)))"""
    )
    assert broken == []


def test_the_demo_has_two_users_that_chat_with_each_other(open_page, url, screenshots):
    page = open_page(url + "/?demo")
    for suffix, names in (("", ["Left", "Right"]), ("-2", ["Right", "Left"])):
        expect(page.locator(f"#status-text{suffix}")).to_have_text("Connected")
        expect(page.locator(f"#participants{suffix} .participant-name")).to_have_text(names)
    send(page, "", "from the left")
    expect_messages(page, "from the left")
    send(page, "-2", "from the right")
    expect_messages(page, "from the left", "from the right")
    for id in ("chat", "chat-2"):
        hold_typing(page, id)
    page.locator("#chat-2 #composer-text").press_sequentially("hm")
    expect(page.locator("#chat #typing-text")).to_have_text("Right is typing…")
    expect(page.locator("#chat-2 #typing-text")).to_have_text("")
    page.screenshot(path=screenshots / "demo-light.png")
    expect_ids_of_their_own(page)
    # Each user has its own network switch.
    page.locator("#options-toggle-2").click()
    page.locator("#offline-2").check()
    expect(page.locator("#status-text-2")).to_have_text("Reconnecting…")
    expect(page.locator("#status-text")).to_have_text("Connected")
    send(page, "", "are you there?")
    page.locator("#offline-2").uncheck()
    expect(page.locator("#status-text-2")).to_have_text("Connected")
    expect_messages(page, "from the left", "from the right", "are you there?")


def test_a_second_user_joins_the_room_and_leaves(open_page, url, room):
    ada = User.join(open_page, url, room, "Ada")
    toggle = ada.page.get_by_role("button", name="Two users")
    for _ in range(2):
        toggle.click()
        expect(toggle).to_have_attribute("aria-pressed", "true")
        ada.expect_participants("Ada", "Second user")
        # Its network switch works each time.
        ada.page.locator("#options-toggle-2").click()
        ada.page.locator("#offline-2").check()
        expect(ada.page.locator("#status-text-2")).to_have_text("Reconnecting…")
        ada.page.locator("#offline-2").uncheck()
        expect(ada.page.locator("#status-text-2")).to_have_text("Connected")
        toggle.click()
        expect(toggle).to_have_attribute("aria-pressed", "false")
        ada.expect_participants("Ada")
