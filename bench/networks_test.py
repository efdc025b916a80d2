#!/usr/bin/env python3
"""What `bench/run --networks` makes of a .tflite, of a board that is too small, and of figures."""
import json
import pathlib
import sys
import tempfile
import unittest

sys.dont_write_bytecode = True
BENCH = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(BENCH))
from peers import networks_on_cores, tflite_operators, tflm_firmware  # noqa: E402

CONV_2D, ADD, SOFTMAX = 3, 0, 25
DIGITS = BENCH.parent / "examples/digits/digits.tflite"


def found(ours, peer, kind="i8", agree=True, operators=()):
    return {"ours": ours, "peer": peer, "type": kind, "agree": agree, "operators": list(operators)}


class Operators(unittest.TestCase):
    def test_are_read_in_the_order_of_the_file(self):
        operators = tflite_operators.operators(DIGITS)
        self.assertEqual(operators[0], (CONV_2D, "stem"))
        self.assertIn((ADD, "block1_add"), operators)
        self.assertEqual(operators[-1], (SOFTMAX, "scores"))

    def test_each_has_lines_of_its_own(self):
        text = tflm_firmware.traced_operators(["0 CONV_2D", "1 ADD"])
        self.assertIn('TFLM_MODEL_TRACE(1, "1 ADD")', text)
        self.assertIn("{operator_0, operator_1}", text)


class Boards(unittest.TestCase):
    def room(self, board, model_bytes):
        with tempfile.TemporaryDirectory() as work:
            copy = tflm_firmware.board_copy(board, pathlib.Path(work))
            description = networks_on_cores.give_room(copy, model_bytes)
            self.assertEqual(description, json.loads((copy / "board.json").read_text()))
            return description

    def test_stay_as_they_are_for_small_models(self):
        self.assertEqual(self.room("mps2-an386", 1 << 20)["roles"]["constants"], "flash")

    def test_have_another_memory_for_large_ones_as_fast_as_the_first(self):
        for board, first, larger in (("mps2-an386", "flash", "psram"), ("mps3-an547", "bram", "ddr")):
            description = self.room(board, 6 << 20)
            memories = {memory["name"]: memory for memory in description["memories"]}
            self.assertEqual(description["roles"]["constants"], [larger])
            self.assertNotIn(larger, description["roles"]["activations"])
            self.assertEqual(memories[larger]["kind"], "flash")
            self.assertEqual(memories[larger]["cycles_per_access"], memories[first].get("cycles_per_access", 1))

    def test_have_arenas_where_activations_lie(self):
        self.assertEqual([memory for memory, _ in networks_on_cores.arenas(self.room("mps3-an547", 1))], [None, "sram", "ddr"])


class Tables(unittest.TestCase):
    RESULTS = {"a": {"m4f": found(100, 200, operators=[("CONV_2D", "x", 60, 180), ("RESHAPE", "y", 0, 20), ("(pad)", "z", 40, 0)])},
               "b": {"m4f": found(100, 800, agree=False)}}

    def test_have_means_and_the_least(self):
        text = "\n".join(networks_on_cores.lines_of(self.RESULTS, [], ["m4f", "m55"]))
        self.assertIn("| i8 | m4f | 2 | 4.00 | 2.00 (a) |", text)
        self.assertIn("| b | i8 | differ |", text)

    def test_have_operators_of_either_side(self):
        text = "\n".join(networks_on_cores.lines_of(self.RESULTS, ["m55: c (too large)"], ["m4f"]))
        self.assertIn("| CONV_2D | 1 | 0 / 0 = 3.00 |", text)
        self.assertIn("| RESHAPE | 1 | 0 / 0 |", text)
        self.assertIn("Left out: m55: c (too large).", text)


if __name__ == "__main__":
    unittest.main()
