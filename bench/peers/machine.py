"""What is on this machine: our program, the peers in virtual environments, the cross compiler, recorded data."""
import functools
import json
import os
import pathlib
import shutil
import subprocess
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
PROBES = pathlib.Path(__file__).resolve().parent / "probes"
# Distributions that are compared, and what they are called in the tables.
PEERS = {"tflite-micro": "TFLM", "ai-edge-litert": "LiteRT", "ethos-u-vela": "Vela", "apache-tvm": "TVM",
         "executorch": "ExecuTorch"}
CLOSED = ("stedgeai", "stm32ai")


class Failure(Exception):
    """A program of ours or a peer's probe ended with an error: its words."""


class Machine:
    def __init__(self, intarsia, environments, shared, work):
        self.intarsia, self.shared, self.work = pathlib.Path(intarsia), pathlib.Path(shared), pathlib.Path(work)
        self.environments = [pathlib.Path(folder) for folder in environments]
        for folder in self.environments:
            if not (folder / "bin" / "python").exists():
                raise Failure(f"{folder} is no virtual environment of Python: there is no bin/python in it")

    @functools.cached_property
    def found(self):
        """Distribution -> (environment, description), of the first environment that has it."""
        found = {}
        for folder in self.environments:
            for name, about in self.probe_in(folder, "installed", sorted(PEERS)).items():
                found.setdefault(name, (folder, about))
        return found

    def absent(self, names):
        return [name for name in names if name not in self.found]

    def probe_in(self, folder, name, jobs, timeout=3000):
        """What probes/NAME_probe.py, run by the environment's Python, answers to the jobs."""
        with tempfile.TemporaryDirectory(dir=self.work) as scratch:
            answer = pathlib.Path(scratch, "answer.json")
            environment = {**os.environ, "PYTHONDONTWRITEBYTECODE": "1", "TF_CPP_MIN_LOG_LEVEL": "3"}
            done = subprocess.run([folder / "bin" / "python", PROBES / f"{name}_probe.py", answer], cwd=scratch, env=environment,
                                  input=json.dumps(jobs), capture_output=True, text=True, timeout=timeout, check=False)
            if done.returncode != 0:
                raise Failure(f"{name} in {folder}: {(done.stderr or done.stdout).strip()}")
            return json.loads(answer.read_text())

    def probe(self, distribution, name, jobs):
        """None where the peer is not installed."""
        if distribution not in self.found:
            return None
        return self.probe_in(self.found[distribution][0], name, jobs)

    def run(self, *arguments):
        """Our program; (exit status, standard output, standard error)."""
        done = subprocess.run([self.intarsia, *map(str, arguments)], capture_output=True, text=True, check=False)
        return done.returncode, done.stdout, done.stderr.strip()

    def json(self, *arguments):
        status, text, words = self.run(*arguments, "--json")
        if status != 0:
            raise Failure(words)
        return json.loads(text)

    @functools.cached_property
    def vela(self):
        """Vela's program, or None."""
        return self.found["ethos-u-vela"][0] / "bin" / "vela" if "ethos-u-vela" in self.found else None

    @property
    def has_cross_toolchain(self):
        return all(shutil.which(name) for name in ("arm-none-eabi-gcc", "qemu-system-arm"))

    def folder(self):
        """An empty folder that lives as long as the command."""
        return pathlib.Path(tempfile.mkdtemp(dir=self.work))
