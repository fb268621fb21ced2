#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Fails on a relative link in a Markdown document that leads nowhere, and on lines that are too long to read.

check_documents.py ROOT

A link leads to a file or a folder of the tree and, after #, to a heading. Lines of prose have at most 200 characters and lines of
code blocks at most 100; rows of tables, and comments that say which command makes them, may be longer.
"""
import os
import pathlib
import re
import sys

PROSE, CODE = 200, 100
LINK = re.compile(r"\]\(([^()\s]+)\)")
NOT_OURS = {".git", ".cache", "build", "out"}


def documents(root):
    for folder, folders, files in os.walk(root):
        folders[:] = sorted(set(folders) - NOT_OURS)
        yield from (pathlib.Path(folder, name) for name in sorted(files) if name.endswith(".md"))


def lines_of(document):
    """Returns number, text and whether it belongs to a code block, of every line."""
    in_code = False
    for number, line in enumerate(document.read_text().splitlines(), 1):
        if line.lstrip().startswith("```"):
            in_code = not in_code
        yield number, line, in_code


def anchor_of(heading):
    """Returns the anchor of links to a line of heading: its text in lower case, without punctuation, with hyphens for spaces."""
    return re.sub(r"[^\w\- ]", "", heading.lstrip("#").strip().lower()).replace(" ", "-")


def anchors_of(document):
    return {anchor_of(line) for _, line, in_code in lines_of(document) if line.startswith("#") and not in_code}


def section_of(document, anchor):
    """Returns the lines below the heading of an anchor, as far as the next heading of its level or of a higher one."""
    level, section = 0, []
    for _, line, in_code in lines_of(document):
        hashes = 0 if in_code else len(line) - len(line.lstrip("#"))
        if level and 0 < hashes <= level:
            break
        if level:
            section.append(line)
        elif hashes and anchor_of(line) == anchor:
            level = hashes
    return section


def faults_of(document):
    for number, line, in_code in lines_of(document):
        if len(line) > (CODE if in_code else PROSE) and not line.startswith(("|", "<!-- made by")):
            yield number, f"{len(line)} characters, at most {CODE if in_code else PROSE} were wanted"
        if in_code:
            continue
        for link in LINK.findall(re.sub(r"`[^`]*`", "", line)):
            if re.match(r"[a-z]+:", link):  # https:, mailto:
                continue
            path, _, anchor = link.partition("#")
            target = document.parent / path if path else document
            if not target.exists():
                yield number, f"there is no {path}"
            elif anchor and anchor not in anchors_of(target):
                yield number, f"{path or document.name} has no heading for #{anchor}"


def main(root):
    faults = [f"{document.relative_to(root)}:{number}: {fault}" for document in documents(root) for number, fault in faults_of(document)]
    print("\n".join(faults) or "every link resolves, and no line is too long")
    return bool(faults)


if __name__ == "__main__":
    sys.exit(main(pathlib.Path(sys.argv[1])))
