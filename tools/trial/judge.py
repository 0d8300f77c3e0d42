"""What was admitted against what may be: the arithmetic of the trial, without processes.

A row is (due, sent, answered, server, key, verdict), as load.py writes it.
"""

import array
import dataclasses
import math

from trial.load import ADMITTED, COLUMNS, FAILED

DUE, SENT, ANSWERED, SERVER, KEY, VERDICT = range(COLUMNS)
BIN = 0.04  # seconds
TOLERANCE = 0.01


@dataclasses.dataclass(frozen=True)
class Limit:
    rate: float  # per second
    burst: int

    def over(self, seconds):
        """What one bucket admits that is always asked for more; permits are whole."""
        return math.floor(self.burst + self.rate * seconds)


@dataclasses.dataclass(frozen=True)
class Outage:
    """Who could not reach Redis, for how long, and what Redis forgot."""
    seconds: float
    offered: tuple  # per second and server that was cut off
    everybody: bool
    forgot: bool = False


def read_rows(path):
    numbers = array.array("d")
    with open(path, "rb") as file:
        numbers.frombytes(file.read())
    return [tuple(numbers[i:i + COLUMNS]) for i in range(0, len(numbers), COLUMNS)]


def admitted(rows):
    return sum(row[VERDICT] == ADMITTED for row in rows)


def failed(rows):
    return sum(row[VERDICT] == FAILED for row in rows)


def seconds_of(rows):
    """From the first request to the last."""
    return max(row[ANSWERED] for row in rows) - min(row[SENT] for row in rows)


def between(rows, begin, end):
    return [row for row in rows if begin <= row[ANSWERED] < end]


def part_of(values, part):
    """What `part` of the values are at most."""
    values = sorted(values)
    return values[min(len(values) - 1, int(part * len(values)))] if values else 0.0


def answer_ms(rows, part):
    """The time that `part` of the answers took at most."""
    return 1000 * part_of([row[ANSWERED] - row[SENT] for row in rows], part)


def given_and_lost(limit, offered_in_all, policy, outage):
    """How much more, and how much less, than the limit may be admitted because of an outage.

    The failure table of docs/cluster.md, in numbers. What flows into the bucket while nobody can
    take it is there afterwards; policies that admit meanwhile give as much beside it.
    """
    if outage is None:
        return 0.0, 0.0
    flows = limit.rate * outage.seconds
    if policy == "allow":
        given, lost = sum(outage.offered) * outage.seconds, 0.0
    elif policy == "deny":
        given, lost = 0.0, flows if outage.everybody else 0.0
    else:  # local: each server's share, as far as it is known, in every mode
        given, lost = flows * sum(outage.offered) / offered_in_all, 0.1 * flows
    if outage.everybody:  # nothing was given beside them, but what was not is there afterwards
        given = max(0.0, given - flows) + min(limit.burst, flows)
    if outage.forgot and not (outage.everybody and flows >= limit.burst):  # it is full either way
        given += limit.burst
    return given, lost


def bounds(right, keys, given, lost):
    """The least and the most that so many keys may be admitted together, of `right`.

    The last permit of a key that flowed in may not have been asked for.
    """
    slack = max(TOLERANCE * right, keys)
    return right - slack - keys * lost, right + slack + keys * given


def recovery_seconds(rows, limit, since, until):
    """From `since` until everything is as one bucket would have it, and stays so; None: never.

    One bucket, however full it was then, that is asked the same: all the time what it has admitted
    is what was admitted, but for a tenth of the burst and 1 %.
    """
    count = int((until - since) / BIN)
    offered, passed = [0] * count, [0] * count
    for row in rows:
        where = int((row[ANSWERED] - since) / BIN)
        if since <= row[ANSWERED] and where < count:
            offered[where] += 1
            passed[where] += row[VERDICT] == ADMITTED
    # The last two seconds alone prove nothing: all of it could be a burst.
    for first in range(max(0, count - int(2 / BIN))):
        levels = (limit.burst * part / 20 for part in range(21))
        if any(is_like_a_bucket(offered[first:], passed[first:], limit, level) for level in levels):
            return first * BIN
    return None


def is_like_a_bucket(offered, passed, limit, level):
    right = seen = 0.0
    for asked, let_through in zip(offered, passed):
        level = min(limit.burst, level + limit.rate * BIN)
        taken = min(asked, level)
        level -= taken
        right += taken
        seen += let_through
        if abs(right - seen) > max(2, 0.1 * limit.burst) + TOLERANCE * right:
            return False
    return True
