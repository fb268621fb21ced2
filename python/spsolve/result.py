# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import csv
import json
import os
import pathlib
from typing import TYPE_CHECKING, Any

import h5py
import numpy as np

from . import read

if TYPE_CHECKING:
    import xarray


class Result:
    """Reads the results in a directory, of a run that has ended or of one that still runs. Values are read when they are used."""

    def __init__(self, directory: str | os.PathLike[str], log: str = "") -> None:
        self.directory = pathlib.Path(directory)
        self.log = log  #: what the program printed, if this is the result of Problem.run()

    def __repr__(self) -> str:
        files = read.snapshot_files(self.directory)
        last = f", last of step {max(files)}" if files else ""
        return f"<spsolve.Result {str(self.directory)!r}: {len(files)} snapshots{last}>"

    @property
    def report(self) -> dict[str, Any]:
        """Returns run.json: the resolved input, the plan, rates, versions."""
        report: dict[str, Any] = json.loads((self.directory / "run.json").read_text(encoding="utf-8"))
        return report

    @property
    def finished(self) -> bool:
        """Is False if a signal or a time limit stopped the run; run(restart=True) continues it."""
        return bool(self.report["finished"])

    @property
    def snapshots(self) -> xarray.Dataset:
        """Returns all snapshots: open(directory)."""
        return read.open(self.directory)

    def stream(self, name: str) -> xarray.Dataset:
        """Returns the snapshots of a table of [[outputs]]."""
        return read.open(self.directory, stream=name)

    @property
    def probes(self) -> dict[str, xarray.Dataset]:
        """Returns values at the points of each table of [[probes]], by name, with the dimensions time and point."""
        file = self.directory / "probes.h5"
        if not file.exists():
            return {}
        with h5py.File(file) as opened:
            names = list(opened)
        return {name: read.open(file, group=name) for name in names}

    @property
    def diagnostics(self) -> Any:
        """Returns diagnostics.csv as a pandas.DataFrame with the index step, or without pandas as a dictionary of arrays."""
        with (self.directory / "diagnostics.csv").open(newline="", encoding="utf-8") as file:
            columns, *rows = csv.reader(file)
        # A row that is being written has too few columns.
        whole = [row for row in rows if len(row) == len(columns)]
        table = {name: np.array([float(row[i]) for row in whole]) for i, name in enumerate(columns)}
        table["step"] = table["step"].astype(np.int64)
        try:
            import pandas
        except ImportError:
            return table
        return pandas.DataFrame(table).set_index("step")
