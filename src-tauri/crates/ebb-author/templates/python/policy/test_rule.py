import unittest

from rule import MIB, worth_it


class Rule(unittest.TestCase):
    def test_much_slack_goes_back(self):
        self.assertTrue(worth_it(100 * MIB, 200 * MIB, ratio=1.5, slack_mib=32))

    def test_little_slack_stays(self):
        self.assertFalse(worth_it(100 * MIB, 140 * MIB, ratio=1.5, slack_mib=32))
        self.assertFalse(worth_it(1 * MIB, 3 * MIB, ratio=1.5, slack_mib=32))


if __name__ == "__main__":
    unittest.main()
