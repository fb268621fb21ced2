#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Fails on a name that two files define as different types, types inside others and types of kernels included.

check_type_names.py ROOT

An alias may be repeated with the same text, since it then names the same type. Specialisations of a template stand in its file.
"""
import collections
import pathlib
import re
import sys

ROOMS = ("app", "bench", "halo", "io", "kernels", "plot", "solver")
STORAGE = "is a format of stored numbers, which host and kernels define with the same bits"
EXCEPTIONS = {
    "Half": STORAGE,
    "Bfloat16": STORAGE,
    "Tf32": STORAGE,
    "Type": "is the result of a template from types to types, as `type` is in the standard library",
}
DEFINITION = re.compile(r"""
    \b(?:struct|class|union|enum(?:\s+class)?)\s+(?:(?:alignas|__align__)\([^)]*\)\s*|\[\[[^\]]*\]\]\s*)*
      (?:\w+(?:<[^<>]*>)?::)*  (\w+)  (?:<[^{};]*>)?  (?:\s+final)?  \s*(?::[^:{};][^{};]*)?\{
  | \busing\s+(\w+)\s*=\s*([^;]*);""", re.VERBOSE)


def definitions(root):
    """Returns where each name is defined, as [(file, line, text of the alias or None)]."""
    found = collections.defaultdict(list)
    for room in ROOMS:
        for file in sorted((root / room).rglob("*.[ch]*")):
            text = re.sub(r"//.*", "", file.read_text())
            for match in DEFINITION.finditer(text):
                alias = match[3] and " ".join(match[3].split())
                found[match[1] or match[2]].append((file.relative_to(root), text.count("\n", 0, match.start()) + 1, alias))
    return found


def is_one_type(places):
    texts = {alias for _, _, alias in places}
    return len({file for file, _, _ in places}) == 1 or (len(texts) == 1 and None not in texts)


found = definitions(pathlib.Path(sys.argv[1]))
wrong = [f"{name} has several definitions: " + ", ".join(f"{file}:{line}" for file, line, _ in places)
         for name, places in sorted(found.items()) if name not in EXCEPTIONS and not is_one_type(places)]
print("\n".join(wrong) or f"{len(found)} names of types have one meaning each")
sys.exit(bool(wrong))
