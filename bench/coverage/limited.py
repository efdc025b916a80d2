"""A program within limits, and the processor time that it took."""
import os
import resource
import subprocess
import tempfile


class Ended:
    def __init__(self, status, out, err, usage):
        self.status, self.out, self.err = status, out, err
        self.cpu_seconds = usage.ru_utime + usage.ru_stime
        self.peak_megabytes = usage.ru_maxrss / 1024

    @property
    def words(self):
        """Why it failed, in one line."""
        if self.status < 0:
            return {-24: "took more processor time than it may", -9: "was killed"}.get(self.status, f"ended by signal {-self.status}")
        lines = [line for line in (self.err or self.out).strip().splitlines() if line.strip() and not line.startswith("note: ")]
        return lines[-1] if lines else f"exit status {self.status}"


def run(command, seconds, gigabytes, **more):
    """`seconds` of processor time, of all its threads; `gigabytes` of address space."""
    def limit():
        resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds + 5))
        resource.setrlimit(resource.RLIMIT_AS, (int(gigabytes * 2**30),) * 2)
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    with tempfile.TemporaryFile("w+", errors="replace") as out, tempfile.TemporaryFile("w+", errors="replace") as err:
        child = subprocess.Popen([str(word) for word in command], stdin=subprocess.DEVNULL, stdout=out, stderr=err, preexec_fn=limit, **more)
        _, status, usage = os.wait4(child.pid, 0)
        child.returncode = os.waitstatus_to_exitcode(status)
        out.seek(0), err.seek(0)
        return Ended(child.returncode, out.read(), err.read(), usage)
