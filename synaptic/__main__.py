"""`python -m synaptic` is the command `synaptic`."""

import sys

from .surfaces.cli.main import main

sys.exit(main())
