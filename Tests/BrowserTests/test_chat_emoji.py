"""The emoji of `<signalbox-chat>`: they load at the first click, and the keyboard does everything."""

import gzip
import json

import pytest
from chat_element import element, expect_messages, expect_state
from conftest import REPOSITORY
from playwright.sync_api import expect

DIST = REPOSITORY / "web-test-client/dist"
LANGUAGES = ["ar", "de", "en", "es", "fr", "ja", "pt", "zh-hans", "zh-hant"]


def open_chat(open_host, access, **attributes):
    page = open_host(element(access("Ada"), **attributes), viewport={"width": 480, "height": 640})
    page.asked = []
    page.on("request", lambda request: "-emoji" in request.url and page.asked.append(request.url.rsplit("/", 1)[-1]))
    expect_state(page, "connected")
    return page


@pytest.mark.parametrize("language", LANGUAGES)
def test_the_emoji_have_15_kb_with_the_names_of_a_language(language):
    files = [DIST / f"signalbox-chat-{name}.js" for name in ("emoji", f"emoji-{language}")]
    assert sum(len(gzip.compress(file.read_bytes(), 9)) for file in files) <= 15_000


def test_the_emoji_load_at_the_first_click_under_a_strict_policy_and_the_keyboard_chooses(open_host, access):
    page = open_chat(open_host, access)
    button, field = page.get_by_role("button", name="Emoji"), page.locator("#composer-text")
    field.fill("ab")
    field.evaluate("each => each.setSelectionRange(1, 1)")
    assert page.asked == []
    button.click()
    search = page.get_by_role("searchbox", name="Search emoji")
    expect(search).to_be_focused()
    assert sorted(page.asked) == ["signalbox-chat-emoji-en.js", "signalbox-chat-emoji.js"]
    expect(button).to_have_attribute("aria-expanded", "true")
    options = page.locator("#emoji-list [role=option]")
    page.keyboard.press("ArrowDown")
    expect(options.nth(0)).to_be_focused()
    page.keyboard.press("ArrowRight")
    expect(options.nth(1)).to_be_focused()
    page.keyboard.press("ArrowDown")
    columns = page.evaluate(
        """() => {
             const all = [...chat.shadowRoot.querySelectorAll('#emoji-list [role=option]')];
             return all.findIndex((each) => each.offsetTop > all[0].offsetTop);
           }"""
    )
    expect(options.nth(1 + columns)).to_be_focused()
    page.keyboard.press("ArrowUp")
    page.keyboard.press("ArrowUp")
    expect(search).to_be_focused()
    search.fill("rocket")
    page.keyboard.press("Enter")
    expect(field).to_have_value("a🚀b")
    expect(field).to_be_focused()
    expect(page.locator("#emoji-panel")).to_be_hidden()
    button.click()
    page.keyboard.press("Escape")
    expect(button).to_be_focused()
    assert len(page.asked) == 2


@pytest.mark.parametrize(
    "language, label, word, emoji",
    [
        ("de", "Emoji suchen", "Rakete", "🚀"), ("ar", "البحث عن رمز تعبيري", "صاروخ", "🚀"),
        ("fr", "Rechercher un emoji", "fusee", "🚀"), ("zh-TW", "搜尋表情符號", "火箭", "🚀"),
        ("ja", "絵文字を検索", "ロケット", "🚀"),
    ],
)  # fmt: skip
def test_the_search_is_in_the_language_of_the_element(open_host, access, language, label, word, emoji):
    page = open_chat(open_host, access, lang=language)
    page.locator("#chat #emoji").click()
    page.get_by_role("searchbox", name=label).fill(word)
    expect(page.locator("#emoji-list [role=option]").first).to_have_text(emoji)
    page.get_by_role("searchbox", name=label).fill("qqqq")
    expect(page.locator(".emoji-none")).not_to_have_text("")


def test_a_skin_tone_is_kept_and_applies_where_there_are_some(open_host, access):
    page = open_chat(open_host, access)
    page.locator("#chat #emoji").click()
    page.get_by_role("radio", name="dark skin tone", exact=True).click()
    search = page.get_by_role("searchbox")
    for word, emoji in [("thumbs up", "👍🏿"), ("victory hand", "✌🏿"), ("rocket", "🚀"), ("technologist", "🧑🏿‍💻")]:
        search.fill(word)
        expect(page.locator("#emoji-list [role=option]").first).to_have_text(emoji)
    page.reload()
    expect_state(page, "connected")
    page.locator("#chat #emoji").click()
    expect(page.get_by_role("radio", name="dark skin tone", exact=True)).to_be_checked()


def test_a_shortcode_is_completed_and_a_whole_one_is_replaced(open_host, access):
    page = open_chat(open_host, access)
    field = page.locator("#composer-text")
    field.press_sequentially("at 10:30 :rock")
    options = page.locator("#emoji-suggestions [role=option]")
    expect(options.first).to_have_text("🚀 rocket")
    expect(options.first).to_have_attribute("aria-selected", "true")
    expect(field).to_have_attribute("aria-activedescendant", "emoji-suggestion-0")
    page.keyboard.press("ArrowDown")
    expect(options.nth(1)).to_have_attribute("aria-selected", "true")
    page.keyboard.press("ArrowUp")
    # Enter chooses, and does not send.
    page.keyboard.press("Enter")
    expect(field).to_have_value("at 10:30 🚀")
    expect(page.locator("#emoji-suggestions")).to_be_hidden()
    field.press_sequentially(" :tada: :thumbs_up: :no_such_thing: ")
    expect(field).to_have_value("at 10:30 🚀 🎉 👍 :no_such_thing: ")
    field.press_sequentially(":smi")
    expect(options.first).to_be_visible()
    page.keyboard.press("Escape")
    expect(options).to_have_count(0)
    page.keyboard.press("Enter")
    expect_messages(page, "at 10:30 🚀 🎉 👍 :no_such_thing: :smi")


def test_without_emoji_there_is_no_button_and_no_completion(open_host, access):
    page = open_chat(open_host, access, emoji="off")
    expect(page.locator("#emoji")).to_be_hidden()
    page.locator("#composer-text").press_sequentially(":rocket:")
    page.keyboard.press("Enter")
    expect_messages(page, ":rocket:")
    assert page.asked == []
    page.evaluate("chat.hasEmoji = true")
    expect(page.locator("#emoji")).to_be_visible()


def test_a_user_is_told_if_the_emoji_cannot_be_loaded_and_can_try_again(open_host, access):
    page = open_chat(open_host, access)
    page.route("**/signalbox-chat-emoji*", lambda route: route.abort())
    page.locator("#chat #emoji").click()
    expect(page.locator("#composer-hint")).to_have_text("This did not work. Try again.")
    page.unroute("**/signalbox-chat-emoji*")
    page.complaints.clear()


def test_the_names_of_the_emoji_are_as_many_as_the_emoji_in_each_language():
    folder = REPOSITORY / "web-test-client/chat"
    groups = (folder / "emoji/list.js").read_text().split("EMOJI_GROUPS = [")[1].split("].map")[0]
    count = len(groups.replace("'", "").replace(",", "").split())
    for language in LANGUAGES:
        text = (folder / f"parts/emoji-{language}.js").read_text()
        assert len(text.split("EMOJI_NAMES = `")[1].split("`")[0].strip().split("\n")) == count, language
        labels = text.split("EMOJI_LABELS = ")[1].split(";\n")[0]
        assert len(json.loads(labels)) == 8
