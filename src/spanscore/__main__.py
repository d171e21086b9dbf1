"""`python -m spanscore`."""

from spanscore.cli import main

if __name__ == "__main__":
    main()
