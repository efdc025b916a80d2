#!/usr/bin/env python3
"""Runs what docs/check-in-ci.md gives users for GitHub Actions and GitLab CI.

The files are parsed as YAML. Their commands are run by bash as the services run them, in a folder with the budgets,
model and baseline of the page; those that set a machine up are only parsed by bash. With budgets that are too small
the step that checks has to fail, and the figures have to be there all the same.

    ci_snippets.py --bin FOLDER    where the program `intarsia` is

Exit status 77: something that this needs is not installed.
"""
import argparse
import importlib.machinery
import importlib.util
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

REPOSITORY = pathlib.Path(__file__).resolve().parents[3]
sys.path.insert(0, str(REPOSITORY / "tests" / "support"))
from needs import skip  # noqa: E402, it lies there
PAGE = REPOSITORY / "docs" / "check-in-ci.md"
GITHUB, GITLAB = ".github/workflows/budgets.yml", ".gitlab-ci.yml"


def load_docs():
    """scripts/docs, for its reading of pages."""
    loader = importlib.machinery.SourceFileLoader("docs", str(REPOSITORY / "scripts" / "docs"))
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader("docs", loader))
    loader.exec_module(module)
    return module


def files_of_page():
    """What the blocks with file=PATH hold, by path."""
    lines = PAGE.read_text().splitlines()
    found = {}
    for block in load_docs().blocks_of(lines):
        for word in block.words():
            if word.startswith("file="):
                found[word[len("file="):]] = "\n".join(lines[block.first + 1:block.last]) + "\n"
    return found


def fail(message):
    print(message, file=sys.stderr)
    sys.exit(1)


def expect(condition, message):
    if not condition:
        fail(message)


class Machine:
    """A checkout of a user's repository, and the commands of a job in it."""

    def __init__(self, folder, environment):
        self.folder = folder
        self.environment = environment

    def run(self, commands):
        """Exit status; as both services run a step: bash that stops at the first failure, in a pipe too."""
        return subprocess.run(["bash", "-eo", "pipefail", "-c", commands], cwd=self.folder, env=self.environment,
                              stdin=subprocess.DEVNULL, timeout=300).returncode

    def parse(self, commands):
        expect(subprocess.run(["bash", "-n", "-c", commands]).returncode == 0, f"bash does not parse:\n{commands}")


def github(text, machine, yaml):
    """Exit status of the job."""
    workflow = yaml.safe_load(text)
    # YAML 1.1 reads the key `on` as true.
    expect(set(workflow) == {"name", True, "jobs"}, f"{GITHUB}: keys {set(workflow)}")
    status = 0
    for name, job in workflow["jobs"].items():
        expect({"runs-on", "steps"} <= set(job), f"{GITHUB}: job {name} lacks a key")
        for step in job["steps"]:
            expect(("run" in step) != ("uses" in step), f"{GITHUB}: a step has either run or uses: {step}")
            if "uses" in step:
                expect("@" in step["uses"], f"{GITHUB}: {step['uses']} names no version")
                continue
            if step["name"].startswith("Set up"):
                machine.parse(step["run"])
            elif status == 0 or step.get("if") == "always()":
                status = machine.run(step["run"]) or status
    return status


def gitlab(text, machine, yaml):
    """Exit status of the jobs."""
    status = 0
    for name, job in yaml.safe_load(text).items():
        expect({"image", "script"} <= set(job), f"{GITLAB}: job {name} lacks a key")
        for command in job["before_script"]:
            machine.parse(command)
        status = machine.run("\n".join(job["script"])) or status
        # A failure of after_script does not fail the job.
        expect(machine.run("\n".join(job["after_script"])) == 0, f"{GITLAB}: after_script fails")
        for path in job["artifacts"]["paths"]:
            expect((machine.folder / path).exists(), f"{GITLAB}: there is no artifact {path}")
    return status


def check(service, text, machine, yaml):
    figures = machine.folder / "figures.json"
    for limit, passes in ("26K", True), ("2K", False):
        budgets = files_of_page()["budgets.json"]
        expect('"max_flash": "26K"' in budgets, "the page's budget of flash is not what this test changes")
        (machine.folder / "budgets.json").write_text(budgets.replace('"max_flash": "26K"', f'"max_flash": "{limit}"'))
        figures.unlink(missing_ok=True)
        status = service(text, machine, yaml)
        expect((status == 0) == passes, f"{service.__name__}: with {limit} of flash the job ends with {status}")
        expect(json.loads(figures.read_text())["passed"] == passes, f"{service.__name__}: the figures say otherwise")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bin", required=True)
    options = parser.parse_args()
    try:
        import yaml
    except ImportError:
        return skip("ci_snippets_test", "yaml", "there is no python3-yaml")
    if shutil.which("arm-none-eabi-gcc") is None:
        return skip("ci_snippets_test", "cross-toolchain", "there is no arm-none-eabi-gcc")
    path = os.path.abspath(options.bin) + os.pathsep + os.environ["PATH"]
    files = files_of_page()
    with tempfile.TemporaryDirectory() as name:
        machine = Machine(pathlib.Path(name), dict(os.environ, PATH=path))
        shutil.copy(REPOSITORY / "examples" / "digits" / "digits.tflite", name)
        expect(machine.run("intarsia compile digits.tflite --board mps2-an386 -o digits > report.txt && "
                           "cp digits/report.json digits-baseline.json") == 0, "the baseline is not made")
        # What the set-up adds to $PATH is not there.
        check(github, files[GITHUB], machine, yaml)
        check(gitlab, files[GITLAB], machine, yaml)
    return 0


if __name__ == "__main__":
    sys.exit(main())
