# SPDX-License-Identifier: Apache-2.0
"""What the plan chooses, and how it is overridden: emulated tensor units through the whole program, accuracy, tuning, plans for
other machines."""
import json
import math
import re
import unittest

import h5py
import numpy as np

import spsolve
from png_file import Png


def problem(unit="auto", layout="auto", precision="fp64", **compute):
    """Makes launches that divide nothing."""
    return spsolve.awkward_problem(
        time={"steps": 23},
        compute={"device": "cpu", "unit": unit, "layout": layout, "precision": precision, **compute},
        output={"directory": "out", "every": 10},
        diagnostics={"every": 5},
        checkpoint={"every": 10})


WAYS = [("tensor", "dual-tessellation", "fp64"), ("sparse-tensor", "morph", "fp32"), ("sparse-tensor", "strided-swap", "tf32"),
        ("sparse-tensor", "separable", "bf16"), ("tensor", "strided-swap", "fp16")]


class Plan(spsolve.TestCase):
    def write(self, *way, **compute):
        return spsolve.write_input(self.directory / "problem.toml", problem(*way, **compute))

    def plan_of(self, out):
        return json.loads((self.directory / out / "run.json").read_text())["plan"]

    def assert_same_bits(self, one, other):
        for path in sorted((self.directory / one).iterdir()):
            if path.name.startswith("snapshot") or path.name == "diagnostics.csv":
                self.assertEqual(path.read_bytes(), (self.directory / other / path.name).read_bytes(), path.name)

    def check_same_bits_on_any_ranks_and_after_a_restart(self, *way):
        file = self.write(*way)
        self.run_to(0, file, "--output", "one")
        self.run_to(0, file, "--output", "three", ranks=3)
        self.assert_same_bits("one", "three")
        self.run_to(0, file, "--output", "restarted", "--set", "time.steps=10", ranks=2)
        # The plan of the checkpoint must be kept if the input says auto.
        self.run_to(0, file, "--output", "restarted", "--restart", "latest", *spsolve.settings("compute.unit=auto", "compute.layout=auto"))
        self.assertEqual(self.plan_of("one"), self.plan_of("restarted"))
        self.assert_same_bits("one", "restarted")

    def bar(self, initial, wall, dt=0.25, source=0, **compute):
        """Writes the input of a bar that conducts heat between a wall and another of 300 K, and is heated by `source` in every step."""
        return spsolve.write_input(self.directory / "bar.toml", {
            "grid": {"shape": [64]}, "boundary": {"x": {"low": {"dirichlet": wall}, "high": {"dirichlet": 300.0}}},
            "stencil": {"preset": "heat", "diffusivity": 1.0, "dt": dt}, "initial": {"expression": initial},
            **({"source": {"expression": str(source)}} if source else {}),
            "time": {"steps": 400}, "compute": {"device": "cpu", "precision": "fp64", **compute},
            "output": {"directory": "out"}, "diagnostics": {"every": 100}})

    FROZEN = "warning: step 100 has changed u by 0 of its norm"

    def test_a_state_that_a_coarse_format_freezes_is_told(self):
        """A state may change by less per step than the precision can tell, also within the error that compute.accuracy accepts. The run
        must then warn, but not if the state moves or is steady."""
        accepted, tiny = {"accuracy": 1e-2}, {"dt": 1e-6}
        for initial, wall, compute, frozen in (
                ("300 + 20 * sin(3 * x)", 301.0, accepted, False), ("300 + x / 64", 301.0, accepted | tiny, True), ("300 + x / 64", 301.0, {}, False),
                ("300", 300.0, accepted, False),
                ("300 + x / 64", 301.0, {"precision": "bf16"}, True), ("300 + x / 64", 301.0, {"precision": "fp16"}, True),
                ("x", 1000.0, {"precision": "fp16"}, False), ("300", 300.0, {"precision": "bf16"}, False),
                ("300 + x / 64", 301.0, {"precision": "fp32"} | tiny, True),
                ("300 + x / 64", 301.0, {"precision": "tf32"} | tiny, True), ("300 + x / 64", 301.0, tiny, False), ("x", 1000.0, {"precision": "fp32"}, False)):
            with self.subTest(initial=initial, wall=wall, compute=compute):
                result = self.run_to(0, self.bar(initial, wall, **compute), "--overwrite", ranks=2)
                self.assertEqual(result.err.count(self.FROZEN), int(frozen), result.err)
                finer = "fp64" if compute.get("precision") == "fp32" else "fp32"
                self.assertEqual(f'compute.precision = "{finer}" is needed' in result.err, frozen and "precision" in compute)
                self.assertEqual("compute.accuracy = 0.01 accepts that" in result.err, frozen and "accuracy" in compute)
                coarse_values = spsolve.values(spsolve.snapshots(self.directory / "out")[400])
                self.assertEqual(self.plan_of("out")["precision"] == "fp64", not {"accuracy", "precision"} & compute.keys())
                self.assertTrue(np.isfinite(coarse_values).all())

    def test_the_result_keeps_the_accepted_accuracy(self):
        """A wall warms a bar of 300 K, a wave in it decays, or a weak source heats it for long: bf16 loses the whole change of every step,
        at once or late, and fp32 that of short steps. Launches of few steps may be in bf16."""
        def solved(file, out, steps, **how):
            self.run_to(0, file, "--overwrite", "--output", out, *spsolve.settings(f"time.steps={steps}", f"output.every={steps}"), **how)
            return spsolve.values(spsolve.snapshots(self.directory / out)[steps])

        for initial, wall, dt, source, accuracy, steps, precision in (
                ("300", 300.12, 0.25, 0, 5e-3, 1000, "fp32"), ("300 + 30 * sin(pi * (x + 1) / 65)", 300.0, 0.25, 0, 5e-3, 1000, "fp32"),
                ("300 + x / 64", 301.0, 3e-7, 0, 1e-6, 20000, "fp64"), ("100", 100.0, 0.05, 0.3, 0.1, 40000, "fp32"),
                ("100 + x", 164.0, 0.25, 0, 0.02, 1, "bf16")):
            with self.subTest(initial=initial, wall=wall, source=source):
                exact = solved(self.bar(initial, wall, dt, source=source), "exact", steps)
                file = self.bar(initial, wall, dt, source=source, accuracy=accuracy)
                found = solved(file, "found", steps)
                self.assertLess(np.linalg.norm(found - exact), accuracy * np.linalg.norm(exact))
                chosen = self.plan_of("found")
                solved(file, "found", steps, ranks=2)
                self.assertEqual(self.plan_of("found"), chosen)
                plan = json.loads(self.run_to(0, "plan", file, "--json", "-", *spsolve.settings(f"time.steps={steps}")).out)
                allowed = {one["precision"] for one in plan["candidates"]}
                self.assertEqual(next(one for one in ("bf16", "tf32", "fp32", "fp64") if one in allowed), precision)
                refused = [one for one in plan["left_out"] if one["obstacle"] == "accuracy"]
                self.assertEqual(bool(refused), precision != "bf16")
                for one in refused:
                    self.assertRegex(one["why"], rf"^the bound on its error at step {steps} is [0-9.e+-]+, {accuracy:g} is accepted")

    def test_a_field_that_a_coarse_format_freezes_beside_others_is_told(self):
        """Fields of zero are not frozen: they hold any change."""
        def told(precision, fields, step, **sections):
            file = spsolve.write_input(self.directory / "case.toml", {
                "grid": {"shape": [64]}, "time": {"steps": 20}, "equations": {"step": step}, "output": {"directory": "out"}, "diagnostics": {"every": 10},
                "compute": {"device": "cpu", "precision": precision}, **{f"fields.{name}": {"initial": value} for name, value in fields.items()}, **sections})
            return re.findall(r"step (\d+) has changed (.+) by 0 of its norm", self.run_to(0, file, "--overwrite", ranks=2).err)
        warm = "T.next = T + 0.1*laplace(T)"
        moving, frozen = f"u.next = 0.99*u; {warm}", {"T": "300 + x / 64", "u": "sin(x)"}
        self.assertEqual(told("bf16", frozen, moving), [("10", "T")])
        self.assertEqual(told("bf16", {**frozen, "T": "x"}, moving), [])
        self.assertEqual(told("fp32", {"T": 300}, "T.next = T", point_sources=[{"at": [30.0], "value": "1e-6"}]), [("10", "T")])
        self.assertEqual(told("bf16", {"T": 0}, warm, point_sources=[{"at": [30.0], "value": "t > 15 ? 1 : 0"}]), [])
        # A field that the equations leave as it is, such as a material, is told once something is added to it.
        drifting = {"T": 300, "u": 1, "c": "1 + x"}, "T.next = T + 1e-9; u.next = u + (step < 15 ? 1 : 1e-9); c.next = c"
        self.assertEqual(told("fp32", *drifting), [("10", "T"), ("20", "u")])
        self.assertEqual(told("fp32", *drifting, point_sources=[{"field": "c", "at": [30.0], "value": 1e-9}]), [("10", "T, c"), ("20", "u")])

    def test_tensor_units_do_not_depend_on_where_an_exchange_falls(self):
        """A restart begins with an exchange, which the uninterrupted run had at other steps."""
        file = spsolve.write_input(self.directory / "problem.toml", problem(
            "tensor", "dual-tessellation") | {"boundary": {"x": "periodic", "y": "periodic"}, "checkpoint": {"every": 4, "keep": 9}})
        ways = spsolve.settings("time.fuse=2", "diagnostics.every=0", "output.every=0")
        for shape, every in (([26, 56], 3), ([26, 57], 5)):
            settings = [*ways, *spsolve.settings(f"grid.shape={shape}", f"parallel.exchange_every={every}")]
            self.run_to(0, file, "--output", "one", "--overwrite", *settings)
            self.run_to(0, file, "--output", "restarted", "--overwrite", "--restart", "one/checkpoint_0000000004.h5", *settings)
            a, b = (spsolve.snapshots(self.directory / out)[23].read_bytes() for out in ("one", "restarted"))
            self.assertEqual(a, b, (shape, every))

    def test_units_agree_with_the_scalar_unit(self):
        self.run_to(0, self.write("scalar"), "--output", "scalar")
        exact = h5py.File(self.directory / "scalar" / "snapshot_0000000023.hdf")["u"][:]
        # The bounds are for 23 steps of sum |w| = 1.01 on data of magnitude 1: roundings of storage and
        # operands; all other errors are smaller.
        bounds = {"fp64": 1e-13, "fp32": 1e-4, "tf32": 23 * 2**-9, "bf16": 23 * 2**-6, "fp16": 23 * 2**-9}
        for unit, layout, precision in WAYS:
            self.run_to(0, self.write(unit, layout, precision), "--output", f"{unit}-{layout}")
            found = h5py.File(self.directory / f"{unit}-{layout}" / "snapshot_0000000023.hdf")["u"][:]
            self.assertLess(abs(found - exact).max(), bounds[precision], (unit, layout, precision))

    def test_accuracy_lets_the_plan_choose_the_precision(self):
        self.run_to(2, self.write(accuracy=1e-30), "--output", "a")
        # On few points GPUs are as fast in fp64, so the plan keeps fp64.
        file, large = self.write(accuracy=1e-4), ["--set", "grid.shape=[601, 701]"]
        self.run_to(0, file, *large, "--output", "b", "--set", "time.steps=20")
        plan = self.plan_of("b")
        self.assertLessEqual(20 * plan["error_bound_per_step"], 1e-4)
        self.assertNotEqual(plan["precision"], "fp64")
        self.run_to(0, file, *large, "--output", "b", "--restart", "latest", "--set", "compute.accuracy=0.1")
        restarted = self.plan_of("b")  # whose bound is that of another number of steps
        self.assertEqual({**restarted, "error_bound_per_step": 0}, {**plan, "error_bound_per_step": 0})
        # Stored values do not become more exact.
        finer = self.run_to(2, file, *large, "--output", "b", "--restart", "latest", "--set", "compute.accuracy=1e-12")
        self.assertIn("accuracy", finer.err)
        longer = self.run_to(2, file, *large, "--output", "b", "--restart", "latest", "--set", "time.steps=1000000000")
        self.assertIn("nothing keeps it; the smallest bound on the relative error at step 1000000000 is", longer.err)

    def test_events_that_break_the_accepted_accuracy_have_a_new_plan(self):
        # Fields in 16 bits round once per launch. With two steps per launch the plan exceeds the accepted
        # error if an event follows every third step.
        file, calm = self.write(precision="fp16", accuracy=0.1), spsolve.settings("output.every=0", "diagnostics.every=0", "grid.shape=[601, 701]")
        self.run_to(0, file, *calm, "--output", "c", *spsolve.settings("time.steps=20", "time.fuse=2", "checkpoint.every=20"))
        # This is for 23 steps with a source, which counts three times, and the initial state; sum |w| is 1.01.
        tight = f"compute.accuracy={3 * 25 * self.plan_of('c')['error_bound_per_step'] + 2**-11}"
        anew = self.run_to(0, file, *calm, "--output", "c", "--restart", "latest", *spsolve.settings(tight, "checkpoint.every=3"))
        self.assertIn("planned anew: with these events", anew.err)
        self.assertEqual(self.plan_of("c")["fuse"], 3)

    def test_tuning_remembers_the_winner(self):
        cache = {"XDG_CACHE_HOME": str(self.directory / "cache")}
        file = self.write(tune=True)
        first = spsolve.run(file, "--output", self.directory / "a", ranks=2, environment=cache)
        second = spsolve.run(file, "--output", self.directory / "b", ranks=1, environment=cache)
        self.assertEqual((first.status, second.status), (0, 0), first.err + second.err)
        self.assertIn("tuning:", first.out)
        self.assertIn("tuned before", second.out)
        self.assertEqual(self.plan_of("a"), self.plan_of("b"))
        (remembered,) = (self.directory / "cache" / "spsolve").glob("tuned-*.json")
        remembered.write_text("{")
        remembered.with_name(f"{remembered.name}.tmp").mkdir()  # as if another job had begun to write it
        third = spsolve.run(file, "--output", self.directory / "c", ranks=2, environment=cache)
        self.assertEqual(third.status, 0, third.err)
        self.assertIn("tuning:", third.out)
        self.assertEqual(json.loads(remembered.read_text())["unit"], self.plan_of("c")["unit"])
        files = set((self.directory / "cache" / "spsolve").iterdir())
        large = ["bench", "--device", "cpu", "--shape", "1000000,1000000", "--tune"]
        self.assertIn("passed over: the run needs", self.run_to(2, *large, environment=cache).out)
        self.assertEqual(set((self.directory / "cache" / "spsolve").iterdir()), files, "remembered what was not timed")

    def test_tuning_goes_on_without_a_cache(self):
        nowhere = {"XDG_CACHE_HOME": "/tmp/" + 300 * "x"}  # no file system has such names
        result = spsolve.run(self.write(tune=True), "--output", self.directory / "a", ranks=2, environment=nowhere)
        self.assertEqual(result.status, 0, result.err)
        self.assertIn("tuning:", result.out)
        self.assertIn("not remembered", result.err)
        relative = {"XDG_CACHE_HOME": "~/cache", "HOME": str(self.directory / "home")}
        self.run_to(0, self.write(tune=True), "--output", self.directory / "b", environment=relative)
        self.assertFalse((self.directory / "~/cache/spsolve").exists())  # drivers of GPUs also have a cache
        self.assertTrue(list((self.directory / "home/.cache/spsolve").glob("tuned-*.json")))

    def test_runs_do_not_take_what_benchmarks_of_a_layout_remember(self):
        # Benchmarks measure a candidate whatever error it promises.
        cache = {"XDG_CACHE_HOME": str(self.directory / "cache")}
        way = ("tensor", "dual-tessellation")
        file = self.write(*way, tune=True)
        bench = ["bench", "--input", file, "--device", "cpu", "--unit", way[0], "--layout", way[1], "--tune", "--steps", "20"]
        self.assertIn("tuning:", self.run_to(0, *bench, environment=cache).out)
        self.assertIn("tuned before", self.run_to(0, *bench, environment=cache).out)
        self.assertIn("tuning:", self.run_to(0, file, environment=cache).out)

    def test_fused_weights_stay_within_the_range_of_numbers(self):
        model = spsolve.SOURCE / "inputs" / "devices" / "h200.toml"
        # Each precision takes the weights that its sums hold.
        for precision, promised, large in (("fp64", 1e-14, 1e60), ("fp32", 1e-6, 1e30), ("bf16", 1e-2, 1e30)):
            for weight in (1e-60, 1e-40, 1e-9, 1e9, large):
                file = self.write(precision=precision)
                result = self.run_to(0, "plan", file, "--device-model", model, "--set", "grid.shape=[4000, 4000]", "--set",
                                     f"stencil={{weights=[[{weight}, {weight / 7}]]}}")
                chosen = next(line.split() for line in result.out.splitlines() if line.startswith(">"))
                self.assertLess(float(chosen[12]), promised, (weight, chosen))
        file = self.write("tensor", "dual-tessellation")
        result = self.run_to(2, file, *spsolve.settings("stencil={weights=[[1e-60]]}", "time.fuse=8"))
        self.assertIn("no kernel", result.err)

    def test_candidates_that_are_left_out_know_why(self):
        """If no candidate meets the request, the message says whether the kernel, the promise of fp32 or the depth is the
        reason."""
        model = ["--device-model", spsolve.SOURCE / "inputs" / "devices" / "h200.toml"]
        rough = np.random.default_rng(2).uniform(-1, 1, (3, 3, 3)).round(3).tolist()
        file = spsolve.write_input(self.directory / "problem.toml", {
            "grid": {"shape": [64, 64, 64]}, "stencil": {"weights": rough}, "initial": {"expression": "x"}, "time": {"steps": 8},
            "compute": {"precision": "fp32"}, "output": {"directory": "out"}})
        error = self.run_to(2, "plan", file, *model, *spsolve.settings("compute.unit=sparse-tensor", "time.fuse=4")).err
        self.assertRegex(error, r"sparse-tensor \S+ in fp32, 4 steps per launch: promise: .* up to \S+ times")
        self.assertIn("promises 4 times", error)
        self.assertIn("compute.accuracy", error)
        error = self.run_to(2, "plan", file, *model, *spsolve.settings("compute.unit=sparse-tensor", "compute.precision=fp64")).err
        self.assertRegex(error, r"sparse-tensor strided-swap, sparse-tensor morph in fp64, 1 to \d+ steps per launch: no kernel: fp64 has dense tensor cores only")
        text = self.run_to(0, "plan", file, *model).out
        self.assertRegex(text, r"left out: +tensor natural-order in fp32, 1 to \d+ steps per launch: no kernel: the layout natural-order is not for fp32")
        self.assertRegex(text, r"left out: +tensor dual-tessellation in fp32, 1 to \d+ steps per launch: no kernel: .* emulated on CPUs only")

    def test_devices_without_tensor_cores_say_so_at_every_depth(self):
        """Whatever the depth, the reason is that the device has none, for stencils and for equations."""
        model = self.directory / "v100.toml"
        model.write_text((spsolve.SOURCE / "inputs" / "devices" / "h200.toml").read_text()
                         .replace('"h200"', '"v100"').replace("compute_capability = 90", "compute_capability = 70"))
        wave = spsolve.write_input(self.directory / "wave.toml", {
            "grid": {"shape": [64, 64, 64]}, "fields.u": {"initial": "x"}, "time": {"dt": 0.1, "steps": 2000},
            "equations": {"step": "u.next = 2*u - u.previous + dt^2*laplace(u)"}, "compute": {"precision": "fp32"}})
        for file in (self.write(precision="fp32"), wave):
            result = self.run_to(0, "plan", file, "--device-model", model, "--json", "-", *spsolve.settings("compute.device=cuda"))
            reasons = {one["why"] for one in json.loads(result.out)["left_out"] if one["layout"] in ("morph", "separable")}
            self.assertTrue(any("this one has 7.0" in why for why in reasons), reasons)
            self.assertFalse(any("lose more than fusing gains" in why for why in reasons), reasons)
        error = self.run_to(2, "plan", self.write("sparse-tensor", precision="fp32"), "--device-model", model, *spsolve.settings("compute.device=cuda")).err
        self.assertRegex(error, r"no method on v100 advances this stencil in fp32 with these settings; sparse-tensor strided-swap, .* in fp32, 1 to 40 steps per launch: no kernel: .*has 7\.0")

    def test_equations_say_why_no_stride_is_a_candidate(self):
        file = spsolve.write_input(self.directory / "nonlinear.toml", {
            "grid": {"shape": [64, 64]}, "fields.u": {"initial": "x"}, "time": {"dt": 0.1, "steps": 20}, "equations": {"step": "u.next = u + dt*u*laplace(u)"}})
        gpu = ["--device-model", spsolve.SOURCE / "inputs" / "devices" / "h200.toml", *spsolve.settings("compute.device=cuda")]
        self.assertRegex(self.run_to(0, "plan", file, *gpu).out,
                         r"left out: +sparse-tensor separable strides in fp64, 2 to 120 steps per launch: no kernel: .*not linear")
        error = self.run_to(2, "plan", file, *gpu, *spsolve.settings("compute.accuracy=1e-5")).err
        self.assertRegex(error, r"accuracy = 1e-05: there is no bound on the error of equations")

    def test_waves_in_tf32_take_strides_on_lines(self):
        """Other equations have nothing that rounds to tf32, and the error says why."""
        def wave(speed):
            return spsolve.write_input(self.directory / "wave.toml", {
                "grid": {"shape": [1 << 26]}, "fields.u": {"initial": "exp(-(x/500)^2)"}, "time": {"steps": 2400},
                "equations": {"step": f"u.next = 2*u - u.previous + {speed}*laplace(u)"}, "compute": {"precision": "tf32"}})
        gpu = ["--device-model", spsolve.SOURCE / "inputs" / "devices" / "h200.toml", *spsolve.settings("compute.device=cuda")]
        self.assertIn("chosen:     sparse-tensor separable strides, 120 steps per launch", self.run_to(0, "plan", wave("0.9"), *gpu).out)
        longer = self.run_to(0, "plan", wave("0.9"), *gpu, "--set", "time.steps=24000").out
        self.assertRegex(longer, r"chosen: +scalar, .*\n(.*\n)*left out: .*separable strides in tf32, .*waves might grow up to .* times in 24000 steps")
        self.assertRegex(self.run_to(2, "plan", wave("(0.5 + 0.1*sin(x))"), *gpu).err,
                         r'precision = "tf32" is for one linear equation with constant weights, .*: its weights vary, or it is not linear; take fp64')

    @unittest.skipIf(spsolve.ON_GPU, "compares a plan for CPUs with one for GPUs")
    def test_systems_that_no_kernel_takes_are_refused_with_advice(self):
        """A GPU is not needed to find out. A formula of periodic axes takes an array for each displacement, a coefficient one."""
        def write(step, **sections):
            return spsolve.write_input(self.directory / "system.toml", {
                "grid": {"shape": [20, 20]}, "fields.u": {"initial": "x"}, "stencils.w": {"preset": "box2d5r"},
                "equations": {"step": step}, "time": {"dt": 1.0, "steps": 2}, **sections})
        gpu = ["--device-model", spsolve.SOURCE / "inputs" / "devices" / "h200.toml", *spsolve.settings("compute.device=cuda")]
        file = write("u.next = correlate(w, x*y*u)")
        self.assertRegex(self.run_to(2, "plan", file, *gpu).err,
                         r"system\.toml:\d+: \[equations\] step: statements read and write 123 arrays at once, and a kernel for GPUs takes 96; .*"
                         r'the formula x\*y takes 121 arrays, .*a coefficient in \[coefficients\] that is "x\*y" takes one')
        self.assertIn("arrays: the formula x*y takes 121 arrays", self.run_to(0, "check", file, "--set", "compute.device=cpu").out)
        many = "".join(f" + sin({i}*x)*u" for i in range(100))  # x takes one array less if a coefficient holds it, which is not enough
        error = self.run_to(2, "plan", write("u.next = (x*u)[0, 1]" + " + x*u" + many), *gpu).err
        self.assertIn("arrays at once", error)
        self.assertNotIn("save arrays", error)
        self.assertIn('compute.device = "cpu" does it', error)
        self.assertNotIn("arrays:", self.run_to(0, "check", write("u.next = u + d(x*u, x)"), "--set", "compute.device=cpu").out)
        file = write("u.next = correlate(w, s*u)", coefficients={"s": "x*y"})
        self.run_to(0, "plan", file, *gpu)
        self.assertNotIn("arrays:", self.run_to(0, "check", file, "--set", "compute.device=cpu").out)
        many = " + ".join(f"sin({i}*t)*u^{i}" for i in range(1, 66))
        self.assertIn("65 values depend on t and step, and a kernel for GPUs takes 64", self.run_to(2, "plan", write(f"u.next = {many}"), *gpu).err)

    def test_devices_take_their_own_layout_of_fp64_by_either_name(self):
        model = ["--device-model", spsolve.SOURCE / "inputs" / "devices" / "h200.toml", *spsolve.settings("compute.device=cuda")]
        for layout in ("natural-order", "dual-tessellation"):
            file = self.write("tensor", layout)
            here, there = self.run_to(0, "plan", file), self.run_to(0, "plan", file, *model)
            self.assertIn("layout dual-tessellation", here.out)
            self.assertIn("layout natural-order", there.out)
            self.assertEqual('here it is "dual-tessellation"' in here.err, layout == "natural-order", here.err)
            self.assertEqual('here it is "natural-order"' in there.err, layout == "dual-tessellation", there.err)
            self.run_to(0, file, "--output", layout)
        self.assert_same_bits("natural-order", "dual-tessellation")

    def test_writes_the_plan_as_json(self):
        """Numbers are those of the table, seconds belong to rates, and every method is a candidate or left out for a reason."""
        file = self.write(precision="fp16")
        model = ["--device-model", spsolve.SOURCE / "inputs" / "devices" / "h200.toml", *spsolve.settings("grid.shape=[4000, 4000]", "compute.device=cuda")]
        result = self.run_to(0, "plan", file, *model, "--json", "-", ranks=2)
        plan = json.loads(result.out)
        self.assertIn("device model: h200", result.err)
        self.assertEqual((plan["shape"], plan["device"]["name"], plan["device"]["kind"]), ([4000, 4000], "h200", "cuda"))
        rows = [line[2:].split() for line in result.err.splitlines() if re.match(r"[> ] fp16  ", line)]
        self.assertEqual(len(rows), len(plan["candidates"]))
        for row, one in zip(rows, plan["candidates"]):
            self.assertEqual(row[:4], [one["precision"], one["unit"], one["layout"], str(one["fuse"])])
            self.assertAlmostEqual(float(row[5]), one["bytes_per_step"], delta=5e-4)
            self.assertAlmostEqual(2 * float(row[6]), one["flop_per_step"], delta=0.01)
            self.assertAlmostEqual(one["gstencil_per_s"] * one["seconds"], 1e-9, delta=1e-15)
            self.assertAlmostEqual(one["I_ridge"] * plan["device"]["B_bytes_per_s"] / one["P_flop_per_s"], 1, delta=1e-12)
            self.assertAlmostEqual(one["C_flop"] / one["M_bytes"] / one["I_flop_per_byte"], 1, delta=1e-12)
            if one["unit"] != "scalar":
                scalar = next((other for other in plan["candidates"] if (other["unit"], other["fuse"]) == ("scalar", one["fuse"])), None)
                if scalar:  # equation 13: what the rooflines of both allow
                    roof = lambda c: max(c["C_flop"] / c["P_flop_per_s"], c["M_bytes"] / plan["device"]["B_bytes_per_s"])
                    self.assertAlmostEqual(one["speedup_roofline"], roof(scalar) / roof(one), delta=1e-9)
        self.assertIn(plan["chosen"], plan["candidates"])
        self.assertTrue(plan["left_out"])
        for one in plan["left_out"]:
            self.assertTrue(one["why"])
            self.assertIn(one["obstacle"], ("no kernel", "memory", "depth", "promise", "accuracy", "rounding"))
        self.run_to(0, "plan", file, *model, "--json", self.directory / "plan.json")
        self.assertEqual(json.loads((self.directory / "plan.json").read_text()), plan)
        self.assertIn("there is no directory", self.run_to(4, "plan", file, *model, "--json", self.directory / "none" / "plan.json").err)

    def test_draws_the_candidates_under_their_rooflines(self):
        file, picture = self.write(precision="fp16"), self.directory / "plan.png"
        model = ["--device-model", spsolve.SOURCE / "inputs" / "devices" / "h200.toml", *spsolve.settings("grid.shape=[4000, 4000]", "compute.device=cuda")]
        self.assertIn(f"wrote {picture}", self.run_to(0, "plan", file, *model, "--picture", picture).out)
        image = Png(picture)
        self.assertIn("planned for h200", image.texts["Title"])
        left, top, width, height = map(int, image.texts["area"].split())
        area = image.pixels[top:top + height, left:left + width].reshape(-1, 3)
        colors = {tuple(color) for color in np.unique(area, axis=0)}
        self.assertLessEqual({(31, 90, 180), (130, 90, 60), (160, 160, 160)}, colors, "CUDA cores, the last layout and roofs")
        first = picture.read_bytes()
        self.run_to(0, "plan", file, *model, "--picture", picture, ranks=2)
        self.assertEqual(picture.read_bytes(), first)
        system = spsolve.SOURCE / "inputs" / "gray_scott.toml"
        self.assertIn("--picture", self.run_to(2, "plan", system, "--picture", picture).err)
        self.assertIn("pictures are PNG files", self.run_to(2, "plan", file, *model, "--picture", "plan.svg").err)

    @unittest.skipIf(spsolve.ON_GPU, "needs a plan for CPUs")
    def test_without_a_gpu_the_plan_says_how_to_look_at_one(self):
        self.assertIn("--device-model", self.run_to(0, "plan", self.write()).out)
        model = spsolve.SOURCE / "inputs" / "devices" / "h200.toml"
        self.assertNotIn("--device-model", self.run_to(0, "plan", self.write(), "--device-model", model, *spsolve.settings("compute.device=cuda")).out)

    def test_says_what_becomes_of_walls(self):
        def walls(*given):
            file = spsolve.write_input(self.directory / "walls.toml", {
                "grid": {"shape": [4000, 5000]}, "initial": {"expression": "x"}, "time": {"steps": 100},
                "stencil": {"weights": [[0, 0.25, 0], [0.25, 0, 0.25], [0, 0.25, 0]]}, "compute": {"precision": "fp16", "unit": "sparse-tensor"}})
            result = self.run_to(0, "plan", file, "--device-model", spsolve.SOURCE / "inputs" / "devices" / "h200.toml", *spsolve.settings(*given))
            return re.findall(r"^walls across ([^:]+): (fused|points)", result.out, re.MULTILINE)

        wide = "stencil.weights=[[0.05, 0.1, 0.7, 0.1, 0.05]]"
        one_sided = "stencil.weights=[[0.25, 0.75, 0.0]]"
        both = ("boundary.y=neumann", "boundary.x={dirichlet=0.5}")
        self.assertEqual(walls(), [])
        self.assertEqual(walls(*both), [("y, x", "fused")])
        self.assertEqual(walls(wide, *both), [("y", "fused"), ("x", "points")])
        self.assertEqual(walls(one_sided, *both), [("y", "fused"), ("x", "points")])
        self.assertEqual(walls("compute.unit=scalar", *both), [])

    def test_plans_for_other_machines(self):
        file = self.write(precision="fp16")
        for device in ("h200", "a100", "cpu"):
            model = spsolve.SOURCE / "inputs" / "devices" / f"{device}.toml"
            result = spsolve.run("plan", file, "--device-model", model, *spsolve.settings(
                "grid.shape=[10240, 10240]", f"compute.device={'cpu' if device == 'cpu' else 'cuda'}"))
            self.assertEqual(result.status, 0, result.err)
            self.assertIn(f"rank 0 on {device}, from", result.out)
            self.assertIn(f"device model: {device}", result.out)
            self.assertRegex(result.out, r"\n +4096 +64 x 64 +160 x 160 " if device == "cpu" else r"\n +4096 ")
            self.assertEqual(bool(re.search("^[> ] fp16  sparse-tensor", result.out, re.M)), device != "cpu")
            self.assertEqual("no kernel: CPUs emulate tensor cores" in result.out, device == "cpu")
            self.assertEqual("in the sweet spot" in result.out, device != "cpu")
            self.assertNotIn("see spsolve plan", result.out)
        result = spsolve.run("plan", file, "--layouts", "--device-model", spsolve.SOURCE / "inputs" / "devices" / "a100.toml",
                             *spsolve.settings("grid.shape=[10240, 10240]", "compute.device=cuda"))
        self.assertEqual(result.status, 0, result.err)
        lines = [line.split() for line in result.out.splitlines() if re.match(r" *1 x \d+ x \d+ ", line)]
        tiles = [(int(line[2]), int(line[4])) for line in lines]
        self.assertEqual(sorted(tiles), [(y, x) for y in range(1, 17) for x in range(1, 16 // y + 1)])
        for (y, x), (m, window, k, zero, density, instructions, compute, memory, seconds, march) in zip(
                tiles, (map(float, [*line[5:-1], line[-1].replace("-", "0")]) for line in lines)):
            self.assertEqual(m, y * x)
            self.assertLessEqual(k - zero, window)
            self.assertEqual(seconds, max(compute, memory))
            self.assertEqual(march > 0, (y, x) == (1, 16), "the only tile of kernels in 2D")
            # Equation 9 counts K points of eight tiles in instructions of 32 points.
            self.assertEqual(instructions, math.ceil(math.ceil(10240 / y) * math.ceil(10240 / x) / 8) * math.ceil(k / 32))
        of_several = spsolve.run("plan", file, "--layouts", "--device-model", spsolve.SOURCE / "inputs" / "devices" / "a100.toml",
                                 *spsolve.settings("grid.shape=[10240, 10240]", "compute.device=cuda"), ranks=2)
        self.assertEqual(of_several.status, 0, of_several.err)
        self.assertEqual(len(re.findall(r"(?m)^ *1 x \d+ x \d+ ", of_several.out)), len(lines))
        self.assertRegex(result.out, r"Kernels and the emulation take 1 x 1 x 16, with \d+\n")
        times = [float(line[-2]) for line in lines]
        self.assertEqual(times, sorted(times))
        written = spsolve.run("plan", file, "--layouts", "--json", "-", "--device-model", spsolve.SOURCE / "inputs" / "devices" / "a100.toml",
                              *spsolve.settings("grid.shape=[10240, 10240]", "compute.device=cuda"))
        search = json.loads(written.out)
        self.assertEqual((search["rates_of"], search["shape"], search["k"]), ("a100", [10240, 10240], 32))
        self.assertEqual([(*tile["tile"], tile["instructions"]) for tile in search["tiles"]], [(1, *tile, int(line[-5])) for tile, line in zip(tiles, lines)])
        self.assertEqual([tile["tile"] for tile in search["tiles"] if tile["taken"]], [[1, 1, 16]])
        for tile in search["tiles"]:  # instructions of 16 points, of which the last may be enough for half of a wide one
            self.assertEqual(tile["instructions_of_half_k"] * math.ceil(tile["columns"] / 32), tile["instructions"] * math.ceil(tile["columns"] / 16))
        result = spsolve.run("plan", file, "--layouts", *spsolve.settings("compute.device=cpu", "compute.precision=fp64"))
        self.assertEqual(result.status, 2)
        self.assertIn("--layouts", result.err)
        wrong = self.directory / "wrong.toml"
        wrong.write_text("[device]\ngpu = true\nbandwith = 1e12\n")
        result = spsolve.run("plan", file, "--device-model", wrong)
        self.assertEqual(result.status, 2)
        self.assertIn("bandwidth", result.err)
        for key, value in (("multiprocessors", 0.5), ("compute_capability", 9.0), ("shared_bytes_per_block", 100)):
            wrong.write_text(f"[device]\ngpu = true\n{key} = {value}\n")
            result = spsolve.run("plan", file, "--device-model", wrong)
            self.assertEqual(result.status, 2)
            self.assertIn(key, result.err)
        self.assertIn("no such file", self.run_to(2, "plan", file, "--device-model", 300 * "x").err)


for way in WAYS:
    setattr(Plan, f"test_{'_'.join(way)}_has_the_same_bits_on_any_ranks_and_after_a_restart",
            lambda self, way=way: self.check_same_bits_on_any_ranks_and_after_a_restart(*way))

if __name__ == "__main__":
    unittest.main()
