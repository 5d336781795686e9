"""What a person does on the test page, in the person's words."""

from playwright.sync_api import expect

MESSAGE_ROWS = "#messages > li[data-kind=message]"


class Person:
    def __init__(self, page):
        self.page = page

    @classmethod
    def join(cls, open_page, url, room, name, role=None, **options):
        person = cls(open_page(url + "/", **options))
        page = person.page
        page.get_by_label("Your name").fill(name)
        page.get_by_label("Room", exact=True).fill(room)
        if role:
            page.get_by_text("More options").click()
            page.locator("#role").select_option(role)
        page.get_by_role("button", name="Join").click()
        expect(page.locator("#status-text")).to_have_text("Connected")
        expect(page.get_by_label("Message", exact=True)).to_be_focused()
        return person

    def type(self, text):
        self.page.get_by_label("Message", exact=True).fill(text)

    def say(self, text):
        self.type(text)
        self.page.get_by_label("Message", exact=True).press("Enter")

    def sees_messages(self, *texts):
        expect(self.page.locator(f"{MESSAGE_ROWS} .bubble")).to_have_text(list(texts))

    def bubble(self, text):
        return self.page.locator(".bubble").get_by_text(text, exact=True)

    def sees_rows(self, *rows):
        """From top to bottom: `sent first`, `received single`, …, `day`, `unreadDivider`, `gap`."""
        self.page.wait_for_function(
            """rows => JSON.stringify(rows) === JSON.stringify([...document.querySelectorAll('#messages > li')].map(
                 ({ dataset, classList }) => dataset.kind !== 'message' ? dataset.kind
                   : `${classList.contains('sent') ? 'sent' : 'received'} ${dataset.position}`))""",
            arg=list(rows),
        )

    def state_of(self, text):
        return self.page.locator(MESSAGE_ROWS, has=self.page.get_by_text(text, exact=True))

    def sees_typing(self, text):
        expect(self.page.locator("#typing-text")).to_have_text(text)

    def open_options(self):
        self.page.get_by_role("button", name="Options").click()
        expect(self.page.locator("#options")).to_be_visible()

    def drop_connection(self):
        self.open_options()
        self.page.get_by_role("button", name="Drop the connection").click()
        self.page.keyboard.press("Escape")

    def unplug(self, is_unplugged=True):
        self.open_options()
        self.page.get_by_label("Stay unplugged").set_checked(is_unplugged)
        self.page.keyboard.press("Escape")

    def sees_people(self, *names):
        expect(self.page.locator("#people .person-name")).to_have_text(list(names))
        expect(self.page.locator("#people-count")).to_have_text(str(len(names)))

    def open_inspector(self):
        self.page.get_by_role("button", name="Inspector").click()
        expect(self.page.locator("#inspector")).to_be_visible()

    def send_signal(self, type="", data="", to=None):
        page = self.page
        page.get_by_label("Type", exact=True).fill(type)
        page.get_by_label("Data", exact=True).fill(data)
        target = page.locator("#signal-target")
        if to is None:
            target.select_option("")
        else:
            target.select_option(value=target.locator("option", has_text=to).get_attribute("value"))
        page.get_by_role("button", name="Send signal").click()

    def log(self, text):
        return self.page.locator("#log li", has_text=text)

    def is_wider_than_its_window(self):
        return self.page.evaluate("document.documentElement.scrollWidth > window.innerWidth")
