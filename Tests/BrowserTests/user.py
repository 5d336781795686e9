"""A user of the test page: what they do on it, and what they see."""

from chat_element import hold_typing
from playwright.sync_api import expect

MESSAGE_ROWS = "#messages [data-kind=message]"


class User:
    def __init__(self, page):
        self.page = page

    @classmethod
    def join(cls, open_page, url, room, name, role=None, **options):
        if getattr(open_page, "has_warm_pages", False):
            options["is_warm"] = True
        user = cls(open_page(url + "/", **options))
        page = user.page
        # In every language.
        page.locator("#name").fill(name)
        page.locator("#room").fill(room)
        if role:
            page.get_by_text("More options").click()
            page.locator("#role").select_option(role)
        page.locator("#join-button").click()
        expect(page.locator("#status")).to_have_attribute("data-state", "connected")
        expect(page.locator("#composer-text")).to_be_focused()
        return user

    def type(self, text):
        """Fills the composer."""
        self.page.locator("#composer-text").fill(text)

    def press_keys(self, text):
        """Types into the composer key by key."""
        self.page.locator("#composer-text").press_sequentially(text)

    def send(self, text):
        self.type(text)
        self.page.locator("#composer-text").press("Enter")

    def expect_messages(self, *texts):
        expect(self.page.locator(f"{MESSAGE_ROWS} .bubble")).to_have_text(list(texts))

    def bubble(self, text):
        return self.page.locator(".bubble").get_by_text(text, exact=True)

    def expect_rows(self, *rows):
        """The rows from top to bottom: `sent first`, `received single`, …, `day`, `unreadDivider`, `gap`; without the
        row at the beginning of the conversation."""
        self.page.wait_for_function(
            """rows => JSON.stringify(rows) === JSON.stringify(
                 [...document.getElementById('chat').shadowRoot.querySelectorAll('#messages [role=listitem]:not([data-kind=beginning])')].map(
                 ({ dataset, classList }) => dataset.kind !== 'message' ? dataset.kind
                   : `${classList.contains('sent') ? 'sent' : 'received'} ${dataset.position}`))""",
            arg=list(rows),
        )

    def row(self, text):
        """The row of a message. Its `data-state` is the state of the message."""
        return self.page.locator(MESSAGE_ROWS, has=self.page.get_by_text(text, exact=True))

    def expect_status(self, text):
        expect(self.page.locator("#status-text")).to_have_text(text)

    def expect_typing(self, text):
        expect(self.page.locator("#typing-text")).to_have_text(text)

    def hold_typing(self):
        """From now on, nobody stops to type without a key, and nobody is forgotten."""
        hold_typing(self.page)

    def record_typing(self):
        """From now on, `recorded_typing` has each text of the typing line, however briefly it is shown."""
        self.page.evaluate(
            """() => {
                 const line = document.getElementById('chat').shadowRoot.getElementById('typing-text');
                 window.typingTexts = [];
                 new MutationObserver(() => window.typingTexts.push(line.textContent))
                   .observe(line, { childList: true });
               }"""
        )

    @property
    def recorded_typing(self):
        return self.page.evaluate("window.typingTexts")

    def show_tools(self):
        """On a phone, the buttons of developers are behind “More”."""
        more = self.page.locator("#more[aria-expanded=false]")
        if more.is_visible():
            more.click()

    def open_options(self):
        self.show_tools()
        self.page.get_by_role("button", name="Options").click()
        expect(self.page.locator("#options")).to_be_visible()

    def drop_connection(self):
        self.open_options()
        self.page.get_by_role("button", name="Drop the connection").click()
        self.page.keyboard.press("Escape")

    def set_offline(self, is_offline):
        self.open_options()
        self.page.get_by_label("Stay offline").set_checked(is_offline)
        self.page.keyboard.press("Escape")

    def expect_participants(self, *names):
        """The user is first, and the others follow by name."""
        own = self.page.locator("#own-name").text_content()
        others = sorted(names, key=str.casefold)
        others.remove(own)
        expect(self.page.locator("#participants .participant-name")).to_have_text([own, *others])
        expect(self.page.locator("#participant-count")).to_have_text(str(len(names)))

    def remove(self, name):
        """Removes a participant, as a moderator."""
        page = self.page
        self.choose(name, "Remove…")
        page.get_by_role("dialog", name=f"Remove {name}?").get_by_role("button", name="Remove").click()

    def choose(self, name, command):
        """Chooses a command in the menu of a participant, as a moderator."""
        self.page.get_by_role("button", name=f"Menu for {name}").click()
        self.page.get_by_role("menuitem", name=command).click()

    def confirm(self, question, answer, reason=None):
        """Answers the question before an action of a moderator."""
        dialog = self.page.get_by_role("dialog", name=question)
        if reason is not None:
            dialog.get_by_label("Reason").fill(reason)
        dialog.get_by_role("button", name=answer).click()
        expect(dialog).to_be_hidden()

    def open_inspector(self):
        self.show_tools()
        self.page.get_by_role("button", name="Inspector").click()
        expect(self.page.locator("#inspector")).to_be_visible()

    def send_signal(self, type="", data="", to=None):
        """Sends a signal with the inspector."""
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
        """The lines of the inspector's log that contain the text."""
        return self.page.locator("#log .log-line", has_text=text)

    def received(self, text):
        """The lines of the inspector's log for what the server sent."""
        return self.page.locator("#log .log-line.in", has_text=text)

    def is_wider_than_its_window(self):
        return self.page.evaluate("document.documentElement.scrollWidth > window.innerWidth")
