"""When memory goes back: plain Python, tested without Wasm by `python3 -m unittest`."""

MIB = 1 << 20


def worth_it(in_use_bytes: int, reserved_bytes: int, ratio: float, slack_mib: int) -> bool:
    """Whether what is reserved but not in use should go back."""
    slack_bytes = reserved_bytes - in_use_bytes
    return reserved_bytes > ratio * in_use_bytes and slack_bytes >= slack_mib * MIB
