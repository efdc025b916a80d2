#!/usr/bin/env python3
"""check_output.py itself: it lets a benchmark pass that prints its row, and no other."""
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

CHECK = pathlib.Path(__file__).resolve().parent / "check_output.py"


def check(printed, *options, exit_code=0, **environment):
    program = f"import sys; print({printed!r}); sys.exit({exit_code})"
    environment = {**{k: v for k, v in os.environ.items() if not k.startswith("INTARSIA_")}, **environment}
    done = subprocess.run([sys.executable, CHECK, *options, "--", sys.executable, "-c", program],
                          capture_output=True, text=True, check=False, env=environment)
    return done.returncode, done.stdout + done.stderr


class CheckOutput(unittest.TestCase):
    def test_rows_and_numbers(self):
        self.assertEqual(check("head\nkws 1 ms 2.5e3 -4 1,000", "--row", "kws", "4")[0], 0)
        for printed, options, why in [
                ("vww 1 2", ("--row", "kws", "2"), "no line begins with 'kws'"),
                ("", ("--row", "kws", "1"), "no line begins with 'kws'"),
                ("kws 1 0x2f 3a4b", ("--row", "kws", "2"), "followed by 1 numbers, not 2"),
                ("kws 1 2 nan", ("--row", "kws", "2"), "'nan' in the output"),
                ("kws 1 2 -inf", ("--row", "kws", "2"), "'inf' in the output"),
                ("kws 1 2\nvww ERROR OCCURRED: 'no model'", ("--row", "kws", "2"), "'ERROR OCCURRED' in the output"),
                ("kws 1 2", ("--row", "kws", "2", "--row", "vww", "2"), "no line begins with 'vww'")]:
            status, text = check(printed, *options)
            self.assertEqual(status, 1, text)
            self.assertIn(why, text)

    def test_exit_code(self):
        status, text = check("kws 1", "--row", "kws", "1", exit_code=3)
        self.assertEqual(status, 1)
        self.assertIn("exit code 3", text)

    def test_needs(self):
        options = ("--row", "kws", "1", "--needs", "shared-data", "$INTARSIA_SHARED/models")
        with tempfile.TemporaryDirectory() as folder:
            log = pathlib.Path(folder, "log")
            missing = {"INTARSIA_SHARED": folder, "INTARSIA_SKIP_LOG": str(log)}
            self.assertEqual(check("kws 1", *options, **missing)[0], 77)
            self.assertRegex(log.read_text(), r"^bench\tneeds shared-data: ")
            self.assertEqual(check("kws 1", *options, **missing, INTARSIA_MAY_SKIP="clang shared-data")[0], 77)
            self.assertEqual(check("kws 1", *options, **missing, INTARSIA_MAY_SKIP="clang")[0], 1)
            pathlib.Path(folder, "models").mkdir()
            self.assertEqual(check("kws 1", *options, **missing, INTARSIA_MAY_SKIP="")[0], 0)


if __name__ == "__main__":
    unittest.main()
