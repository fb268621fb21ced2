# SPDX-License-Identifier: Apache-2.0
"""Point sources and probes against solutions of partial differential equations for a source at a point: the Green's functions of
the heat equation and of the wave equation, in two and three dimensions. Schemes of second order leave errors that every halving
of the spacing divides by four, up to terms of fourth order."""
import unittest

import h5py
import numpy as np

import spsolve

# The ratios of the errors of three grids approach 4. Terms of fourth order change the last one by less than a tenth.
LEAST_RATIO, MOST_RATIO = 3.6, 4.4


class GreensFunctions(spsolve.TestCase):
    def rows(self, dimensions, points, half_width, step, value, at, dt, steps, more=""):
        """Returns probes over time, [rows, points], of a run on points^dimensions with the source in the middle."""
        spacing = 2 * half_width / points
        name = f"run{dimensions}d{points}"
        (self.directory / f"{name}.toml").write_text(f"""
            [grid]
            shape   = {[points] * dimensions}
            spacing = {[spacing] * dimensions}
            origin  = {[-half_width] * dimensions}
            [fields.p]
            [equations]
            step = '''{step}'''
            [[point_sources]]
            at    = {[0.0] * dimensions}
            value = "{value} * {1 / spacing**dimensions!r}"
            [[probes]]
            name = "receivers"
            at   = {at}
            [time]
            dt    = {dt!r}
            steps = {steps}
            [output]
            directory = "{name}"
            {more}
            """)
        self.run_to(0, f"{name}.toml")
        with h5py.File(self.directory / name / "probes.h5") as file:
            return file["receivers/p"][:], file["receivers/time"][:]

    def expect_second_order(self, errors):
        ratios = np.array(errors[:-1]) / np.array(errors[1:])
        self.assertGreater(ratios[-1], LEAST_RATIO, errors)
        self.assertLess(ratios[-1], MOST_RATIO, errors)

    def test_heat_spreads_as_the_heat_kernel(self):
        diffusivity, share, end = 1.0, 0.1, 0.05
        for dimensions, grids in ((2, (32, 64, 128)), (3, (16, 32, 64))):
            with self.subTest(dimensions=dimensions):
                along = [0.0, 0.25, 0.5]  # points of all grids
                at = [[0.0] * (dimensions - 1) + [x] for x in along]
                errors = []
                for points in grids:
                    spacing = 4.0 / points
                    steps = round(end * diffusivity / share / spacing**2)
                    dt = end / steps
                    # All of the heat is added in the first step.
                    rows, time = self.rows(dimensions, points, 2.0, "p.next = p + dt*laplace(p)", "(step == 0 ? 1 : 0)", at, dt,
                                           steps + 1)
                    # The first step does not spread the heat, so it has spread for the time since then.
                    # Copies of the periodic grid are 4 away, where exp(-4^2 / (4 end)) < 1e-34.
                    since = time[-1] - dt
                    exact = np.exp(-np.array(along)**2 / (4 * diffusivity * since)) / (4 * np.pi * diffusivity * since)**(dimensions / 2)
                    errors.append(np.abs(rows[-1] - exact).max() / exact.max())
                self.expect_second_order(errors)

    def test_a_ricker_wavelet_leaves_the_wave_of_a_point(self):
        speed, peak, delay = 1.0, 2.0, 0.75
        radii, end = np.array([0.375, 0.5]), 1.65

        def wavelet(t):
            a = (np.pi * peak * (t - delay))**2
            return (1 - 2 * a) * np.exp(-a)

        def exact(dimensions, t):
            """Returns the solution of p_tt = c^2 laplace(p) + delta(x) s(t)."""
            if dimensions == 3:
                return wavelet(t[:, None] - radii / speed) / (4 * np.pi * speed**2 * radii)
            # The solution is the integral over a line of point sources at the distance r cosh(u). The
            # trapezoidal rule converges faster than any power, because the function is smooth and even, and
            # vanishes at the end.
            u = np.linspace(0, 4, 4001)
            weights = np.full(u.size, u[1])
            weights[[0, -1]] /= 2
            delays = radii[:, None] * np.cosh(u) / speed
            return np.array([(wavelet(now - delays) * weights).sum(axis=1) for now in t]) / (2 * np.pi * speed**2)

        # Reflections of walls and waves of periodic copies arrive after 2 * half_width - r, counted from the
        # beginning of the wavelet.
        half_width = 1.0
        for dimensions, grids in ((2, (64, 128, 256)), (3, (32, 64, 128))):
            with self.subTest(dimensions=dimensions):
                at = [[0.0] * (dimensions - 1) + [float(r)] for r in radii]
                errors = []
                for points in grids:
                    dt = 0.5 * 2 * half_width / points / speed
                    rows, time = self.rows(dimensions, points, half_width, f"p.next = 2*p - p.previous + ({speed}*dt)^2*laplace(p)",
                                           f"dt^2 * ricker(t - {delay}, {peak})", at, dt, round(end / dt))
                    wanted = exact(dimensions, time)
                    errors.append(np.abs(rows - wanted).max() / np.abs(wanted).max())
                self.expect_second_order(errors)


if __name__ == "__main__":
    unittest.main()
