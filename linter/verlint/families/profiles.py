"""The two set-ups of the families: for A100, H100 and H200 machines, and for B200 machines.

Sources: microsoft/LMOps `oel/README.md` and `opcd/README.md` (run_docker.sh and setup.sh, run_docker_b200.sh and
setup_b200.sh), `gad/local_docker.sh`, `llm-as-a-coach/tools/setup_conda_env.sh`.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from verlint.record import dataclass


@dataclass(frozen=True, slots=True)
class Profile:
    """A set-up: the GPUs it is for, and expressions for the images it uses."""

    name: str
    title: str
    gpus: tuple[str, ...]
    images: tuple[str, ...]


PROFILES: Mapping[str, Profile] = {
    "a100-h200": Profile(
        "a100-h200",
        "A100, H100 or H200",
        ("a100", "a800", "h100", "h800", "h200", "h20"),
        (r"(?:^|/)verl2:v0\.2\.0-vllm085$",),
    ),
    "b200": Profile("b200", "B200", ("b200", "gb200"), (r"(?:^|/)pytorch:2\.8\.0-cuda12\.8[\w.-]*$",)),
}
"""The first image has PyTorch 2.6 of CUDA 12.4, which has no kernels for the B200."""

WITHOUT: Mapping[str, frozenset[str]] = {"coach": frozenset(["b200"])}
"""Profiles that a family has no set-up for. Source: llm-as-a-coach/tools/setup_conda_env.sh, README."""

_GPU = re.compile(r"(?<![a-z0-9])(gb200|b200|a100|a800|h100|h800|h200|h20)(?![0-9])")


def profile_of_gpu(text: str) -> Profile | None:
    """The profile for the GPU that a text names (`H100:8`, `setup_b200.sh`, `--gres=gpu:b200:8`); None for several or
    for none."""
    named = set(_GPU.findall(text.lower()))
    found = [each for each in PROFILES.values() if not named.isdisjoint(each.gpus)]
    return found[0] if len(found) == 1 else None


def profile_of_image(image: str) -> Profile | None:
    """The profile that an image belongs to, None for others."""
    for each in PROFILES.values():
        if any(re.search(expression, image) for expression in each.images):
            return each
    return None
