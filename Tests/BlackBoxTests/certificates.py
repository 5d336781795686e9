"""Certificates that a test makes for itself: authorities, and what they sign."""

import pathlib
import subprocess


def openssl(*arguments):
    subprocess.run(["openssl", *map(str, arguments)], check=True, capture_output=True)


class Authority:
    """A certificate authority whose files are in a folder."""

    def __init__(self, folder, name="authority"):
        self.folder = pathlib.Path(folder)
        self.file, self.key = self.folder / f"{name}.pem", self.folder / f"{name}.key.pem"
        openssl("req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", 7, "-subj", f"/CN={name}",
                "-keyout", self.key, "-out", self.file)  # fmt: skip

    def sign(self, name, *alternatives, days=7):
        """A certificate and its key, for names such as `DNS:localhost`. With negative days it has expired."""
        file, key = self.folder / f"{name}.pem", self.folder / f"{name}.key.pem"
        request, extensions = self.folder / f"{name}.csr", self.folder / f"{name}.ext"
        extensions.write_text(f"subjectAltName={','.join(alternatives)}\n" if alternatives else "")
        openssl("req", "-newkey", "rsa:2048", "-nodes", "-subj", f"/CN={name}", "-keyout", key, "-out", request)
        openssl("x509", "-req", "-in", request, "-CA", self.file, "-CAkey", self.key, "-CAcreateserial",
                "-days", days, "-extfile", extensions, "-out", file)  # fmt: skip
        return file, key
