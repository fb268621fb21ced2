# SPDX-License-Identifier: Apache-2.0
"""GPUs leave the files that CPUs leave, byte for byte: snapshots and diagnostics, whatever the number of ranks, and after a
restart on the other device. Of the scalar unit and stencils that it does not fold (README, "Precision")."""
import itertools
import os
import random
import re
import subprocess
import unittest

import spsolve

ON_GPU = spsolve.settings("compute.device=cuda", "parallel.share_gpus=true")
ON_CPU = ["--set", "compute.device=cpu"]
SCALAR = ["--set", "compute.unit=scalar"]
GPU, CPU = ON_GPU + SCALAR, ON_CPU + SCALAR
PRECISIONS = ("fp64", "fp32", "tf32", "bf16", "fp16")


def nested(chance, extent):
    if not extent:
        return round(chance.uniform(-1, 1), 3)
    return [nested(chance, extent[1:]) for _ in range(extent[0])]


def total(weights):
    return sum(map(total, weights)) if isinstance(weights, list) else abs(weights)


def scaled(weights, factor):
    return [scaled(inner, factor) for inner in weights] if isinstance(weights, list) else weights * factor


def problem(chance, precision):
    """Makes awkward extents, walls, weights without symmetry, sometimes a source, and events that divide nothing."""
    dimensions = chance.randint(1, 3)
    shape = [chance.randint(3, {1: 3000, 2: 70, 3: 24}[dimensions]) for _ in range(dimensions)]
    axes = "zyx"[3 - dimensions:]
    weights = nested(chance, [chance.randint(1, 4) for _ in range(dimensions)])
    face = lambda: chance.choice(["neumann", {"dirichlet": round(chance.uniform(-1, 1), 2)}])
    expression = " + ".join(f"sin({chance.uniform(0.1, 1):.3f} * {axis})" for axis in axes)
    sections = {
        "grid": {"shape": shape},
        "boundary": {axis: chance.choice(["periodic", {"low": face(), "high": face()}]) for axis in axes},
        "stencil": {"weights": scaled(weights, 0.98 / max(total(weights), 0.1))},
        "initial": {"expression": expression},
        "time": {"steps": chance.randint(10, 40), "fuse": chance.randint(1, 5)},
        "compute": {"precision": precision},
        "output": {"directory": "out", "every": chance.randint(3, 9), "stride": chance.choice([1, 2, 3, 7]),
                   "precision": chance.choice(["fp64", "fp32"])},
        "diagnostics": {"every": chance.randint(2, 9)},
        "checkpoint": {"every": chance.randint(3, 9)},
    }
    if chance.random() < 0.5:
        sections["source"] = {"expression": f"0.01 * ({expression})"}
    return sections


class Devices(spsolve.TestCase):
    @classmethod
    def setUpClass(cls):
        spsolve.require_gpu()

    def assert_same_files(self, one, other):
        files = {path.name: path for path in (self.directory / one).iterdir()
                 if path.name.startswith("snapshot") or path.name == "diagnostics.csv"}
        self.assertGreater(len(files), 2)
        for name, path in files.items():
            self.assertEqual(path.read_bytes(), (self.directory / other / name).read_bytes(), f"{other}/{name}")
        for step, path in spsolve.checkpoints(self.directory / one).items():
            of_other = spsolve.checkpoints(self.directory / other)[step]
            self.assertEqual(spsolve.values(path).tobytes(), spsolve.values(of_other).tobytes(), of_other)

    def check_random_problem(self, number):
        """Runs on one GPU, alone or shared by two or three ranks."""
        chance = random.Random(1100 + number)
        sections = problem(chance, PRECISIONS[number % 5])
        file = spsolve.write_input(self.directory / "problem.toml", sections)
        self.run_to(0, file, *CPU, "--output", "cpu")
        for ranks in {None, number % 3 + 1}:
            self.run_to(0, file, *GPU, "--output", f"gpu{ranks}", ranks=ranks)
            self.assert_same_files("cpu", f"gpu{ranks}")

    def check_restart_on_the_other_device(self, precision):
        chance = random.Random(12)
        sections = problem(chance, precision)
        file = spsolve.write_input(self.directory / "problem.toml", sections)
        half = ["--set", f"time.steps={sections['time']['steps'] // 2}"]
        self.run_to(0, file, *CPU, "--output", "whole")
        for first, second in ((CPU, GPU), (GPU, CPU)):
            with self.subTest(first=first[1]):
                self.run_to(0, file, *first, *half, "--overwrite", ranks=2)
                # The last step of the first run is an event of its own.
                for path in (self.directory / "out").glob("snapshot*"):
                    path.unlink()
                result = self.run_to(0, file, *second, "--restart", "latest", ranks=chance.choice([None, 2, 3]))
                self.assertIn("restarting from", result.out)
                for step, path in spsolve.snapshots(self.directory / "out").items():
                    whole = spsolve.snapshots(self.directory / "whole")[step]
                    self.assertEqual(path.read_bytes(), whole.read_bytes(), path.name)

    def test_plans_for_tensor_cores_go_on_on_the_other_device(self):
        file = spsolve.write_input(self.directory / "problem.toml", spsolve.awkward_problem(
            time={"steps": 24}, compute={"precision": "fp32"}, output={"directory": "out"}, checkpoint={"every": 12}))
        self.run_to(0, file, *CPU, "--output", "exact")
        last = "snapshot_0000000024.hdf"
        exact = spsolve.values(self.directory / "exact" / last)
        for first, second in ((ON_CPU, ON_GPU), (ON_GPU, ON_CPU)):
            with self.subTest(first=first[1]):
                self.run_to(0, file, *first, *spsolve.settings("compute.unit=sparse-tensor", "time.steps=12"), "--overwrite")
                result = self.run_to(0, file, *second, "--restart", "latest", ranks=2)
                self.assertIn("at step 12", result.out)
                # The tolerance is that of test_plan: roundings of 24 steps on data of magnitude 1.
                self.assertLess(abs(spsolve.values(self.directory / "out" / last) - exact).max(), 1e-4)

    def run_as(self, status, visible, *arguments):
        """Starts ranks that see these GPUs, one rank each."""
        file = spsolve.write_input(self.directory / "problem.toml", spsolve.awkward_problem(time={"steps": 5}, output={"directory": "out"}))
        ranks = [["-n", "1", "env", f"CUDA_VISIBLE_DEVICES={gpus}", spsolve.EXECUTABLE, str(file), "--overwrite", *arguments] for gpus in visible]
        command = [spsolve.MPIEXEC, "--oversubscribe", *itertools.chain.from_iterable([":", *rank] for rank in ranks)]
        command.remove(":")
        result = subprocess.run(command, cwd=self.directory, env=spsolve.ENVIRONMENT, text=True, capture_output=True,
                                stdin=subprocess.DEVNULL, timeout=spsolve.LONGEST)
        return self.finished(spsolve.Result(result.returncode, result.stdout, result.stderr), status)

    def test_gpus_of_ranks(self):
        """Each rank takes one of the GPUs that it sees. None is shared unless asked for, and all ranks take the CPU if one has
        no GPU."""
        gpus = os.environ.get("CUDA_VISIBLE_DEVICES", "0,1").split(",")
        first = gpus[0]
        error = self.run_as(2, [first, first]).err
        self.assertRegex(error, r"2 ranks would share GPUs \(\S+: \S+ more than once\): .*parallel.share_gpus = true")
        text = self.run_as(0, [first, first], *spsolve.settings("parallel.share_gpus=true")).out
        self.assertEqual(len(re.findall(r"^  rank [01] on \S+: GPU 0 NVIDIA", text, re.M)), 2, text)
        self.assertIn("halos by mpi (", text)
        missing = r"rank 1 on \S+: the driver shows no device \(see CUDA_VISIBLE_DEVICES\)"
        text = self.run_as(0, [first, ""]).out
        self.assertRegex(text, rf"(?m)^no GPU: {missing}$")
        self.assertEqual(len(re.findall(r"^  rank [01] on \S+: \d+ threads$", text, re.M)), 2, text)
        self.assertRegex(self.run_as(2, [first, ""], *spsolve.settings("compute.device=cuda")).err, f'device = "cuda": {missing}; use auto or cpu')
        if len(gpus) > 1 and spsolve.run("doctor", environment={"CUDA_VISIBLE_DEVICES": gpus[1]}).out.count("NVIDIA"):
            text = self.run_as(0, [first, ",".join(gpus[:2])]).out
            self.assertRegex(text, r"(?m)^  rank 0 on \S+: GPU 0 .*\n  rank 1 on \S+: GPU 1 ")

    def test_more_memory_than_a_gpu_has(self):
        error = self.run_to(5, "bench", "--device", "cuda", "--stencil", "1d1r", "--shape", "1000000000000").err
        self.assertRegex(error, r"GPU 0 has not enough memory for .*: \d{13,} bytes needed, \d+ of \d+ free; use more ranks or a smaller grid")

    def test_inputs(self):
        for path in spsolve.inputs(self.directory / "inputs"):
            with self.subTest(path.name):
                shorter = [*spsolve.shortened(path, 9, 50), *spsolve.settings("output.every=3", "diagnostics.every=2")]
                self.run_to(0, path, *shorter, *CPU, "--output", path.stem + "cpu", ranks=2)
                self.run_to(0, path, *shorter, *GPU, "--output", path.stem + "gpu", ranks=2)
                self.assert_same_files(path.stem + "cpu", path.stem + "gpu")


# These are separate tests, so that they can run side by side.
for number in range(10):
    setattr(Devices, f"test_random_problem_{number:02}", lambda self, number=number: self.check_random_problem(number))
for precision in PRECISIONS:
    setattr(Devices, f"test_restart_on_the_other_device_{precision}",
            lambda self, precision=precision: self.check_restart_on_the_other_device(precision))

if __name__ == "__main__":
    unittest.main()
