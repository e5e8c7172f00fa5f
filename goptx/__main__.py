"""`python -m goptx` is the command line."""

import sys

from goptx.cli import main

sys.exit(main())
