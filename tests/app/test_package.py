# SPDX-License-Identifier: Apache-2.0
"""What is installed: the program solves an installed input, the man page has its verbs and options, and bash completes
them."""
import pathlib
import re
import subprocess
import unittest
from unittest import mock

import spsolve

PACKAGING = spsolve.SOURCE / "packaging"


def options_of_program(*verb):
    """Returns the verbs and long options that --help lists."""
    text = spsolve.run(*verb, "--help").out
    verbs = re.search(r"^(?:Subcommands|SUBCOMMANDS):\n(.*?)\n\s*\n", text, re.DOTALL | re.MULTILINE)
    return (set(re.findall(r"^  ([a-z]+) ", verbs[1], re.MULTILINE)) if verbs else set(),
            set(re.findall(r"^ +(?:-[a-zA-Z], *)?(--[a-z-]+)", text, re.MULTILINE)))


def options_of_page():
    """Returns {verb: its long options}, with those of the program itself under "". Options are the tags of paragraphs."""
    found, section, verb = {"": set()}, "", None
    lines = (PACKAGING / "spsolve.1").read_text().splitlines()
    for line, tag in zip(lines, lines[1:]):
        if line.startswith(".SH "):
            section, verb = line[4:], "" if line == ".SH OPTIONS" else None
        elif line.startswith(".SS ") and section == "VERBS":
            verb = line[4:]
            found[verb] = set()
        elif line == ".TP" and verb is not None:
            found[verb] |= set(re.findall(r"--[a-z-]+", tag.replace("\\-", "-")))
    return found


class ManPage(spsolve.TestCase):
    def test_has_the_verbs_and_options_of_the_program(self):
        page = options_of_page()
        verbs, options = options_of_program()
        self.assertLessEqual({"check", "info"}, verbs)
        self.assertEqual(page.pop(""), options)
        self.assertEqual(set(page), verbs)
        for verb in verbs:
            with self.subTest(verb):
                self.assertEqual(page[verb] | {"--help"}, options_of_program(verb)[1])

    def test_has_the_exit_statuses_of_the_program(self):
        statuses = re.search(r"Exit status: (.*?)\n(?:Signals|$)", spsolve.run("--help").out, re.DOTALL)[1]
        page = (PACKAGING / "spsolve.1").read_text()
        section = re.search(r"\.SH EXIT STATUS\n(.*?)\.SH", page, re.DOTALL)[1]
        self.assertEqual(re.findall(r"^\.B (\d+)$", section, re.MULTILINE), re.findall(r"(?:^|; |;\n)(\d+) ", statuses))


class Completion(spsolve.TestCase):
    def completed(self, *words):
        """Returns what bash offers for the last word."""
        script = ('source "$1"; shift; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _spsolve; [[ ${#COMPREPLY[@]} -eq 0 ]] || printf "%s\\n" "${COMPREPLY[@]}"')
        result = subprocess.run(["bash", "--norc", "-c", script, "bash", PACKAGING / "spsolve.bash", spsolve.EXECUTABLE, *words],
                                capture_output=True, text=True, cwd=self.directory, env=spsolve.ENVIRONMENT)
        self.assertEqual((result.returncode, result.stderr), (0, ""))
        return set(result.stdout.split())

    def test_verbs_options_and_files(self):
        (self.directory / "input.toml").touch()
        (self.directory / "out").mkdir()
        verbs, options = options_of_program()
        self.assertEqual(self.completed(""), verbs | {"input.toml", "out"})
        self.assertEqual(self.completed("ch"), {"check"})
        self.assertEqual(self.completed("--"), options)
        self.assertEqual(self.completed("--over"), {"--overwrite"})
        for verb in verbs:
            self.assertEqual(self.completed(verb, "--"), options_of_program(verb)[1])
        self.assertEqual(self.completed("plan", "in"), {"input.toml"})
        self.assertEqual(self.completed("input.toml", "--restart", ""), {"latest", "input.toml", "out"})
        self.assertEqual(self.completed("input.toml", "--output", ""), {"out"})


class Installed(spsolve.TestCase):
    def test_program_solves_an_installed_input(self):
        prefix, build = self.directory / "prefix", pathlib.Path(spsolve.EXECUTABLE).resolve().parent
        subprocess.run(["cmake", "--install", build, "--prefix", prefix], check=True, capture_output=True)
        share = prefix / "share"
        for file, source in ((share / "man/man1/spsolve.1", PACKAGING / "spsolve.1"),
                             (share / "bash-completion/completions/spsolve", PACKAGING / "spsolve.bash"),
                             (share / "doc/spsolve/copyright", spsolve.SOURCE / "LICENSE")):
            self.assertEqual(file.read_bytes(), source.read_bytes())
        solve = (share / "spsolve/inputs/heat2d.toml", "--set", "time.end=0.1", "--output")
        self.run_to(0, *solve, "of_the_build")
        with mock.patch.object(spsolve, "EXECUTABLE", prefix / "bin/spsolve"):
            self.run_to(0, *solve, "installed", ranks=2)
        last = [spsolve.snapshots(self.directory / name)[20] for name in ("of_the_build", "installed")]
        self.assertEqual(last[0].read_bytes(), last[1].read_bytes())


if __name__ == "__main__":
    unittest.main()
