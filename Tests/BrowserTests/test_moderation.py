"""Users and moderation on the page: two people, three tabs, a moderator, and an OpenTok program that notices nothing."""

import re

import pytest
from playwright.sync_api import expect
from user import MESSAGE_ROWS, User

RESTRICTION = "#restriction"


class Browser:
    """The browser of one person: all its tabs share the page's storage."""

    def __init__(self, open_page, url, **options):
        self.first = open_page("about:blank", is_warm=True, **options)
        self.url = url
        self.has_joined = False

    def join(self, room, name, role=None):
        page = self.first
        if self.has_joined:
            page = self.first.context.new_page()
            page.complaints = self.first.complaints
            page.on("pageerror", lambda error: page.complaints.append(str(error)))
        self.has_joined = True
        return User.join(lambda address, **_: page.goto(address) and page, self.url, room, name, role)


@pytest.fixture
def browser_of(open_page, url):
    return lambda **options: Browser(open_page, url, **options)


def own_messages(user):
    return user.page.locator(f"{MESSAGE_ROWS}.sent .bubble")


def held(user):
    """What holds, as the moderator reads it."""
    panel = user.page.locator("#moderation-panel")
    if not panel.is_visible():
        user.page.locator("#moderation-toggle").click()
    return panel.locator(".held-text")


def freeze(user, command):
    """Chooses a time in the menu of the freeze."""
    held(user)
    button = user.page.get_by_role("button", name="Freeze the chat…")
    expect(button).to_have_attribute("aria-haspopup", "menu")
    button.click()
    menu = user.page.get_by_role("menu", name="Freeze the chat…")
    expect(menu.get_by_role("menuitem")).to_have_text(
        ["Freeze for 10 minutes…", "Freeze for 1 hour…", "Freeze until lifted…"]
    )
    menu.get_by_role("menuitem", name=command).click()


def undo(user, text):
    held(user)
    user.page.get_by_role("button", name=f"Undo: {text}").click()


def test_usr_3_chat_9_two_tabs_and_a_reload_are_one_person(browser_of, room):
    ada = browser_of()
    tab = ada.join(room, "Ada")
    tab.send("from the first tab")
    second = ada.join(room, "Ada")
    second.expect_messages("from the first tab")
    expect(own_messages(second)).to_have_text(["from the first tab"])
    second.send("from the second")
    expect(own_messages(tab)).to_have_text(["from the first tab", "from the second"])
    bob = browser_of().join(room, "Bob")
    bob.expect_participants("Ada", "Bob")
    bob.expect_rows("day", "received first", "received last")
    expect(bob.page.locator(".participant", has_text="Ada")).to_have_attribute(
        "title", "Ada is also here in another tab."
    )
    expect(tab.page.locator(".participant", has_text="Ada")).to_have_attribute(
        "title", "You are also here in another tab."
    )
    colours = bob.page.locator(f"{MESSAGE_ROWS} .avatar").evaluate_all("all => all.map(({ className }) => className)")
    assert len(set(colours)) == 1
    second.page.close()
    expect(bob.page.locator(".participant", has_text="Ada")).to_have_attribute("title", "Ada")
    tab.page.reload()
    expect(own_messages(tab)).to_have_text(["from the first tab", "from the second"])
    bob.expect_participants("Ada", "Bob")


def test_mod_3_mod_5_a_moderator_mutes_bans_and_pardons(browser_of, open_application, room, screenshots):
    ada = browser_of()
    tab, second = ada.join(room, "Ada"), ada.join(room, "Ada")
    bob = browser_of().join(room, "Bob")
    carl = browser_of().join(room, "Carl", role="moderator")
    other = open_application("classic.html", "/v2/js/opentok.min.js", room, data="OpenTok")
    expect(other.locator("#events li").last).to_have_text("connectionCreated OpenTok of 5")
    tab.send("Buy my book")
    second.send("Buy my book!")
    bob.expect_messages("Buy my book", "Buy my book!")

    # Muted, in both tabs, until a time, and with the reason.
    tab.type("Buy")
    carl.choose("Ada", "Mute for 10 minutes…")
    carl.confirm("Mute Ada for 10 minutes?", "Mute", reason="No advertising")
    for each in (tab, second):
        expect(each.page.locator(RESTRICTION)).to_have_text(
            re.compile(r"^You cannot write until .+: a moderator has muted you\. Reason: No advertising$")
        )
        expect(each.page.locator("#send")).to_be_hidden()
    expect(tab.page.locator("#composer-text")).not_to_be_editable()
    expect(second.page.locator("#composer-text")).to_be_hidden()
    expect(tab.page.locator("#composer-text")).to_have_value("Buy")
    expect(bob.page.locator(RESTRICTION)).to_be_hidden()
    tab.page.screenshot(path=screenshots / "muted.png")
    expect(held(carl)).to_have_text([re.compile("^Ada cannot write until ")])

    # Undone: both tabs can write again.
    undo(carl, "Ada cannot write until")
    for each in (tab, second):
        expect(each.page.locator(RESTRICTION)).to_be_hidden()
        expect(each.page.locator("#composer-text")).to_be_editable()
    # An empty field was gone meanwhile, and the focus comes back with it.
    expect(second.page.locator("#composer-text")).to_be_focused()
    tab.page.locator("#composer-text").press("Enter")
    bob.expect_messages("Buy my book", "Buy my book!", "Buy")

    # Banned: all tabs go, the messages are removed, and the same link does not let Ada in.
    carl.choose("Ada", "Ban…")
    dialog = carl.page.get_by_role("dialog", name="Ban Ada?")
    dialog.get_by_label("Also delete all messages of Ada").check()
    carl.page.screenshot(path=screenshots / "ban.png")
    carl.confirm("Ban Ada?", "Ban", reason="No advertising")
    for each in (tab, second):
        expect(each.page.get_by_role("alert")).to_contain_text(
            "You are banned from this chat. Reason: No advertising"
        )
    bob.expect_participants("Bob", "Carl", "OpenTok")
    bob.expect_messages(*["This message was deleted."] * 3)
    # Ada's own tabs keep no copy.
    for each in (tab, second):
        each.expect_messages(*["This message was deleted."] * 3)
    tab.page.reload()
    expect(tab.page.locator("#join-error")).to_have_text("You are banned from this chat. Reason: No advertising")
    expect(second.page.get_by_role("alert")).not_to_contain_text(re.compile(r"\d|token|code"))
    second.page.screenshot(path=screenshots / "banned.png")
    # It could not work.
    expect(second.page.get_by_role("button", name="Join again")).to_be_hidden()

    # Pardoned: the same link works again.
    expect(held(carl)).to_have_text(["Ada is banned"])
    carl.page.screenshot(path=screenshots / "held.png")
    undo(carl, "Ada is banned")
    expect(carl.page.locator("#moderation-toggle")).to_have_text("Moderation")
    second.page.reload()
    bob.expect_participants("Ada", "Bob", "Carl", "OpenTok")
    second.send("Sorry")
    expect(bob.bubble("Sorry")).to_be_visible()

    # The OpenTok program has seen connections and signals, as from any server of OpenTok, and nothing else.
    expect(other.locator("#events li").last).to_have_text("signal:text-chat generic")
    seen = [line for line in other.locator("#events li").all_inner_texts() if line != "signal:typing generic"]
    assert seen[7:] == [
        *["signal:text-chat generic"] * 3,
        *["connectionDestroyed Ada forceDisconnected"] * 2,
        "connectionCreated Ada of 4",
        "signal:text-chat generic",
    ]


def test_mod_4_a_frozen_chat_is_for_moderators(browser_of, room):
    ada = browser_of().join(room, "Ada")
    carl = browser_of().join(room, "Carl", role="moderator")
    freeze(carl, "Freeze until lifted…")
    carl.confirm("Freeze the chat?", "Freeze", reason="Break until noon")
    expect(ada.page.locator(RESTRICTION)).to_have_text(
        "Only moderators can write at the moment. Reason: Break until noon"
    )
    expect(carl.page.locator(RESTRICTION)).to_be_hidden()
    carl.send("Coffee is ready")
    expect(ada.bubble("Coffee is ready")).to_be_visible()
    bob = browser_of()
    page = bob.first
    page.goto(bob.url)
    page.locator("#name").fill("Bob")
    page.locator("#room").fill(room)
    page.locator("#join-button").click()
    expect(page.locator(RESTRICTION)).to_contain_text("Only moderators can write at the moment.")
    expect(held(carl)).to_have_text(["Only moderators can write"])
    unfreeze = carl.page.get_by_role("button", name="Unfreeze the chat")
    assert unfreeze.get_attribute("aria-haspopup") is None
    unfreeze.click()
    expect(ada.page.locator(RESTRICTION)).to_be_hidden()
    ada.send("Thank you")
    expect(carl.bubble("Thank you")).to_be_visible()


def test_mod_1_mod_2_a_freeze_ends_at_its_time_by_itself(browser_of, room):
    command, question, minutes = "Freeze for 1 hour…", "Freeze the chat for 1 hour?", 60
    ada = browser_of().join(room, "Ada")
    carl = browser_of().join(room, "Carl", role="moderator")
    ada.page.clock.install()
    freeze(carl, command)
    dialog = carl.page.get_by_role("dialog", name=question)
    expect(dialog).to_contain_text("unless you unfreeze the chat before")
    carl.confirm(question, "Freeze", reason="Break")
    expect(ada.page.locator(RESTRICTION)).to_have_text(
        re.compile(r"^Only moderators can write until .+\. Reason: Break$")
    )
    expect(held(carl)).to_have_text([re.compile("^Only moderators can write until ")])
    expect(carl.page.get_by_role("button", name="Freeze the chat…")).to_be_hidden()
    # The clock runs on meanwhile.
    ada.page.clock.fast_forward((minutes - 10) * 60_000)
    expect(ada.page.locator(RESTRICTION)).to_be_visible()
    ada.page.clock.fast_forward(10 * 60_000)
    expect(ada.page.locator(RESTRICTION)).to_be_hidden()
    expect(ada.page.locator("#composer-text")).to_be_editable()


def test_his_9_a_moderator_deletes_a_message_by_keyboard(browser_of, room):
    ada = browser_of().join(room, "Ada")
    carl = browser_of().join(room, "Carl", role="moderator")
    ada.send("one")
    ada.send("two")
    carl.expect_messages("one", "two")
    scroll = carl.page.locator("#messages-scroll")
    scroll.focus()
    carl.page.keyboard.press("ArrowUp")
    carl.page.keyboard.press("ArrowUp")
    carl.page.keyboard.press("Enter")
    expect(carl.page.get_by_role("menu", name="Menu for the message of Ada")).to_be_visible()
    # Behind what each user may do.
    expect(carl.page.get_by_role("menuitem", name="Copy")).to_be_focused()
    for _ in range(3):
        carl.page.keyboard.press("ArrowDown")
    expect(carl.page.get_by_role("menuitem", name="Delete this message…")).to_be_focused()
    carl.page.keyboard.press("Enter")
    carl.confirm("Delete this message of Ada?", "Delete")
    ada.expect_messages("This message was deleted.", "two")
    carl.expect_messages("This message was deleted.", "two")


def test_chat_4_a_guest_with_the_name_of_a_user_is_marked(browser_of, open_application, room, screenshots):
    ada = browser_of().join(room, "Ada")
    ada.send("It is me")
    other = open_application("classic.html", "/v2/js/opentok.min.js", room, data="Ada")
    expect(other.locator("#events li").last).to_have_text("connectionCreated Ada of 2")
    other.evaluate("session.signal({ type: 'text-chat', data: JSON.stringify({ text: 'No, me', sender: {} }) })")
    bob = browser_of().join(room, "Bob")
    row = bob.row("No, me")
    expect(row.locator(".guest-mark")).to_have_text("guest")
    expect(row.locator(".row-name")).to_have_text("Ada")
    expect(bob.row("It is me").locator(".guest-mark")).to_have_count(0)
    expect(bob.page.locator(".participant .guest-tag:visible")).to_have_count(1)
    bob.page.screenshot(path=screenshots / "guest.png")


@pytest.mark.parametrize("width, scheme", [(1280, "light"), (390, "dark")])
def test_moderation_fits_a_phone_and_a_screen(browser_of, room, screenshots, width, scheme):
    options = {"viewport": {"width": width, "height": 780}, "color_scheme": scheme, "has_touch": width < 400}
    ada = browser_of(**options).join(room, "Ada")
    carl = browser_of(**options).join(room, "Carl", role="moderator")
    ada.send("A message that is somewhat longer than the others, so that it needs two lines on a phone")
    button = carl.page.locator(".row-menu")
    button.hover()
    button.click()
    menu = carl.page.get_by_role("menu")
    expect(menu).to_be_visible()
    box = menu.bounding_box()
    assert box["x"] >= 0 and box["x"] + box["width"] <= width and box["y"] + box["height"] <= 780
    carl.page.screenshot(path=screenshots / f"moderation-menu-{width}-{scheme}.png")
    carl.page.get_by_role("menuitem", name="Mute for 1 hour…").click()
    carl.page.screenshot(path=screenshots / f"moderation-question-{width}-{scheme}.png")
    carl.confirm("Mute Ada for 1 hour?", "Mute", reason="A reason that takes some space on a small screen")
    expect(ada.page.locator(RESTRICTION)).to_be_visible()
    ada.page.screenshot(path=screenshots / f"moderation-muted-{width}-{scheme}.png")
    held(carl)
    carl.page.screenshot(path=screenshots / f"moderation-held-{width}-{scheme}.png")
    assert not ada.is_wider_than_its_window() and not carl.is_wider_than_its_window()
