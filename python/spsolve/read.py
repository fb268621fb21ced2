# SPDX-License-Identifier: Apache-2.0
"""Opens snapshots and probes as datasets of xarray, whose values are read when they are used."""
from __future__ import annotations

import json
import os
import pathlib
import re
from typing import TYPE_CHECKING, Any

import h5py
import numpy as np

if TYPE_CHECKING:
    import xarray

_AXES = ("z", "y", "x")


def open(path: str | os.PathLike[str], *, stream: str = "snapshot", group: str | None = None) -> xarray.Dataset:
    """Opens results as an xarray.Dataset with a variable for each field.

    - a snapshot (.hdf): dimensions z, y, x, those that it has, with their coordinates; time and step are single values
    - a series (.hdf.series), or a directory: dimensions time, z, y, x, and a step for each time. In a directory, `stream` is the
      name of one of [[outputs]] if other files than the snapshots of [output] are wanted
    - probes.h5: dimensions time and point, with the coordinates of the points. `group` is the name of one of [[probes]]; it may
      be left out if there is one only

    Values are read when they are used, so that a series may be larger than the memory. Raises ImportError without xarray,
    FileNotFoundError if there is nothing, ValueError for other files.
    """
    file = pathlib.Path(path)
    _require_xarray()
    if file.is_dir():
        return _open_series(snapshot_files(file, stream), file / f"{'snapshots' if stream == 'snapshot' else stream}.hdf.series")
    if file.name.endswith(".hdf.series"):
        name = file.name.removesuffix(".hdf.series")
        return _open_series(snapshot_files(file.parent, "snapshot" if name == "snapshots" else name), file)
    if not file.exists():
        raise FileNotFoundError(f"{file}: there is no such file")
    if not h5py.is_hdf5(file):
        raise ValueError(f"{file}: is no HDF5 file; wanted a snapshot, a series, probes.h5, or a directory of them")
    with h5py.File(file) as opened:
        kind = _text(opened.attrs.get("format", b""))
    if kind == "spsolve snapshot":
        return _open_snapshot(file)
    if kind == "spsolve probes":
        return _open_probes(file, group)
    raise ValueError(f"{file}: is {kind!r}; wanted a snapshot, a series, probes.h5, or a directory of them" if kind else
                     f"{file}: was not written by spsolve; wanted a snapshot, a series, probes.h5, or a directory of them")


def snapshot_files(directory: pathlib.Path, stream: str = "snapshot") -> dict[int, pathlib.Path]:
    """Returns the snapshots of a stream by their steps."""
    if not directory.is_dir():
        return {}
    names = re.compile(re.escape(stream) + r"_(\d{10})\.hdf")
    found = ((names.fullmatch(file.name), file) for file in directory.iterdir())
    return dict(sorted((int(match[1]), file) for match, file in found if match))


def _require_xarray() -> None:
    try:
        import xarray  # noqa: F401
    except ImportError as error:
        raise ImportError("spsolve.open() needs xarray: apt install python3-xarray, or pip install xarray. "
                          "h5py opens the files without it") from error


def _open_snapshot(file: pathlib.Path) -> xarray.Dataset:
    import xarray
    from .lazy import Stored, lazily
    with h5py.File(file) as opened:
        variables: dict[str, Any] = {}
        coordinates: dict[str, Any] = {"time": float(opened.attrs["time"]), "step": int(opened.attrs["step"])}
        for name, dataset in _fields(opened).items():
            axes = _axes(opened, dataset)
            variables[name] = (tuple(axes), lazily(Stored(file, name, dataset.shape, dataset.dtype)))
            coordinates.update({axis: places for axis, places in axes.items() if places is not None})
        return xarray.Dataset(variables, coordinates, {"name": _text(opened.attrs["name"]), "stride": int(opened.attrs["stride"])})


def _open_series(files: dict[int, pathlib.Path], series: pathlib.Path) -> xarray.Dataset:
    import xarray
    from .lazy import Stacked, Stored, lazily
    if not files:
        raise FileNotFoundError(f"{series.parent}: holds no snapshots ({series.name.removesuffix('.hdf.series').removesuffix('s')}_<step>.hdf)")
    first = _open_snapshot(next(iter(files.values())))
    times = _times(files, series)
    variables = {}
    for name, of_field in first.data_vars.items():
        parts = [Stored(file, str(name), of_field.shape, of_field.dtype) for file in files.values()]
        variables[name] = (("time", *of_field.dims), lazily(Stacked(parts)))
    coordinates = {**{axis: first[axis] for axis in first.indexes}, "time": times, "step": ("time", np.array(list(files), np.int64))}
    return xarray.Dataset(variables, coordinates, first.attrs)


def _times(files: dict[int, pathlib.Path], series: pathlib.Path) -> np.ndarray[Any, Any]:
    """Returns the times of snapshots, from the series or, where it does not know them, from the snapshots themselves."""
    known: dict[str, float] = {}
    try:
        known = {entry["name"]: float(entry["time"]) for entry in json.loads(series.read_text(encoding="utf-8"))["files"]}
    except (OSError, ValueError, KeyError, TypeError):  # it may be written at this moment
        pass
    times = []
    for file in files.values():
        if file.name in known:
            times.append(known[file.name])
        else:
            with h5py.File(file) as opened:
                times.append(float(opened.attrs["time"]))
    return np.array(times)


def _first_of(mask: Any) -> int:
    """Returns the index of the first true value, or the length of the array if there is none."""
    return int(np.argmax(mask)) if mask.any() else len(mask)


def _open_probes(file: pathlib.Path, group: str | None) -> xarray.Dataset:
    import xarray
    from .lazy import Stored, lazily
    with h5py.File(file) as opened:
        names = list(opened)
        if group is None and len(names) != 1:
            raise ValueError(f"{file}: holds several probes; choose one: open(..., group={' | '.join(map(repr, names))})")
        chosen = names[0] if group is None else group
        if chosen not in opened:
            raise ValueError(f"{file}: there are no probes {chosen!r}; there are {', '.join(map(repr, names))}")
        probes = opened[chosen]
        steps = probes["step"][()]
        # Rows that are not written yet have the step -1, and so have those before the checkpoint of another
        # directory at which the run began. Rows behind a gap are left out.
        first = _first_of(steps >= 0)
        rows = first + _first_of(steps[first:] < 0)
        places = probes["at"][()]
        coordinates: dict[str, Any] = {"time": probes["time"][:rows], "step": ("time", steps[:rows])}
        for i, axis in enumerate(_AXES[-places.shape[1]:]):
            coordinates[axis] = ("point", places[:, i])
        variables = {name: (("time", "point"), lazily(Stored(file, f"{chosen}/{name}", (rows, len(places)), probes[name].dtype)))
                     for name in probes if name not in ("step", "time", "at")}
        return xarray.Dataset(variables, coordinates, {"name": chosen}).isel(time=slice(first, None))


def _fields(opened: h5py.File) -> dict[str, h5py.Dataset]:
    """Returns the datasets of fields: those at the root that are no coordinates."""
    return {name: item for name, item in opened.items() if isinstance(item, h5py.Dataset) and not h5py.h5ds.is_scale(item.id)}


def _axes(opened: h5py.File, dataset: h5py.Dataset) -> dict[str, np.ndarray[Any, Any] | None]:
    """Returns the axes of a field and the coordinates of their points: dimension scales, or what VTK reads where an axis is too long
    to have one, or nothing."""
    axes: dict[str, np.ndarray[Any, Any] | None] = {}
    for i, axis in enumerate(_AXES[-dataset.ndim:]):
        if len(dataset.dims[i]):
            scale = dataset.dims[i][0]
            axes[scale.name.rpartition("/")[2]] = scale[()]
        elif "VTKHDF" in opened:
            image, of_vtk = opened["VTKHDF"].attrs, _AXES[::-1].index(axis)
            axes[axis] = image["Origin"][of_vtk] + image["Spacing"][of_vtk] * np.arange(dataset.shape[i])
        else:
            axes[axis] = None
    return axes


def _text(attribute: Any) -> str:
    return attribute.decode() if isinstance(attribute, bytes) else str(attribute)
