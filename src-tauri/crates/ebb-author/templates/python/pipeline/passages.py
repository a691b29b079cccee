"""Cutting a text into passages: plain Python, tested without Wasm by `python3 -m unittest`."""

import re

MOST_CHARACTERS = 1200


def passages(text: str) -> list[tuple[int, int, str]]:
    """Paragraphs, short ones together: where each begins and ends in bytes, and what it says."""
    spans = []
    for paragraph in re.finditer(r"\S[\s\S]*?(?=\n[^\S\n]*\n|\Z)", text):
        start, end = paragraph.start(), paragraph.start() + len(paragraph[0].rstrip())
        if spans and end - spans[-1][0] <= MOST_CHARACTERS:
            spans[-1] = (spans[-1][0], end)
        else:
            spans.append((start, end))
    in_bytes = lambda at: len(text[:at].encode())
    return [(in_bytes(start), in_bytes(end), text[start:end]) for start, end in spans]
