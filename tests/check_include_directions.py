#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Fails on any #include between rooms that docs/design.md does not allow."""
import pathlib
import re
import sys

ROOMS = {
    "kernels": set(),
    "halo": {"kernels"},
    "solver": {"halo", "kernels"},
    "io": {"halo/communicator", "kernels"},
    "app": {"solver", "io", "halo", "kernels"},
}

root = pathlib.Path(sys.argv[1])
wrong = []
for room, allowed in ROOMS.items():
    for file in sorted((root / room).rglob("*.[ch]*")):
        for number, line in enumerate(file.read_text().splitlines(), 1):
            include = re.match(r'\s*#include "(\w+)/([\w/]+)', line)
            if not include or include[1] not in ROOMS or include[1] == room:
                continue
            if include[1] not in allowed and f"{include[1]}/{include[2]}" not in allowed:
                wrong.append(f"{file.relative_to(root)}:{number}: {room} may not include {line.strip()}")
print("\n".join(wrong) or f"{len(ROOMS)} rooms include one another in the allowed directions only")
sys.exit(bool(wrong))
