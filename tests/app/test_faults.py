# SPDX-License-Identifier: Apache-2.0
"""What goes wrong on real machines, provoked for real: full disks, directories that cannot be written, solutions that blow
up, killed ranks. No run hangs, no good file is lost, every rank gives the same status."""
import contextlib
import os
import pathlib
import re
import resource
import shutil
import signal
import subprocess
import tempfile
import time
import unittest

import h5py
import numpy as np

import spsolve

SHAPE = [64, 1024]  # 512 KiB of doubles


def problem(**changes):
    sections = {
        "grid": {"shape": SHAPE},
        "boundary": {"x": "neumann"},
        "stencil": {"preset": "star2d1r"},
        "initial": {"expression": "sin(x / 50) + y"},
        "time": {"steps": 40, "fuse": 2},
        "output": {"directory": "out"},
        "checkpoint": {"every": 10, "keep": 10},
    }
    for section, keys in changes.items():
        sections[section] = {**sections.get(section, {}), **keys}
    return sections


def virtual(source, shape=(9, 14)):
    """Returns a function that makes the virtual dataset "u" of all points of the dataset "u" of another file."""
    def make(file):
        layout = h5py.VirtualLayout(shape, dtype="f8")
        layout[:] = h5py.VirtualSource(source, "u", shape)
        file.create_virtual_dataset("u", layout)
    return make


def growing(source, blocks=False, shape=(9, 14)):
    """Returns a function that makes a virtual dataset "u" which grows with its source or, with blocks, with their number."""
    def make(file):
        unlimited = h5py.h5s.UNLIMITED
        extents = unlimited, shape[1]
        whole, part = h5py.h5s.create_simple(shape, extents), h5py.h5s.create_simple(shape, extents)
        rows = shape if blocks else (1, shape[1])
        whole.select_hyperslab((0, 0), (unlimited, 1), rows, rows)
        if not blocks:
            part.select_hyperslab((0, 0), (unlimited, 1), rows, rows)
        creation = h5py.h5p.create(h5py.h5p.DATASET_CREATE)
        creation.set_virtual(whole, source.encode(), b"u", part)
        h5py.h5d.create(file.id, b"u", h5py.h5t.IEEE_F64LE, h5py.h5s.create_simple(shape, extents), creation)
    return make


# Bounds of formats, old and new, so that HDF5 1.10 can read what a newer library of h5py writes.
FORMATS = ("earliest", "v110"), ("v110", "v110")


class Faults(spsolve.TestCase):
    def write(self, **changes):
        return spsolve.write_input(self.directory / "problem.toml", problem(**changes))

    def damaged_file(self):
        """Makes damaged.h5, of the format without checksums, on whose metadata the HDF5 library dies. Returns its path."""
        return shutil.copy(spsolve.SOURCE / "tests/fuzz/corpus_hdf5_old/library_dies_crash_19.h5", self.directory / "damaged.h5")

    def wait_for_end(self, ranks):
        """Waits for ranks that were killed, which may end after their launcher."""
        begin = time.monotonic()
        while going_on := [rank for rank in ranks if spsolve.alive(rank)]:
            self.assertLess(time.monotonic() - begin, 60, f"ranks go on: {going_on}")
            time.sleep(0.01)

    @contextlib.contextmanager
    def small_disk(self, kib):
        disk = pathlib.Path(tempfile.mkdtemp(prefix="spsolve_disk_"))
        try:
            mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={kib}k", "spsolve_test", disk], capture_output=True, text=True)
        except FileNotFoundError:
            self.skipTest("there is no mount")
        if mounted.returncode:
            disk.rmdir()
            self.skipTest(f"no small file system can be mounted here: {mounted.stderr.strip()}")
        try:
            yield disk
        finally:
            subprocess.run(["umount", disk], check=True)
            disk.rmdir()

    def test_full_disk_at_a_checkpoint(self):
        """The disk has room for two checkpoints: later ones are given up with a warning, and the newest good one can be
        continued elsewhere."""
        file = self.write(output={"directory": "out", "stride": 16})
        self.run_to(0, file, "--output", "whole")
        whole = self.directory / "whole"
        for ranks in (1, 3):
            with self.subTest(ranks=ranks), self.small_disk(1500) as disk:
                result = self.run_to(0, file, "--output", disk / "out", ranks=ranks)
                self.assertRegex(result.err, "warning: checkpoint of step 30 not written: .*No space left on device")
                kept = spsolve.checkpoints(disk / "out")
                self.assertEqual(sorted(kept), [10, 20])
                for step, path in kept.items():
                    self.assertTrue(np.array_equal(spsolve.values(path), spsolve.values(spsolve.checkpoints(whole)[step])))
                self.assertFalse(list((disk / "out").glob("*.tmp")))
                self.run_to(0, file, "--restart", disk / "out" / "checkpoint_0000000020.h5", "--output", f"again{ranks}")
                self.assertEqual((self.directory / f"again{ranks}" / "snapshot_0000000040.hdf").read_bytes(),
                                 (whole / "snapshot_0000000040.hdf").read_bytes())

    def test_full_disk_at_a_snapshot(self):
        file = self.write(output={"directory": "out", "every": 10}, checkpoint={"every": 0})
        for ranks in (1, 3):
            with self.subTest(ranks=ranks), self.small_disk(1600) as disk:
                result = self.run_to(4, file, "--output", disk / "out", ranks=ranks)
                self.assertRegex(result.err, r"snapshot_\d+.hdf.*: No space left on device")
                for path in spsolve.snapshots(disk / "out").values():
                    self.assertEqual(spsolve.values(path).shape, tuple(SHAPE))
                    self.run_to(0, "info", path)
                self.assertFalse(list((disk / "out").glob("*.tmp")))

    def test_going_back_frees_a_full_disk(self):
        """Nothing can be written before later files are removed, and their series must not name them any more by then. Each file
        reserves 0.4 MB more than it keeps, and two may be written at a time, so half a megabyte is left, where no file fits."""
        file = self.write(output={"directory": "out", "every": 10})
        with self.small_disk(6000) as disk:
            out = disk / "out"
            self.run_to(0, file, "--output", out)
            whole = {path.name: path.read_bytes() for path in out.iterdir() if path.suffix in (".hdf", ".series")}
            with contextlib.suppress(OSError), open(disk / "filler", "wb", buffering=0) as filler:
                while filler.write(bytes(4096)):
                    pass
            os.truncate(disk / "filler", (disk / "filler").stat().st_size - 500_000)
            self.run_to(0, file, "--output", out, "--restart", out / "checkpoint_0000000020.h5")
            self.assertEqual({path.name: path.read_bytes() for path in out.iterdir() if path.suffix in (".hdf", ".series")}, whole)

    def test_full_disk_from_the_start(self):
        file = self.write()
        with self.small_disk(4) as disk:
            (disk / "filler").write_bytes(b"x" * 4096)
            result = self.run_to(4, file, "--output", disk / "out", ranks=2)
            self.assertIn("No space left on device", result.err)

    def test_limit_on_file_sizes(self):
        """Batch systems set this limit; the system's signal would kill the run."""
        file = self.write(grid={"shape": [1024, 1024]}, checkpoint={"every": 10})
        limits = resource.getrlimit(resource.RLIMIT_FSIZE)
        resource.setrlimit(resource.RLIMIT_FSIZE, (7 << 20, limits[1]))  # MPI itself has files of some MiB
        self.addCleanup(resource.setrlimit, resource.RLIMIT_FSIZE, limits)
        for ranks in (None, 2):
            result = self.run_to(4, file, "--overwrite", ranks=ranks)
            self.assertRegex(result.err, "warning: checkpoint of step 10 not written: .*File too large")
            self.assertRegex(result.err, "error: .*snapshot_0000000040.hdf.*: File too large")

    def test_stop_on_a_full_disk_says_so(self):
        """A signal asks for a checkpoint that cannot be written: the status must not be that of a run that can be restarted."""
        file = self.write(time={"steps": 10**7}, checkpoint={"every": 0})
        with self.small_disk(300) as disk, spsolve.Job(file, "--output", disk / "out", ranks=2) as job:
            job.wait_for((disk / "out" / "diagnostics.csv").exists, "it began")
            os.kill(job.ranks()[0], signal.SIGUSR1)
            result = self.finished(job.wait(), 4)
            self.assertIn("stopped without the checkpoint", result.err)

    def test_nobody_reads_what_is_printed(self):
        """A run must continue if the reader of its pipe has left, as after "| head -1", and if the disk is full. Other verbs fail."""
        file = self.write()
        read_end, closed_pipe = os.pipe()
        os.close(read_end)
        with os.fdopen(closed_pipe, "w") as pipe, open("/dev/full", "w") as full:
            for lost in (pipe, full):
                for verb, status in ([], 0), (["check"], -signal.SIGPIPE if lost is pipe else 4):
                    command = [spsolve.EXECUTABLE, *verb, file, *spsolve.settings(f"name={5000 * 'long'}", "output.directory=out")]
                    result = subprocess.run(command, cwd=self.directory, env=spsolve.ENVIRONMENT, stdout=lost, stderr=lost)
                    self.assertEqual(result.returncode, status)
                self.assertTrue((self.directory / "out" / "run.json").exists())
                shutil.rmtree(self.directory / "out")

    def test_text_that_is_lost_is_a_failure(self):
        """Whoever keeps the answer of a verb in a file learns that the disk is full."""
        file = self.write()
        self.run_to(0, file)
        snapshot = next(iter(spsolve.snapshots(self.directory / "out").values()))
        for arguments in (["--help"], ["keys"], ["check", file], ["plan", file], ["info", snapshot], ["doctor"]):
            with open("/dev/full", "w") as full:
                result = subprocess.run([spsolve.EXECUTABLE, *arguments], cwd=self.directory, env=spsolve.ENVIRONMENT, stdout=full, stderr=subprocess.PIPE, text=True)
            self.assertEqual((result.returncode, result.stderr), (4, "spsolve: error: standard output: a part of the text cannot be written\n"), arguments)

    def test_memory_that_no_machine_has(self):
        file = self.write(initial={"expression": "1"})
        def refused(*settings, verb=("check",)):
            result = self.run_to(2, *verb, file, *spsolve.settings(*settings), ranks=2)
            self.assertRegex(result.err, "error: the run needs .* GiB per rank")
            self.assertNotIn("tuning", result.out)
        refused("grid.shape=[4194304, 4194304]", verb=())
        refused("grid.shape=[4194304, 4194304]", "compute.tune=true", verb=())
        machine = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
        side = int((0.7 * machine / 8) ** 0.5)  # the fields of one rank fit, those of two do not
        refused(f"grid.shape=[{side}, {side}]", "compute.device=cpu")
        with h5py.File(self.directory / "far.h5", "w") as data:
            data["w"] = np.zeros((256, 256, 256), "i1")
            data["w"][0, 0, 0] = 1
            data["w"].attrs["center"] = [255, 255, 255]
        # Halos of about 2^24 points along each axis take 2^75 bytes, which overflows 64 bits to 0.
        refused("grid.shape=[65536, 65536, 65536]", "boundary={}", "stencil={file='far.h5', dataset='w'}", "time.fuse=4096",
                "time.steps=4096", "parallel.exchange_every=8", "compute.device=cpu")
        self.assertFalse((self.directory / "out").exists())

    def test_memory_for_fewer_fields_than_there_are(self):
        """The machine has room for one field with its previous values, but not for five. Counted are three arrays of the first
        field, two of each other one and one of the coefficient."""
        machine = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
        side = int((0.11 * machine / 8) ** 0.5)
        fields = {f"fields.{name}": {"initial": 1} for name in "pqrsu"}
        step = "p.next = 2*p - p.previous + c*laplace(p); " + "; ".join(f"{name}.next = {name} + p" for name in "qrsu")
        file = spsolve.write_input(self.directory / "fields.toml", {
            "grid": {"shape": [side, side]}, **fields, "coefficients": {"c": "1 + x"}, "equations": {"step": step},
            "time": {"dt": 0.1, "steps": 3, "fuse": 1}, "compute": {"device": "cpu"}, "output": {"directory": "out"}})
        for verb in (["check"], []):
            said = self.run_to(2, *verb, file, *spsolve.settings("compute.device=cpu")).err
            gib = float(re.search(r"error: the run needs ([0-9.]+) GiB per rank", said)[1])
            self.assertAlmostEqual(gib * 2**30 / (8 * side**2), 3 + 4 * 2 + 1, delta=0.2)
        self.assertFalse((self.directory / "out").exists())

    def test_output_that_cannot_be_a_directory(self):
        file = self.write()
        (self.directory / "taken").write_text("a file")
        (self.directory / "loop").symlink_to("loop")
        for output, why in ((300 * "x", "File name too long"), ("loop", "Too many levels of symbolic links")):
            self.assertIn(why, self.run_to(4, file, "--output", output, ranks=2).err)
            self.assertIn(f"{output} cannot be made: {why}", self.run_to(0, "check", file, "--set", f'output.directory="{output}"').err)
        for output in ("taken", "taken/out", "/proc/out"):
            with self.subTest(output):
                result = self.run_to(4, file, "--output", output, ranks=2)
                self.assertIn(output, result.err)
                self.assertEqual(result.out.count("finished"), 0)
                if output != "/proc/out":
                    warned = self.run_to(0, "check", file, "--set", f'output.directory="{output}"').err
                    self.assertRegex(warned, rf"warning: \[output\] directory: .*{output} cannot be made: .*taken is no directory")
        self.assertEqual((self.directory / "taken").read_text(), "a file")

    def test_a_loop_of_links_where_a_file_goes(self):
        file, series = self.write(), self.directory / "out" / "snapshots.hdf.series"
        self.run_to(0, file, "--set", "time.steps=20", ranks=2)
        series.unlink()
        series.symlink_to(series)
        result = self.run_to(4, file, "--restart", "latest", ranks=2)
        self.assertIn(f"{series.name}: Too many levels of symbolic links", result.err)

    def test_links_where_files_go_are_followed(self):
        """Results may be on another disk: links stay, and their targets are written, also by --overwrite and restarts."""
        file = self.write(output={"directory": "out", "every": 10})
        self.run_to(0, file, "--output", "whole")
        out, elsewhere = self.directory / "out", self.directory / "elsewhere"
        out.mkdir()
        elsewhere.mkdir()
        names = ("run.json", "diagnostics.csv", "snapshots.hdf.series", "snapshot_0000000020.hdf", "checkpoint_0000000030.h5")
        def link():
            for name in names:
                if not (out / name).is_symlink():
                    (out / name).symlink_to(f"../elsewhere/{name}")
        for option in ([], ["--overwrite"], ["--restart", "out/checkpoint_0000000010.h5"]):
            link()
            self.run_to(0, file, *option, ranks=2 if option else None)
            for name in names[:3] if "--restart" in option else names:
                self.assertTrue((out / name).is_symlink(), (name, option))
                self.assertFalse((elsewhere / name).is_symlink())
                if name != "run.json" and name != "checkpoint_0000000030.h5":
                    self.assertEqual((elsewhere / name).read_bytes(), (self.directory / "whole" / name).read_bytes(), (name, option))
            self.assertFalse(list(self.directory.glob("*/*.tmp")))

    def test_probes_go_where_a_link_leads(self):
        file = spsolve.write_input(self.directory / "problem.toml", {**problem(), "probes": [{"name": "m", "at": [[3.0, 4.0]]}]})
        out, elsewhere = self.directory / "out", self.directory / "elsewhere"
        out.mkdir()
        elsewhere.mkdir()
        (out / "probes.h5").symlink_to("../elsewhere/p.h5")
        for option in ([], ["--overwrite"], ["--restart", "out/checkpoint_0000000010.h5"]):
            self.run_to(0, file, *option)
            self.assertTrue((out / "probes.h5").is_symlink(), option)
            with h5py.File(elsewhere / "p.h5") as data:
                self.assertEqual(data["m/step"][-1], 40)
        (out / "probes.h5").unlink()
        (out / "probes.h5").symlink_to("/dev/null")
        self.assertIn("takes no HDF5 file", self.run_to(4, file, "--overwrite", ranks=2).err)
        self.assertTrue((out / "probes.h5").is_symlink())

    def test_links_that_lead_nowhere_are_named(self):
        file = self.write()
        (self.directory / "out").symlink_to(self.directory / "gone" / "away")
        for ranks in (None, 2):
            for output in ("out", "out/"):
                self.assertRegex(self.run_to(4, file, "--output", output, ranks=ranks).err, "out/? is a link to .*gone/away, which does not exist")
            self.assertRegex(self.run_to(0, "check", file, ranks=ranks).err, "warning: .*out is a link to .*gone/away, which does not exist")
        below = spsolve.settings('output.directory="out/deeper"')
        for status, command in ((4, [file]), (0, ["check", file])):
            self.assertRegex(self.run_to(status, *command, *below).err, "out/deeper lies below .*/out, a link to .*gone/away, which does not exist")
        (self.directory / "out").unlink()
        (self.directory / "out").mkdir()
        (self.directory / "out" / "run.json").symlink_to(self.directory / "gone" / "run.json")
        self.assertRegex(self.run_to(4, file).err, "run.json: is a link to .*gone/run.json: there is no directory .*gone")

    def test_a_pipe_that_nobody_reads_ends_the_run(self):
        file = self.write()
        (self.directory / "out").mkdir()
        os.mkfifo(self.directory / "out" / "run.json")
        self.assertIn("out/run.json: is a pipe from which nobody reads", self.run_to(4, file).err)

    def test_a_pipe_whose_reader_leaves_ends_the_run(self):
        file = self.write(time={"steps": 10**8}, diagnostics={"every": 10})  # there are rows to write whenever it leaves
        pipe = self.directory / "out" / "diagnostics.csv"
        pipe.parent.mkdir()
        os.mkfifo(pipe)
        with subprocess.Popen(["head", "-n", "1", pipe], stdout=subprocess.PIPE, text=True) as reader:
            self.assertRegex(self.run_to(4, file).err, "out/diagnostics.csv: (is a pipe from which nobody reads|cannot write: Broken pipe)")
            self.assertIn("step,time", reader.communicate(timeout=spsolve.LONGEST)[0])

    def test_one_reader_of_a_pipe_gets_all_rows(self):
        """The reader ends with the pipe, so the pipe must not end with a row."""
        file, pipe = self.write(), self.directory / "out" / "diagnostics.csv"
        self.run_to(0, file, "--output", "whole")
        pipe.parent.mkdir()
        os.mkfifo(pipe)
        rows = (self.directory / "whole" / "diagnostics.csv").read_text().splitlines()
        for option, expected in (([], rows), (["--restart", "out/checkpoint_0000000020.h5"], [rows[0], *(row for row in rows[1:] if int(row.split(",")[0]) > 20)])):
            with subprocess.Popen(["cat", pipe], stdout=subprocess.PIPE, text=True) as reader:
                self.run_to(0, file, *option, ranks=2)
                self.assertEqual(reader.communicate(timeout=spsolve.LONGEST)[0].splitlines(), expected)

    def test_files_that_hdf5_files_refer_to_may_be_pipes(self):
        """HDF5 would wait without an end for links, sources of virtual datasets and raw files that are pipes."""
        for pipe in "pipe.h5", "pipe0.h5":
            os.mkfifo(self.directory / pipe)
        case = {**problem(), "grid": {"shape": [9, 14]}, "initial": {"file": "u.h5", "dataset": "u"}}
        spsolve.write_input(self.directory / "problem.toml", case)
        def link(file):
            file["u"] = h5py.ExternalLink("pipe.h5", "/u")
        def raw(file):
            file.create_dataset("u", (9, 14), "f8", external=[("pipe.h5", 0, h5py.h5f.UNLIMITED)])
        of_virtual, of_raw = virtual("virtual.h5"), virtual("raw.h5")
        for version in FORMATS:
            for name, make in ("virtual.h5", virtual("pipe.h5")), ("raw.h5", raw):
                with h5py.File(self.directory / name, "w", libver=version) as file:
                    make(file)
            for make in (link, raw, virtual("pipe.h5"), of_virtual, of_raw, growing("pipe.h5"),
                         growing("pipe%b.h5", blocks=True)):
                with h5py.File(self.directory / "u.h5", "w", libver=version) as file:
                    make(file)
                self.assertRegex(self.run_to(2, "check", "problem.toml").err, r"u\.h5:.*pipe0?\.h5")
                self.run_to(0, "info", self.directory / "u.h5")

    def test_a_pipe_where_hdf5_does_not_look_is_no_fault(self):
        """HDF5 takes the file beside the one that refers to it, not a pipe of the same name in the current directory."""
        (self.directory / "sub").mkdir()
        for name in "data.h5", "data0.h5":
            os.mkfifo(self.directory / name)
            with h5py.File(self.directory / "sub" / name, "w") as file:
                file["u"] = np.ones((9, 14))
        case = {**problem(), "grid": {"shape": [9, 14]}, "initial": {"file": "sub/u.h5", "dataset": "u"}}
        spsolve.write_input(self.directory / "problem.toml", case)
        def link(file):
            file["u"] = h5py.ExternalLink("data.h5", "/u")
        for make in link, virtual("data.h5"), growing("data%b.h5", blocks=True):
            for version in FORMATS:
                with h5py.File(self.directory / "sub" / "u.h5", "w", libver=version) as file:
                    make(file)
                self.run_to(0, "check", "problem.toml")
                self.assertIn("min 1, max 1", self.run_to(0, "info", self.directory / "sub" / "u.h5").out)

    def test_damaged_files_behind_sound_ones_are_refused(self):
        """HDF5 crashes on some damaged files without checksums; one that another file refers to must not end the run either."""
        self.damaged_file()
        case = {**problem(), "grid": {"shape": [9, 14]}, "initial": {"file": "u.h5", "dataset": "u"}}
        spsolve.write_input(self.directory / "problem.toml", case)
        def link(file):
            file["u"] = h5py.ExternalLink("damaged.h5", "/u")
        of_virtual = virtual("virtual.h5")
        for version in FORMATS:
            with h5py.File(self.directory / "virtual.h5", "w", libver=version) as file:
                virtual("damaged.h5")(file)
            for make in link, virtual("damaged.h5"), of_virtual:
                with h5py.File(self.directory / "u.h5", "w", libver=version) as file:
                    make(file)
                wanted = r"damaged\.h5(:/u)?, which is a damaged HDF5 file"
                self.assertRegex(self.run_to(2, "check", "problem.toml").err, wanted)
                self.assertRegex(self.run_to(0, "info", self.directory / "u.h5").out, wanted)

    def test_a_damaged_file_that_is_used_twice_is_refused_twice(self):
        """A process remembers what it found out about a file that has not changed for some time."""
        os.utime(self.damaged_file(), (0, 0))
        with h5py.File(self.directory / "u.h5", "w") as file:
            file["u"] = file["v"] = h5py.ExternalLink("damaged.h5", "/u")
        report = self.run_to(0, "info", self.directory / "u.h5").out
        self.assertEqual(report.count("which is a damaged HDF5 file"), 2, report)

    def test_hdf5_from_a_pipe_is_refused(self):
        """A run would wait for its writer forever."""
        os.mkfifo(self.directory / "pipe")
        file = self.write(initial={"file": "pipe", "dataset": "u"})
        sections = {**problem(), "initial": {"file": "pipe", "dataset": "u"}}
        spsolve.write_input(file, sections)
        for command in ([file], ["check", file], ["info", "pipe"]):
            with spsolve.Job(*command, cwd=self.directory) as job:
                self.assertRegex(job.wait().err, "pipe: is a pipe or a device; HDF5 reads a file in any order")

    @unittest.skipIf(os.geteuid() == 0, "root may write everywhere")
    def test_output_without_permission(self):
        (self.directory / "out").mkdir(mode=0o555)
        self.assertIn("Permission denied", self.run_to(4, self.write(), ranks=2).err)

    def test_results_of_another_run_are_not_touched(self):
        file = self.write()
        out = self.directory / "out"
        self.run_to(0, file, ranks=2)
        own = {"notes.txt", "snapshot_plot.png", "checkpoint_0000000010.h5.bak"}
        for name in own:
            (out / name).write_text("mine")
        state = lambda: {path.name: (path.stat().st_mtime_ns, path.read_bytes()) for path in out.iterdir()}
        before = state()
        result = self.run_to(2, file, "--set", "time.steps=20", ranks=2)
        for wanted in ("--overwrite", "--restart", "out"):
            self.assertIn(wanted, result.err)
        self.assertEqual(result.out, "", "it was refused late")
        self.assertEqual(state(), before)
        # An error in the input must not cost the old results, even with --overwrite.
        self.run_to(2, file, "--overwrite", "--set", "initial.expression='1/(x-5)'", ranks=2)
        self.assertEqual(state(), before)
        self.run_to(0, file, "--overwrite", *spsolve.settings("time.steps=20", "checkpoint.every=0"), ranks=2)
        self.assertEqual(set(state()), {*own, "diagnostics.csv", "run.json", "snapshot_0000000020.hdf", "snapshots.hdf.series"})

    def test_results_that_the_input_reads_are_not_replaced(self):
        file = self.write(checkpoint={"every": 10})
        self.run_to(0, file, "--set", "time.steps=20")
        out = self.directory / "out"
        before = {path: path.read_bytes() for path in out.iterdir()}
        for section in ("initial", "source"):
            values = ["--set", f"{section}={{ file='out/checkpoint_0000000020.h5', dataset='/u' }}"]
            self.assertIn("which the input reads", self.run_to(2, file, "--overwrite", *values, ranks=2).err)
            self.assertEqual(before, {path: path.read_bytes() for path in out.iterdir()})
            self.run_to(0, file, "--output", section, *values, "--set", "time.steps=20")

    def test_two_runs_in_one_directory(self):
        """If a job was submitted twice, the second run must not disturb the first."""
        file = self.write(time={"steps": 10**8}, checkpoint={"every": 0})
        rows = self.directory / "out" / "diagnostics.csv"
        with spsolve.Job(file, ranks=2, cwd=self.directory) as job:
            job.wait_for(lambda: rows.exists() and rows.read_text().count("\n") == 2, "it began")
            before = rows.read_bytes()
            for option in ("--overwrite", "--restart=latest"):
                result = self.run_to(2, file, option, ranks=3)
                self.assertIn("another run is writing there", result.err)
                self.assertEqual(result.out, "", "it read files of the other run")
            self.assertEqual(rows.read_bytes(), before)
            os.kill(job.ranks()[0], signal.SIGUSR1)
            self.finished(job.wait(), 75)
        (step,) = spsolve.checkpoints(self.directory / "out")
        self.run_to(0, file, "--restart", "latest", "--set", f"time.steps={step + 3}")

    def test_a_field_of_a_system_that_becomes_nan_is_named(self):
        """At one point u falls below 0 before all others: there v is the first field that is not finite."""
        fields = {"u": {"initial": "y == 33 && x == 700 ? 2.5 : 8"}, "v": {}, "w": {}}
        file = spsolve.write_input(self.directory / "system.toml", {
            "grid": {"shape": SHAPE}, **{f"fields.{name}": keys for name, keys in fields.items()},
            "equations": {"step": "u.next = u - 1; v.next = v + sqrt(u); w.next = w + u"},
            "time": {"steps": 1000, "fuse": 1}, "diagnostics": {"every": 1}, "output": {"directory": "out"}})
        for ranks in (None, 3):
            result = self.run_to(3, file, "--overwrite", ranks=ranks)
            self.assertRegex(result.err, "NaN or infinite at step 4, first at point y=33, x=700 of v; the state of step 3 was finite")
            self.assertEqual(result.err.count("NaN or infinite"), 1)
            with h5py.File(spsolve.checkpoints(self.directory / "out")[3]) as checkpoint:
                for name in fields:
                    self.assertTrue(np.isfinite(checkpoint[name][()]).all(), name)
            self.assertEqual([row["step"] for row in spsolve.diagnostics(self.directory / "out")], list(range(4)))

    def test_overflow_ends_the_run_on_all_ranks(self):
        # Every step doubles the values: fp32 overflows at 2^128, fp16 above 2^15.99.
        for precision, last_finite in (("fp32", 127), ("fp16", 15), ("fp64", 1023)):
            with self.subTest(precision):
                file = self.write(stencil={"preset": "1d1r"}, initial={"expression": "x == 700 && y == 33 ? 1 : 0"},
                                  time={"steps": 1100, "fuse": 1}, compute={"precision": precision}, diagnostics={"every": 1},
                                  checkpoint={"every": 0})
                doubling = ["--set", "stencil={ weights = [[2.0]] }"]
                result = self.run_to(3, file, "--overwrite", *doubling, ranks=3)
                self.assertRegex(result.err, r"amplify some wave by 1 \+ 1 per step")
                self.assertRegex(result.err, rf"NaN or infinite at step {last_finite + 1}, first at point y=33, x=700")
                self.assertEqual(result.err.count("NaN or infinite"), 1)
                # The last finite state must be on disk, and the message must name it.
                self.assertIn(f"the state of step {last_finite} was finite; last checkpoint: step {last_finite}", result.err)
                (step,) = spsolve.checkpoints(self.directory / "out")
                self.assertEqual(step, last_finite)
                values = spsolve.values(spsolve.checkpoints(self.directory / "out")[step])
                self.assertEqual(values[33, 700], 2.0**last_finite)
                self.assertTrue(np.isfinite(values).all())
                self.assertEqual([row["step"] for row in spsolve.diagnostics(self.directory / "out")], list(range(last_finite + 1)))
                # A run that continues from there and gets no further must keep it.
                result = self.run_to(3, file, "--restart", "latest", *doubling, *spsolve.settings("diagnostics.every=0"), ranks=2)
                self.assertRegex(result.err, rf"NaN or infinite at step 1100, .*; last checkpoint: step {last_finite}\n")

    def test_walls_beyond_the_range_of_the_format(self):
        file = spsolve.write_input(self.directory / "walls.toml", spsolve.awkward_problem(time={"steps": 5}, compute={"precision": "fp16"}, boundary={"x": {"dirichlet": 1e5}}))
        self.assertRegex(self.run_to(2, "check", file).err, r"walls.toml:\d+: \[boundary\] x: dirichlet = 100000 is beyond the range of fp16")
        with h5py.File(self.directory / "wall.h5", "w") as data:
            data["c"] = np.append(np.zeros(36), 5e4)
        for wall, ghost in (({"flux": 1e5}, 100000), ({"value": "4e4 + y"}, 80072), ({"value": {"file": "wall.h5", "dataset": "c"}}, 100000),
                            ({"robin": {"h": 2.0, "value": 1e5}}, 100000), ({"value": "3e4"}, None), ({"value": "4e4*exp(-t)"}, None)):
            with self.subTest(wall):
                file = spsolve.write_input(self.directory / "walls.toml", spsolve.awkward_problem(
                    time={"steps": 5}, compute={"precision": "fp16", "device": "cpu"}, boundary={"x": {"low": "neumann", "high": wall}, "y": "neumann"}))
                for command in (["check"], []):
                    result = self.run_to(2 if ghost else 0, *command, file, ranks=2) if ghost or command else None
                    if ghost:
                        self.assertRegex(result.err, rf"walls.toml:\d+: \[boundary\] x of the field u: the ghost value {ghost} at the high wall is beyond the range of fp16")

    def test_numbers_beyond_the_range_of_sums_are_named(self):
        """Numbers count as they are after constants were combined, in all precisions whose sums are fp32."""
        base = {"grid": {"shape": [8, 9]}, "time": {"steps": 2}, "output": {"directory": "out"}}
        for step, status in (("u + K*u*u", 2), ("u + K*laplace(u)", 2), ("u + d(sin(K*u), x)", 2), ("0.5*u + (K*1e-300)*u*u*0", 0)):
            system = {**base, "constants": {"K": 1e300}, "fields.u": {"initial": 0.5}, "equations": {"step": f"u.next = {step}"}}
            for precision in ("fp32", "bf16"):
                with self.subTest(step, precision=precision):
                    file = spsolve.write_input(self.directory / "case.toml", {**system, "compute": {"precision": precision}})
                    result = self.run_to(status, file, "--overwrite", ranks=2)
                    if status:
                        self.assertRegex(result.err, r"case.toml:\d+: \[equations\] step: the number [\d.e+]+ \(in \[constants\] K = 1e\+300\) "
                                         f"is beyond the range of fp32, in which sums of {precision} are taken")
        file = spsolve.write_input(self.directory / "weights.toml", {**base, "stencil": {"weights": [[1e39, 0.0]]}, "compute": {"precision": "fp16"},
                                                                     "initial": {"expression": "0"}})
        self.assertRegex(self.run_to(2, "check", file).err, r"weights.toml:\d+: \[stencil\] weights: the number 1e\+39 is beyond the range of fp32")
        self.run_to(0, file, "--overwrite", "--set", "compute.precision=fp64")

    def test_numbers_that_vanish_in_sums_are_named(self):
        base = {"grid": {"shape": [8, 9]}, "time": {"steps": 2}, "output": {"directory": "out"}}
        weights = {**base, "stencil": {"weights": [[1e-50, 0.5]]}, "initial": {"expression": "x"}}
        equations = {**base, "constants": {"K": 1e-50}, "fields.u": {"initial": "x"}, "equations": {"step": "u.next = u + K*u*u"}}
        walls = {**base, "stencil": {"preset": "heat", "diffusivity": 0.1, "dt": 0.1}, "initial": {"expression": "x"}, "boundary": {"y": {"dirichlet": 1e-9}}}
        for case, precision, words in ((weights, "fp32", r"\[stencil\] weights: the number 1e-50 is less than fp32 can hold"), (weights, "fp64", None),
                                       (equations, "bf16", r"\[equations\] step: the number 1e-50 is less than fp32 can hold"), (equations, "fp64", None),
                                       (walls, "fp16", r"\[boundary\] y: dirichlet = 1e-09 is less than fp16 can hold"), (walls, "fp32", None)):
            with self.subTest(words=words, precision=precision):
                file = spsolve.write_input(self.directory / "case.toml", {**case, "compute": {"precision": precision}})
                for command, ranks in ((("check",), None), (("--overwrite",), 2)):
                    error = self.run_to(0, *command, file, ranks=ranks).err
                    if words:
                        self.assertRegex(error, f"warning: {words}: it counts as zero")
                    else:
                        self.assertNotIn("counts as zero", error)

    def test_derived_coefficients_beyond_the_range_of_sums_are_named(self):
        """Coefficients of the input are kept in double, so only what is computed from them must fit."""
        def case(step, **compute):
            return spsolve.write_input(self.directory / "case.toml", {
                "grid": {"shape": [8, 9]}, "coefficients": {"k": "1e20*(1 + x)"}, "fields.u": {"initial": 0.5},
                "equations": {"step": f"u.next = {step}"}, "time": {"steps": 2}, "compute": {"device": "cpu", **compute}, "output": {"directory": "out"}})
        for precision in ("fp32", "bf16"):
            file = case("u + k^2*u*1e-45", precision=precision)
            for command, ranks in ((("check",), None), ((), 3)):
                self.assertRegex(self.run_to(2, *command, file, ranks=ranks).err, r"case.toml:\d+: \[equations\] step: k\^2 is 1e\+40 at x = 0, y = 0, beyond the "
                                 f"range of fp32, in which sums of {precision} are taken")
        self.run_to(0, case("u + k^2*u*1e-45"), "--overwrite")
        for precision in ("fp32", "fp16"):
            result = self.run_to(0, case("u + 1e-45*k^2*u + 1e-21*k", precision=precision), "--overwrite")
            self.assertNotIn("beyond", result.err)

    def test_values_of_time_that_end_a_run_are_named(self):
        """A value beyond the range of sums is no error by itself (1/s may be right), but the cause if the solution is not finite."""
        base = {"grid": {"shape": [8, 9]}, "fields.u": {"initial": 0.5}, "time": {"steps": 20, "dt": 2.0}, "output": {"directory": "out"},
                "compute": {"device": "cpu", "precision": "fp32"}}
        step = lambda text: {"equations": {"step": f"u.next = {text}"}}
        walls = {"y": "neumann", "x": {"low": {"dirichlet": "exp(t*t)"}, "high": "neumann"}}
        cases = [({**step("u + exp(t*t)*u*1e-38")}, "exp(t*t) in [equations] step is 2.68812e+43, beyond the range of fp32 at step 5 (t = 10)"),
                 ({**step("u + 1/(t - 6)")}, "1/(t - 6) in [equations] step is inf at step 3 (t = 6)"),
                 ({**step("0.5*u"), "point_sources": [{"at": [6.0, 7.0], "value": "exp(t*t)"}]},
                  "the value of [point_sources] is 2.68812e+43, beyond the range of fp32 at step 5 (t = 10)"),
                 ({**step("u[0, -1]"), "boundary": walls}, "the value of u at the low wall of x is 2.68812e+43, beyond the range of fp32 at step 5")]
        for ranks in (1, 3):
            for sections, told in cases:
                with self.subTest(told, ranks=ranks):
                    file = spsolve.write_input(self.directory / "case.toml", {**base, **sections})
                    self.assertIn(told, self.run_to(3, file, "--overwrite", ranks=ranks).err)
        told = "the value of [point_sources] is 1e+39, beyond the range of fp32 at step 0 (t = 0)"
        file = spsolve.write_input(self.directory / "case.toml", {**base, **step("0.5*u"), "point_sources": [{"at": [6.0, 7.0], "value": 1e39}]})
        self.assertIn(f"warning: {told}", self.run_to(3, file, "--overwrite", ranks=3).err)  # before the first step
        guarded = {"y": "neumann", "x": {"low": {"dirichlet": "1/t"}, "high": "neumann"}}
        file = spsolve.write_input(self.directory / "case.toml", {**base, **step("t > 0 ? u + 1/t : 0.5*u"), "boundary": guarded})
        self.assertNotIn("is inf", self.run_to(0, file, "--overwrite").err)
        file = spsolve.write_input(self.directory / "case.toml", {**base, **step("u/exp(t*t)")})
        self.run_to(0, file, "--overwrite")
        file = spsolve.write_input(self.directory / "case.toml", {**base, **step("u*1e38")})
        self.assertNotIn("(t =", self.run_to(3, file, "--overwrite").err)

    def test_overflow_on_a_full_disk_says_so(self):
        file = self.write(time={"steps": 200, "fuse": 1}, compute={"precision": "fp32"}, diagnostics={"every": 1},
                          checkpoint={"every": 0}, boundary={"x": "periodic"})
        with self.small_disk(200) as disk:
            result = self.run_to(4, file, "--set", "stencil={ weights = [[2.0]] }", "--output", disk / "out", ranks=2)
            self.assertRegex(result.err, r"warning: checkpoint of step \d+ not written: .*No space left on device")
            self.assertRegex(result.err, r"NaN or infinite at step \d+, .*the state of step \d+ was finite\n")
            self.assertFalse(spsolve.checkpoints(disk / "out"))

    def test_overflow_long_after_a_checkpoint_that_failed(self):
        """The overflow is found when no finite state is left to save, so the full disk does not count."""
        file = self.write(time={"steps": 200, "fuse": 1}, compute={"precision": "fp32"}, boundary={"x": "periodic"})
        with self.small_disk(200) as disk:
            result = self.run_to(3, file, "--set", "stencil={ weights = [[2.0]] }", "--output", disk / "out", ranks=2)
            self.assertIn("warning: checkpoint of step 120 not written", result.err)
            self.assertRegex(result.err, r"NaN or infinite at step 130, first at point [\w=, ]+\n")

    def test_overflow_without_diagnostics_is_found_at_the_end(self):
        file = self.write(stencil={"preset": "1d1r"}, time={"steps": 3000, "fuse": 7}, checkpoint={"every": 0})
        self.run_to(3, file, "--set", "stencil={ weights = [[2.0]] }", ranks=2)
        self.assertFalse(spsolve.snapshots(self.directory / "out"))

    def test_values_that_precision_cannot_hold(self):
        file = self.write(initial={"expression": "1e6"}, compute={"precision": "fp16"})
        self.assertIn("NaN or infinite at step 0, first at point y=0, x=0; the initial values are beyond the range of fp16", self.run_to(3, file, ranks=2).err)
        self.assertEqual(spsolve.diagnostics(self.directory / "out"), [])

    def check_end_without(self, stopped, job):
        """Stops a rank of a job and expects that the others end it."""
        os.kill(job.ranks()[stopped], signal.SIGSTOP)
        begin = time.monotonic()
        result = self.finished(job.wait(), 5)
        self.assertLess(time.monotonic() - begin, 60)
        self.assertRegex(result.err, rf"error: no sign of life for \d+ s from rank {stopped} on \S+: .*, step \d+, "
                                     r"[\w ]+; last checkpoint: step \d+")

    def test_a_rank_that_hangs_ends_a_job_of_equations(self):
        out = self.directory / "out"
        file = spsolve.write_input(self.directory / "system.toml", {
            "grid": {"shape": [64, 128]}, "fields.p": {"initial": "sin(x / 5)"}, "fields.q": {},
            "equations": {"step": "p.next = 2*p - p.previous + 0.1*laplace(p); q.next = 0.5*q + p.next"}, "time": {"steps": 10**8},
            "checkpoint": {"every": 1000}, "parallel": {"timeout_seconds": 4}, "output": {"directory": out}})
        with spsolve.Job(file, ranks=3) as job:
            job.wait_for(lambda: spsolve.checkpoints(out), "it wrote a checkpoint")
            time.sleep(2.0)  # by then the others know of the checkpoint
            ranks = job.ranks()
            self.check_end_without(1, job)
        self.wait_for_end(ranks)

    def test_a_rank_that_hangs_ends_the_job(self):
        """A stopped rank does not answer but does not die either: MPI alone would wait forever."""
        file = self.write(time={"steps": 10**8}, checkpoint={"every": 1000}, parallel={"timeout_seconds": 4})
        restart = []
        for stopped in (2, 0):
            out = self.directory / f"out{stopped}"
            with self.subTest(rank=stopped), spsolve.Job(file, *restart, "--output", out, ranks=4) as job:
                began = (out / "diagnostics.csv").exists if restart else lambda: spsolve.checkpoints(out)
                job.wait_for(began, "it began, or wrote a checkpoint")
                ranks = job.ranks()
                # A short stop must not end the job.
                os.kill(ranks[stopped], signal.SIGSTOP)
                time.sleep(1.0)
                os.kill(ranks[stopped], signal.SIGCONT)
                time.sleep(1.0)
                self.assertIsNone(job.process.poll())
                # A job that is suspended for longer than ranks wait for each other must not end either.
                for rank in ranks:
                    os.kill(rank, signal.SIGSTOP)
                time.sleep(6.0)
                for rank in ranks:
                    os.kill(rank, signal.SIGCONT)
                    time.sleep(0.3)
                time.sleep(1.0)
                self.assertIsNone(job.process.poll())
                self.check_end_without(stopped, job)
            self.wait_for_end(ranks)
            # The checkpoint that a run continues from is its last until it writes one.
            restart = restart or ["--set", "checkpoint.every=0", "--restart", max(spsolve.checkpoints(out).values())]

    def test_a_killed_rank_ends_the_job(self):
        """The launcher says which rank was killed; the others say where they were."""
        file = self.write(time={"steps": 10**8}, checkpoint={"every": 1000})
        grace = {"OMPI_MCA_odls_base_sigkill_timeout": "1"}  # s; the launcher's own, which other tests do without
        with spsolve.Job(file, ranks=4, cwd=self.directory, environment=grace) as job:
            job.wait_for(lambda: max(spsolve.checkpoints(self.directory / "out"), default=0) >= 2000, "it wrote checkpoints")
            ranks = job.ranks()
            self.assertEqual(len(ranks), 4)
            os.kill(ranks[2], signal.SIGKILL)
            begin = time.monotonic()
            result = job.wait()
            self.assertLess(time.monotonic() - begin, 60)
        self.assertNotEqual(result.status, 0)
        self.assertRegex(result.err, r"told to end: rank [01] on \S+: .*, step \d+, [\w ]+; last checkpoint: step \d+")
        self.wait_for_end(ranks)


if __name__ == "__main__":
    unittest.main()
