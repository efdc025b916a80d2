"""The last steps, the same for every model: C for a board, and for a core with an NPU, each held against the reference and tried
on the test's images."""
import argparse
import pathlib

import intarsia


def options(description, name):
    parser = argparse.ArgumentParser(description=description, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--board", default="mps2-an386")
    parser.add_argument("--npu", default="cortex-m55+ethos-u55-128", help="a target with an NPU")
    parser.add_argument("-o", "--output", type=pathlib.Path, default=pathlib.Path(name))
    chosen = parser.parse_args()
    chosen.output.mkdir(parents=True, exist_ok=True)
    return chosen


def make(model, name, options, images, labels):
    """Writes a folder for the board and one for the NPU, and prints what they take and get right."""
    for folder, where in (("package", {"board": options.board}), ("npu_package", {"target": options.npu})):
        # Inputs and outputs of signed bytes: the application converts, on the scales that the report names.
        package = intarsia.compile(model, name=name, io="int8", **where)
        package.write(options.output / folder)
        report = package.report
        flash = report.flash if report.flash is not None else f"at least {report.constant_bytes}"
        print(f"{' '.join(where.values())}: {report.ram} bytes of RAM, {flash} of flash, {report.macs} multiply-accumulates")
        print(f"on {', '.join(sorted({layer.device for layer in report.layers}))}")

        print(intarsia.verify(model, io="int8", **where))
        found = intarsia.evaluate(package, images, labels=labels, quantise=True)
        print(f"{found.correct} of {found.samples} right")
