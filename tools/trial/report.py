"""What a run of the trial has shown: lines of a table, and what is outside its bounds."""

from trial import judge

RECOVERED_WITHIN = 3  # seconds
PROBED_AFTER = 1  # seconds: a circuit that has opened stays so for about as long
LEAST_OFFERED = 0.95  # of what was planned; with less a run proves little

COLUMNS = ("event", "redis", "on_error", "mode", "servers", "offered/s", "admitted", "bound",
           "error %", "before, during, after /s", "recovery ms", "p99 ms", "max ms", "noise ms",
           "no TTL")


def noise_ms(run):
    """How late clients send, 99 of 100: what the machine adds, and nobody else."""
    return judge.part_of([row[judge.SENT] - row[judge.DUE] for of_kind in run.rows.values()
                          for of_key in of_kind for row in of_key], 0.99) * 1000


def is_quiet(run):
    """Servers and Redis wait as long for the machine; if that is much, deadlines are missed."""
    return noise_ms(run) <= run.deadline_ms / 2


def judge_run(run):
    """(lines, problems)"""
    lines, problems = [], []
    noise = noise_ms(run)
    for kind in run.kinds:
        line, wrong = judge_kind(run, kind, noise) if kind.mode else judge_plain(run, kind, noise)
        lines.append(line)
        problems += [f"{kind.rule}: {problem}" for problem in wrong]
    if not is_quiet(run):  # the rest may follow from that
        problems = [f"the machine is too busy to tell: clients are up to {noise:.0f} ms late"]
    if run.without_ttl:
        problems.append(f"{run.without_ttl} keys in Redis have no time to live")
    for server in run.servers:
        if not server.is_running():
            problems.append(f"{server.log.name}: the server ended:\n"
                            + server.log.read_text()[-2000:])
    return lines, problems


def judge_kind(run, kind, noise):
    """All keys of a kind are judged together."""
    problems = []
    rows = sum(run.rows[kind.rule], [])
    right = sum(kind.limit.over(judge.seconds_of(of_key)) for of_key in run.rows[kind.rule])
    offered = len(rows) / run.seconds
    planned = kind.per_second * len(kind.users)
    if len(rows) < right or planned > 100 and offered < LEAST_OFFERED * planned:
        problems.append(f"only {offered:.0f}/s were offered instead of {planned:.0f}/s: this run "
                        "proves little")

    recovery = None
    if run.event is not None and len(kind.users) == 1:
        recovery = judge.recovery_seconds(rows, kind.limit, run.event.repaired, run.end)
        if recovery is None or recovery > RECOVERED_WITHIN:
            took = "is not" if recovery is None else f"after {recovery:.1f} s is"
            problems.append(f"what is admitted {took} what one bucket would admit again; "
                            f"{RECOVERED_WITHIN} s are allowed")
    outage = outage_of(run, kind, RECOVERED_WITHIN if recovery is None else recovery)
    given, lost = judge.given_and_lost(kind.limit, kind.per_second, run.trial.policy, outage)
    least, most = judge.bounds(right, len(kind.users), given, lost)
    admitted = judge.admitted(rows)
    if not least <= admitted <= most:
        problems.append(f"{admitted:,} were admitted, outside {least:,.0f} to {most:,.0f}")

    late, times = judge_times(run, rows, noise)
    return {
        "event": run.trial.event, "redis": run.redis.name, "on_error": run.trial.policy,
        "mode": kind.rule, "servers": str(run.trial.servers), "offered/s": f"{offered:,.0f}",
        "admitted": f"{admitted:,}", "bound": f"{least:,.0f} to {most:,.0f}",
        "error %": f"{100 * (admitted - right) / right:+.1f}",
        "before, during, after /s": phases(run, rows),
        "recovery ms": "-" if recovery is None else f"{1000 * recovery:.0f}",
        **times, "no TTL": str(run.without_ttl)}, problems + late


def judge_plain(run, kind, noise):
    """Of an ordinary limit, only that it is answered in time: others wait for Redis, not it."""
    rows = sum(run.rows[kind.rule], [])
    problems, times = judge_times(run, rows, noise)
    return {**dict.fromkeys(COLUMNS, "-"), "event": run.trial.event, "redis": run.redis.name,
            "on_error": run.trial.policy, "mode": kind.rule, "servers": str(run.trial.servers),
            "offered/s": f"{len(rows) / run.seconds:,.0f}", **times}, problems


def judge_times(run, rows, noise):
    """(problems, columns)"""
    problems = []
    tried = during(run, rows)
    p99 = judge.answer_ms(tried, 0.99)
    if p99 > run.deadline_ms + 2 * noise + 1:  # the server waits for the machine, and the client
        problems.append(f"one answer of 100 took more than {p99:.1f} ms; the deadline is "
                        f"{run.deadline_ms} ms, and this machine adds {noise:.1f} ms twice")
    if judge.failed(rows):
        problems.append(f"{judge.failed(rows)} requests of {len(rows)} were not answered")
    return problems, {"p99 ms": f"{p99:.1f}", "max ms": f"{judge.answer_ms(tried, 1):.0f}",
                      "noise ms": f"{noise:.1f}"}


def outage_of(run, kind, recovery):
    event = run.event
    if event is None or not (event.cut_off or event.forgot):
        return None
    shares = run.shares()
    return judge.Outage(
        seconds=event.repaired - event.began + max(recovery, PROBED_AFTER),
        offered=tuple(kind.per_second * shares[number] for number in event.cut_off),
        everybody=len(event.cut_off) == run.trial.servers, forgot=event.forgot)


def during(run, rows):
    """Those that matter for how long answers take: all, or from the fault until it is over."""
    if run.event is None:
        return rows
    return judge.between(rows, run.event.began, run.event.repaired + RECOVERED_WITHIN)


def phases(run, rows):
    """Admitted per second; the burst at the beginning is left out."""
    if run.event is None:
        return "-"
    begin, end = run.begin + (run.event.began - run.begin) / 2, run.end
    parts = ((begin, run.event.began), (run.event.began, run.event.repaired),
             (run.event.repaired, end))
    return ", ".join(f"{judge.admitted(judge.between(rows, *part)) / (part[1] - part[0]):,.0f}"
                     if part[1] - part[0] > 0.5 else "-" for part in parts)


def print_table(lines):
    widths = {name: max([len(name), *(len(line[name]) for line in lines)]) for name in COLUMNS}
    print("| " + " | ".join(name.ljust(widths[name]) for name in COLUMNS) + " |")
    print("|" + "|".join("-" * (widths[name] + 2) for name in COLUMNS) + "|")
    for line in lines:
        print("| " + " | ".join(line[name].ljust(widths[name]) for name in COLUMNS) + " |")
