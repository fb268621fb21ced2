#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Fails if docs/papers.md names a file, function, command, option, suite or record that does not exist, a script that cannot be run,
or leaves a cell empty.

check_papers.py ROOT

Functions are named as `name()` and must stand in some source. Commands are `spsolve VERB --option ...`, `bench_NAME` or a script of
the tree; options must be in the manual page, which another test compares with the program, and suites in --suite of `bench`.
Records are RECORD.json:RUN,RUN.
"""
import json
import os
import pathlib
import re
import sys

ROOMS = ("app", "bench", "calibration", "docs", "halo", "inputs", "io", "jobs", "kernels", "plot", "python", "solver", "tests")
PAPERS = 5


def sources(root):
    for room in ("app", "kernels", "solver"):
        yield from (file for ending in ("*.hpp", "*.cpp", "*.cuh") for file in (root / room).rglob(ending))


class Tree:
    def __init__(self, root):
        self.root = root
        self.source = "\n".join(file.read_text() for file in sources(root))
        self.options = set(re.findall(r"--[a-z][a-z-]+", (root / "packaging" / "spsolve.1").read_text().replace("\\-", "-")))
        self.verbs = set(re.findall(r'add_subcommand\(\s*"(\w+)"', (root / "app" / "command_line.cpp").read_text()))
        self.suites = set(re.findall(r'\{"([a-z-]+)",\s*"', (root / "app" / "bench" / "bench_suites.cpp").read_text()))
        self.programs = set(re.findall(r"add_executable\((bench_\w+)", (root / "bench" / "CMakeLists.txt").read_text()))

    def faults_of_path(self, text):
        path, _, runs = text.partition(":")
        if not (self.root / path).exists():
            yield f"there is no {path}"
        elif path.endswith(".py") and not os.access(self.root / path, os.X_OK):
            yield f"{path} is a script that may not be executed"
        elif runs:
            known = {run["name"] for run in json.loads((self.root / path).read_text())["runs"]}
            yield from (f"{path} has no run {run}" for run in runs.split(",") if run not in known)

    def faults_of_command(self, words):
        verb = words[1] if len(words) > 1 else ""
        if verb not in self.verbs and verb != "INPUT":
            yield f"spsolve has no verb {verb}"
        for word, following in zip(words, words[1:] + [""]):
            if word.startswith("--") and word not in self.options:
                yield f"spsolve has no option {word}"
            if word == "--suite" and following not in self.suites:
                yield f"spsolve bench has no suite {following}"

    def faults_of_code(self, code):
        words = code.split()
        if words[0] == "spsolve":
            yield from self.faults_of_command(words)
        elif re.fullmatch(r"\w+\(\)", code):
            if not re.search(rf"\b{code[:-2]}\(", self.source):
                yield f"no source has {code}"
        elif words[0].startswith("bench_"):
            if words[0] not in self.programs:
                yield f"there is no program {words[0]}"
        for word in words:
            if word.split("/")[0] in ROOMS and "/" in word:
                yield from self.faults_of_path(word)


def faults_of(tree, text):
    sections = re.split(r"^## ", text, flags=re.MULTILINE)[1:]
    with_tables = [section for section in sections if "| technique |" in section]
    if len(with_tables) != PAPERS:
        yield 0, f"{len(with_tables)} sections with a table of techniques, {PAPERS} were wanted"
    for number, line in enumerate(text.splitlines(), 1):
        cells = [cell.strip() for cell in line.strip("|").split("|")] if line.startswith("|") else []
        if "" in cells:
            yield number, "an empty cell: say why it is empty"
        for code in re.findall(r"`([^`]+)`", line):
            yield from ((number, fault) for fault in tree.faults_of_code(code))


root = pathlib.Path(sys.argv[1])
document = root / "docs" / "papers.md"
faults = [f"docs/papers.md:{number}: {fault}" for number, fault in faults_of(Tree(root), document.read_text())]
print("\n".join(faults) or "what docs/papers.md names exists")
sys.exit(bool(faults))
