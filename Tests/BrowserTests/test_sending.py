"""What becomes of a message, and what a page keeps of one that is not sent yet."""

import json
import re

from person import MESSAGE_ROWS, Person
from playwright.sync_api import expect


class Gatekeeper:
    """Stands between a page and the server, and refuses signals that contain a word, for as long as it names one."""

    def __init__(self, open_page, word):
        self.open_page = open_page
        self.word = word

    def open(self, address, **options):
        page = self.open_page("about:blank", **options)
        page.route_web_socket(re.compile("/v1/signaling"), self._stand_between)
        page.goto(address)
        return page

    def _stand_between(self, socket):
        server = socket.connect_to_server()

        def from_page(text):
            for line in text.strip().split("\n"):
                if self.word and self.word in line:
                    refusal = {"ev": "error", "id": json.loads(line)["id"], "code": 429, "name": "OT_RATE_LIMIT",
                               "message": "too many signals", "retryable": False}
                    socket.send(json.dumps(refusal))
                else:
                    server.send(line)

        socket.on_message(from_page)


def test_a_failed_message_says_why_holds_back_the_next_and_can_be_tried_again(open_page, url, room, screenshots):
    gate = Gatekeeper(open_page, "unlucky")
    ada = Person.join(gate.open, url, room, "Ada")
    bob = Person.join(open_page, url, room, "Bob")
    ada.say("unlucky")
    expect(ada.state_of("unlucky")).to_have_attribute("data-state", "failed")
    expect(ada.state_of("unlucky")).to_contain_text("Not sent: too many signals.")
    ada.say("later")
    expect(ada.state_of("later")).to_have_attribute("data-state", "held")
    ada.page.screenshot(path=screenshots / "failed-light.png")
    gate.word = None
    ada.page.get_by_role("button", name="Try again").click()
    for text in ("unlucky", "later"):
        expect(ada.state_of(text)).to_have_attribute("data-state", "sent")
    bob.sees_messages("unlucky", "later")
    expect(ada.page.locator(".row-state")).to_have_count(0)
    expect(ada.page.get_by_role("img", name="Sent", exact=True)).to_have_count(2)


def test_a_failed_message_can_be_discarded_and_frees_the_next(open_page, url, room):
    gate = Gatekeeper(open_page, "unlucky")
    ada = Person.join(gate.open, url, room, "Ada")
    ada.say("unlucky")
    ada.say("later")
    ada.page.get_by_role("button", name="Discard").click()
    ada.sees_messages("later")
    expect(ada.page.locator(MESSAGE_ROWS)).to_have_attribute("data-state", "sent")


def test_who_does_not_want_to_wait_for_a_failed_message_passes_it(open_page, url, room, screenshots):
    gate = Gatekeeper(open_page, "unlucky")
    ada = Person.join(gate.open, url, room, "Ada")
    bob = Person.join(open_page, url, room, "Bob")
    ada.say("unlucky")
    ada.say("later")
    expect(ada.state_of("later")).to_contain_text("Waiting for the message that was not sent.")
    ada.page.get_by_role("button", name="Do not wait").click()
    expect(ada.state_of("later")).to_have_attribute("data-state", "sent")
    bob.sees_messages("later")
    expect(ada.state_of("unlucky")).to_have_attribute("data-state", "failed")
    gate.word = None
    ada.page.get_by_role("button", name="Try again").click()
    bob.sees_messages("later", "unlucky")


def test_what_was_chosen_is_there_after_a_reload(open_page, url, room):
    ada = Person.join(open_page, url, room, "Ada")
    bob = Person.join(open_page, url, room, "Bob")
    bob.open_inspector()
    ada.open_options()
    ada.page.get_by_label("Typing signals").select_option("easemob")
    ada.page.get_by_label("Message signals").select_option("TextChat")
    ada.page.reload()
    ada.page.get_by_role("button", name="Join").click()
    expect(ada.page.locator("#status-text")).to_have_text("Connected")
    bob.sees_people("Bob", "Ada")
    ada.page.locator("#composer-text").press_sequentially("hi")
    expect(bob.log("signal:TypingBegin")).to_have_count(1)
    ada.page.keyboard.press("Enter")
    expect(bob.log("signal:TextChat")).to_contain_text("hi")
    bob.sees_messages("hi")
    ada.sees_messages("hi")
    ada.open_options()
    ada.page.get_by_label("Show others when I type").uncheck()
    ada.page.reload()
    ada.page.get_by_role("button", name="Join").click()
    ada.open_options()
    expect(ada.page.get_by_label("Show others when I type")).not_to_be_checked()
    expect(ada.page.get_by_label("Typing signals")).to_have_value("easemob")
    # Whatever stands in the storage, the page comes up.
    ada.page.evaluate("localStorage.setItem('signalbox.options', '[1')")
    ada.page.reload()
    ada.page.get_by_role("button", name="Join").click()
    ada.open_options()
    expect(ada.page.get_by_label("Typing signals")).to_have_value("standard")


def test_what_is_sent_while_unplugged_waits_and_goes_out_once(open_page, url, room, screenshots):
    ada = Person.join(open_page, url, room, "Ada")
    bob = Person.join(open_page, url, room, "Bob")
    ada.unplug()
    expect(ada.page.locator("#status-text")).to_have_text("Reconnecting…")
    expect(ada.page.locator("#away")).to_be_visible()
    ada.say("queued")
    expect(ada.state_of("queued")).to_have_attribute("data-state", "pending")
    bob.say("meanwhile")
    ada.sees_messages("queued")
    ada.page.screenshot(path=screenshots / "unplugged-light.png")
    ada.unplug(False)
    expect(ada.page.locator("#status-text")).to_have_text("Connected")
    for person in (ada, bob):
        person.sees_messages("meanwhile", "queued")
    expect(ada.state_of("queued")).to_have_attribute("data-state", "sent")
    expect(ada.page.locator("#away")).to_be_hidden()


def test_a_draft_survives_a_reload_and_belongs_to_its_room(open_page, url, room):
    ada = Person.join(open_page, url, room, "Ada")
    ada.type("half a thought\nand more")
    ada.page.reload()
    ada.page.get_by_role("button", name="Join").click()
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
    field.press("Enter")
    ada.sees_messages("half a thought\nand more")
    ada.page.reload()
    ada.page.get_by_role("button", name="Join").click()
    expect(field).to_have_value("")
