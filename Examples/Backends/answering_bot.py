#!/usr/bin/env python3
"""Answers each chat message that begins with "!", through the REST API (docs/backend.md).

    answering_bot.py [FILE]     FILE keeps the offset in the feed; default: answering_bot.offset

No message stays without an answer as long as the feed reaches back to it. After a crash, the last answers may be sent
twice: their `localId` is the same, and chats show such a message once (docs/PROTOCOL.md, CHAT-5).
"""

import json
import sys
import time
import urllib.error
import urllib.parse

from signalbox_feed import Project, follow

project = Project()


def text_of(event):
    """The text of a chat message (CHAT-1, CHAT-2); nothing for other events."""
    if event["event"] != "signal" or event.get("erased") or event["from"] is None:
        return ""  # A message without sender is one of a backend, such as this one.
    if event["type"] == "text-chat":
        try:
            content = json.loads(event.get("data", ""))
            return str(content["text"])
        except (ValueError, TypeError, KeyError):
            return ""
    return event.get("data", "") if event["type"] == "TextChat" else ""


def answer_to(text):
    """Put your own answers here."""
    return f"You asked for {text[1:200]!r}. The time is {time.strftime('%H:%M')}."


def handle(event):
    text = text_of(event)
    if not text.startswith("!"):
        return
    message = {"text": answer_to(text), "sender": {"id": "answering-bot", "alias": "Bot"},
               "sentOn": int(time.time() * 1000), "localId": f"answer-{event['seq']}"}  # fmt: skip
    session = urllib.parse.quote(event["sessionId"], safe="")
    try:
        project.request("POST", f"/session/{session}/signal", {"type": "text-chat", "data": json.dumps(message)})
    except urllib.error.HTTPError as fault:
        # The session has ended (404), or refuses the answer. Everything else is tried again, with this event.
        if fault.code not in (400, 404, 413):
            raise
        print(f"No answer to {event['seq']} of {event['sessionId']}: {fault}", file=sys.stderr, flush=True)


if __name__ == "__main__":
    follow(project, sys.argv[1] if len(sys.argv) > 1 else "answering_bot.offset", handle)
