#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Measures strong and weak scaling of `spsolve bench` over the GPUs of one machine, as JSON for record.py:

    bench/scaling.py --spsolve build/default/spsolve --ranks 1 2 4 8 --json scaling.json

Strong: the same grid on every number of ranks. The largest number also runs with NCCL and an exchange in every launch, and with the
steps per launch that the plan chooses. Weak: every rank has the grid of one rank. Eighths: every rank has the block that it would
have if the strong-scaling grid were cut for 8 ranks, with the same number of neighbours; efficiency is relative to an eighth of that
grid on one rank. Options of mpirun follow --mpirun."""
import argparse
import json
import pathlib
import subprocess
import tempfile

STRONG = [("star2d1r", (16384, 16384)), ("star3d1r", (1024, 1024, 1024))]
WEAK = [("star2d1r", (16384, 16384)), ("star3d1r", (512, 1024, 1024))]  # shape on one rank
EIGHTHS = [(stencil, (shape[0] // 8, *shape[1:])) for stencil, shape in STRONG]  # shape on one rank
FUSE = {"star2d1r": 8, "star3d1r": 4}  # steps per launch that suit the thin blocks of many ranks
NCCL = ["--transport", "nccl", "--exchange-every", "1"]


def measure(options, ranks, stencil, shape, *flags):
    arguments = ["bench", "--stencil", stencil, "--shape", ",".join(map(str, shape)), "--precision", "fp32",
                 "--seconds", str(options.seconds), *flags]
    with tempfile.TemporaryDirectory() as directory:
        file = pathlib.Path(directory) / "result.json"
        command = [*options.mpirun.split(), "-n", str(ranks), str(options.spsolve), *arguments, "--json", str(file)]
        done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        if done.returncode:
            print(f"{ranks} ranks, {' '.join(arguments)}: exit {done.returncode}\n{done.stdout[-1500:]}", flush=True)
            return None
        (result,) = json.loads(file.read_text())
    result["command"] = f"mpirun -n {ranks} spsolve {' '.join(arguments)} --json FILE"
    return result


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--spsolve", required=True)
    parser.add_argument("--ranks", type=int, nargs="+", default=[1, 2, 4, 8])
    parser.add_argument("--mpirun", default="mpirun")
    parser.add_argument("--seconds", type=float, default=0.3, help="of one timed run (0.3)")
    parser.add_argument("--json", type=pathlib.Path, required=True)
    options = parser.parse_args()
    results, alone = [], {}
    least, most = min(options.ranks), max(options.ranks)
    several = [ranks for ranks in options.ranks if ranks > 1]
    for kind, cases, all_ranks, flags in (("strong", STRONG, options.ranks, []), ("eighths", EIGHTHS, several, []),
                                          ("weak", WEAK, sorted({least, most}), []), ("strong, NCCL", STRONG, [most], NCCL),
                                          ("strong, as planned", STRONG[:1], [most], [])):
        for stencil, shape in cases:
            for ranks in all_ranks:
                grid = shape if kind.startswith("strong") else (shape[0] * ranks, *shape[1:])
                if kind == "weak" and ranks == 1 and (stencil, shape) in STRONG:
                    continue  # already measured
                depth = [] if "planned" in kind else ["--fuse", str(FUSE[stencil])]
                result = measure(options, ranks, stencil, grid, *depth, *flags)
                if result is None:
                    continue
                rate, result["scaling"] = result["gstencil_per_s"], kind
                if ranks == 1:
                    alone[stencil, kind] = rate
                results.append(result)
                for row in results:
                    one = alone.get((row["stencil"], row["scaling"])) or alone.get((row["stencil"], "strong"))
                    row["efficiency"] = row["gstencil_per_s"] / row["ranks"] / one if one else None
                parts = {part: round(1e6 * seconds, 1) for part, seconds in result["seconds_per_launch_of_rank_0"].items()}
                print(f"{kind:<18} {stencil} {grid} ranks {ranks}: {rate:.0f} GStencil/s, efficiency {result['efficiency'] or 0:.3f}, "
                      f"{result['transport']}, exchange every {result['exchange_every']}, "
                      f"launch {1e6 * result['seconds'] / result['steps'] * result['fuse']:.1f} us, parts {parts}", flush=True)
                options.json.write_text(json.dumps(results, indent=2) + "\n")


if __name__ == "__main__":
    main()
