import unittest

from burst import Bursts


class Rule(unittest.TestCase):
    def after(self, *times):
        bursts = Bursts()
        for at_ms in times:
            bursts.ran(at_ms, gap_ms=1000)
        return bursts

    def test_a_burst_is_over_once_it_is_calm_and_that_is_said_once(self):
        bursts = self.after(0, 500, 1500)
        self.assertFalse(bursts.is_over(2000, runs=3, calm_ms=3000))
        self.assertTrue(bursts.is_over(3000, runs=3, calm_ms=3000))
        self.assertFalse(bursts.is_over(4000, runs=3, calm_ms=3000))

    def test_requests_far_apart_are_no_burst(self):
        self.assertFalse(self.after(0, 1001, 2002).is_over(9000, runs=3, calm_ms=3000))


if __name__ == "__main__":
    unittest.main()
