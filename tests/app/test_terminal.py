# SPDX-License-Identifier: Apache-2.0
"""What a run and check draw on a terminal: lines that change and never wrap."""
import contextlib
import os
import pty
import re
import signal
import subprocess
import termios
import unittest

import spsolve

# Takes the place of the clock of the C library: a second passes between any two looks at it.
FAST_CLOCK = """
#define _GNU_SOURCE
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>
int clock_gettime(clockid_t clock, struct timespec* now) {
  static long looks = 0;
  const int status = (int)syscall(SYS_clock_gettime, clock, now);
  if (clock == CLOCK_MONOTONIC) now->tv_sec += __atomic_add_fetch(&looks, 1, __ATOMIC_RELAXED);
  return status;
}
"""


class Terminal(spsolve.TestCase):
    def write(self, steps):
        return spsolve.write_input(self.directory / "problem.toml", {
            "grid": {"shape": [300, 400]}, "stencil": {"preset": "star2d1r"}, "initial": {"expression": "x * y"},
            "time": {"steps": steps}, "output": {"directory": "out"}})

    @contextlib.contextmanager
    def on_terminal(self, columns, *arguments, environment=None):
        """Starts the program on a terminal of so many columns (0: of unknown size). Yields the process and a function that
        returns more of its output, or nothing at its end."""
        ours, its = pty.openpty()
        termios.tcsetwinsize(its, (24 if columns else 0, columns))
        process = subprocess.Popen([spsolve.EXECUTABLE, *arguments], cwd=self.directory, stdin=subprocess.DEVNULL, stdout=its, stderr=subprocess.PIPE,
                                   env={**spsolve.ENVIRONMENT, "TERM": "xterm", **(environment or {})}, start_new_session=True)
        os.close(its)
        def more():
            try:
                return os.read(ours, 1 << 16).decode()
            except OSError:  # Linux's end of a terminal
                return ""
        try:
            yield process, more
        finally:
            process.kill()
            process.communicate()
            os.close(ours)

    def drawn(self, output, word):
        """Returns the lines with a word that others were drawn over, as wide as they were drawn."""
        return [line for line in re.findall(r"\r([^\r\n]*)(?=\r(?!\n))", output) if word in line]

    def test_the_progress_of_a_run_leaves_the_last_column_free(self):
        file = self.write(steps=9 * 10**9)
        for columns, widest in ((80, 79), (40, 39), (0, 79)):
            with self.subTest(columns=columns), self.on_terminal(columns, file, "--overwrite", *spsolve.SETTINGS) as (process, more):
                output = ""
                while len(self.drawn(output, "step ")) < 2:
                    read = more()
                    self.assertTrue(read, f"the run ended before it drew: {output}")
                    output += read
                process.send_signal(signal.SIGUSR1)
                while read := more():
                    output += read
                self.assertEqual(process.wait(spsolve.LONGEST), 75, output)
                self.assertEqual({len(line) for line in self.drawn(output, "step ")}, {widest})
                self.assertRegex(output, "\r\x1b\\[K[^\r\n]*stopped by")  # the line is erased before others

    def test_check_shows_that_it_reads_values(self):
        library = self.directory / "clock.so"
        subprocess.run(["cc", "-shared", "-fPIC", "-x", "c", "-", "-o", library], input=FAST_CLOCK.encode(), check=True)
        for columns, widest in ((80, 79), (40, 39)):
            with self.subTest(columns=columns), self.on_terminal(columns, "check", self.write(steps=5),
                                                                environment={"LD_PRELOAD": str(library)}) as (process, more):
                output = ""
                while read := more():
                    output += read
                self.assertEqual(process.wait(spsolve.LONGEST), 0, output)
                lines = self.drawn(output, "looking at [initial]: ")
                self.assertEqual({len(line) for line in lines}, {widest}, output)
                shares = [int(re.search(r"(\d+)%", line)[1]) for line in lines]
                self.assertEqual((shares, shares[-1]), (sorted(shares), 100))
                self.assertIn("the input is valid", output)


if __name__ == "__main__":
    unittest.main()
