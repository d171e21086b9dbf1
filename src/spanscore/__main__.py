"""`python -m spanscore`."""

import sys

if __name__ == "__main__":
    if not sys.flags.safe_path:
        del sys.path[0]  # the current folder, from which nothing is to be imported
    from spanscore.cli import main

    main()
