"""`python -m synaptic` is the command `synaptic`."""

import sys

from .cli import main

sys.exit(main())
