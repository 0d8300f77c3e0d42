#!/usr/bin/env python3
"""Asks a running Weir by a client library of Redis, as an application would.

    tests/redis_client.py PORT PASSWORD

The server has the rules of tests/redis_client_test.cc. Says what is wrong and fails if an answer is
not the one expected; otherwise says how much was asked.
"""

import concurrent.futures
import inspect
import sys
import unittest

import redis

HOST, PORT, PASSWORD = "127.0.0.1", 0, ""
# Libraries before 5.0 speak only RESP2.
PROTOCOLS = [2, 3] if "protocol" in inspect.signature(redis.Redis.__init__).parameters else [2]


def client(protocol=2, password=None, **options):
    if protocol != 2:
        options["protocol"] = protocol
    return redis.Redis(host=HOST, port=PORT, password=password or PASSWORD, **options)


class RedisClient(unittest.TestCase):
    def test_connects_with_every_protocol_it_knows(self):
        for protocol in PROTOCOLS:
            with self.subTest(protocol=protocol):
                asks = client(protocol)
                self.assertTrue(asks.ping())
                self.assertEqual(asks.echo("hello"), b"hello")
                name = f"connects{protocol}"
                self.assertEqual(asks.execute_command("CL.THROTTLE", name, 1, 1, 3600),
                                 [0, 2, 1, -1, 3600])

    def test_a_wrong_password_is_refused_and_so_is_none(self):
        with self.assertRaisesRegex(redis.RedisError, "WRONGPASS"):
            client(password="wrong").ping()
        with self.assertRaisesRegex(redis.RedisError, "(?i)auth"):
            redis.Redis(host=HOST, port=PORT).ping()

    def test_cl_throttle_answers_as_redis_cell(self):
        asks = client()
        answers = [asks.execute_command("CL.THROTTLE", "cell", 2, 1, 3600) for _ in range(4)]
        self.assertEqual([answer[:3] for answer in answers],
                         [[0, 3, 2], [0, 3, 1], [0, 3, 0], [1, 3, 0]])
        self.assertEqual([answer[3] for answer in answers[:3]], [-1, -1, -1])
        self.assertGreater(answers[3][3], 0)

    def test_throttle_answers_as_throttlecrab(self):
        # What they call the burst is all there is, where redis-cell has one more.
        asks = client()
        answers = [asks.execute_command("THROTTLE", "crab", 2, 1, 3600) for _ in range(3)]
        self.assertEqual([answer[:3] for answer in answers], [[1, 2, 1], [1, 2, 0], [0, 2, 0]])

    def test_weir_check_asks_the_rules(self):
        asks = client()
        ask = ("WEIR.CHECK", "default", "path", "/orders", "user", "ann")
        answers = [asks.execute_command(*ask) for _ in range(3)]
        self.assertEqual([answer[0] for answer in answers], [1, 1, 0])
        self.assertEqual([answer[1:4] for answer in answers],
                         [[b"orders", 2, 1], [b"orders", 2, 0], [b"orders", 2, 0]])

    def test_a_key_can_be_forgotten(self):
        asks = client()
        ask = ("CL.THROTTLE", "forgotten", 0, 1, 3600)
        self.assertEqual([asks.execute_command(*ask)[0] for _ in range(2)], [0, 1])
        self.assertEqual(asks.exists("forgotten"), 1)
        self.assertGreater(asks.ttl("forgotten"), 0)
        self.assertEqual(asks.delete("forgotten", "never seen"), 1)
        self.assertEqual(asks.exists("forgotten"), 0)
        self.assertEqual(asks.execute_command(*ask)[0], 0)

    def test_a_pipeline_is_answered_in_order(self):
        pipeline = client().pipeline(transaction=False)
        for _ in range(1000):
            pipeline.execute_command("CL.THROTTLE", "pipeline", 998, 1, 86400)
        answers = pipeline.execute()
        self.assertEqual([answer[2] for answer in answers[:999]], list(range(998, -1, -1)))
        self.assertEqual([answer[0] for answer in answers[998:]], [0, 1])

    def test_an_error_leaves_the_connection_usable(self):
        asks = client(single_connection_client=True)
        with self.assertRaises(redis.ResponseError):
            asks.execute_command("CL.THROTTLE", "error", "many", 1, 60)
        with self.assertRaises(redis.ResponseError):
            asks.execute_command("NO.SUCH.COMMAND")
        self.assertTrue(asks.ping())

    def test_a_pool_of_connections_shares_one_limit(self):
        pool = redis.ConnectionPool(host=HOST, port=PORT, password=PASSWORD, max_connections=8)
        asks = redis.Redis(connection_pool=pool)
        with concurrent.futures.ThreadPoolExecutor(8) as threads:
            answers = list(threads.map(
                lambda _: asks.execute_command("CL.THROTTLE", "pool", 99, 1, 86400), range(200)))
        self.assertEqual(sum(answer[0] == 0 for answer in answers), 100)


if __name__ == "__main__":
    PORT, PASSWORD = int(sys.argv[1]), sys.argv[2]
    unittest.main(argv=sys.argv[:1])
