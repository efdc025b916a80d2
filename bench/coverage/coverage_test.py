#!/usr/bin/env python3
"""The parts of coverage.py that need no network: comparing, limits, and what the page says of results."""
import pathlib
import struct
import sys
import unittest

sys.dont_write_bytecode = True
HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent)]
import block  # noqa: E402
import by_operator  # noqa: E402
from compared import difference  # noqa: E402
from limited import run  # noqa: E402

TARGETS = ["cortex-m4", "cortex-m55+ethos-u55-128"]


def npu_of(target):
    return target.partition("+")[2]


def network(peer="TFLM", vela=None, arena=2000, **ours):
    row = {"seconds": 2.0, "megabytes": 20, "ram": 1000, "cycles": 100e3, "literal": 100e3, "bound": 80e3, "sram": 500, "off": 0, "off_kinds": [], "exact": ""}
    return {"inputs": [{"type": "i8"}], "peer": peer, "tflm": {"arena": arena}, "vela": {"ethos-u55-128": vela or {}},
            "ours": {target: {**row, **ours} for target in TARGETS}}


class Difference(unittest.TestCase):
    def test_integers_agree_bit_by_bit(self):
        self.assertEqual(difference(b"\x01\xff", b"\x01\xff", "i8"), "")
        self.assertEqual(difference(b"\x01\xff", b"\x01\x01", "i8"), "1 of 2 elements differ, by 2 at most")
        self.assertEqual(difference(b"\x01", b"\x01\x01", "i8"), "1 bytes, not 2")

    def test_floats_agree_within_their_last_digits(self):
        floats = lambda *values: struct.pack(f"<{len(values)}f", *values)
        self.assertEqual(difference(floats(1e6, 0.0), floats(1e6 + 20, 2e-5), "f32"), "")
        self.assertIn("1 of 2", difference(floats(1.0, 1.0), floats(1.0, 1.001), "f32"))
        nan = float("nan")
        self.assertEqual(difference(floats(nan), floats(nan), "f32"), "")
        self.assertNotEqual(difference(floats(nan), floats(1.0), "f32"), "")


class Limits(unittest.TestCase):
    def test_processor_time_ends_a_program(self):
        ended = run([sys.executable, "-c", "while True: pass"], 1, 4)
        self.assertEqual(ended.words, "took more processor time than it may")
        self.assertGreater(ended.cpu_seconds, 0.5)

    def test_memory_does(self):
        ended = run([sys.executable, "-c", "x = bytearray(1 << 30)"], 10, 0.5)
        self.assertNotEqual(ended.status, 0)
        self.assertIn("MemoryError", ended.words)

    def test_output_is_kept(self):
        ended = run([sys.executable, "-c", "import sys; print(1); sys.exit('note: a\\nwrong')"], 10, 4)
        self.assertEqual((ended.status, ended.out, ended.words), (1, "1\n", "wrong"))


class Page(unittest.TestCase):
    def lines(self, results):
        return "\n".join(block.lines_of(results, TARGETS, npu_of))

    def test_ratios_and_means(self):
        vela = {"cycles": 200e3, "literal": 150e3, "sram": 400, "seconds": 1.0, "off": 0}
        text = self.lines({"a": network(vela=vela), "b": network(vela={**vela, "cycles": 50e3})})
        self.assertIn("2 networks; 4 of 4 results", text)
        self.assertIn("| cycles by our clock: Vela | ethos-u55-128 | 2 | 1.00 | 0.50 |", text)
        self.assertIn("* cycles by our clock: Vela has less: b ethos-u55-128 (0.50)", text)
        self.assertIn("| cycles by our clock: Vela, to the lower bound | ethos-u55-128 | 2 | 1.25 | 0.62 |", text)
        self.assertIn("* SRAM: Vela has less: a ethos-u55-128 (0.80); b ethos-u55-128 (0.80)", text)
        self.assertNotIn("* cycles by our clock: Vela, to the lower bound", text)  # it is no goal
        self.assertIn("| a | i8 | as TFLM | 0 | 0 | 200 / 100 = 2.00 | 80 | 150 / 100 = 1.50 | 400 / 500 = 0.80 | 1.0 / 2.0 = 0.50 |", text)
        self.assertIn("2000 / 1000 = 2.00", text)

    def test_what_differs_or_is_refused_is_listed(self):
        text = self.lines({"wrong": network(exact="output 0: 1 of 2 elements differ, by 1 at most"), "none": network(exact=None, peer=None),
                           "off": network(off=6, off_kinds=["a", "b", "c", "d", "e"]), "bad": {"refused": "no such operator"}})
        self.assertIn("2 of 4 results", text)
        self.assertIn("* refused: bad everywhere (no such operator)", text)
        self.assertIn("wrong cortex-m4 (output 0: 1 of 2 elements differ, by 1 at most)", text)
        self.assertIn("off ethos-u55-128: 6 (a, b, c, d, ...)", text)
        self.assertIn("| none | i8 | no peer |", text)

    def test_operators_count_where_the_whole_differs_from_litert(self):
        parts = {"TFLM": 9, "LiteRT": 1, "no peer": 0, "differ": []}
        results = {"n": network(peer="LiteRT", exact="output 0: 1 of 10 elements differ", by_operator=parts)}
        self.assertIn("| n | i8 | 9 operators as TFLM, 1 operators as LiteRT |", self.lines(results))
        parts["differ"] = ["t: 1 of 4 elements differ (TFLM)"]
        self.assertIn("elements differ; t: 1 of 4 elements differ (TFLM))", self.lines(results))

    def test_operators_count_where_no_peer_takes_the_whole(self):
        parts = {"TFLM": 9, "LiteRT": 0, "no peer": 1, "differ": []}
        results = {"n": network(peer=None, exact=None, by_operator=parts)}
        self.assertIn("| n | i8 | 9 operators as TFLM, 1 operators without a peer |", self.lines(results))
        self.assertIn("2 of 2 results", self.lines(results))
        parts["differ"] = ["t: 1 of 4 elements differ (TFLM)"]
        self.assertIn("n cortex-m4 (no peer takes the whole; t: 1 of 4 elements differ (TFLM))", self.lines(results))

    def test_the_block_is_replaced_and_nothing_else(self):
        page = f"before\n{block.BEGIN}\nold\n{block.END}\nafter\n"
        self.assertEqual(block.with_block(page, ["new"]), f"before\n{block.BEGIN}\nnew\n{block.END}\nafter\n")
        with self.assertRaises(SystemExit):
            block.with_block("nothing", ["new"])


class Shown(unittest.TestCase):
    def test_lines_of_a_run(self):
        text = "out/out0.bin: 'y' i8[1,10] real = 0.5 * (q - 1)\nout/a.bin: 'it's' f32[2]\n"
        self.assertEqual(by_operator.shown(text), {"y": (pathlib.Path("out/out0.bin"), "i8"), "it's": (pathlib.Path("out/a.bin"), "f32")})


if __name__ == "__main__":
    unittest.main()
