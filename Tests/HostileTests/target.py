"""The server under attack, as the processes of an attack and of a bystander see it."""

import dataclasses
import json
import pathlib
import ssl
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "BlackBoxTests"))

from credentials import Project  # noqa: E402

AUTHORITY = pathlib.Path(__file__).resolve().parents[1] / "Vectors/tls/authority.pem"


@dataclasses.dataclass
class Target:
    """It has the members of `Server` that the helpers of Tests/BlackBoxTests use."""

    host: str
    port: int
    key: str
    secret: str
    is_secure: bool
    # A session that the attack shares with others, or its own.
    session: str
    # The address of the attacker.
    source: str = "127.0.0.1"

    def __post_init__(self):
        self.project = Project(self.key, self.secret)
        self.tls = ssl.create_default_context(cafile=AUTHORITY) if self.is_secure else None

    @classmethod
    def of(cls, server, session=None, source="127.0.0.1"):
        return cls(
            server.host, server.port, server.project.key, server.project.secret, server.tls is not None,
            session or server.project.session(), source,
        )

    def other_source(self, number):
        """The addresses of members that the attack needs and that are no attackers."""
        return f"127.0.0.{3 + number % 200}"

    @classmethod
    def parse(cls, text):
        return cls(**json.loads(text))

    def text(self):
        return json.dumps(dataclasses.asdict(self))
