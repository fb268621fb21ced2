#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Measures what the tests cost in CPU seconds, which other work on the machine changes less than the time on the clock.

test_times.py BUILD [--match PATTERN] [--jobs N] [--slowest N]

Runs the tests of a build directory once. Prints the user and system seconds of all of them, of each group of tests, and of
the slowest tests, where the time on the clock stands beside. Tests that fail are named, and make the exit status 1.
"""
import argparse
import collections
import concurrent.futures
import json
import os
import re
import subprocess
import time

GROUPS = ("test_emulated", "app_", "test_")


def tests_of(build, pattern):
    """Returns the tests that ctest knows and whose names match a pattern, the dearest by its own estimate first."""
    text = subprocess.run(["ctest", "--test-dir", build, "--show-only=json-v1", "-R", pattern],
                          check=True, capture_output=True, text=True).stdout
    tests = []
    for test in json.loads(text)["tests"]:
        properties = {entry["name"]: entry["value"] for entry in test["properties"]}
        if "command" in test and not properties.get("DISABLED"):
            tests.append((test["name"], test["command"], properties))
    return sorted(tests, key=lambda test: -float(test[2].get("COST", 0)))


def run(test):
    """Runs one test. Returns its name, its CPU seconds, its seconds on the clock, and whether it passed."""
    name, command, properties = test
    environment = dict(os.environ, **dict(entry.split("=", 1) for entry in properties.get("ENVIRONMENT", [])))
    begin = time.monotonic()
    process = subprocess.Popen(command, cwd=properties["WORKING_DIRECTORY"], env=environment,
                               stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    output = process.stdout.read().decode(errors="replace")
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if "PASS_REGULAR_EXPRESSION" in properties:
        passed = any(re.search(pattern, output) for pattern in properties["PASS_REGULAR_EXPRESSION"])
    else:
        passed = process.returncode in (0, properties.get("SKIP_RETURN_CODE", 0))
    return name, usage.ru_utime + usage.ru_stime, time.monotonic() - begin, passed


def group_of(name):
    return next((group for group in GROUPS if name.startswith(group)), "other")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build")
    parser.add_argument("--match", default=".", help="runs only tests whose names match this regular expression")
    parser.add_argument("--jobs", type=int, default=os.cpu_count(), help="how many tests run at a time")
    parser.add_argument("--slowest", type=int, default=40, help="how many of the slowest tests to print")
    options = parser.parse_args()
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        results = list(pool.map(run, tests_of(options.build, options.match)))
    groups = collections.Counter()
    for name, seconds, _, _ in results:
        groups[group_of(name)] += seconds
    print(f"{len(results)} tests, {sum(groups.values()):.0f} CPU seconds: "
          + ", ".join(f"{group}* {seconds:.0f}" for group, seconds in groups.most_common()))
    for name, seconds, clock, _ in sorted(results, key=lambda result: -result[1])[:options.slowest]:
        print(f"  {seconds:6.1f} s  {clock:6.1f} s on the clock  {name}")
    failed = [name for name, _, _, passed in results if not passed]
    print("failed: " + " ".join(failed) if failed else "all passed")
    return 1 if failed else 0


if __name__ == "__main__":
    raise SystemExit(main())
