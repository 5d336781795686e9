"""The states of a message, and the drafts and options that a page keeps."""

from playwright.sync_api import expect
from refusing_proxy import RefusingProxy
from user import User


def test_chat_8_a_failed_message_shows_why_holds_back_the_next_and_can_be_sent_again(open_page, url, room, screenshots):
    proxy = RefusingProxy(open_page, "unlucky")
    ada = User.join(proxy.open, url, room, "Ada")
    bob = User.join(open_page, url, room, "Bob")
    ada.send("unlucky")
    expect(ada.row("unlucky")).to_have_attribute("data-state", "failed")
    expect(ada.row("unlucky")).to_contain_text("Not sent: too many messages at once. Wait a moment, then try again.")
    ada.send("later")
    expect(ada.row("later")).to_have_attribute("data-state", "held")
    ada.page.screenshot(path=screenshots / "failed-light.png")
    proxy.word = None
    ada.page.get_by_role("button", name="Try again").click()
    for text in ("unlucky", "later"):
        expect(ada.row(text)).to_have_attribute("data-state", "sent")
    bob.expect_messages("unlucky", "later")
    expect(ada.page.locator(".row-state")).to_have_count(0)
    expect(ada.page.get_by_role("img", name="Sent", exact=True)).to_have_count(2)


def test_options_survive_a_reload(open_page, url, room):
    ada = User.join(open_page, url, room, "Ada")
    bob = User.join(open_page, url, room, "Bob")
    bob.open_inspector()
    ada.open_options()
    ada.page.get_by_label("Typing signals").select_option("easemob")
    ada.page.get_by_label("Message signals").select_option("TextChat")
    ada.page.reload()
    expect(ada.page.locator("#status-text")).to_have_text("Connected")
    bob.expect_participants("Bob", "Ada")
    ada.press_keys("hi")
    expect(bob.log("signal:TypingBegin").first).to_be_visible()
    ada.page.keyboard.press("Enter")
    expect(bob.log("signal:TextChat")).to_contain_text("hi")
    bob.expect_messages("hi")
    ada.expect_messages("hi")
    ada.open_options()
    ada.page.get_by_label("Show others when I type").uncheck()
    ada.page.reload()
    ada.open_options()
    expect(ada.page.get_by_label("Show others when I type")).not_to_be_checked()
    expect(ada.page.get_by_label("Typing signals")).to_have_value("easemob")
    # The page starts even if the storage has invalid content.
    ada.page.evaluate("localStorage.setItem('signalbox.options', '[1')")
    ada.page.reload()
    ada.open_options()
    expect(ada.page.get_by_label("Typing signals")).to_have_value("standard")


def test_a_draft_survives_a_reload_and_belongs_to_its_room(open_page, url, room):
    ada = User.join(open_page, url, room, "Ada")
    ada.type("half a thought\nand more")
    ada.page.reload()
    field = ada.page.locator("#composer-text")
    expect(field).to_have_value("half a thought\nand more")
    ada.page.get_by_role("button", name="Leave").click()
    ada.page.get_by_label("Room", exact=True).fill(room + "2")
    ada.page.get_by_role("button", name="Join").click()
    expect(field).to_have_value("")
    ada.page.get_by_role("button", name="Leave").click()
    ada.page.get_by_label("Room", exact=True).fill(room)
    ada.page.get_by_role("button", name="Join").click()
    expect(field).to_have_value("half a thought\nand more")
    # The draft is there before the connection.
    expect(field).to_be_enabled()
    field.press("Enter")
    ada.expect_messages("half a thought\nand more")
    ada.page.reload()
    expect(field).to_have_value("")
