#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""run_unittest.py FOLDER FILES [-k PATTERN]...: runs the tests of the files in a folder as Python's unittest does. The exit
status is 77 if every test was skipped, and 1 if a test failed or there was none to run."""
import sys
import unittest


class Result(unittest.TextTestResult):
    passed = 0

    def addSuccess(self, test):
        super().addSuccess(test)
        self.passed += 1


folder, files, *options = sys.argv[1:]
runner = unittest.TextTestRunner(resultclass=Result)
result = unittest.main(module=None, argv=["unittest", "discover", "-s", folder, "-p", files, *options], testRunner=runner, exit=False).result
if result.wasSuccessful() and not result.passed:
    sys.exit(77 if result.skipped else "no test was run")
sys.exit(not result.wasSuccessful())
