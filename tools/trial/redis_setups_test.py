"""Are keys looked for where a Redis Cluster has them?"""

import unittest

from trial.redis_setups import slot_of


class SlotTest(unittest.TestCase):
    def test_a_name_has_the_slot_that_redis_says(self):
        self.assertEqual(slot_of(b"123456789"), 12739)  # 0x31c3, as the specification has it
        self.assertEqual(slot_of(b"foo"), 12182)

    def test_what_stands_in_braces_decides(self):
        self.assertEqual(slot_of(b"weir:{foo}:0"), slot_of(b"foo"))
        self.assertNotEqual(slot_of(b"weir:{foo}:0"), slot_of(b"weir:foo:0"))


if __name__ == "__main__":
    unittest.main()
