"""Vela on a model: its exit status, its own summary, the file that it wrote."""
import csv
import importlib.util
import re
import subprocess

from .machine import ROOT

CPU_OPERATORS = re.compile(r"^CPU operators = (\d+)", re.M)
NPU_OPERATORS = re.compile(r"^NPU operators = (\d+)", re.M)


def against_vela():
    """targets/ethos-u/bench/against_vela.py, for the names that Vela gives to systems and modes of memory."""
    path = ROOT / "targets" / "ethos-u" / "bench" / "against_vela.py"
    spec = importlib.util.spec_from_file_location("against_vela", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


class Compiled:
    """`error` is "" or why there is nothing else."""

    def __init__(self, machine, model, npu, mode, optimise="Performance"):
        names, folder = against_vela(), machine.folder()
        self.command = [machine.vela, model, "--accelerator-config", npu, "--config", "Arm/vela.ini", "--system-config",
                        names.VELA_SYSTEM[npu[:9]], "--memory-mode", names.VELA_MODE[mode], "--optimise", optimise, "--output-dir", folder]
        done = subprocess.run(self.command, capture_output=True, text=True, check=False, cwd=folder)
        self.file = folder / f"{model.stem}_vela.tflite"
        self.error = ""
        if done.returncode != 0 or not self.file.exists():
            self.error = f"exit status {done.returncode}: {(done.stderr or done.stdout).strip().splitlines()[-1:]}"
            return
        count = lambda pattern: int((pattern.search(done.stdout) or [0, 0])[1])
        self.cpu_operators, self.npu_operators = count(CPU_OPERATORS), count(NPU_OPERATORS)
        with open(next(folder.glob("*_summary_*.csv")), newline="", encoding="utf-8") as file:
            summary = next(csv.DictReader(file))
        self.cycles = round(float(summary["cycles_total"]))
        self.sram = round(float(summary["sram_memory_used"]) * 1024)
