#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The picture of README.md: a slice through the snapshots of inputs/heat3d.toml.

plot_heat3d.py out/heat3d docs/heat3d.png     (needs h5py and matplotlib)
"""
import pathlib
import sys

import h5py
import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt

directory, picture = map(pathlib.Path, sys.argv[1:])
files = sorted(directory.glob("snapshot_*.hdf"))
figure, axes = plt.subplots(1, len(files), figsize=(3.2 * len(files), 3.1), layout="constrained")
for axis, file in zip(axes, files):
    with h5py.File(file) as snapshot:
        u = snapshot["u"]
        image = axis.imshow(u[:, u.shape[1] // 2, :], origin="lower", cmap="inferno", vmin=0, vmax=1)
        axis.set_title(f"step {int(file.stem.split('_')[1])}")
    axis.set_xlabel("x")
    axis.set_ylabel("z")
figure.colorbar(image, ax=axes, label="u at mid y")
figure.savefig(picture, dpi=90)
