# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import contextlib
import os
import pathlib
import re
import shutil
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from . import arrays, launch, toml_text
from .result import Result

Section = Mapping[str, Any]
Sections = Sequence[Section]
Path = str | os.PathLike[str]


class Problem:
    """Describes an input of spsolve. The arguments are its sections, as dictionaries, and what they may hold is what the guide says
    about input files. A dictionary of all sections may be given instead, or besides; keywords take precedence.

    Arrays may stand wherever an input takes { file, dataset }: `initial` and `previous` of fields, coefficients, `initial` and
    `source` themselves, weights of stencils, `at` and `value` of point sources, `at` of probes. Axes are in the order
    [z, y, x]. Places of points have the shape [points, axes].
    """

    def __init__(self, sections: Section | None = None, /, *, name: str | None = None, grid: Section | None = None,
                 boundary: Section | None = None, constants: Section | None = None, coefficients: Section | None = None,
                 stencils: Section | None = None, fields: Section | None = None, equations: Section | None = None,
                 stencil: Any = None, initial: Any = None, source: Any = None, time: Section | None = None,
                 compute: Section | None = None, parallel: Section | None = None, output: Section | None = None,
                 diagnostics: Section | None = None, checkpoint: Section | None = None, outputs: Sections | None = None,
                 point_sources: Sections | None = None, probes: Sections | None = None, images: Sections | None = None) -> None:
        keywords = {"grid": grid, "boundary": boundary, "constants": constants, "coefficients": coefficients, "stencils": stencils,
                    "fields": fields, "equations": equations, "stencil": stencil, "initial": initial, "source": source,
                    "time": time, "compute": compute, "parallel": parallel, "output": output, "diagnostics": diagnostics,
                    "checkpoint": checkpoint, "outputs": outputs, "point_sources": point_sources, "probes": probes,
                    "images": images}
        merged = {**(sections or {}), **{key: item for key, item in keywords.items() if item is not None}}
        of_sections = merged.pop("name", None)
        #: The name of the run and of its files.
        self.name: str = name or of_sections or "problem"
        #: The sections by name. They may be changed until the problem is written.
        self.sections: dict[str, Any] = merged
        if "/" in self.name or self.name in (".", ".."):
            raise ValueError(f"name is {self.name!r}; wanted a name of a file")

    @classmethod
    def read(cls, file: Path) -> Problem:
        """Reads an input file. Files that it names are found where the input file says."""
        path = pathlib.Path(file)
        sections = tomllib.loads(path.read_text(encoding="utf-8-sig"))
        sections.setdefault("name", path.stem)
        return cls(_relative_to(path.parent.absolute(), sections))

    def __repr__(self) -> str:
        return f"<spsolve.Problem {self.name!r}: {', '.join(self.sections)}>"

    def write(self, directory: Path) -> pathlib.Path:
        """Writes <name>.toml and, if there are arrays, <name>.arrays.h5 into a directory. Returns the path of the input."""
        target = _without_shell_words(directory)
        target.mkdir(parents=True, exist_ok=True)
        file, array_file = self._files(target)
        sections, found = arrays.extract(self.sections, array_file.name)
        text = toml_text.document(sections)
        if found and toml_text.value(str(array_file.absolute())) in text:
            raise ValueError(f"{array_file} holds arrays of this problem already, and would be replaced by others; choose another name or directory")
        temporary = target / f".{self.name}.writing"
        if found:
            arrays.write(temporary, found)
            os.replace(temporary, array_file)
        temporary.write_text(text, encoding="utf-8")
        os.replace(temporary, file)
        return file

    def check(self, *, executable: Path = "spsolve") -> str:
        """Returns what `spsolve check` says about the problem, and warns as it does. Raises Error if the input is invalid."""
        return launch.check(self, executable)

    def run(self, directory: Path | None = None, *, ranks: int = 1, threads: int | None = None,
            restart: bool | Path | None = None, overwrite: bool = False, progress: bool = True,
            executable: Path = "spsolve", mpiexec: Path = "mpirun") -> Result:
        """Writes the input into a directory, runs spsolve on it and waits for the end. Results go to the same directory
        (default: output.directory, or else out/<name>).

        `ranks` above 1 starts as many by `mpiexec`, and `threads` is the number of threads of each. `restart` continues from the
        newest checkpoint (True or "latest") or from a file. `overwrite` replaces results that are there. `progress` shows what
        the program prints.

        An interrupt stops the run after a checkpoint, a second one at once. Raises Error with the message of the program if it
        fails; the input that was in the directory before then stays, if the program refused the new one.
        """
        target = _without_shell_words(directory or (self.sections.get("output") or {}).get("directory") or f"out/{self.name}")
        arguments: list[str] = ["--output", str(target.absolute())]
        if restart:
            arguments += ["--restart", "latest" if restart is True else str(restart)]
        if overwrite:
            arguments.append("--overwrite")
        command = launch.command(executable, mpiexec, ranks)  # before anything is written
        with self._replacing(target):
            file = self.write(target)
            log = launch.run([*command, str(file.absolute()), *arguments], threads=threads, progress=progress,
                             launched=ranks > 1)
        return Result(target, log)

    def _files(self, directory: pathlib.Path) -> tuple[pathlib.Path, pathlib.Path]:
        return directory / f"{self.name}.toml", directory / f"{self.name}.arrays.h5"

    @contextlib.contextmanager
    def _replacing(self, directory: pathlib.Path) -> Iterator[None]:
        """Keeps the files of a former input until the program has accepted the new one."""
        files = self._files(directory)
        formers = {file: directory / f".{file.name}.former" for file in files if file.exists()}
        for file, former in formers.items():
            former.unlink(missing_ok=True)
            try:
                os.link(file, former)  # the file stays where it is, because the new input may refer to it
            except OSError:
                shutil.copy2(file, former)
        refused = True
        try:
            yield
            refused = False
        except BaseException as error:
            refused = not isinstance(error, (launch.Error, KeyboardInterrupt)) or getattr(error, "status", None) == 2
            raise
        finally:
            for file in files:
                if refused and formers and file not in formers:
                    file.unlink(missing_ok=True)
            for file, former in formers.items():
                if refused:
                    os.replace(former, file)
                former.unlink(missing_ok=True)  # also if both are links to one file, which replace() leaves as they are


def _without_shell_words(directory: Path) -> pathlib.Path:
    """Returns a path of results. One with `~` or `$NAME`, which only shells expand, is refused before it is made as a directory."""
    text = os.fspath(directory)
    if re.search(r"^~|\$[A-Za-z_{(]", text):
        raise ValueError(f"{text} holds '~' or '$', which only shells expand; wanted the whole path, as os.path.expanduser() and "
                         "os.path.expandvars() return it")
    return pathlib.Path(directory)


def _relative_to(directory: pathlib.Path, item: Any) -> Any:
    if isinstance(item, dict):
        replaced = {key: _relative_to(directory, of_key) for key, of_key in item.items()}
        if {"file", "dataset"} <= item.keys():
            replaced["file"] = str(directory / item["file"])
        return replaced
    if isinstance(item, list):
        return [_relative_to(directory, entry) for entry in item]
    return item
