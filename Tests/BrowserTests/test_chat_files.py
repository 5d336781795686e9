"""Pictures, files, link cards and light markup in `<signalbox-chat>`. The page does all the loading."""

import base64
import json
import re

import pytest
from chat_element import element, expect_messages, expect_state, send
from playwright.sync_api import expect

PICTURE = base64.b64decode(
    "iVBORw0KGgoAAAANSUhEUgAAAAgAAAAICAIAAABLbSncAAAAEklEQVR4nGP4z8CAFWEXHbQSACj/P8Fu7N9hAAAAAElFTkSuQmCC"
)

PAGE = """(chat) => {
  window.uploads = [];
  chat.customize({
    upload: (file, { signal, progress }) => new Promise((resolve, reject) => {
      progress(0.5);
      signal.addEventListener('abort', () => window.uploads.push(`${file.name} aborted`));
      if (file.name === 'slow.txt') return;
      if (file.name === 'bad.txt' && !window.isMended) reject(new Error('no space'));
      else resolve({ url: `https://files.example/${file.name}` });
    }),
    resolve: (url) => url.startsWith('https://files.example/') ? Promise.resolve(`${url}?signed`) : null,
  });
}"""

RECEIVE = """(chat, contents) => contents.forEach((content, index) => chat.component.handle({
  kind: 'signal', type: 'text-chat', data: JSON.stringify(content), seq: 100 + index,
  from: { connectionId: 'stranger', data: 'Mallory' },
}, Date.now()))"""


def open_chat(open_with_policy, access, name="Ada", policy="img-src https:", **attributes):
    page = open_with_policy(policy, element(access(name), **attributes))
    page.asked = []

    def answer(route):
        page.asked.append(route.request.url)
        route.fulfill(body=PICTURE, content_type="image/png")

    page.context.route(re.compile("^https://"), answer)
    expect_state(page, "connected")
    return page


def choose(page, *names):
    files = [{"name": name, "mimeType": kind, "buffer": PICTURE} for name, kind in names]
    with page.expect_file_chooser() as chooser:
        page.locator("#chat #attach").click()
    chooser.value.set_files(files)


def test_without_upload_there_is_no_button_and_the_sentence_of_today(open_with_policy, access):
    page = open_chat(open_with_policy, access)
    expect(page.locator("#attach")).to_be_hidden()
    drop(page, "a.txt")
    expect(page.locator("#composer-hint")).not_to_have_text("")


def drop(page, name, kind="text/plain"):
    page.locator("#chat").evaluate(
        """(chat, [name, type]) => {
             const dataTransfer = new DataTransfer();
             dataTransfer.items.add(new File(['x'], name, { type }));
             chat.shadowRoot.getElementById('composer-text').dispatchEvent(
               new DragEvent('drop', { dataTransfer, bubbles: true, cancelable: true, composed: true }));
           }""",
        [name, kind],
    )


def test_a_picture_goes_through_the_page_and_is_shown_in_its_place(open_with_policy, access):
    ada, bob = (open_chat(open_with_policy, access, name) for name in ("Ada", "Bob"))
    for page in (ada, bob):
        page.locator("#chat").evaluate(PAGE)
    choose(ada, ("photo.png", "image/png"))
    for page in (ada, bob):
        picture = page.locator("#chat .picture img")
        expect(picture).to_have_attribute("src", "https://files.example/photo.png?signed")
        expect(picture).to_have_attribute("alt", "photo.png")
        assert page.locator("#chat .picture").evaluate("each => each.style.aspectRatio") == "8 / 8"
        assert page.asked == ["https://files.example/photo.png?signed"]
    message = bob.evaluate("chat.messages.at(-1)")
    assert message["text"] == "photo.png https://files.example/photo.png"
    assert message["data"]["file"] == {
        "url": "https://files.example/photo.png", "name": "photo.png", "type": "image/png", "size": len(PICTURE),
        "width": 8, "height": 8,
    }  # fmt: skip
    expect(bob.locator("#chat .bubble")).to_have_text("")


def test_the_place_of_a_picture_is_reserved_before_it_loads(open_with_policy, access):
    page = open_chat(open_with_policy, access)
    page.locator("#chat").evaluate("(chat) => chat.customize({ resolve: () => new Promise(() => {}) })")
    file = {"url": "https://files.example/wide.png", "name": "wide.png", "type": "image/png", "width": 1600, "height": 800}
    page.locator("#chat").evaluate(RECEIVE, [{"text": "x", "data": {"file": file}}])
    box = page.locator("#chat .picture").bounding_box()
    assert (round(box["width"]), round(box["height"])) == (320, 160)
    assert page.asked == []


def test_files_are_pasted_and_dropped_and_shown_as_a_row_with_name_and_size(open_with_policy, access):
    ada, bob = (open_chat(open_with_policy, access, name) for name in ("Ada", "Bob"))
    for page in (ada, bob):
        page.locator("#chat").evaluate(PAGE)
    expect(ada.locator("#attach")).to_be_visible()
    drop(ada, "plan.pdf", "application/pdf")
    ada.locator("#chat").evaluate(
        """(chat) => {
             const clipboardData = new DataTransfer();
             clipboardData.items.add(new File(['xyz'], 'notes.txt', { type: 'text/plain' }));
             chat.shadowRoot.getElementById('composer-text').dispatchEvent(
               new ClipboardEvent('paste', { clipboardData, bubbles: true, cancelable: true }));
           }"""
    )
    rows = bob.locator("#chat .file")
    expect(rows).to_have_count(2)
    expect(rows.filter(has_text="plan.pdf")).to_have_attribute("href", "https://files.example/plan.pdf?signed")
    expect(rows.filter(has_text="plan.pdf")).to_contain_text("kB")
    # Nothing is loaded before the user opens it.
    assert bob.asked == []


def test_an_upload_can_be_cancelled_and_tried_again(open_with_policy, access):
    page = open_chat(open_with_policy, access)
    page.locator("#chat").evaluate(PAGE)
    choose(page, ("slow.txt", "text/plain"), ("bad.txt", "text/plain"))
    lines = page.locator("#chat .outgoing")
    expect(lines.filter(has_text="Sending slow.txt…").locator("progress")).to_have_attribute("value", "0.5")
    lines.filter(has_text="slow.txt").get_by_role("button", name="Cancel").click()
    assert page.evaluate("window.uploads") == ["slow.txt aborted"]
    bad = lines.filter(has_text="bad.txt could not be sent.")
    expect(bad).to_be_visible()
    page.evaluate("window.isMended = true")
    bad.get_by_role("button", name="Try again").click()
    expect(page.locator("#chat .file")).to_have_text("bad.txt0.1 kB")
    expect(lines).to_have_count(0)
    page.complaints.clear()


def test_a_picture_from_elsewhere_waits_for_a_click(open_with_policy, access):
    page = open_chat(open_with_policy, access)
    file = {"url": "https://tracker.example/a.png", "name": "a.png", "type": "image/png", "width": 8, "height": 8}
    page.locator("#chat").evaluate(RECEIVE, [{"text": "x", "data": {"file": file}}])
    button = page.get_by_role("button", name="Show picture a.png")
    expect(button).to_be_visible()
    assert page.asked == []
    button.click()
    expect(page.locator("#chat .picture img")).to_be_visible()
    assert page.asked == ["https://tracker.example/a.png"]


def test_a_picture_that_the_page_does_not_resolve_is_a_row_that_opens_nothing(open_with_policy, access):
    page = open_chat(open_with_policy, access)
    page.locator("#chat").evaluate(PAGE)
    file = {"url": "https://tracker.example/a.png", "name": "a.png", "type": "image/png"}
    page.locator("#chat").evaluate(RECEIVE, [{"text": "x", "data": {"file": file}}])
    row = page.locator("#chat .file.gone")
    expect(row).to_have_text("a.png")
    assert row.get_attribute("href") is None and page.asked == []


def test_the_preview_of_a_link_is_made_at_the_sender_and_can_be_removed(open_with_policy, access):
    ada, bob = (open_chat(open_with_policy, access, name) for name in ("Ada", "Bob"))
    ada.locator("#chat").evaluate(
        """(chat) => {
             window.wanted = [];
             chat.customize({ preview: async (url) => {
               window.wanted.push(url);
               return { title: 'An example', text: 'Of a page', image: 'https://news.example/a.png' };
             } });
           }"""
    )
    field = ada.locator("#composer-text")
    ada.wait_for_function("() => chat.shadowRoot.querySelector('.composer-strip') !== null")
    field.fill("see https://news.example/1.")
    expect(ada.locator("#chat .outgoing")).to_contain_text("An example")
    field.press("Enter")
    card = bob.locator("#chat .card")
    expect(card).to_have_text("An exampleOf a pagenews.example")
    expect(card).to_have_attribute("href", "https://news.example/1")
    expect(bob.locator("#chat .bubble > a").first).to_have_attribute("href", "https://news.example/1")
    assert ada.evaluate("window.wanted") == ["https://news.example/1"]
    # Receivers ask nobody, and neither does the sender's element.
    assert (ada.asked, bob.asked) == ([], [])
    field.fill("see https://news.example/2")
    ada.get_by_role("button", name="Remove the preview").click()
    field.press("Enter")
    expect_messages(ada, "see https://news.example/1.An exampleOf a pagenews.example", "see https://news.example/2")
    expect(bob.locator("#chat .card")).to_have_count(1)


def test_a_card_whose_link_is_not_in_the_text_is_not_shown(open_with_policy, access):
    page = open_chat(open_with_policy, access)
    card = {"url": "https://evil.example/", "title": "Your bank"}
    page.locator("#chat").evaluate(RECEIVE, [{"text": "hello", "data": {"card": card}}])
    expect_messages(page, "hello")


MARKED = "**bold** and *italic* _too_ `a*b*` 2*3*4 snake_case_name\n- one\n- https://a.example/_x_/y\n```\n<b>*x*</b>\n```\nend"


def test_light_markup_is_shown_if_the_page_wants_it(open_with_policy, access):
    page = open_chat(open_with_policy, access)
    page.locator("#chat").evaluate(RECEIVE, [{"text": MARKED}])
    expect_messages(page, MARKED)
    page.evaluate("chat.hasMarkup = true")
    bubble = page.locator("#chat .bubble")
    expect(bubble.locator("strong")).to_have_text("bold")
    expect(bubble.locator("em")).to_have_text(["italic", "too"])
    expect(bubble.locator("code").first).to_have_text("a*b*")
    expect(bubble.locator("ul > li")).to_have_text(["one", "https://a.example/_x_/y"])
    expect(bubble.locator("ul a")).to_have_attribute("href", "https://a.example/_x_/y")
    expect(bubble.locator("pre > code")).to_have_text("<b>*x*</b>")
    expect(bubble).to_contain_text("2*3*4 snake_case_name")
    page.evaluate("chat.hasMarkup = false")
    expect(bubble.locator("strong")).to_have_count(0)


@pytest.mark.parametrize("wrong", ["http://files.example/a.png", "javascript:alert(1)", "", None, 5])
def test_a_file_needs_an_address_of_https(open_with_policy, access, wrong):
    page = open_chat(open_with_policy, access)
    page.locator("#chat").evaluate(f"(chat) => chat.customize({{ upload: async () => ({{ url: {json.dumps(wrong)} }}) }})")
    choose(page, ("a.png", "image/png"))
    expect(page.locator("#chat .outgoing")).to_contain_text("a.png could not be sent.")
    send(page, "text")
    expect_messages(page, "text")
    page.complaints.clear()
