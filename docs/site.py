#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Builds a site from the documents by MkDocs, with a gallery of the inputs.

site.py SPSOLVE DIRECTORY [--inputs NAME...] [--seconds S]

DIRECTORY/source gets the documents and a page that shows each input with its equation, its command and its picture, which SPSOLVE
makes here: a run of at most S seconds (default 30), then `spsolve plot`. DIRECTORY/site/index.html is the site. --inputs names the
inputs that are run (default: all).
"""
import argparse
import pathlib
import re
import shutil
import subprocess
import sys

root = pathlib.Path(__file__).resolve().parent.parent
STOPPED = 75  # exit status of a run that reached its limit of time
# Fields that are waves have values of both signs.
WAVES = {"acoustic2d", "acoustic2d_from_hdf5", "acoustic3d", "elastic2d", "maxwell2d", "maxwell3d", "schroedinger2d", "standing_wave2d"}
CONFIGURATION = """\
site_name: spsolve
docs_dir: source
site_dir: site
use_directory_urls: false
theme: {{name: mkdocs, highlightjs: false}}  # readthedocs of Debian lacks scripts that its pages ask for
plugins: []
nav:
  - README.md
  - Gallery: gallery.md
  - Guide: [{guide}]
  - How it works: [{internals}]
  - The five papers: docs/papers.md
  - Log: [{log}]
  - CHANGELOG.md
  - CONTRIBUTING.md
"""


def stage(source):
    """Copies what the documents show and link to, to the same places."""
    shutil.rmtree(source, ignore_errors=True)
    shutil.copytree(root / "docs", source / "docs", ignore=shutil.ignore_patterns("*.py", "__pycache__"))
    for folder in ("inputs", "jobs", "python", "bench/results"):
        shutil.copytree(root / folder, source / folder, ignore=shutil.ignore_patterns("__pycache__", "*.h5"))
    for file in (*root.glob("*.md"), root / "LICENSE"):
        shutil.copy(file, source)
    for script in (source / "inputs").glob("make_*.py"):
        subprocess.run([sys.executable, "-B", script], check=True, stdout=subprocess.DEVNULL)


def head_of(text):
    """Returns the first comment of an input as its sentences and its equations, which are indented there."""
    lines = [line[2:] for line in re.match(r"(#.*\n)+", text)[0].splitlines()[1:]]
    formulas = [line.strip() for line in lines if line.startswith("  ")]
    prose = " ".join(line for line in lines if line and not line.startswith("  "))
    return prose, formulas


def picture(spsolve, source, name, seconds):
    """Runs an input and draws a snapshot from the middle of the run, or the state at the end of the time limit."""
    out = source / "out" / name
    run = subprocess.run([spsolve, f"inputs/{name}.toml", "--quiet", "--overwrite", "--set", f"time.wall_limit_minutes={seconds / 60}"],
                         cwd=source, capture_output=True, text=True)
    if run.returncode not in (0, STOPPED):
        sys.exit(f"{name}: {run.stderr}")
    states = sorted(out.glob("snapshot_*.hdf"))
    state = states[len(states) // 2] if len(states) > 1 or run.returncode == 0 else sorted(out.glob("checkpoint_*.h5"))[-1]
    colors = ["--colormap", "blue-red"] if name in WAVES else []
    file = source / "gallery" / f"{name}.png"
    subprocess.run([spsolve, "plot", state, "-o", file, *colors], check=True, stdout=subprocess.DEVNULL)
    shutil.rmtree(out)
    return file


def gallery(spsolve, source, names, seconds):
    (source / "gallery").mkdir()
    page = ["# Gallery", "", "Each picture shows a state in the middle of a run, drawn by `spsolve plot`.", ""]
    for file in sorted((source / "inputs").glob("*.toml")):
        prose, formulas = head_of(file.read_text())
        page += [f"## {file.stem}", "", prose, ""]
        page += [*(f"    {line}" for line in formulas), ""] if formulas else []
        page += ["```sh", f"spsolve inputs/{file.name}", f"spsolve plot out/{file.stem}", "```", ""]
        if not names or file.stem in names:
            print(f"{file.stem} ...", flush=True)
            shown = picture(spsolve, source, file.stem, seconds)
            page += [f"![{file.stem}, drawn by spsolve plot]({shown.relative_to(source)})", ""]
        page += [f"[The input](inputs/{file.name})", ""]
    (source / "gallery.md").write_text("\n".join(page))


def pages_of(source, folder):
    files = sorted((source / "docs" / folder).glob("*.md"))
    return ", ".join(str(file.relative_to(source)) for file in files)


parser = argparse.ArgumentParser()
parser.add_argument("spsolve", type=pathlib.Path)
parser.add_argument("directory", type=pathlib.Path)
parser.add_argument("--inputs", nargs="*")
parser.add_argument("--seconds", type=float, default=30)
arguments = parser.parse_args()
directory = arguments.directory.resolve()
stage(directory / "source")
gallery(arguments.spsolve.resolve(), directory / "source", arguments.inputs, arguments.seconds)
(directory / "mkdocs.yml").write_text(CONFIGURATION.format(
    **{folder: pages_of(directory / "source", folder) for folder in ("guide", "internals", "log")}))
subprocess.run(["mkdocs", "build", "--quiet", "--config-file", directory / "mkdocs.yml"], check=True)
print(f"{directory}/site/index.html")
