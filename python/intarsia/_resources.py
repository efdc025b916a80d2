"""Where the boards, the device runtime and the targets' sources lie."""

from __future__ import annotations

import os
from pathlib import Path


def root() -> str:
    """The folder that holds boards/, device-runtime/ and targets/.

    It lies in the package. $INTARSIA_ROOT names another one, as it does for the command line.
    """
    given = os.environ.get("INTARSIA_ROOT")
    return given if given else str(Path(__file__).absolute().parent / "share" / "intarsia")


def program() -> str:
    """The command line."""
    return str(Path(__file__).absolute().parent / "bin" / "intarsia")
