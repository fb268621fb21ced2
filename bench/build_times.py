#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Measures what a build costs in CPU seconds, which other work on the machine changes less than the time on the clock.

build_times.py DIR [--jobs N] [--slowest N] [--executable] [--json FILE]

Clones this tree into DIR and builds everything there, without ccache. Every compile and link is recorded with its user and
system seconds. Prints how many of them, and how many seconds, are needed for the executable, for everything, after touching
one .cpp, and after touching kernels/box.hpp; then the seconds of each room of the executable, and the slowest ones. With
--executable only the executable is built. A build that was interrupted goes on if DIR is given again. --json writes the numbers
of compiles and links and their seconds, as rows for bench/record.py.
"""
import argparse
import functools
import json
import os
import pathlib
import subprocess

LAUNCHER = """#!/bin/bash
# Records the CPU seconds of a compile or link, and its output file.
previous=; output=
for argument in "$@"; do [[ $previous == -o ]] && output=$argument; previous=$argument; done
exec /usr/bin/time -q -a -o {times} -f "%U %S $output" "$@"
"""
TOUCHED = ("kernels/cpu/cpu_unit.cpp", "app/command_line.cpp", "solver/evolve.cpp", "kernels/box.hpp")


def recorded(times):
    """Returns the CPU seconds by output; the last record of an output counts."""
    seconds = {}
    for line in times.read_text().splitlines():
        user, system, output = line.split(" ", 2)
        seconds[output] = float(user) + float(system)
    return seconds


@functools.cache
def needed_by(build, target):
    """Returns all files from which ninja makes a target, and the target."""
    text = subprocess.run(["ninja", "-C", build, "-t", "inputs", target], check=True, capture_output=True, text=True).stdout
    return {target, *text.split("\n")}


def compiled_from(file, build):
    """Returns the objects and precompiled headers that include a file, or are compiled from it."""
    objects, output = set(), None
    for line in subprocess.run(["ninja", "-C", build, "-t", "deps"], check=True, capture_output=True, text=True).stdout.splitlines():
        if line and not line.startswith(" "):
            output = line.split(":")[0]
        elif line and (build / line.strip()).resolve() == file:
            objects.add(output)
    return objects


def made_after_touching(file, build, outputs):
    """Returns which of the outputs ninja compiles or links after a change of a file."""
    objects = compiled_from(file, build)
    linked = {output for output in outputs if not output.endswith((".o", ".gch")) and needed_by(build, output) & objects}
    return objects | linked


def by_room(outputs, seconds):
    """Returns the CPU seconds of outputs by the first folder of their names; links and precompiled headers are rooms, too."""
    rooms = {}
    for output in outputs:
        suffix = pathlib.PurePath(output).suffix
        room = {".o": output.split("/")[0], ".gch": "precompiled headers"}.get(suffix, "links")
        rooms[room] = rooms.get(room, 0) + seconds[output]
    return rooms


def build_with_record(directory, jobs, targets):
    """Builds targets one after the other. Returns the build directory and the CPU seconds by output."""
    build, times = directory / "build" / "default", directory / "times.txt"
    if not directory.exists():
        root = pathlib.Path(__file__).resolve().parent.parent
        subprocess.run(["git", "clone", "-q", root, directory], check=True)
        launcher = directory / "launcher"
        launcher.write_text(LAUNCHER.format(times=times))
        launcher.chmod(0o755)
        subprocess.run(["cmake", "--preset", "default", f"-DCMAKE_CXX_COMPILER_LAUNCHER={launcher}",
                        f"-DCMAKE_CXX_LINKER_LAUNCHER={launcher}"], cwd=directory, check=True, stdout=subprocess.DEVNULL)
    for target in targets:
        subprocess.run(["ninja", "-C", build, f"-j{jobs}", target], check=True, stdout=subprocess.DEVNULL)
    return build, recorded(times)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("directory", type=pathlib.Path)
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--slowest", type=int, default=20, help="how many of the slowest compiles to print")
    parser.add_argument("--executable", action="store_true", help="build nothing but the executable")
    parser.add_argument("--json", type=pathlib.Path, help="rows for bench/record.py")
    options = parser.parse_args()
    directory = options.directory.resolve()
    targets = ["spsolve"] if options.executable else ["spsolve", "all"]
    build, seconds = build_with_record(directory, options.jobs, targets)
    made = {what: needed_by(build, target) for what, target in zip(("the executable", "everything"), targets)}
    for file in TOUCHED:
        made[f"after touching {file}"] = made_after_touching(directory / file, build, seconds)
    rows = []
    for what, outputs in made.items():
        counted = [output for output in outputs if output in seconds]
        rows.append({"what": what, "compiles_and_links": len(counted), "cpu_seconds": sum(seconds[output] for output in counted)})
        print("{what}: {compiles_and_links} compiles and links, {cpu_seconds:.0f} CPU seconds".format(**rows[-1]))
    if options.json:
        options.json.write_text(json.dumps(rows))
    rooms = by_room(made["the executable"] & seconds.keys(), seconds)
    print("by room: " + ", ".join(f"{room} {rooms[room]:.0f}" for room in sorted(rooms, key=rooms.get, reverse=True)))
    for output in sorted(seconds, key=seconds.get, reverse=True)[:options.slowest]:
        print(f"  {seconds[output]:6.1f} s  {output}")


if __name__ == "__main__":
    main()
