# SPDX-License-Identifier: Apache-2.0
"""Runs the program, shows what it prints, and turns its errors into exceptions."""
from __future__ import annotations

import contextlib
import os
import pathlib
import re
import selectors
import shutil
import signal
import subprocess
import sys
import tempfile
from typing import TYPE_CHECKING, Any, TextIO

if TYPE_CHECKING:
    from .problem import Problem

STOPPED = 75  # exit status of a run that a signal or the time limit stopped after a checkpoint


class Error(RuntimeError):
    """Says that the program failed. The text is its own message."""

    def __init__(self, message: str, status: int = 1, log: str = "") -> None:
        super().__init__(message)
        self.status = status  #: exit status: 2 invalid input, 3 not finite, 4 files, 5 device or peer
        self.log = log        #: all that the program printed


def find(program: str | os.PathLike[str], option: str) -> str:
    found = shutil.which(program)
    if found is None:
        raise FileNotFoundError(f"there is no program '{os.fspath(program)}'; install it, or say where it is: {option}=\"/path/to/it\"")
    return str(pathlib.Path(found).absolute())


def command(executable: str | os.PathLike[str], mpiexec: str | os.PathLike[str], ranks: int) -> list[str]:
    if ranks < 1:
        raise ValueError(f"ranks is {ranks}; wanted at least 1")
    program = find(executable, "executable")
    return [program] if ranks == 1 else [find(mpiexec, "mpiexec"), "-n", str(ranks), program]


def check(problem: Problem, executable: str | os.PathLike[str]) -> str:
    program = find(executable, "executable")
    with tempfile.TemporaryDirectory(prefix="spsolve_") as directory:
        return run([program, "check", str(problem.write(directory))], threads=None, progress=False)


def run(arguments: list[str], *, threads: int | None, progress: bool, launched: bool = False) -> str:
    """Runs a command, which may be a launcher of ranks, to its end. Returns what it printed; raises Error if it failed."""
    environment = dict(os.environ) if threads is None else {**os.environ, "OMP_NUM_THREADS": str(threads)}
    # In a session of its own the program gets the signals that interrupt() sends, and not those of a terminal or a notebook.
    with subprocess.Popen(arguments, env=environment, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                          start_new_session=True) as process:
        output = _Output(process, progress)
        interrupted = False
        while True:
            try:
                output.read_to_end()
                status = process.wait()
                break
            except KeyboardInterrupt:
                _interrupt(process, launched)
                interrupted = True
            except BaseException:
                process.kill()
                raise
    if interrupted:
        raise KeyboardInterrupt
    if status not in (0, STOPPED):
        raise Error(message_of(output.errors, status), status, output.log)
    return output.log


def message_of(errors: str, status: int) -> str:
    """Returns the program's message among what a launcher says on the same stream."""
    found = re.search(r"^spsolve: error(?: on rank \d+)?: (.*?)(?=^-{20,}$|^spsolve: |\Z)", errors, re.DOTALL | re.MULTILINE)
    message = found.group(1).strip() if found else errors.strip()
    return message or (f"the program was ended by signal {-status}" if status < 0 else f"the program ended with status {status}")


def _interrupt(process: subprocess.Popen[bytes], launched: bool) -> None:
    """Asks for a checkpoint and the end; asked twice, the program ends at once. Open MPI may not pass signals on, so the ranks of
    this machine get them directly."""
    print("\nspsolve: stopping after a checkpoint; interrupt again to stop at once", file=sys.stderr, flush=True)
    ranks = [process.pid]
    if launched:
        with contextlib.suppress(OSError):
            children = pathlib.Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text().split()
            ranks = [int(pid) for pid in children] or ranks
    for pid in ranks:
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGTERM)


class _Output:
    """Collects what a process prints, and shows it line by line. Progress is drawn over the last line of progress where the
    output can do that."""

    def __init__(self, process: subprocess.Popen[bytes], show: bool) -> None:
        self.log = self.errors = ""
        self._process = process
        self._show = show
        self._drawn = 0
        self._rest = {1: b"", 2: b""}
        self._selector = selectors.DefaultSelector()
        for number, pipe in ((1, process.stdout), (2, process.stderr)):
            assert pipe is not None
            self._selector.register(pipe, selectors.EVENT_READ, number)

    def read_to_end(self) -> None:
        """Takes lines until the streams end, or until the process has ended and a daemon of MPI that it started is silent."""
        while self._selector.get_map():
            events = self._selector.select(timeout=1.0)
            if not events and self._process.poll() is not None:
                break
            for key, _ in events:
                data = os.read(key.fd, 65536)
                lines = (self._rest[key.data] + data).split(b"\n")
                self._rest[key.data] = lines.pop() if data else b""
                for line in lines if data else [line for line in lines if line]:
                    self._take(key.data, line.decode("utf-8", "replace").rstrip("\r"))
                if not data:
                    self._selector.unregister(key.fileobj)
        self._end_drawn()

    def _take(self, number: int, line: str) -> None:
        self.log += line + "\n"
        if number == 2:
            self.errors += line + "\n"
        if number == 2 and "warning: " in line:
            self._print(line, sys.stderr)
        elif number == 1 and self._show:
            self._print(line, sys.stdout)

    def _print(self, line: str, stream: TextIO) -> None:
        if re.match(r"step \d+/\d+ |\S.*: \d+%$", line) and _draws_over(stream):
            print("\r" + line.ljust(self._drawn), end="", file=stream, flush=True)
            self._drawn = len(line)
        else:
            self._end_drawn()
            print(line, file=stream, flush=True)

    def _end_drawn(self) -> None:
        if self._drawn:
            print(flush=True)
        self._drawn = 0


def _draws_over(stream: Any) -> bool:
    """Returns True for terminals and for the cells of notebooks."""
    return stream.isatty() or type(stream).__module__.startswith("ipykernel")
