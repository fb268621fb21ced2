#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes velocity.h5 for acoustic2d_from_hdf5.toml, beside this script or where the first argument says."""
import pathlib
import sys

import h5py
import numpy as np

path = pathlib.Path(sys.argv[1]) if len(sys.argv) > 1 else pathlib.Path(__file__).with_name("velocity.h5")

spacing = 10.0                                        # m
y, x = np.mgrid[0:301, 0:401] * spacing               # m; y is depth

# Layers that are folded along x: each interface is as much deeper than the one above as its bed is thick.
fold = 120.0 * np.sin(2 * np.pi * x / 3000.0)         # m
velocity = np.full(y.shape, 1600.0)                   # m/s
for depth, speed in ((700.0, 2000.0), (1200.0, 2500.0), (1900.0, 3000.0)):
    velocity[y > depth + fold] = speed
velocity[((x - 2700.0) / 500.0) ** 2 + ((y - 1600.0) / 350.0) ** 2 < 1] = 4500.0   # salt

# The sponge is 400 m wide at the sides and at the bottom. A wave loses up to 6% per step there.
outside = np.maximum.reduce([400.0 - x, x - 3600.0, y - 2600.0, np.zeros_like(x)])
damp = np.exp(-0.06 * (outside / 400.0) ** 2)

with h5py.File(path, "w") as file:
    file["velocity"] = velocity
    file["damp"] = damp
print(f"{path}: velocity and damp {velocity.shape}")
