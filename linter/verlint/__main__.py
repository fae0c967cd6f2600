"""`python -m verlint`."""

from verlint.cli.main import console

if __name__ == "__main__":
    console()
