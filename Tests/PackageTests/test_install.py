"""docs/operations on a bare Debian 12 with systemd: every command of install.md and backup.md, in their order."""

import re
import shutil

from conftest import REPOSITORY, run
from machine import blocks, boot, check, fetch_dependencies

PAGE = REPOSITORY / "docs/operations/install.md"
BACKUP = REPOSITORY / "docs/operations/backup.md"
TLS = REPOSITORY / "Tests/Vectors/tls"

# Waits for an event, and fails after half a minute.
PRELUDE = r"""
export DEBIAN_FRONTEND=noninteractive
set -x
await() {
    for _ in $(seq 300); do
        if eval "$1"; then return 0; fi
        sleep 0.1
    done
    echo "in vain: $1"
    journalctl --no-pager -u signalbox | tail -30
    return 1
}
# `! command` would not end the script, whatever the command does.
refute() {
    if eval "$1"; then echo "should fail: $1"; return 1; fi
}
pid() { systemctl show --property MainPID --value signalbox; }
"""

INSTALLED = r"""
test "$(stat -c '%U:%G %a' /etc/signalbox)" = "root:signalbox 750"
test "$(stat -c '%U %a %s' /etc/signalbox/api-secret)" = "root 600 43"
test "$(stat -c '%U %a' /var/lib/signalbox)" = "signalbox 700"
systemctl is-enabled signalbox.service
refute 'systemctl is-enabled signalbox.socket'
test "$(ps -o user= -p "$(pid)" 2>/dev/null || stat -c %U "/proc/$(pid)")" = signalbox
grep -q '^CapEff:[[:space:]]*0*$' "/proc/$(pid)/status"
grep -q '^Seccomp:[[:space:]]*2$' "/proc/$(pid)/status"
grep -q '^NoNewPrivs:[[:space:]]*1$' "/proc/$(pid)/status"
# As many descriptors as the unit asks for, or as the machine permits.
permitted=$(awk '/^Max open files/ {print $5}' /proc/1/limits)
test "$(awk '/^Max open files/ {print $4}' "/proc/$(pid)/limits")" = "$((permitted < 65536 ? permitted : 65536))"
refute 'grep --text -q "$(cat /etc/signalbox/api-secret)" "/proc/$(pid)/environ"'
refute 'journalctl --no-pager | grep -q "$(cat /etc/signalbox/api-secret)"'
await 'test "$(systemctl show --property StatusText --value signalbox)" = "listening at http://127.0.0.1:8080/"'
curl --silent --fail http://127.0.0.1:8080/ | grep -q '<title>'
curl --silent --fail --output /dev/null http://127.0.0.1:8080/opentok.js
journalctl --no-pager -u signalbox | grep -q 'listening'
refute "journalctl -u signalbox --no-pager | grep -i -E 'warning|error|fail'"
systemctl status signalbox
systemd-analyze security signalbox | tail -1
"""

# A client that stays through restarts, an upgrade, and a hang of the server.
CLIENT = r"""
export SIGNALBOX_API_KEY=100 SIGNALBOX_API_SECRET_FILE=/etc/signalbox/api-secret
room=$(signalbox session create)
signalbox listen "$room" >/root/events 2>/root/listen-errors &
listener=$!
await 'grep -q connectionCreated /root/events || grep -q connected /root/events || test -s /root/events'
heard() {
    signalbox signal "$room" --type chat --data "$1"
    await "grep -q '\"$1\"' /root/events"
    kill -0 $listener
}
# It has come back, and has missed nothing.
resumed() {
    grep -q '"reconnected"' /root/events
    refute "grep '\"reconnected\"' /root/events | grep -v '\"resumed\"'"
}
heard first
"""

RESTARTED = r"""
old=$(pid)
systemctl restart signalbox
test "$(pid)" != "$old"
heard after-restart
"""

# The event loop stops with the whole process, so nothing feeds the watchdog.
HUNG = r"""
mkdir -p /run/systemd/system/signalbox.service.d
printf '[Service]\nWatchdogSec=1\nTimeoutAbortSec=1\n' >/run/systemd/system/signalbox.service.d/watchdog.conf
systemctl daemon-reload
systemctl restart signalbox
heard before-hang
old=$(pid)
kill -STOP "$old"
await 'test "$(pid)" != "$old" && test "$(pid)" != 0'
await 'signalbox health 2>/dev/null'
journalctl --no-pager -u signalbox | grep -i 'watchdog timeout'
heard after-hang
rm /run/systemd/system/signalbox.service.d/watchdog.conf
systemctl daemon-reload
systemctl restart signalbox
heard after-all
resumed
"""

# The notification of a reload reaches systemd, and a refused reload does not end the server.
RELOADED = r"""
await 'test "$(systemctl show --property StatusText --value signalbox)" = "reloaded the settings"'
cp /etc/signalbox/signalbox.json /root/good.json
echo '{' >/etc/signalbox/signalbox.json
systemctl reload signalbox
await 'systemctl show --property StatusText --value signalbox | grep -q "refused to reload the settings"'
systemctl is-active signalbox
cp /root/good.json /etc/signalbox/signalbox.json
heard after-reload
"""

# A wrong setting is not tried again and again.
REFUSED = r"""
sed -i 's/"port": 8080/"port": 99999/' /etc/signalbox/signalbox.json
refute 'systemctl restart signalbox'
test "$(systemctl show --property ExecMainStatus --value signalbox)" = 64
test "$(systemctl is-active signalbox)" = failed
journalctl --no-pager -u signalbox | tail -20 | grep 'port is 99999\|"port"\|99999'
cp /root/good.json /etc/signalbox/signalbox.json
systemctl restart signalbox
heard after-refusal
"""

TLS_SERVED = r"""
await 'curl --silent --fail --cacert /root/authority.pem --output /dev/null https://127.0.0.1:8080/readyz'
kill $listener
"""

SOCKET = r"""
await 'curl --silent --fail --cacert /root/authority.pem --output /dev/null https://127.0.0.1:443/readyz'
# Nobody is refused while the server is away.
systemctl stop signalbox.service
curl --silent --fail --cacert /root/authority.pem --output /dev/null https://127.0.0.1:443/livez
systemctl is-active signalbox.service
"""

SECRETS = r"""
refute 'signalbox admin stats'
systemctl stop signalbox.socket signalbox.service
refute 'curl --silent --cacert /root/authority.pem --output /dev/null https://127.0.0.1:443/livez'
systemctl start signalbox.socket signalbox.service
"""

UPGRADED = r"""
systemctl is-active signalbox
test "$(dpkg-query -W -f '${Version}' signalbox)" = NEWER
grep -q drainSeconds /etc/signalbox/signalbox.json
"""

STAYED = r"""
test ! -e /usr/bin/signalbox
test -e /var/lib/signalbox/sessions.sqlite
test -e /etc/signalbox/api-secret
"""

GONE = r"""
test ! -e /var/lib/signalbox
test ! -e /etc/signalbox/api-secret
test ! -e /etc/signalbox/signalbox.json
test ! -e /lib/systemd/system/signalbox.service
refute 'systemctl is-active signalbox'
"""


def test_every_command_of_the_page_in_its_order(machine, packages):
    package, newer = packages
    fetch_dependencies(machine, package)
    shutil.copy(newer, machine / "root/signalbox-newer.deb")
    shutil.copy(TLS / "server.pem", machine / "root/fullchain.pem")
    shutil.copy(TLS / "server.key.pem", machine / "root/privkey.pem")
    shutil.copy(TLS / "authority.pem", machine / "root/authority.pem")
    version = run("dpkg-deb", "--field", newer, "Version").strip()

    install, sizes, figures, link, setting, clients, port, secrets, leave = blocks(PAGE)
    upgrade, show, remove, purge = leave.strip().split("\n")
    script = PRELUDE + "".join(
        check(name, command) for name, command in [
            ("install", install), ("installed as the page says", INSTALLED),
            ("sizes", sizes), ("see live figures", figures),
            ("print a link", f"link=$({link})\n[[ $link == http://127.0.0.1:8080/#* ]]"),
            ("a client that stays", CLIENT), ("restart", RESTARTED), ("hang", HUNG),
            ("change a setting", setting), ("reloaded", RELOADED), ("a wrong setting", REFUSED),
            ("let clients in", clients), ("with TLS", TLS_SERVED),
            ("keep the port open", port), ("the socket", SOCKET),
            ("further secrets", secrets), ("asked for the token", SECRETS),
            ("upgrade", upgrade), ("upgraded", UPGRADED.replace("NEWER", version)), ("version", show),
            ("remove", remove), ("what stays", STAYED), ("purge", purge), ("what is gone", GONE),
        ]
    )  # fmt: skip
    # Commands in the text, too.
    inline = re.findall(r"`((?:apt-get|journalctl|signalbox|systemctl|systemd-analyze) [^`]+)`", PAGE.read_text())
    for command in inline:
        # scripts/install-dependencies and the fixture of the machine run these.
        elsewhere = command.startswith("apt-get install debhelper") or command == "apt-get update"
        assert command in script or elsewhere, f"{command} is not run"
    output = boot(machine, script)
    figures = re.search(r"== see live figures\n(.*?)== print a link", output, re.DOTALL)[1]
    assert re.search(r'signalbox_signals_total\{.*\} [1-9]', figures), figures


def test_an_upgrade_loses_no_client_and_no_setting(machine, packages):
    package, newer = packages
    fetch_dependencies(machine, package)
    shutil.copy(newer, machine / "root/signalbox-newer.deb")
    boot(machine, PRELUDE + "apt-get install --yes ./signalbox.deb\n" + CLIENT + r"""
        secret=$(cat /etc/signalbox/api-secret)
        systemctl enable signalbox.socket
        chmod 0700 /etc/signalbox
        chgrp root /etc/signalbox
        chmod 0750 /etc/signalbox; chgrp signalbox /etc/signalbox
        old=$(pid)
        apt-get install --yes ./signalbox-newer.deb
        test "$(pid)" != "$old"
        systemctl is-enabled signalbox.socket
        test "$(cat /etc/signalbox/api-secret)" = "$secret"
        heard after-upgrade
        signalbox signal "$room" --type chat --data last
        await "grep -q '\"last\"' /root/events"
        resumed
    """)


RESTORED = r"""
test "$(stat -c %a /var/backups/signalbox-settings.tar /var/backups/signalbox.sqlite | sort -u)" = 600
test "$(stat -c '%U %a' /etc/signalbox/api-secret)" = "root 600"
# The session begins anew: the client hears what is sent after it has come back.
await 'grep "\"reconnected\"" /root/events | grep -q "\"lost\""'
heard after-restore
kill $listener
"""

RENEWED = r"""
await 'test "$(systemctl show --property StatusText --value signalbox)" = "reloaded the settings"'
"""

KEY_IS_A_CREDENTIAL = r"""
test "$(stat -c '%U %a' /run/credentials/signalbox.service/privkey.pem)" = "signalbox 400"
await 'curl --silent --fail --cacert /root/authority.pem --output /dev/null https://127.0.0.1:8080/readyz'
"""

TWO_SECRETS = r"""
old=$(cat /etc/signalbox/api-secret)
sed -i "s/\"apiKey\": .*/\"projects\": [{\"apiKey\": \"100\", \"secrets\": [\"the-new-secret\", \"$old\"]}],/" \
    /etc/signalbox/signalbox.json
"""

# Creates a session, which takes a server that knows the secret.
ACCEPTED = r"""
accepted() {
    SIGNALBOX_SERVER=https://127.0.0.1:8080 SIGNALBOX_API_KEY=100 SIGNALBOX_API_SECRET=$1 \
        signalbox signal "$room" --type check --data "$1" --ca-file /root/authority.pem
}
accepted "$old"
accepted the-new-secret
"""

ONE_SECRET = r"""
sed -i "s/\"projects\": .*/\"projects\": [{\"apiKey\": \"100\", \"secrets\": [\"the-new-secret\"]}],/" \
    /etc/signalbox/signalbox.json
"""

REFUSED_THE_OLD = r"""
await 'test "$(systemctl show --property StatusText --value signalbox)" = "reloaded the settings"'
accepted the-new-secret
refute 'accepted "$old"'
"""


def test_backups_secrets_and_certificates(machine, package):
    fetch_dependencies(machine, package)
    for source, name in (("server.pem", "fullchain"), ("server.key.pem", "privkey"), ("authority.pem", "authority")):
        shutil.copy(TLS / source, machine / f"root/{name}.pem")
    back_up, restore, move, reload, certificate, key = blocks(BACKUP)
    [clients] = [each for each in blocks(PAGE) if "tlsCert" in each]
    boot(machine, PRELUDE + "apt-get install --yes ./signalbox.deb\n" + "".join(
        check(name, command) for name, command in [
            ("a client that stays", CLIENT), ("back up", back_up), ("restore", restore), ("restored", RESTORED),
            ("let clients in", clients), ("change a certificate", certificate), ("renewed", RENEWED),
            ("the key as a credential", key), ("with TLS", KEY_IS_A_CREDENTIAL),
            ("two secrets", TWO_SECRETS), ("change a secret", move), ("accepted", ACCEPTED),
            ("one secret", ONE_SECRET), ("reload", reload), ("the old one is refused", REFUSED_THE_OLD),
        ]
    ))  # fmt: skip
