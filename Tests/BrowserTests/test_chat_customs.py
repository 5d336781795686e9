"""What a page adds to `<signalbox-chat>`: its own nodes in the rows, commands, names, pictures and refusals."""

import base64

from chat_element import element, expect_messages, expect_state, send
from playwright.sync_api import expect

PICTURE = base64.b64decode(
    "iVBORw0KGgoAAAANSUhEUgAAAAgAAAAICAIAAABLbSncAAAAEklEQVR4nGP4z8CAFWEXHbQSACj/P8Fu7N9hAAAAAElFTkSuQmCC"
)

CUSTOMS = """(chat) => {
  const made = (tag, className, text) =>
    Object.assign(document.createElement(tag), { className, textContent: text });
  chat.customize({
    renderMessage({ text, state }) {
      if (text === 'all places') {
        return Object.fromEntries(['avatar', 'header', 'body', 'below', 'menu'].map((place) =>
          [place, made('div', 'mine', `${place} of the page`)]));
      }
      if (text === 'broken') throw new Error('the page is broken');
      return text.startsWith('order') ? made('article', 'mine', `${text} as a card, ${state}`) : null;
    },
  });
}"""

STYLE = "<style>.mine { color: rgb(200, 0, 100); font-size: 20px }</style>"


def test_a_page_shows_messages_with_nodes_of_its_own_in_its_own_style(open_with_policy, access):
    policy = "style-src 'unsafe-inline'"
    ada = open_with_policy(policy, STYLE + element(access("Ada")))
    expect_state(ada, "connected")
    ada.locator("#chat").evaluate(CUSTOMS)
    for text in ("plain", "order 7", "all places"):
        send(ada, text)
    rows = ada.locator("#chat [data-kind=message]")
    expect(rows.nth(0).locator(".bubble")).to_have_text("plain")
    card = ada.locator("#chat > article")
    # The page hears that the message has been sent.
    expect(card).to_have_text("order 7 as a card, sent")
    expect(card).to_be_visible()
    assert card.evaluate("each => getComputedStyle(each).color") == "rgb(200, 0, 100)"
    background = rows.nth(1).locator(".bubble").evaluate("each => getComputedStyle(each).backgroundColor")
    assert background == "rgba(0, 0, 0, 0)"
    for place in ("avatar", "header", "body", "below", "menu"):
        mine = ada.locator("#chat > div", has_text=f"{place} of the page")
        expect(mine).to_have_count(1)
        assert place == "avatar" or mine.is_visible()


def test_an_error_of_the_page_leaves_the_message_as_it_is(open_host, access):
    ada = open_host(element(access("Ada")))
    expect_state(ada, "connected")
    ada.locator("#chat").evaluate(CUSTOMS)
    send(ada, "broken")
    expect_messages(ada, "broken")
    assert ada.complaints and all("the page is broken" in each for each in ada.complaints)
    ada.complaints.clear()


def test_nodes_of_the_page_go_with_their_rows(open_host, access):
    ada = open_host(element(access("Ada")))
    expect_state(ada, "connected")
    ada.locator("#chat").evaluate("(chat) => chat.customize({ renderMessage: () => document.createElement('hr') })")
    for text in ("one", "two"):
        send(ada, text)
    expect(ada.locator("#chat > hr")).to_have_count(2)
    ada.locator("#chat").evaluate("(chat) => chat.customize({ renderMessage: null })")
    expect(ada.locator("#chat > hr")).to_have_count(0)
    expect_messages(ada, "one", "two")
    # A long list keeps elements only for the rows near the view.
    ada.locator("#chat").evaluate(
        """(chat) => {
             chat.customize({ renderMessage: () => document.createElement('hr') });
             const from = { connectionId: 'b', data: 'Bob' };
             for (let seq = 100; seq < 3100; seq += 1) {
               chat.component.handle({ kind: 'signal', type: 'text-chat', data: '{"text":"x"}', from, seq }, seq);
             }
           }"""
    )
    ada.wait_for_function("() => document.querySelectorAll('#chat > hr').length > 10")
    assert ada.locator("#chat > hr").count() < 1500


def test_commands_of_the_page_are_in_the_menu_of_a_message(open_host, access):
    ada, bob = open_host(element(access("Ada"))), open_host(element(access("Bob")))
    for page in (ada, bob):
        expect_state(page, "connected")
    send(bob, "rude")
    expect_messages(ada, "rude")
    ada.locator("#chat").evaluate(
        """(chat) => {
             chat.customize({
               actions: ({ direction }) => direction === 'received' ? [{ name: 'report', text: 'Report…' }] : [],
             });
             window.chosen = [];
             document.addEventListener('signalbox-action', ({ detail }) =>
               window.chosen.push([detail.action, detail.message.text]));
           }"""
    )
    send(ada, "mine")
    expect_messages(ada, "rude", "mine")
    # By keyboard: the menu of the chosen message.
    ada.locator("#chat #messages-scroll").focus()
    ada.keyboard.press("ArrowUp")
    ada.keyboard.press("ArrowUp")
    ada.keyboard.press("Enter")
    # Behind those of the element.
    expect(ada.get_by_role("menuitem")).to_have_text(["Copy", "Reply", "Report…"])
    ada.keyboard.press("End")
    ada.keyboard.press("Enter")
    assert ada.evaluate("window.chosen") == [["report", "rude"]]


def test_a_picture_of_a_sender_comes_from_https_only_and_otherwise_there_is_the_initial(open_with_policy, access):
    wanted = []
    ada = open_with_policy("img-src https:", element(access("Ada")))
    bob = open_with_policy("img-src https:", element(access("Bob", user="u-bob")))

    def answer(route):
        wanted.append(route.request.url)
        if "missing" in route.request.url:
            route.fulfill(status=404, body="")
        else:
            route.fulfill(body=PICTURE, content_type="image/png")

    ada.context.route("**/*pics.example/**", answer)
    for page in (ada, bob):
        expect_state(page, "connected")
    ada.locator("#chat").evaluate(
        """(chat) => chat.customize({ avatarOf: ({ text }) => ({
             good: 'https://pics.example/bob.png', missing: 'https://pics.example/missing.png',
             plain: 'http://pics.example/http.png', script: 'javascript:window.broken=1',
             data: 'data:image/svg+xml,<svg onload="window.broken=1"/>', user: 'https://a:b@pics.example/user.png',
           })[text] })"""
    )
    texts = ["good", "missing", "plain", "script", "data", "user", "none"]
    for text in texts:
        send(bob, text)
    expect_messages(ada, *texts)
    avatars = ada.locator("#chat [data-kind=message] .avatar")
    expect(avatars.nth(0).locator("img")).to_have_attribute("src", "https://pics.example/bob.png")
    for index in range(1, len(texts)):
        expect(avatars.nth(index)).to_have_text("B")
    expect(avatars.locator("img")).to_have_count(1)
    assert sorted(wanted) == ["https://pics.example/bob.png", "https://pics.example/missing.png"]
    assert ada.evaluate("window.broken") is None
    ada.complaints.clear()
