#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Fails if docs/papers.md names a file, function, command, option, suite or record that does not exist, a script that cannot be run,
leaves a cell empty, or states a number of spsolve that is nowhere on record.

check_papers.py ROOT

Functions are named as `name()` and must stand in some source. Commands are `spsolve VERB --option ...`, `bench_NAME` or a script of
the tree; options must be in the manual page, which another test compares with the program, suites in --suite of `bench`, names of precisions,
units, layouts and devices in their lists, stencils in the catalogue and keys in the table of keys.
Records are RECORD.json:RUN,RUN.

In the column spsolve of the tables of techniques, every number of three and more digits must stand in a record, in a file or in a section
of a document that its row names, or be the ratio of two numbers of its cell. Shorter numbers would be found anywhere and are not checked.
Nor are numbers of the papers, which are not in the tree. Other tables are made anew by docs/refresh.py.
"""
import itertools
import json
import os
import pathlib
import re
import sys

from check_documents import LINK, section_of

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "bench"))
from rows import rows_of

ROOMS = ("app", "bench", "calibration", "docs", "halo", "inputs", "io", "jobs", "kernels", "plot", "python", "solver", "tests")
PAPERS = 5
TECHNIQUE_CELLS, SPSOLVE = 6, 4  # technique, where, figure, command, spsolve, the paper
LEAST_RATE = 10  # numbers below are ratios
LISTS = {"precision": "precision", "unit": "unit_kind", "layout": "layout_kind", "device": "device"}  # NAME of a list NAME_names
STENCIL = re.compile(r"\b(?:star|box)?\dd\dr\b")
CODE = re.compile(r"`([^`]+)`")
NUMBER = re.compile(r"(?<![\w.,])\d[\d,]*(?:\.\d+)?")
NOT_COUNTED = re.compile(CODE.pattern + "|" + LINK.pattern + r"|\d+(?: x \d+)+|\b(?=\w*[A-Za-z])\w*\d\w*")


def sources(root):
    for room in ("app", "io", "kernels", "solver"):
        yield from (file for ending in ("*.hpp", "*.cpp", "*.cuh") for file in (root / room).rglob(ending))


class Tree:
    def __init__(self, root):
        self.root = root
        self.source = "\n".join(file.read_text() for file in sources(root))
        self.options = set(re.findall(r"--[a-z][a-z-]+", (root / "packaging" / "spsolve.1").read_text().replace("\\-", "-")))
        self.verbs = set(re.findall(r'add_subcommand\(\s*"(\w+)"', (root / "app" / "command_line.cpp").read_text()))
        self.suites = set(re.findall(r'\{"([a-z-]+)",\s*"', (root / "app" / "bench" / "bench_suites.cpp").read_text()))
        self.names = {name: re.findall(r'"([^"]+)"', names) for name, names in re.findall(r"\b(\w+)_names\{([^}]*)\}", self.source)}
        self.catalogue = "\n".join(file.read_text() for file in (root / "kernels" / "catalogue").glob("*.cpp"))
        self.keys = {f"{section}.{key}" for section, key in re.findall(r'\{"(\w+)", "(\w+)", "', "".join(
            file.read_text() for file in (root / "io" / "input").glob("keys_of_*.cpp")))}
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
            if word.startswith("--") and not self.is_value(word[2:], following):
                yield f"there is no {word[2:]} {following}"
            if word == "--set":
                key, _, value = following.partition("=")
                if key not in self.keys:
                    yield f"inputs have no key {key}"
                if not self.is_value(key.partition(".")[2], value):
                    yield f"{key} cannot be {value}"

    def is_value(self, of, word):
        """Returns whether an option or a key can have a value; only names are known. Stars and boxes are made from their numbers."""
        if of == "stencil":
            return bool(STENCIL.fullmatch(word)) or f'"{word}"' in self.catalogue
        return of not in LISTS or word in self.names[LISTS[of]]

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


def numbers_in(text):
    return [float(number.replace(",", "")) for number in NUMBER.findall(text)]


def is_about(text, stencils):
    """Returns whether a text names one of the stencils, or none at all."""
    named = set(STENCIL.findall(text))
    return not named or not stencils or bool(named & stencils)


def known_numbers(root, line, stencils):
    """Yields the numbers about these stencils in the records, files and sections that a line names."""
    paths = [word for code in CODE.findall(line) for word in code.split() if word.split("/")[0] in ROOMS]
    for path in paths:
        file = root / path.partition(":")[0]
        if file.suffix == ".json" and "runs" in json.loads(file.read_text()):
            yield from (row["gstencil_per_s"] for row in rows_of(root / path) if "gstencil_per_s" in row and is_about(row["stencil"], stencils))
        elif file.is_file():
            yield from numbers_in(file.read_text())
    for link in LINK.findall(line):
        page, _, anchor = link.partition("#")
        if page and not page.endswith(".md"):
            continue  # a picture
        for text in section_of(root / "docs" / (page or "papers.md"), anchor):
            yield from numbers_in(text) if is_about(text, stencils) else ()


def unknown_numbers(root, line, cell):
    """Yields the numbers of a cell that neither what its line names nor the cell itself explains."""
    texts = [text.rstrip(",") for text in NUMBER.findall(NOT_COUNTED.sub(" ", cell))]
    values = {text: float(text.replace(",", "")) for text in texts}
    known = list(known_numbers(root, line, set(STENCIL.findall(cell))))
    known += [over / under for over, under in itertools.permutations(values.values(), 2) if under >= LEAST_RATE]
    for text, value in values.items():
        half = 0.5 * 10.0 ** -len(text.partition(".")[2]) * (1 + 1e-9)
        if len(re.sub(r"\D", "", text).lstrip("0")) > 2 and not any(abs(value - other) <= half for other in known):
            yield text


def faults_of(tree, text):
    sections = re.split(r"^## ", text, flags=re.MULTILINE)[1:]
    with_tables = [section for section in sections if "| technique |" in section]
    if len(with_tables) != PAPERS:
        yield 0, f"{len(with_tables)} sections with a table of techniques, {PAPERS} were wanted"
    for number, line in enumerate(text.splitlines(), 1):
        cells = [cell.strip() for cell in line.strip("|").split("|")] if line.startswith("|") else []
        if "" in cells:
            yield number, "an empty cell: say why it is empty"
        missing = [fault for code in CODE.findall(line) for fault in tree.faults_of_code(code)]
        yield from ((number, fault) for fault in missing)
        if len(cells) == TECHNIQUE_CELLS and not missing:
            yield from ((number, f"{text} is in no record and on no page that the row names") for text in unknown_numbers(tree.root, line, cells[SPSOLVE]))


root = pathlib.Path(sys.argv[1])
document = root / "docs" / "papers.md"
faults = [f"docs/papers.md:{number}: {fault}" for number, fault in faults_of(Tree(root), document.read_text())]
print("\n".join(faults) or "what docs/papers.md names exists, and its numbers are on record")
sys.exit(bool(faults))
