"""`python -m aaa.cli`, for where the `aaa` script is not on the path."""

import sys

from aaa.cli.entry import main

if __name__ == "__main__":
    sys.exit(main())
