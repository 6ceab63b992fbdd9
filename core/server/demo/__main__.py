"""`python -m core.server.demo`: one agent of the demo's fleet."""

import sys

from core.server.demo.agent import main

sys.exit(main(sys.argv[1:]))
