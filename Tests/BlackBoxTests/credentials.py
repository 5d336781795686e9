"""Session ids, tokens and REST credentials according to docs/PROTOCOL.md, sections 13 and 14, without the program's help."""

import base64
import hashlib
import hmac
import itertools
import json
import secrets
import time
import urllib.parse
import uuid

from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import padding, rsa

from planted_secrets import plant

_counter = itertools.count()


def base64url(data):
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


def jwt(claims, secret, header=None, digest=hashlib.sha256):
    """A JWT, valid or not. It is signed with HMAC, whatever algorithm the header names."""
    head = base64url(json.dumps(header or {"alg": "HS256", "typ": "JWT"}).encode())
    signed = f"{head}.{base64url(json.dumps(claims).encode())}"
    return plant(f"{signed}.{base64url(hmac.new(secret.encode(), signed.encode(), digest).digest())}")


def new_session(key, prefix="1_"):
    """A new, unique session id of this project or application."""
    fields = ["1", key, "", str(int(time.time() * 1000)), f"{secrets.token_hex(6)}{next(_counter)}", "P", "", ""]
    return prefix + base64url("~".join(fields).encode())


class Project:
    def __init__(self, key, secret):
        self.key, self.secret = key, plant(secret)

    def session(self, prefix="1_", key=None):
        return new_session(key or self.key, prefix)

    def headers(self, credentials=None):
        """The headers that authenticate a REST request."""
        return {"X-OPENTOK-AUTH": credentials or self.credentials()}

    def token(self, session, role="publisher", data=None, secret=None, **fields):
        """A T1 token. `fields` replace its members; None removes one."""
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
        return plant("T1==" + base64.b64encode(partner.encode()).decode())

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
        """The value of X-OPENTOK-AUTH that a backend sends."""
        now = int(time.time())
        members = {"iss": self.key, "ist": "project", "iat": now, "exp": now + 180} | claims
        return jwt({k: v for k, v in members.items() if v is not None}, secret or self.secret, header)


class Application:
    """A Vonage application: an id instead of the API key, and a key pair instead of the secret."""

    def __init__(self, id=None):
        self.key = id or str(uuid.uuid4())
        self._private_key = rsa.generate_private_key(public_exponent=65537, key_size=2048)

    @property
    def private_pem(self):
        return self._private_key.private_bytes(
            serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
        ).decode()

    @property
    def public_pem(self):
        return self._private_key.public_key().public_bytes(
            serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo
        ).decode()

    def session(self, prefix="1_", key=None):
        return new_session(key or self.key, prefix)

    def jwt(self, header=None, **claims):
        """A JWT signed with RS256, whatever algorithm the header names. A claim that is None is left out."""
        now = int(time.time())
        members = {"application_id": self.key, "iat": now, "exp": now + 180, "jti": str(uuid.uuid4())} | claims
        head = base64url(json.dumps(header or {"alg": "RS256", "typ": "JWT"}).encode())
        signed = f"{head}.{base64url(json.dumps({k: v for k, v in members.items() if v is not None}).encode())}"
        signature = self._private_key.sign(signed.encode(), padding.PKCS1v15(), hashes.SHA256())
        return plant(f"{signed}.{base64url(signature)}")

    def token(self, session, role="publisher", data=None, **claims):
        """A token as Vonage's SDKs create it."""
        members = {
            "session_id": session,
            "role": role,
            "scope": "session.connect",
            "sub": "video",
            "acl": {"paths": {"/session/**": {}}},
            "connection_data": data,
        }
        return self.jwt(**members | claims)

    def credentials(self, **claims):
        return self.jwt(**claims)

    def headers(self, credentials=None):
        return {"Authorization": "Bearer " + (credentials or self.credentials())}
