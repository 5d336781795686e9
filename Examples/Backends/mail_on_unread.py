#!/usr/bin/env python3
"""Sends a mail to users who are away and have unread messages: the event user.unread (docs/backend.md).

    mail_on_unread.py --from chat@example.org --domain example.org [--smtp HOST:PORT] [FILE]

FILE keeps the offset in the feed; default: mail_on_unread.offset. After a crash, a mail may be sent twice, with the
same Message-ID. A mail says how many messages there are, and has nothing of their content.
"""

import argparse
import hashlib
import smtplib
import sys
from email.headerregistry import Address
from email.message import EmailMessage

from signalbox_feed import Project, follow

parser = argparse.ArgumentParser()
parser.add_argument("--smtp", default="localhost:25", metavar="HOST:PORT")
parser.add_argument("--from", dest="sender", required=True)
parser.add_argument("--domain", required=True, help="the mail of the user u-17 goes to u-17@DOMAIN")
parser.add_argument("file", nargs="?", default="mail_on_unread.offset")
options = parser.parse_args()


def address_of(user):
    """Look the user up in your own table here."""
    return Address(username=user, domain=options.domain)


def mail(event):
    count = "100 or more" if event["count"] >= 100 else event["count"]
    message = EmailMessage()
    message["From"], message["To"] = options.sender, address_of(event["user"])
    message["Subject"] = "1 unread message" if count == 1 else f"{count} unread messages"
    name = "\n".join((event["sessionId"], event["user"], str(event["seq"])))
    message["Message-ID"] = f"<{hashlib.sha256(name.encode()).hexdigest()[:40]}@{options.domain}>"
    message.set_content("Somebody has written to you while you were away.\n")
    return message


def handle(event):
    if event["event"] != "user.unread":
        return
    host, _, port = options.smtp.rpartition(":")
    try:
        message = mail(event)
        with smtplib.SMTP(host, int(port), timeout=30) as server:
            server.send_message(message)
    except (ValueError, smtplib.SMTPRecipientsRefused, smtplib.SMTPNotSupportedError) as fault:
        codes = [code for code, _ in getattr(fault, "recipients", {}).values()]
        if any(code < 500 for code in codes):
            raise  # Not now. This and every other fault is tried again, with this event.
        print(f"No mail to {event['user']}: {fault}", file=sys.stderr, flush=True)


if __name__ == "__main__":
    follow(Project(), options.file, handle)
