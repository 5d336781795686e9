"""Session ids, tokens and REST credentials, made as docs/PROTOCOL.md 12 and 13 say, without the program's help."""

import base64
import hashlib
import hmac
import itertools
import json
import secrets
import time
import urllib.parse

_counter = itertools.count()


def base64url(data):
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


def jwt(claims, secret, header=None, digest=hashlib.sha256):
    """A JWT, right or wrong: whatever the header says, it is signed with HMAC."""
    head = base64url(json.dumps(header or {"alg": "HS256", "typ": "JWT"}).encode())
    signed = f"{head}.{base64url(json.dumps(claims).encode())}"
    return f"{signed}.{base64url(hmac.new(secret.encode(), signed.encode(), digest).digest())}"


class Project:
    def __init__(self, key, secret):
        self.key, self.secret = key, secret

    def session(self, prefix="1_", key=None):
        """A session id of this project that nobody else has."""
        fields = ["1", key or self.key, "", str(int(time.time() * 1000)), f"{secrets.token_hex(6)}{next(_counter)}", "P", "", ""]
        return prefix + base64url("~".join(fields).encode())

    def token(self, session, role="publisher", data=None, secret=None, **fields):
        """A T1 token. `fields` replace or, with None, leave out."""
        now = int(time.time())
        members = {
            "session_id": session,
            "create_time": now,
            "expire_time": now + 3600,
            "role": role,
            "nonce": secrets.randbelow(1_000_000),
            "connection_data": data,
        } | fields
        text = urllib.parse.urlencode({name: value for name, value in members.items() if value is not None})
        signature = hmac.new((secret or self.secret).encode(), text.encode(), hashlib.sha1).hexdigest()
        partner = f"partner_id={self.key}&sig={signature}:{text}"
        return "T1==" + base64.b64encode(partner.encode()).decode()

    def jwt_claims(self, session, role="publisher", data=None, **claims):
        now = int(time.time())
        members = {
            "iss": self.key,
            "ist": "project",
            "iat": now,
            "exp": now + 3600,
            "session_id": session,
            "role": role,
            "scope": "session.connect",
            "connection_data": data,
        } | claims
        return {name: value for name, value in members.items() if value is not None}

    def jwt_token(self, session, role="publisher", data=None, secret=None, header=None, **claims):
        return jwt(self.jwt_claims(session, role, data, **claims), secret or self.secret, header)

    def credentials(self, secret=None, header=None, **claims):
        """What a backend shows, as X-OPENTOK-AUTH."""
        now = int(time.time())
        members = {"iss": self.key, "ist": "project", "iat": now, "exp": now + 180} | claims
        return jwt({k: v for k, v in members.items() if v is not None}, secret or self.secret, header)
