"""The names over messages: what the token of a sender says, live and from the history (CHAT-4).

`Tests/Vectors/senders` has the cases of the rule.
"""

from chat_element import element, expect_messages, expect_state, send
from playwright.sync_api import expect


def test_chat_4_whoever_joins_later_reads_the_name_of_the_token(open_host, access, screenshots):
    seen = open_host(element(access("Ada", user="u-1")))
    expect_state(seen, "connected")
    mallory = open_host(element(access("Mallory", user="u-9"), alias="Boss"))
    eve = open_host(element(access(""), alias="Ada"))
    annas = [open_host(element(access("Anna", user=user))) for user in ("u-21", "u-22")]
    for page in (mallory, eve, *annas):
        expect_state(page, "connected")
    texts = []
    for page, text in [(eve, "It is me, Ada"), (mallory, "Please wire the money"), (annas[0], "No"), (annas[1], "Never")]:
        send(page, text)
        texts.append(text)
        expect_messages(seen, *texts)
        page.close()

    def shown(page):
        expect_messages(page, *texts)
        names = page.locator("#chat .row-name").all_inner_texts()
        marks = page.locator("#chat [data-kind=message]").evaluate_all(
            "all => all.map((each) => each.querySelector('.number-mark')?.textContent ?? null)"
        )
        return list(zip(names, marks, strict=True))

    live = shown(seen)
    assert [name for name, _ in live[1:]] == ["Mallory", "Anna", "Anna"]
    assert live[0][0].startswith("Guest ")
    assert live[2] != live[3], "two users with one name are not one"
    late = open_host(element(access("Bob", user="u-5")), viewport={"width": 480, "height": 420})
    expect_state(late, "connected")
    assert shown(late) == live
    expect(late.get_by_text("Boss")).to_have_count(0)
    late.screenshot(path=screenshots / "names-late.png")
    late.reload()
    expect_state(late, "connected")
    assert shown(late) == live
