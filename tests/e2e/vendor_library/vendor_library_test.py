#!/usr/bin/env python3
"""What examples/vendor-library exports computes what the reference does: networks of its layers, run by onnxruntime.

    vendor_library_test.py --intarsia PROGRAM

Exit status 77: what exports is not run, since neither this Python nor an environment of $INTARSIA_PEERS has onnx and onnxruntime.
"""
import json
import os
import pathlib
import random
import shutil
import struct
import subprocess
import sys
import tempfile
import unittest

REPOSITORY = pathlib.Path(__file__).resolve().parents[3]
sys.path.insert(0, str(REPOSITORY / "tests" / "support"))
from needs import skip  # noqa: E402, it lies there

RUN_NETWORK = REPOSITORY / "examples" / "vendor-library" / "run_network.py"
INTARSIA, PYTHON = "", None
TARGET = "c + layer-sdk"


def python_with_onnxruntime():
    candidates = [pathlib.Path(sys.executable)]
    candidates += [pathlib.Path(folder) / "bin" / "python" for folder in os.environ.get("INTARSIA_PEERS", "").split(":") if folder]
    for python in candidates:
        try:
            if subprocess.run([python, "-c", "import onnx, onnxruntime"], capture_output=True, check=False).returncode == 0:
                return python
        except OSError:
            pass
    return None


def floats(count, seed):
    numbers = random.Random(seed)
    return struct.pack(f"<{count}f", *(numbers.uniform(-1, 1) for _ in range(count)))


def constant(index, name, count):
    return f'const @{index} {name} = x"{floats(count, index).hex()}"\n'


# Padding that differs from side to side, strides and dilations, both kinds of pooling, a branch, every activation.
NETWORK = ("intarsia.graph layers\n" + constant(0, "w0", 4 * 3 * 3 * 3) + constant(1, "b0", 4) + constant(2, "w1", 4 * 3 * 3 * 4)
           + constant(3, "w2", 5 * 32) + constant(4, "b2", 5) + """func @main(%0) -> (%12) {
  %0 image: f32[1,9,8,3]
  %1 w0: f32[4,3,3,3] = @0
  %2 b0: f32[4] = @1
  %3 wide: f32[1,5,4,4]
  %4 w1: f32[4,3,3,4] = @2
  %5 again: f32[1,5,4,4]
  %6 total: f32[1,5,4,4]
  %7 pooled: f32[1,3,2,4]
  %8 smooth: f32[1,2,2,4]
  %9 flat: f32[1,16]
  %10 w2: f32[5,16] = @3
  %11 scores: f32[1,5]
  %12 likely: f32[1,5]
""")


class Vendor(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp())
        self.addCleanup(shutil.rmtree, self.folder)

    def intarsia(self, *arguments, status=0):
        done = subprocess.run([INTARSIA, *map(str, arguments)], capture_output=True, text=True, cwd=self.folder, check=False)
        self.assertEqual(done.returncode, status, done.stderr)
        return done.stdout + done.stderr

    def write(self, text, inputs):
        (self.folder / "model.graph").write_text(text, encoding="utf-8")
        for index, count in enumerate(inputs):
            (self.folder / f"in{index}.bin").write_bytes(floats(count, 100 + index))

    def same(self, inputs):
        """Compiles the model, which is one network of the vendor's, and compares onnxruntime's results with the host's."""
        files = [option for index in range(inputs) for option in ("--input", f"in{index}.bin")]
        self.intarsia("run", "model.graph", "--target", "c", *files, "--output-dir", "expected")
        self.intarsia("compile", "model.graph", "--target", TARGET, "-o", "out")
        networks = [path for path in (self.folder / "out").glob("*.json")
                    if json.loads(path.read_text(encoding="utf-8")).get("format") == "layer-sdk"]
        self.assertEqual(len(networks), 1)
        subprocess.run([PYTHON, RUN_NETWORK, networks[0], *files, "--output-dir", "got"], cwd=self.folder, check=True)
        for path in sorted((self.folder / "expected").glob("out*.bin")):
            expected, got = path.read_bytes(), (self.folder / "got" / path.name).read_bytes()
            self.assertEqual(len(expected), len(got))
            for one, other in zip(struct.iter_unpack("<f", expected), struct.iter_unpack("<f", got)):
                self.assertLessEqual(abs(one[0] - other[0]), 1e-5 * max(1, abs(one[0])))

    def test_a_network_of_every_layer(self):
        layers = """  conv2d first(%0, %1, %2) -> (%3) {stride_h=2,stride_w=2,padding={top=1,left=0,bottom=1,right=1},activation=relu6}
  conv2d second(%3, %4) -> (%5) {dilation_h=2,padding={top=2,left=1,bottom=2,right=1},activation=relu}
  add both(%3, %5) -> (%6) {activation=relu_n1_to_1}
  max_pool2d most(%6) -> (%7) {filter_h=2,filter_w=2,stride_h=2,stride_w=2,padding={top=0,left=0,bottom=1,right=0}}
  average_pool2d mean(%7) -> (%8) {filter_h=2,filter_w=1,stride_h=1,stride_w=1}
  reshape flatten(%8) -> (%9) {shape=[1,16]}
  fully_connected classify(%9, %10) -> (%11)
  softmax choose(%11) -> (%12) {beta=1}
}
entry @main
"""
        self.write(NETWORK.replace(constant(3, "w2", 5 * 32), constant(3, "w2", 5 * 16)).replace(constant(4, "b2", 5), "") + layers, [9 * 8 * 3])
        self.same(1)

    def test_two_inputs_and_two_outputs(self):
        self.write("""intarsia.graph sums
func @main(%0, %1) -> (%2, %3) {
  %0 a: f32[1,6]
  %1 b: f32[1,6]
  %2 sum: f32[1,6]
  %3 positive: f32[1,6]
  add total(%0, %1) -> (%2)
  relu rectify(%1) -> (%3)
}
entry @main
""", [6, 6])
        self.same(2)

    def test_what_it_refuses_is_the_hosts(self):
        self.write("""intarsia.graph mixed
func @main(%0, %1) -> (%2, %3) {
  %0 a: i8[1,8] q(0.1:0)
  %1 b: f32[1,8]
  %2 c: i8[1,8] q(0.1:0)
  %3 d: f32[1,8]
  relu whole(%0) -> (%2)
  softmax steep(%1) -> (%3) {beta=2}
}
entry @main
""", [])
        said = self.intarsia("explain", "model.graph", "--target", TARGET)
        self.assertIn("its schemes of quantisation are not those of 'a': it takes f32", said)
        self.assertIn("its softmax has no factor 2", said)

    def test_without_the_vendors_runtime_a_program_says_so(self):
        self.write("""intarsia.graph one
func @main(%0) -> (%1) {
  %0 a: f32[1,8]
  %1 b: f32[1,8]
  relu only(%0) -> (%1)
}
entry @main
""", [8])
        said = self.intarsia("run", "model.graph", "--target", TARGET, "--input", "in0.bin", "--output-dir", "out", status=1)
        self.assertIn("layer-sdk: the vendor's runtime is not linked (layer_sdk_execute)", said)


def main():
    if PYTHON is None:
        del Vendor.test_a_network_of_every_layer, Vendor.test_two_inputs_and_two_outputs
    outcome = unittest.main(argv=sys.argv[:1], exit=False).result
    if not outcome.wasSuccessful():
        return 1
    if PYTHON is None:
        return skip("vendor_library_test", "peers", "INTARSIA_PEERS names no environment of Python with onnx and onnxruntime")
    return 0


if __name__ == "__main__":
    INTARSIA = sys.argv[sys.argv.index("--intarsia") + 1]
    PYTHON = python_with_onnxruntime()
    sys.exit(main())
