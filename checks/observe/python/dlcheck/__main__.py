"""python -m dlcheck: the command `dlcheck`."""

from .binary import main

main()
