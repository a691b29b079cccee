#!/bin/sh
# The sizes and containers of the icon that desktops and bundles want, from the drawing. Needs rsvg-convert (Debian:
# librsvg2-bin) and Python.
set -eu
cd "$(dirname "$0")"
for size in 32 128 256 512; do
    case $size in
        256) name=128x128@2x.png ;;
        512) name=icon.png ;;
        *) name=${size}x${size}.png ;;
    esac
    rsvg-convert --width "$size" --height "$size" --output "$name" icon.svg
done
# Windows' and macOS' icons hold PNGs as they are.
python3 - <<'PYTHON'
import struct

read = lambda name: open(name, "rb").read()
sizes = {32: read("32x32.png"), 128: read("128x128.png"), 256: read("128x128@2x.png"), 512: read("icon.png")}

small = [size for size in sizes if size <= 256]
head, at, body = struct.pack("<3H", 0, 1, len(small)), 6 + 16 * len(small), b""
for size in small:
    head += struct.pack("<4B2H2I", size % 256, size % 256, 0, 0, 1, 32, len(sizes[size]), at + len(body))
    body += sizes[size]
open("icon.ico", "wb").write(head + body)

parts = b"".join(
    kind + struct.pack(">I", 8 + len(sizes[size])) + sizes[size]
    for kind, size in [(b"ic07", 128), (b"ic08", 256), (b"ic09", 512)]
)
open("icon.icns", "wb").write(b"icns" + struct.pack(">I", 8 + len(parts)) + parts)
PYTHON
