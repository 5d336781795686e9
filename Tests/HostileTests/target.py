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

    def __post_init__(self):
        self.project = Project(self.key, self.secret)
        self.tls = ssl.create_default_context(cafile=AUTHORITY) if self.is_secure else None

    @classmethod
    def of(cls, server, session=None):
        return cls(
            server.host, server.port, server.project.key, server.project.secret, server.tls is not None,
            session or server.project.session(),
        )

    @classmethod
    def parse(cls, text):
        return cls(**json.loads(text))

    def text(self):
        return json.dumps(dataclasses.asdict(self))
