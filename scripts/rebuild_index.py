"""`synaptic rebuild-index`, from a clone: makes `.venv` first where there is none, passes its
arguments on.
"""

import sys

from environment import run_synaptic

if __name__ == "__main__":
    run_synaptic(["rebuild-index", *sys.argv[1:]])
