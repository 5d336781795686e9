"""The steps of the Dockerfile's image, executed in a folder, since the machine of the tests may have no Docker. The build
stage runs scripts that the other tests run."""

import gzip
import json
import os
import subprocess

from conftest import REPOSITORY, run
from test_packaging import stages

# The image's port may be in use outside of a container.
PORT = {"SIGNALBOX_PORT": "18080", "SIGNALBOX_SERVER": "http://127.0.0.1:18080"}


def test_the_image_serves_as_its_own_user_from_a_disk_without_writing(portable, tmp_path):
    _, image = stages()
    facts = dict(image)
    assert [name for name, _ in image] == [
        "FROM", "COPY", "USER", "ENV", "EXPOSE", "VOLUME", "HEALTHCHECK", "ENTRYPOINT", "CMD"]
    assert facts["FROM"] == "scratch" and facts["COPY"] == "--from=build /image/ /"
    folder = tmp_path / "image"
    run(REPOSITORY / "scripts/parts/stage-image", folder, portable)
    assert not list(folder.rglob("*sh")) and (folder / "etc/ssl/certs/ca-certificates.crt").is_file()
    archive = subprocess.run(["tar", "--create", "--directory", folder, "."], capture_output=True, check=True).stdout
    size = len(gzip.compress(archive)) / 1e6
    print(f"\nimage: {size:.1f} MB compressed, {len(archive) / 1e6:.1f} MB")
    assert size < 25

    secret = folder / "run/secrets/api-secret"
    secret.parent.mkdir(parents=True)
    secret.write_text("a secret of the tests, 32 bytes long\n")
    environment = dict([facts["ENV"].split("=", 1)]) | PORT
    # Every container has these two.
    for name in ("dev", "proc"):
        (folder / name).mkdir()
    mounts = f"mount --bind {folder} {folder} && mount -o remount,bind,ro {folder} && mount -t proc proc {folder}/proc && "
    mounts += f"mount --rbind /dev {folder}/dev && "
    mounts += f"mount --bind {folder}{facts['VOLUME']} {folder}{facts['VOLUME']} && mount -o remount,bind,rw {folder}{facts['VOLUME']}"

    def inside(command, **options):
        """A process of the image's user in the folder, which only the volume's part may be written to."""
        script = f'{mounts} && exec chroot --userspec={facts["USER"]} {folder} "$@"'
        return subprocess.Popen(
            ["unshare", "--mount", "--propagation", "private", "sh", "-c", script, "-", *command],
            env=environment | {"PATH": os.environ["PATH"]}, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, **options)

    command = json.loads(facts["ENTRYPOINT"]) + json.loads(facts["CMD"])
    health = json.loads(facts["HEALTHCHECK"].split("CMD ")[1])
    # Without credentials it says what is missing.
    refused = inside(command)
    assert "API key" in refused.communicate(timeout=60)[1] and refused.returncode == 64

    environment |= {"SIGNALBOX_API_KEY": "100", "SIGNALBOX_API_SECRET_FILE": "/run/secrets/api-secret"}
    server = inside([*command, "--state-dir", facts["VOLUME"] + "/state"])
    try:
        assert server.stdout.readline().startswith("signalbox is ready at http://"), server.communicate(timeout=10)
        assert inside(health).wait(60) == 0
        owner = run("ps", "-o", "uid=", "-p", str(server.pid)).strip()
        assert owner == facts["USER"].split(":")[0]
        page = subprocess.run(["curl", "-sSf", "http://127.0.0.1:18080/opentok.js"], capture_output=True, check=True).stdout
        assert page == (REPOSITORY / "web-test-client/dist/opentok.js").read_bytes()
    finally:
        server.terminate()
    assert server.wait(60) == 0
    assert inside(health).wait(60) == 69
    assert (folder / "var/lib/signalbox/state").is_dir()
