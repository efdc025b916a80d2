#!/usr/bin/env python3
"""bench/compare_peers: without other tools it says which are absent and prints our columns, with them their figures, and
docs/comparison.md is in the form that it prints.

    compare_peers_test.py --intarsia PROGRAM alone     needs nothing
    compare_peers_test.py --intarsia PROGRAM peers     those that $INTARSIA_PEERS has, at least tflite-micro

Exit status 77: no environment is named by $INTARSIA_PEERS. $INTARSIA_MAY_SKIP may forbid that (tests/support/test_main.cpp).
"""
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

REPOSITORY = pathlib.Path(__file__).resolve().parents[3]
sys.path.insert(0, str(REPOSITORY / "tests" / "support"))
from needs import skip  # noqa: E402, it lies there

COMMAND, PAGE = REPOSITORY / "bench" / "compare_peers", REPOSITORY / "docs" / "comparison.md"
NETWORK = REPOSITORY / "tests" / "golden" / "models" / "separable_s8" / "model.tflite"
sys.path.insert(0, str(REPOSITORY / "bench"))
from peers import models, page, tables  # noqa: E402
from peers.sections import firmware  # noqa: E402

INTARSIA = ""


def compare(*arguments, peers="", **more):
    """(exit status, standard output, standard error)"""
    environment = {name: value for name, value in os.environ.items() if name != "INTARSIA_PEERS"}
    done = subprocess.run([sys.executable, COMMAND, "--intarsia", INTARSIA, *map(str, arguments)], capture_output=True, text=True,
                          env={**environment, **({"INTARSIA_PEERS": peers} if peers else {}), **more}, check=False)
    return done.returncode, done.stdout, done.stderr


def rows(text, name):
    """Of the table of one question: a dictionary by headings for each row."""
    headings, found = page.rows_of(text.split(f"### {name}\n")[1].split("\n### ")[0].splitlines())
    return [dict(zip(headings, row)) for row in found]


class Alone(unittest.TestCase):
    def test_what_is_absent_is_said_and_our_columns_are_there(self):
        status, text, words = compare("tools", "results", "memory", "ethos-u", "compile-time", "accepted", "--samples", "2", "--models", NETWORK)
        self.assertEqual(status, 0, words)
        for name in ("tflite-micro", "ai-edge-litert", "ethos-u-vela", "apache-tvm", "executorch"):
            self.assertIn(f"has {name}\n", words)
        tools = {row["tool"]: row for row in rows(text, "tools")}
        self.assertEqual(tools["Vela"]["version"], "not here")
        self.assertRegex(tools["Intarsia"]["version"], r"^\d+\.\d+")
        results = rows(text, "results")[0]
        self.assertEqual((results["output elements"], results["Intarsia / TFLM: differ"]), ("24", ""))
        self.assertEqual(results["Intarsia / results recorded beside the model"], "0")
        memory = rows(text, "memory")[0]
        self.assertEqual(memory["TFLM: arena"], "")
        self.assertGreaterEqual(int(memory["Intarsia: planned"]), int(memory["lower bound of the plan"]))
        self.assertGreater(int(memory["lower bound of the plan"]), 0)
        npu = rows(text, "ethos-u")[0]
        self.assertGreater(int(npu["Intarsia: cycles of the NPU, simulated"]), 0)
        self.assertEqual((npu["Vela: SRAM"], npu["Vela / Intarsia"]), ("", ""))
        accepted = rows(text, "accepted")[0]
        self.assertEqual((accepted["files"], accepted["Intarsia, C"], accepted["TFLM"]), ("1", "1", ""))

    def test_what_cannot_be_is_told(self):
        for arguments, said in ((("memory", "--models", "nowhere.tflite"), "there is no nowhere.tflite"),
                                (("memory", "--peers", "/nowhere"), "/nowhere is no virtual environment"),
                                (("speed",), "there is no question speed"), (("--samples", "0"), "at least one"),
                                (("--form", "nowhere.md"), "nowhere.md")):
            status, text, words = compare(*arguments)
            self.assertNotEqual(status, 0, arguments)
            self.assertIn(said, words)
            self.assertEqual(text, "")

    def test_the_firmware_is_looked_into(self):
        status, text, words = compare("firmware", "--models", NETWORK)
        self.assertEqual(status, 0, words)
        if not all(shutil.which(name) for name in ("arm-none-eabi-gcc", "qemu-system-arm")):
            self.assertIn("Not measured: there is no arm-none-eabi-gcc or no qemu-system-arm.", text)
            return
        found = rows(text, "firmware")
        self.assertEqual([row["target"] for row in found], ["`cortex-m4`", "`cortex-m55+ethos-u55-128`"])
        for row in found:
            self.assertGreater(int(row["source files"]), 2)
            self.assertIn("memset", row["symbols it wants"])
            self.assertEqual((row["of them heap"], row["of them C++ runtime"], row["bytes of initialisers"]), ("0", "0", "0"))
            self.assertGreater(int(row["`sizeof` of an instance"]), 0)

    def test_symbols_are_told_apart(self):
        self.assertTrue(all(map(firmware.HEAP.match, ("malloc", "_malloc_r", "free", "_Znwj", "_ZdlPv"))))
        self.assertTrue(all(map(firmware.CPP.match, ("__cxa_throw", "__cxa_guard_acquire", "_ZTVN10__cxxabiv117__class_type_infoE"))))
        self.assertFalse(any(pattern.match(name) for pattern in (firmware.HEAP, firmware.CPP) for name in ("memset", "memcpy", "network_run")))

    def test_lesser_figures_of_a_peer_are_listed(self):
        headings = ["model", "theirs", "ours"]
        found = [["a", 1, 2], ["b", 2, 2], ["c", 3, 2], ["d", None, 2], ["e", "refused", 2]]
        self.assertEqual(tables.where_less("Vela", headings, found, [("SRAM", "theirs", "ours")], lambda row: row[0]),
                         ["* SRAM, where Vela has less: a"])
        self.assertEqual(tables.where_less("Vela", headings, found[3:], [("SRAM", "theirs", "ours")], lambda row: row[0]), [])

    def test_elements_are_counted(self):
        self.assertEqual(models.differing(b"abcd", b"abxd", 1), 1)
        self.assertEqual(models.differing(b"abcd", b"xbxd", 2), 2)
        self.assertEqual(models.differing(b"abcd", b"abc", 1), 4)


class Page(unittest.TestCase):
    def form_of(self, text):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder, "page.md")
            path.write_text(text, encoding="utf-8")
            status, printed, words = compare("--form", path)
            self.assertEqual((printed, bool(words)), ("", status != 0), words)
            return status, words

    def test_the_page_is_what_the_command_prints(self):
        status, words = self.form_of(PAGE.read_text(encoding="utf-8"))
        self.assertEqual(status, 0, words)

    def test_other_pages_are_refused(self):
        text = PAGE.read_text(encoding="utf-8")
        row = next(line for line in page.block(text, "memory")[2:])
        for changed, said in ((text.replace("| TFLM: arena |", "| arena |", 1), "memory: the headings are"),
                              (text.replace(row, row + " 1 |"), "cells"),
                              (text + "\nIt is 3 times as fast.\n", "a figure outside"),
                              (text.replace("compare_peers tools: begin", "compare_peers tolls: begin"), "there is no block of tools"),
                              (text.replace(page.END, "", 1), "has no end"),
                              (re.sub(r"(memory: begin -->\n\|[^\n]*\n[^\n]*\n)(\|[^\n]*\n)*", r"\1", text), "memory: there are no rows")):
            self.assertNotEqual(changed, text)
            status, words = self.form_of(changed)
            self.assertEqual(status, 1)
            self.assertIn(said, words)

    def test_versions_are_in_the_page(self):
        headings, found = page.rows_of(page.block(PAGE.read_text(encoding="utf-8"), "tools"))
        for row in found:
            about = dict(zip(headings, row))
            if about["is"].startswith("`"):
                self.assertRegex(about["version"], r"^\d+\.\w+", about)

    def test_networks_that_are_not_here_are_told(self):
        with tempfile.TemporaryDirectory() as folder:
            status, _, words = compare("memory", "--check", PAGE, INTARSIA_SHARED=folder)
            self.assertEqual(status, 1)
            self.assertIn(f"{folder}/models is not there", words)

    def test_cells_survive_a_table(self):
        row = ["a | b", "", "c"]
        self.assertEqual(tables.cells(tables.table(["x", "y", "z"], [row])[2]), row)


class Peers(unittest.TestCase):
    """With what $INTARSIA_PEERS has."""

    def test_figures_of_peers(self):
        peers = os.environ["INTARSIA_PEERS"]
        status, text, words = compare("tools", "results", "memory", "ethos-u", "accepted", "operators", "--samples", "3",
                                      "--models", NETWORK, peers=peers)
        self.assertEqual(status, 0, words)
        versions = {row["tool"]: row["version"] for row in rows(text, "tools")}
        self.assertNotEqual(versions["TFLM"], "not here")
        self.assertEqual(rows(text, "results")[0]["Intarsia / TFLM: differ"], "0")
        memory = rows(text, "memory")[0]
        self.assertEqual(int(memory["TFLM: arena"]), int(memory["of it planned"]) + int(memory["of it kept"]))
        self.assertEqual(rows(text, "accepted")[0]["TFLM"], "1")
        operators = {row["of the operators of the schema"]: int(row["count"]) for row in rows(text, "operators")}
        self.assertLess(operators["TFLM knows"], operators["in the schema"])
        self.assertEqual(operators["TFLM knows"] - operators["TFLM knows and Intarsia does not"],
                         operators["Intarsia knows"] - operators["Intarsia knows and TFLM does not"])
        npu = rows(text, "ethos-u")[0]
        self.assertEqual(npu["Intarsia's stream / TFLM"], "0")
        if versions["Vela"] != "not here":
            self.assertGreater(int(npu["Vela: cycles of the NPU, simulated"]), 0)
            self.assertEqual(npu["Vela's stream / TFLM: elements that differ"], "0")
            self.assertGreater(int(npu["Vela: SRAM"]), 0)

    def test_a_page_that_shows_something_else_is_refused(self):
        peers = os.environ["INTARSIA_PEERS"]
        with tempfile.TemporaryDirectory() as folder:
            copy = pathlib.Path(folder, "page.md")
            copy.write_text(PAGE.read_text(encoding="utf-8"), encoding="utf-8")
            given = ["memory", "--models", NETWORK]
            self.assertEqual(compare(*given, "--update", copy, peers=peers)[0], 0)
            self.assertEqual(compare(*given, "--check", copy, peers=peers)[0], 0)
            copy.write_text(copy.read_text(encoding="utf-8").replace("| yes |", "| no |"), encoding="utf-8")
            status, _, words = compare(*given, "--check", copy, peers=peers)
            self.assertEqual(status, 1)
            self.assertIn("the block of memory is not what is printed", words)


if __name__ == "__main__":
    INTARSIA, part = sys.argv[2], sys.argv[3]
    if part == "peers" and not os.environ.get("INTARSIA_PEERS"):
        sys.exit(skip("compare_peers_test.peers", "peers", "INTARSIA_PEERS names no virtual environment of Python with tflite-micro and others"))
    cases = [Peers] if part == "peers" else [Alone, Page]
    suite = unittest.TestSuite(unittest.defaultTestLoader.loadTestsFromTestCase(case) for case in cases)
    sys.exit(not unittest.TextTestRunner(verbosity=2).run(suite).wasSuccessful())
