"""`python -m verlint`."""

from verlint.cli.main import main

if __name__ == "__main__":
    raise SystemExit(main())
