import unittest

from passages import MOST_CHARACTERS, passages


class Passages(unittest.TestCase):
    def test_short_paragraphs_stay_together(self):
        self.assertEqual(passages("ä\n\nb\n"), [(0, 5, "ä\n\nb")])

    def test_long_ones_stand_alone_at_their_place_in_bytes(self):
        long = "é" * MOST_CHARACTERS
        self.assertEqual(
            passages(f"{long}\n\nshort"),
            [(0, 2 * MOST_CHARACTERS, long), (2 * MOST_CHARACTERS + 2, 2 * MOST_CHARACTERS + 7, "short")],
        )

    def test_nothing_has_none(self):
        self.assertEqual(passages(" \n\n "), [])


if __name__ == "__main__":
    unittest.main()
