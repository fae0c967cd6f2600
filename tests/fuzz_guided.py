"""Inputs that atheris makes to reach code that no input has reached, held against the demands of `fuzz.py`.

    pip install atheris
    python tests/fuzz_guided.py FOLDER [-max_total_time=600 and other options of libFuzzer]

The folder keeps what atheris finds and is what the next run goes on from; the fixtures are put into it first. The first
byte of an input chooses the kind of file. Modules are instrumented when they are imported, so this file imports
atheris before anything of verlint."""

from __future__ import annotations

import sys
from pathlib import Path

import atheris

INSTRUMENTED = ["verlint", "verlint_rules"]
TAKEN_AS_THEY_ARE = ["verlint.record"]
"""Makes classes of code objects, which must not be changed."""


def main() -> None:
    """The command of this file."""
    with atheris.instrument_imports(include=INSTRUMENTED, exclude=TAKEN_AS_THEY_ARE):
        from fuzz import NAMES, bounded, examine, seeds

        names = sorted(set(NAMES.values()))
        folder = Path(sys.argv[1])
        folder.mkdir(parents=True, exist_ok=True)
        for number, (name, data) in enumerate(seeds()):
            (folder / f"seed-{number:05}").write_bytes(bytes([names.index(name)]) + data)

        def target(data: bytes) -> None:
            if data:
                with bounded():
                    examine(names[data[0] % len(names)], data[1:])

        atheris.Setup([sys.argv[0], str(folder.absolute()), "-max_len=4096", *sys.argv[2:]], target)
        atheris.Fuzz()


if __name__ == "__main__":
    main()
