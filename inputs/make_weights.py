#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes weights.h5 for weights_from_hdf5.toml, beside this script or where the first argument says."""
import pathlib
import sys

import h5py
import numpy as np

path = pathlib.Path(sys.argv[1]) if len(sys.argv) > 1 else pathlib.Path(__file__).with_name("weights.h5")

# Smoke drifts with the wind: the weights lean to the upwind side, have an even number of rows, and their sum
# 0.995 lets a part decay in every step. All are positive, so no wave grows.
y, x = np.mgrid[-2:2, -2:3]
weights = np.exp(-(((y + 0.3) / 0.8) ** 2 + ((x + 0.6) / 1.1) ** 2))
weights *= 0.995 / weights.sum()

rows, columns = np.mgrid[0:97, 0:130]
chimney = np.exp(-((rows - 30) ** 2 + (columns - 20) ** 2) / 8.0)

with h5py.File(path, "w") as file:
    file["weights"] = weights
    file["weights"].attrs["center"] = np.array([2, 2])  # index of the weight of the point itself: [y, x]
    file["u"] = np.zeros((97, 130), dtype=np.float32)
    file["source"] = 0.05 * chimney
print(f"{path}: weights {weights.shape}, u and source {chimney.shape}")
