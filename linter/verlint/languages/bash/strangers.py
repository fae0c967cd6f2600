"""Programs that start what they are given, of which no more is known than whether they hand the environment on; files
of variables; and the directives of batch scripts that are submitted with `qsub`."""

from __future__ import annotations

import itertools
from collections.abc import Sequence

from verlint.languages.bash.carriers import Carried
from verlint.languages.bash.handing_on import pieces_of, read_env_file
from verlint.languages.bash.wrappers import SHELLS, program_name
from verlint.lazy import pattern
from verlint.record import replace
from verlint.source import Source
from verlint.value import Text, literal

_HANDING_ON = frozenset(
    ["doppler", "op", "aws-vault", "infisical", "mise", "direnv", "nix", "dotenv", "torchrun", "accelerate", "bwrap",
     "gdb", "entr", "dtach", "abduco", "vtune", "rocprof", "rocprofv3", "cuda-gdb", "pyenv", "asdf", "guix", "ltrace",
     "linux32", "linux64", "proot", "fakeroot", "unshare", "nsenter", "watchexec", "hyperfine", "memusage", "rr"]
)  # fmt: skip
"""Programs that start their command here, with the environment they have."""

LOOKING = frozenset(
    ["pgrep", "pkill", "killall", "ps", "grep", "rg", "ls", "which", "type", "logger", "cat", "tee", "git", "cp", "mv",
     "ln", "chmod", "chown", "rm", "touch", "install", "diff", "cmp", "wc", "head", "tail", "sed", "awk", "shellcheck",
     "shfmt", "bats", "apt", "apt-get", "yum", "dnf", "conda", "pip", "pip3", "uv", "docker", "podman", "scp", "rsync",
     "tar", "zip", "file", "stat", "less", "vim", "nano", "code", "sort", "uniq", "echo", "printf", "usermod", "chsh",
     "python", "python3"]
)  # fmt: skip
"""Programs that start nothing, whatever they are told."""

_DIRECTIVE = pattern(r"(?m)^#(?:PBS|\$)[ \t]+(.*)$")


def script_behind(words: Sequence[Text]) -> list[Text] | None:
    """The shell with a script that a program is given: `… bash train.sh`."""
    for at, word in enumerate(words[1:-1], 1):
        if program_name(word) in SHELLS:
            behind = words[at + 1].known
            return list(words[at:]) if behind is not None and not behind.startswith("-") else None
    return None


def hands_on(name: str, words: Sequence[Text]) -> bool:
    """Whether a program starts what it is given with its own environment."""
    return name in _HANDING_ON or (name == "ray" and words[1].known == "symmetric-run")


def with_env_file(found: Carried, source: Source) -> Carried:
    """What is carried, with the variables of a file, which give way to those of the call."""
    given, passed = read_env_file(source, quotes=found.quotes)
    return replace(found, given={**given, **found.given}, passed=(*found.passed, *passed))


def by_directives(found: Carried, script: Source | None, called_in: Text) -> Carried:
    """What is submitted, as the `#PBS` and `#$` lines of its script say, and with the folder it was submitted in."""
    given = dict.fromkeys(("PBS_O_WORKDIR", "SGE_O_WORKDIR"), called_in)
    passed = list(found.passed)
    place, foreign = found.place, found.foreign
    for line in _DIRECTIVE.findall(script.text) if script is not None else ():
        words = line.split()
        place = "" if "-V" in words else place
        foreign = foreign and "-cwd" not in words
        for option, value in itertools.pairwise(words):
            for piece in pieces_of(literal(value)) if option == "-v" else ():
                name, equals, text = (piece.known or "").partition("=")
                if equals:
                    given[name] = literal(text)
                else:
                    passed.append(name)
    return replace(found, given={**given, **found.given}, passed=tuple(passed), place=place, foreign=foreign)
