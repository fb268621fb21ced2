#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""check_scripts.py JOBS: each script is whole, since sbatch copies one file; what they share must agree."""
import pathlib
import subprocess
import sys

scripts = sorted(pathlib.Path(sys.argv[1]).glob("*.sbatch"))
shared = {script.name: script.read_text().partition("# Nothing to edit below")[2] for script in scripts}
assert len(scripts) > 1 and all(shared.values()), f"no shared part found in {list(shared)}"
assert len(set(shared.values())) == 1, f"{list(shared)} differ below \"Nothing to edit\""
for script in scripts:
    subprocess.run(["bash", "-n", script], check=True)
