"""Runs each job in a process of its own, since a peer's interpreter may end the process that asks it."""
import json
import os
import signal
import sys
import tempfile


def in_a_process(work, job):
    """{"result": what `work(job)` returned} or {"error": why there is none}; "text": all that was printed meanwhile."""
    with tempfile.TemporaryFile() as text, tempfile.TemporaryFile() as answer:
        child = os.fork()
        if child == 0:
            os.dup2(text.fileno(), 1)
            os.dup2(text.fileno(), 2)
            try:
                said = {"result": work(job)}
            except BaseException as error:  # whatever a peer raises is its answer
                said = {"error": f"{type(error).__name__}: {error}"}
            os.write(answer.fileno(), json.dumps(said).encode())
            os._exit(0)
        status = os.waitpid(child, 0)[1]
        text.seek(0)
        answer.seek(0)
        written = answer.read()
        said = json.loads(written) if written else {"error": f"ended by {signal.Signals(status & 127).name}" if status & 127 else
                                                    f"exit status {status >> 8}"}
        return {**said, "text": text.read().decode(errors="replace")}


def answer_jobs(work):
    """Jobs from standard input, answers into the file that the first argument names."""
    answers = [in_a_process(work, job) for job in json.load(sys.stdin)]
    with open(sys.argv[1], "w", encoding="utf-8") as file:
        json.dump(answers, file)
