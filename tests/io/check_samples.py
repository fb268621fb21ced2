#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""check_samples.py h5py|vtk DIRECTORY: reads what write_samples wrote with h5py, or with VTK's own VTKHDF reader.
Exit status 77: the module is not installed."""
import json
import pathlib
import sys

import numpy as np

CASES = {  # name: (shape of the grid, stride, type)
    "d3": ((7, 5, 11), 1, "f8"),
    "d3_thin": ((6, 4, 9), 2, "f4"),
    "d2": ((13, 7), 1, "f4"),
    "d2_thin": ((9, 8), 3, "f8"),
    "d1": ((17,), 1, "f8"),
    "d3_large": ((90, 83, 97), 1, "f8"),
}


def coordinates(shape):
    """10000 z + 100 y + x."""
    weights = (10_000, 100, 1)[3 - len(shape):]
    return sum(w * i for w, i in zip(weights, np.indices(shape)))


def expected(name):
    shape, stride, kind = CASES[name]
    return coordinates(shape)[(slice(None, None, stride),) * len(shape)].astype(kind)


def geometry(name):
    """Spacing and origin per axis, {x, y, z}; axes the grid has not: 1 and 0."""
    shape, stride, _ = CASES[name]
    axes = range(3 - len(shape), 3)
    spacing = [0.5 * (a + 1) * stride if a in axes else 1.0 for a in range(3)]
    origin = [1.5 - a if a in axes else 0.0 for a in range(3)]
    return spacing[::-1], origin[::-1]


def check_h5py(directory):
    import h5py

    for name in CASES:
        with h5py.File(directory / name / "snapshot_0000000020.hdf", "r") as file:
            u, image = file["u"], file["VTKHDF"]
            assert u.dtype == expected(name).dtype and u.shape == expected(name).shape, name
            np.testing.assert_array_equal(u[...], expected(name), err_msg=name)
            assert image["PointData/u"] == u, "not the same dataset"
            assert list(image.attrs["Version"]) == [1, 0] and image.attrs["Type"] == b"ImageData"
            assert h5py.h5a.open(image.id, b"Type").get_type().get_cset() == h5py.h5t.CSET_ASCII
            extent = [(0, n - 1) for n in (1,) * (3 - u.ndim) + u.shape][::-1]
            assert list(image.attrs["WholeExtent"]) == [i for pair in extent for i in pair], name
            spacing, origin = geometry(name)
            assert list(image.attrs["Spacing"]) == spacing and list(image.attrs["Origin"]) == origin, name
            assert file.attrs["step"] == 20 and file.attrs["time"] == 0.25 and file.attrs["name"] == name.encode()
        series = json.loads((directory / name / "snapshots.hdf.series").read_text())
        assert [(f["name"], f["time"]) for f in series["files"]] == [
            ("snapshot_0000000020.hdf", 0.25), ("snapshot_0000000040.hdf", 0.5)], series
    z, y, x = np.indices((3, 5, 7))
    sample = ((z * 29 + y * 7 + x) % 127 - 63) / 8
    for precision, kind in (("fp64", "f8"), ("fp32", "f4"), ("fp16", "f2"), ("bf16", None)):
        with h5py.File(directory / precision / "checkpoint_0000000020.h5", "r") as file:
            u = file["u"]
            if kind:
                assert u.dtype == np.dtype(kind), (precision, u.dtype)
                np.testing.assert_array_equal(u[...], sample)
            else:  # numpy has no bfloat16; HDF5 itself converts it
                read = np.empty(u.shape, "f4")
                u.id.read(h5py.h5s.ALL, h5py.h5s.ALL, read, mtype=h5py.h5t.NATIVE_FLOAT)
                np.testing.assert_array_equal(read, sample)
                assert u.id.get_type().get_size() == 2
            assert file.attrs["step"] == 20 and file.attrs["time"] == 0.25 and file.attrs["format_version"] == 1
            assert file.attrs["input"].decode() == 'name = "größe"\n' if isinstance(file.attrs["input"], bytes) \
                else file.attrs["input"] == 'name = "größe"\n'


def check_vtk(directory):
    import vtk
    from vtk.util.numpy_support import vtk_to_numpy

    version = vtk.vtkVersion()
    reads_flat = (version.GetVTKMajorVersion(), version.GetVTKMinorVersion()) >= (9, 2)
    for name, (shape, _, _) in CASES.items():
        if len(shape) < 3 and not reads_flat:
            print(f"{name} not read: VTK {version.GetVTKVersion()} crashes on every 1D and 2D VTKHDF file")
            continue
        reader = vtk.vtkHDFReader()
        reader.SetFileName(str(directory / name / "snapshot_0000000020.hdf"))
        reader.Update()
        image = reader.GetOutput()
        array = image.GetPointData().GetArray("u")
        assert array is not None, f"{name}: VTK found no point data"
        values = expected(name)
        full = (1,) * (3 - values.ndim) + values.shape
        assert image.GetDimensions() == full[::-1], (name, image.GetDimensions())
        assert vtk_to_numpy(array).dtype == values.dtype, name
        np.testing.assert_array_equal(vtk_to_numpy(array).reshape(values.shape), values, err_msg=name)
        spacing, origin = geometry(name)
        np.testing.assert_array_equal(image.GetSpacing(), spacing)
        np.testing.assert_array_equal(image.GetOrigin(), origin)
        # The place of a value in space, as VTK computes it.
        probe = vtk_to_numpy(array)[image.FindPoint(*(o + s * (n - 1) for o, s, n in zip(origin, spacing, full[::-1])))]
        assert probe == values.flat[-1], name


if __name__ == "__main__":
    try:
        {"h5py": check_h5py, "vtk": check_vtk}[sys.argv[1]](pathlib.Path(sys.argv[2]))
    except ModuleNotFoundError as error:
        print(f"skipped: {error}")
        sys.exit(77)
