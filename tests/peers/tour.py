"""Runs the tour of the Python client's README against the running host.

    tour.py README
"""

import re
import sys

with open(sys.argv[1], encoding="utf-8") as file:
    blocks = re.findall(r"^```python\n(.*?)^```$", file.read(), re.MULTILINE | re.DOTALL)
assert len(blocks) >= 7, blocks
names = {}
for block in blocks:
    exec(compile(block, sys.argv[1], "exec"), names)
