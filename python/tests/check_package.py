#!/usr/bin/env python3
"""The package as it is installed: laid out by `cmake --install`, or by pip from a wheel, and used far from the sources, without a
compiler in PATH.

    check_package.py --cmake CMAKE --build FOLDER    what the build has made
    check_package.py --wheel FILE.whl                the same, in a fresh virtual environment, and what the tools for wheels say
"""
import argparse
import importlib.util
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

REPOSITORY = Path(__file__).resolve().parents[2]
COMPONENTS = ("intarsia_python", "intarsia_program", "intarsia_resources")
SKIPPED = 77

# Everything that reads resources, and that nothing else is read.
USE = """
import importlib.resources, os, shutil, sys
import intarsia
from intarsia import _core, _resources

assert shutil.which("cc") is None and shutil.which("gcc") is None and shutil.which("arm-none-eabi-gcc") is None
package = os.path.dirname(intarsia.__file__)
assert package.startswith(os.environ["EXPECTED"]), package
assert _resources.root() == os.path.join(package, "share", "intarsia")
for name in ("py.typed", "_core.pyi", "share/intarsia/boards/host/board.json", "share/intarsia/device-runtime"):
    assert importlib.resources.files("intarsia").joinpath(name).exists(), name
header = os.path.join(_resources.root(), "device-runtime", "kernels", "include", "intarsia", "kernels", "arithmetic.h")
with open(header, "a") as file:
    file.write("/* installed */\\n")

assert len(intarsia.boards()) > 5 and intarsia.targets().kinds
files = intarsia.compile("digits.tflite", board="mps2-an386").files
assert b"/* installed */" in files["intarsia/kernels/arithmetic.h"]
report = intarsia.compile("digits.tflite", target="cortex-m55+ethos-u55-128").report
assert report.ram > 0 and report.flash is None and report.not_measured
import numpy
images = numpy.fromfile("test_images.bin", numpy.int8).reshape(-1, 1, 8, 8, 1)[:20]
goldens = numpy.fromfile("golden_outputs.bin", numpy.int8).reshape(-1, 1, 10)[:20]
model = intarsia.Model("digits.tflite")
assert all((model(image)[0] == golden).all() for image, golden in zip(images, goldens))
outputs, = intarsia.Simulator("digits.tflite", target="cortex-m55+ethos-u55-128").batch(images)
assert (outputs == goldens).all()
print("works")
"""


def run(*command, cwd=None, env=None, expected=""):
    done = subprocess.run(command, cwd=cwd, env=env, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    if done.returncode != 0 or expected not in done.stdout:
        sys.exit(f"{' '.join(map(str, command))} ended with {done.returncode}:\n{done.stdout}")
    return done.stdout


def use(python, environment, folder):
    """In a folder far from the sources, with a PATH that has no compiler."""
    for name in ("digits.tflite", "test_images.bin", "golden_outputs.bin"):
        shutil.copy(REPOSITORY / "examples" / "digits" / name, folder)
    tools = folder / "bin"
    tools.mkdir()
    environment = {"PATH": str(tools), "EXPECTED": environment["EXPECTED"], "PYTHONPATH": environment.get("PYTHONPATH", ""),
                   "HOME": str(folder)}
    run(python, "-c", USE, cwd=folder, env=environment, expected="works")
    boards = run(python, "-c", "from intarsia._command_line import main; main()", "boards", cwd=folder, env=environment)
    assert "mps2-an386" in boards, boards


def check_build(options, folder):
    if importlib.util.find_spec("numpy") is None:
        print("needs python-packages: numpy is not installed")
        return SKIPPED
    package = folder / "installed" / "intarsia"
    for component in COMPONENTS:
        run(options.cmake, "--install", options.build, "--component", component, "--prefix", package)
    for source in (REPOSITORY / "python" / "intarsia").glob("*.py"):
        shutil.copy(source, package)
    shutil.copy(REPOSITORY / "python" / "intarsia" / "py.typed", package)
    work = folder / "elsewhere"
    work.mkdir()
    use(sys.executable, {"EXPECTED": str(package), "PYTHONPATH": str(package.parent)}, work)
    return 0


def check_wheel(options, folder):
    wheel = Path(options.wheel).resolve()
    environment = folder / "environment"
    run(sys.executable, "-m", "venv", environment)
    python = environment / "bin" / "python"
    run(python, "-m", "pip", "install", "-q", wheel)
    work = folder / "elsewhere"
    work.mkdir()
    use(python, {"EXPECTED": str(environment)}, work)
    print(run(environment / "bin" / "intarsia", "targets", cwd=work, expected="cortex-m4").splitlines()[0])
    # Sources that devices have alike are there twice (W002); auditwheel puts libraries beside the package (W009, W010).
    tools = {"twine": ["check", "--strict", wheel], "check-wheel-contents": ["--ignore", "W002,W009,W010", wheel],
             "auditwheel": ["show", wheel]}
    if "abi3" in wheel.name:
        tools["abi3audit"] = ["--strict", wheel]
    for tool, arguments in tools.items():
        program = shutil.which(tool)
        if program is None:
            print(f"{tool}: not installed")
            continue
        print(f"{tool}: {' '.join(run(program, *arguments).split())[:400]}")
    return 0


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cmake")
    parser.add_argument("--build")
    parser.add_argument("--wheel")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        return (check_wheel if options.wheel else check_build)(options, Path(folder))


if __name__ == "__main__":
    sys.exit(main())
