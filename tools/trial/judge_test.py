"""Does the judge of the cluster trial find what is wrong, and only that?"""

import unittest

from trial import judge
from trial.load import ADMITTED, REFUSED, verdict

LIMIT = judge.Limit(rate=100, burst=100)


def rows_of_a_bucket(seconds, level=100.0, wrong_until=0.0):
    """Asked 200 times a second; until `wrong_until` all of it passes."""
    rows, last = [], 0.0
    for number in range(int(200 * seconds)):
        now = number / 200
        level, last = min(LIMIT.burst, level + LIMIT.rate * (now - last)), now
        passes = level >= 1 or now < wrong_until
        if passes:
            level = max(0.0, level - 1)
        rows.append((now, now, now, 0, 0, ADMITTED if passes else REFUSED))
    return rows


class VerdictTest(unittest.TestCase):
    WHOLE = b"*7\r\n:1\r\n$5\r\nlease\r\n:1000\r\n:999\r\n:0\r\n:1\r\n:0\r\n"

    def test_an_answer_counts_when_it_is_whole(self):
        self.assertIsNone(verdict(self.WHOLE[:-1]))
        self.assertEqual(verdict(self.WHOLE), ADMITTED)
        self.assertEqual(verdict(self.WHOLE.replace(b":1\r\n$", b":0\r\n$")), REFUSED)

    def test_an_error_is_a_failure(self):
        self.assertEqual(verdict(b"-ERR unknown\r\n"), judge.FAILED)


class RecoveryTest(unittest.TestCase):
    def test_a_bucket_is_exact_from_the_beginning_however_full_it_was(self):
        for level in (0, 40, 100):
            rows = rows_of_a_bucket(10, level)
            self.assertEqual(judge.recovery_seconds(rows, LIMIT, 0, 10), 0)

    def test_what_is_wrong_for_a_while_takes_that_while(self):
        rows = rows_of_a_bucket(10, 0, wrong_until=4)
        found = judge.recovery_seconds(rows, LIMIT, 0, 10)
        self.assertGreater(found, 2.5)  # a second of it could have been a burst
        self.assertLessEqual(found, 4.1)

    def test_who_admits_everything_never_recovers(self):
        self.assertIsNone(
            judge.recovery_seconds(rows_of_a_bucket(10, wrong_until=10), LIMIT, 0, 10))

    def test_who_admits_nothing_never_recovers(self):
        rows = [(*row[:-1], REFUSED) for row in rows_of_a_bucket(10)]
        self.assertIsNone(judge.recovery_seconds(rows, LIMIT, 0, 10))


class BoundsTest(unittest.TestCase):
    def outage(self, offered, everybody, forgot=False):
        return judge.Outage(seconds=5, offered=offered, everybody=everybody, forgot=forgot)

    def given(self, policy, outage):
        return judge.given_and_lost(LIMIT, 200, policy, outage)[0]

    def test_without_an_outage_nothing_is_given_or_lost(self):
        self.assertEqual(judge.given_and_lost(LIMIT, 200, "local", None), (0, 0))

    def test_one_that_is_cut_off_has_what_its_policy_says(self):
        one = self.outage((50,), everybody=False)
        self.assertEqual(self.given("allow", one), 250)
        self.assertEqual(self.given("deny", one), 0)
        self.assertEqual(self.given("local", one), 125)  # a quarter of the limit

    def test_if_all_are_cut_off_the_bucket_fills_meanwhile(self):
        everybody = self.outage((100, 60, 40), everybody=True)
        self.assertEqual(self.given("local", everybody), LIMIT.burst)

    def test_a_redis_that_forgot_gives_a_burst_more(self):
        self.assertEqual(self.given("deny", self.outage((), False, forgot=True)),
                         LIMIT.burst)

    def test_one_per_cent_or_one_permit_of_each_key_may_be_off(self):
        self.assertEqual(judge.bounds(10_000, 1, 0, 0), (9_900, 10_100))
        self.assertEqual(judge.bounds(45, 3, 0, 0), (42, 48))
        self.assertEqual(judge.bounds(10_000, 1, 500, 200), (9_700, 10_600))


if __name__ == "__main__":
    unittest.main()
