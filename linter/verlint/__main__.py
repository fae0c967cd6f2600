"""`python -m verlint`."""

import os
import sys

if __name__ == "__main__":
    if not sys.flags.safe_path and sys.path and os.path.realpath(sys.path[0]) == os.path.realpath(os.curdir):
        del sys.path[0]  # put there by `-m`: what is checked must not be imported in place of a library
    from verlint.cli.main import console

    console()
