"""What the manifest says to other packages. `test_swift_package.py` builds one that depends on this package."""

import json
import re
import subprocess

from server_process import DEADLINE, REPOSITORY
from test_swift_package import MANIFEST


def test_the_package_has_the_products_that_another_one_names():
    described = subprocess.run(
        ["swift", "package", "dump-package"], cwd=REPOSITORY, capture_output=True, text=True, timeout=DEADLINE, check=True)
    products = {each["name"] for each in json.loads(described.stdout)["products"]}
    named = set(re.findall(r'\.product\(name: "(\w+)"', MANIFEST))
    assert named and named <= products
