"""What a test in Python needs and does not find: as tests/support/test_main.cpp has it for those in C++."""
import os
import re
import sys

SKIPPED = 77  # the exit status that ctest takes for a skip


def skip(test, need, why):
    """Says that `test` is skipped, and notes it for ./test. Returns the exit status: that of a failure where $INTARSIA_MAY_SKIP
    does not list the need."""
    reason = f"needs {need}: {why}"
    allowed = os.environ.get("INTARSIA_MAY_SKIP")
    if allowed is not None and need not in re.split(r"[\s,;]+", allowed):
        print(f"skipped, and $INTARSIA_MAY_SKIP ('{allowed}') does not list '{need}': {reason}", file=sys.stderr)
        return 1
    print(reason)
    if "INTARSIA_SKIP_LOG" in os.environ:
        with open(os.environ["INTARSIA_SKIP_LOG"], "a", encoding="utf-8") as log:
            log.write(f"{test}\t{reason}\n")
    return SKIPPED
