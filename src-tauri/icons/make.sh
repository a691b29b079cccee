#!/bin/sh
# The sizes of the icon that desktops and bundles want, from the drawing. Needs rsvg-convert (Debian: librsvg2-bin).
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
