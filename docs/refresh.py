#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Makes the tables of the documents anew from the records under bench/results.

refresh.py [--check] [FILES]     (default: README.md and docs/**/*.md)

A table stands between two comments, the first of which holds the command that prints it, run at the root of the tree:
<!-- made by: COMMAND --> and <!-- end -->. A command that begins with "spsolve" is one of the program, which the environment
variable SPSOLVE names, or that of the build; any other is a script. --check changes nothing and fails where a table is not what its
command prints.
"""
import os
import pathlib
import re
import shlex
import subprocess
import sys

root = pathlib.Path(__file__).resolve().parent.parent
TABLE = re.compile(r"(<!-- made by: (.*?) -->\n).*?(<!-- end -->)", re.DOTALL)


def command_of(words):
    if words[0] != "spsolve":
        return [sys.executable, "-B", *words]
    built = sorted(root.glob("build/*/spsolve"), key=os.path.getmtime)
    if "SPSOLVE" not in os.environ and not built:
        sys.exit("tables of keys need the program: run ./dev build first")
    return [os.environ.get("SPSOLVE") or built[-1], *words[1:]]


def printed(match):
    command = command_of(shlex.split(match[2]))
    return match[1] + subprocess.run(command, cwd=root, check=True, capture_output=True, text=True).stdout + match[3]


arguments = sys.argv[1:]
check = "--check" in arguments
stale = []
for file in [pathlib.Path(name) for name in arguments if name != "--check"] or [root / "README.md", *sorted(root.glob("docs/**/*.md"))]:
    text = file.read_text()
    fresh = TABLE.sub(printed, text)
    if fresh == text:
        continue
    stale.append(file.name)
    if not check:
        file.write_text(fresh)
print(("stale: " if check else "made anew: ") + ", ".join(stale) if stale else "every table is what its command prints")
sys.exit(check and bool(stale))
