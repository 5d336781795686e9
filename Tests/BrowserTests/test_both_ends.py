"""One page as both ends of a conversation."""

from person import Person
from playwright.sync_api import expect


def say(page, suffix, text):
    page.locator(f"#composer-text{suffix}").fill(text)
    page.locator(f"#composer-text{suffix}").press("Enter")


def expect_messages(page, *texts):
    for suffix in ("", "-2"):
        expect(page.locator(f"#messages{suffix} .bubble")).to_have_text(list(texts))


def test_the_demo_has_two_connections_that_talk_to_each_other(open_page, url, screenshots):
    page = open_page(url + "/?demo")
    for suffix in ("", "-2"):
        expect(page.locator(f"#status-text{suffix}")).to_have_text("Connected")
        expect(page.locator(f"#people{suffix} .person-name")).to_have_text(["Left", "Right"])
    say(page, "", "from the left")
    expect_messages(page, "from the left")
    say(page, "-2", "from the right")
    expect_messages(page, "from the left", "from the right")
    page.locator("#composer-text-2").press_sequentially("hm")
    expect(page.locator("#typing-text")).to_have_text("Right is typing…")
    expect(page.locator("#typing-text-2")).to_have_text("")
    page.screenshot(path=screenshots / "demo-light.png")
    # One end's cable is its own.
    page.locator("#options-toggle-2").click()
    page.locator("#unplug-2").check()
    expect(page.locator("#status-text-2")).to_have_text("Reconnecting…")
    expect(page.locator("#status-text")).to_have_text("Connected")
    say(page, "", "are you there?")
    page.locator("#unplug-2").uncheck()
    expect(page.locator("#status-text-2")).to_have_text("Connected")
    expect_messages(page, "from the left", "from the right", "are you there?")


def test_a_second_person_comes_into_the_room_and_goes(open_page, url, room):
    ada = Person.join(open_page, url, room, "Ada")
    toggle = ada.page.get_by_role("button", name="Both ends")
    for _ in range(2):
        toggle.click()
        expect(toggle).to_have_attribute("aria-pressed", "true")
        ada.sees_people("Ada", "Second person")
        # Each time its cable is connected to something.
        ada.page.locator("#options-toggle-2").click()
        ada.page.locator("#unplug-2").check()
        expect(ada.page.locator("#status-text-2")).to_have_text("Reconnecting…")
        ada.page.locator("#unplug-2").uncheck()
        expect(ada.page.locator("#status-text-2")).to_have_text("Connected")
        toggle.click()
        expect(toggle).to_have_attribute("aria-pressed", "false")
        ada.sees_people("Ada")


def test_no_two_elements_share_an_id_and_labels_stay_with_their_own_end(open_page, url):
    page = open_page(url + "/?demo")
    expect(page.locator("#status-text-2")).to_have_text("Connected")
    ids = page.evaluate("[...document.querySelectorAll('[id]')].map((each) => each.id)")
    assert len(ids) == len(set(ids))
    broken = page.evaluate(
        """['for', 'aria-labelledby', 'aria-describedby', 'aria-controls'].flatMap((name) =>
             [...document.querySelectorAll(`[${name}]`)].flatMap((each) => each.getAttribute(name).split(' '))
               .filter((id) => !document.getElementById(id)))"""
    )
    assert broken == []


def test_both_ends_fit_on_a_phone(open_page, url):
    page = open_page(url + "/?demo", viewport={"width": 360, "height": 740})
    expect(page.locator("#status-text-2")).to_have_text("Connected")
    assert not page.evaluate("document.documentElement.scrollWidth > window.innerWidth")
    expect(page.locator("#composer-text-2")).to_be_in_viewport()
