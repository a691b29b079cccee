"""Bursts of requests, by their times alone: plain Python, tested by `python3 -m unittest`."""


class Bursts:
    """Counts requests in a row."""

    def __init__(self) -> None:
        self.in_a_row = 0
        self.last_ms = None

    def ran(self, at_ms: int, gap_ms: int) -> None:
        """A request ended."""
        in_a_row = self.last_ms is not None and at_ms - self.last_ms <= gap_ms
        self.in_a_row = self.in_a_row + 1 if in_a_row else 1
        self.last_ms = at_ms

    def is_over(self, idle_ms: int, runs: int, calm_ms: int) -> bool:
        """Whether a burst has just ended; said once of each."""
        if self.in_a_row < runs or idle_ms < calm_ms:
            return False
        self.in_a_row = 0
        return True
