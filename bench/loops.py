#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Counts instructions in the loops of march.cuh, registers and spills. Shows without a GPU how a change affects machine code.

loops.py DUMP_MARCH CASE... [--json FILE] [--nvdisasm PROGRAM]   (CASE: as dump_march takes it)

Prints, for every innermost loop, the number of instructions and of local-memory loads (L) and stores (S), if any. Branches
that few planes take are counted as well. Loops are in program order: blocks away from walls first, warm-up first.
"""
import argparse
import collections
import json
import pathlib
import re
import subprocess
import tempfile

SMALLEST = 60  # instructions; only loops that process planes are longer


def parsed(text):
    """Returns the instructions of a program and the positions of its labels."""
    instructions, labels = [], {}
    for line in text.splitlines():
        if label := re.match(r"\s*(\.L_x_\d+):", line):
            labels[label[1]] = len(instructions)
        elif instruction := re.match(r"\s+/\*[0-9a-f]{4,5}\*/\s+(.*?)\s*;", line):
            instructions.append(instruction[1])
    return instructions, labels


def operation(instruction):
    return re.sub(r"^@!?U?P\w+ +", "", instruction).split()[0].split(".")[0]


def loops_of(instructions, labels):
    spans = []
    for end, instruction in enumerate(instructions):
        jump = re.match(r"@.*BRA.*?(\.L_x_\d+)", instruction)  # other backward jumps return from waits behind the program
        if jump and end - labels.get(jump[1], end) > SMALLEST:
            spans.append((labels[jump[1]], end))
    inner = [a for a in spans if not any(a != b and a[0] <= b[0] and b[1] <= a[1] for b in spans)]
    for begin, end in inner:
        count = collections.Counter(map(operation, instructions[begin:end + 1]))
        yield {"instructions": end - begin + 1, "local_loads": count["LDL"], "local_stores": count["STL"]}


def row_of(case):
    with tempfile.TemporaryDirectory() as folder:
        cubin = pathlib.Path(folder) / "march.cubin"
        log = subprocess.run([options.dump_march, case, cubin], check=True, capture_output=True, text=True).stdout
        text = subprocess.run([options.nvdisasm, "-c", cubin], check=True, capture_output=True, text=True).stdout
    instructions, labels = parsed(text)
    return {"case": case, "tile": log.splitlines()[0], "registers": int(re.search(r"Used (\d+) registers", log)[1]),
            "spilled_bytes": int(re.search(r"(\d+) bytes spill stores", log)[1]),
            "instructions": len(instructions), "loops": list(loops_of(instructions, labels))}


arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
arguments.add_argument("dump_march")
arguments.add_argument("cases", nargs="+")
arguments.add_argument("--json", type=pathlib.Path)
arguments.add_argument("--nvdisasm", default="nvdisasm", help="of CUDA's tools, or of nvidia-cuda-nvdisasm of PyPI")
options = arguments.parse_args()
rows = []
for case in options.cases:
    rows.append(row := row_of(case))
    loops = " ".join(f"{loop['instructions']}" + (f"(L{loop['local_loads']} S{loop['local_stores']})"
                     if loop["local_loads"] + loop["local_stores"] else "") for loop in row["loops"])
    print(f"{case}: {row['registers']} registers, {row['spilled_bytes']} bytes spilled, {row['instructions']} instructions; {loops}")
if options.json:
    options.json.write_text("[\n" + ",\n".join(map(json.dumps, rows)) + "\n]\n")
