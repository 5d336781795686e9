"""Makes and uses a `<signalbox-chat>` in a page."""

from playwright.sync_api import expect

# So much time a user has for the divider, with some more.
READ_MILLISECONDS = 4_100

# Nothing of typing ends by itself any more, neither what the user announces nor what the page shows of others: a test on
# a busy machine would look too late.
HOLD_TYPING = "(chat) => { chat.typingPolicy = { ...chat.typingPolicy, idleToPause: null, beginExpiry: 3_600_000 }; }"

# A session without a server, which acknowledges a message when the test says so.
FAKE_SESSION = """
  window.fakeSession = (sessionId) => {
    const listeners = [];
    return {
      sessionId, connection: { connectionId: `${sessionId}-own`, data: 'Ada' }, connections: { length: () => 1 },
      answers: [],
      on: (name, act) => listeners.push({ name, act }),
      off: (name, act) => listeners.splice(listeners.findIndex((each) => each.act === act), 1),
      emit: (name, event) => listeners.filter((each) => each.name === name).forEach(({ act }) => act(event)),
      signal({ type }, done) {
        if (type === 'text-chat') this.answers.push(() => done());
        else done();
      },
    };
  };
"""


def element(access, id="chat", **attributes):
    """The tag of the element with credentials."""
    given = {
        "id": id, "session": access["sessionId"], "key": access["apiKey"], "token": access["token"]
    } | {name.replace("_", "-"): value for name, value in attributes.items()}
    text = " ".join(f'{name}="{value}"' for name, value in given.items())
    return f"<signalbox-chat {text}></signalbox-chat>"


def expect_state(page, state, id="chat"):
    page.wait_for_function(f"() => document.getElementById('{id}')?.state === '{state}'")


def send(page, text, id="chat"):
    page.locator(f"#{id} #composer-text").fill(text)
    page.locator(f"#{id} #composer-text").press("Enter")


def hold_typing(page, id="chat"):
    page.locator(f"#{id}").evaluate(HOLD_TYPING)


def expect_messages(page, *texts, id="chat"):
    expect(page.locator(f"#{id} .bubble")).to_have_text(list(texts))
