"""What is compared: versions, and what an installation of each brings."""
import os
import re
import shutil
import subprocess

from .. import machine as machines
from ..tables import megabytes

NAME = "tools"
PEERS = list(machines.PEERS)
HEADINGS = ["tool", "is", "version", "distributions of Python", "MB installed"]


def our_bytes(program):
    """The program and the shared libraries that it loads, without the C library's own."""
    text = subprocess.run(["ldd", program], capture_output=True, text=True, check=False).stdout
    libraries = re.findall(r"=> (\S+) \(", text)
    own = re.compile(r"/(libc|libm|libpthread|libdl|librt|ld-linux[^/]*)\.so")
    return os.path.getsize(program) + sum(os.path.getsize(path) for path in libraries if not own.search(path))


def closed_tool():
    for name in machines.CLOSED:
        if shutil.which(name):
            return f"{name} is in PATH; nothing here runs it"
    return f"no {' and no '.join(machines.CLOSED)} in PATH"


def make(machine, options):
    version = machine.run("--version")[1].strip()
    rows = [["Intarsia", "the program `intarsia`", version.split()[-1], 0, megabytes(our_bytes(machine.intarsia))]]
    for distribution, name in machines.PEERS.items():
        about = machine.found.get(distribution, (None, None))[1]
        rows.append([name, f"`{distribution}`", *([about["version"], about["distributions"], megabytes(about["bytes"])]
                                                  if about else ["not here", None, None])])
    rows.append(["ST Edge AI Core (X-CUBE-AI)", closed_tool(), "not run", None, None])
    return rows, []
