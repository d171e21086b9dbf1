"""`python -m spanscore`; the package has removed the current folder from the path already."""

from spanscore.cli import main

if __name__ == "__main__":
    main()
