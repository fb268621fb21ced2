#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Fails on any #include between rooms that the architecture does not allow, and on folders with too many files."""
import pathlib
import re
import sys

MOST_FILES = 40
# ROOMS lists which rooms, or single headers of rooms, each room may include. A room is a folder; its parent
# is another room.
ROOMS = {
    "kernels": set(),
    "kernels/catalogue": {"kernels"},
    "kernels/cpu": {"kernels", "kernels/operator", "kernels/sparse"},
    "kernels/points": {"kernels"},
    "kernels/matrix": set(),
    "kernels/sparse": {"kernels", "kernels/matrix"},
    "kernels/sparse/emulation": {"kernels", "kernels/sparse"},
    "kernels/cuda/runtime": {"kernels"},
    "kernels/cuda/ptx": {"kernels"},
    "kernels/cuda/points": {"kernels", "kernels/points", "kernels/cuda/runtime", "kernels/cuda/ptx"},
    "kernels/cuda/launch": {"kernels", "kernels/cuda/runtime", "kernels/cuda/ptx"},
    "kernels/operator": {"kernels"},
    "kernels/strides": {"kernels", "kernels/matrix", "kernels/operator"},
    "io/language": {"kernels", "kernels/operator", "io/nearest_name"},
    "io/hdf5": {"halo/loaded_libraries", "kernels", "io/file_descriptor", "io/nearest_name", "io/text_file"},
    "halo": {"kernels", "kernels/cuda/runtime", "kernels/cuda/transfer"},
    "solver/plan": set(),
    "solver": set(),
    "plot": {"kernels/error"},
    "io": {"halo/collectively", "halo/communicator", "halo/machine", "kernels", "kernels/catalogue", "kernels/operator", "kernels/sparse",
           "io/language", "io/hdf5"},
    "io/input": {"plot/colormap", "kernels", "kernels/catalogue", "kernels/operator", "io", "io/language", "io/hdf5"},
    "app/machine": set(),
    "app/setup": {"app/machine"},
    "app/values": {"app/setup"},
    "app/plot": {"app/setup"},
    "app/run": {"app/setup", "app/values", "app/machine", "app/plot/section", "app/inspect/describe", "app/inspect/growth"},
    "app/bench": {"app/setup", "app/values", "app/machine"},
    "app/inspect": {"app/setup", "app/values", "app/machine"},
    "app": {"app/machine", "app/setup", "app/run", "app/bench", "app/inspect", "app/plot"},
}
ALL_KERNELS = {room for room in ROOMS if room.startswith("kernels")}
for family in ("scalar", "tensor", "transfer", "ceilings"):
    ROOMS[f"kernels/cuda/{family}"] = {"kernels", "kernels/sparse", "kernels/cuda/runtime", "kernels/cuda/ptx", "kernels/cuda/launch"}
    ALL_KERNELS.add(f"kernels/cuda/{family}")
ROOMS["kernels/cuda/system"] = {"kernels", "kernels/operator", "kernels/points", "kernels/cuda/runtime", "kernels/cuda/ptx",
                                "kernels/cuda/launch", "kernels/cuda/points"}
ALL_KERNELS.add("kernels/cuda/system")
ROOMS["kernels/cuda/scalar/model"] = {"kernels", "kernels/cuda/runtime", "kernels/cuda/launch", "kernels/cuda/scalar"}
ALL_KERNELS.add("kernels/cuda/scalar/model")
ROOMS["solver/plan"] = ALL_KERNELS | {"halo", "solver/problem"}
ROOMS["solver"] = ALL_KERNELS | {"halo", "solver/plan"}
for room in ("app/machine", "app/setup", "app/values", "app/run", "app/bench", "app/inspect", "app/plot", "app"):
    ROOMS[room] |= ALL_KERNELS | {"solver", "solver/plan", "plot", "io", "io/input", "io/language", "io/hdf5", "halo"}

root = pathlib.Path(sys.argv[1])
wrong = []
for room, allowed in ROOMS.items():
    for file in sorted((root / room).glob("*.[ch]*")):
        for number, line in enumerate(file.read_text().splitlines(), 1):
            include = re.match(r'\s*#include "([\w/]+)/(\w+)\.', line)
            if not include or include[1] not in ROOMS or include[1] == room:
                continue
            if include[1] not in allowed and f"{include[1]}/{include[2]}" not in allowed:
                wrong.append(f"{file.relative_to(root)}:{number}: {room} may not include {line.strip()}")
known = {root / room for room in ROOMS}
for top in ("app", "solver", "io", "plot", "halo", "kernels"):
    for folder in {file.parent for file in (root / top).rglob("*.[ch]*")} - known:
        wrong.append(f"{folder.relative_to(root)}: is no room that {pathlib.Path(__file__).name} knows")
for folder in known:
    files = [file for file in folder.iterdir() if file.is_file()]
    if len(files) > MOST_FILES:
        wrong.append(f"{folder.relative_to(root)}: has {len(files)} files, more than {MOST_FILES}")
print("\n".join(wrong) or f"{len(ROOMS)} rooms include one another in the allowed directions only")
sys.exit(bool(wrong))
