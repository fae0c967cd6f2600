"""Which job format a YAML text is written in, told by its top keys. Nothing is parsed here: few texts are jobs."""

from __future__ import annotations

import re

from verlint.lazy import pattern

SKYPILOT = "SkyPilot task"
DSTACK = "dstack configuration"
KUBERNETES = "Kubernetes object"
WORKFLOW = "GitHub workflow"
ACTION = "GitHub action"
GITLAB = "GitLab pipeline"
COMPOSE = "Compose file"

_KEY = pattern(r"^([\"']?)([A-Za-z_][\w.-]*)\1[ \t]*:(?=\s|$)", re.MULTILINE)
_STRING_RUN = pattern(r"^run[ \t]*:[ \t]*(?:[|>][^\n]*|[^\s#{\[][^\n]*)$", re.MULTILINE)
_DSTACK_TYPE = pattern(r"^type[ \t]*:[ \t]*[\"']?(?:task|service|dev-environment)\b", re.MULTILINE)
_SCRIPT = pattern(r"^[ \t]+(?:before_|after_)?script[ \t]*:", re.MULTILINE)
_IMAGE = pattern(r"^[ \t]+(?:image|build|command|entrypoint)[ \t]*:", re.MULTILINE)
_NAMED = (
    (pattern(r"(?:^|/|\.)dstack\.ya?ml$"), DSTACK),
    (pattern(r"(?:^|/)\.github/workflows/[^/]+\.ya?ml$"), WORKFLOW),
    (pattern(r"(?:^|[/.])gitlab-ci(?:[.-][\w.-]+)?\.ya?ml$"), GITLAB),
    (pattern(r"(?:^|/)(?:docker-)?compose(?:[.-][\w.-]+)?\.ya?ml$"), COMPOSE),
)
_SKYPILOT_KEYS = frozenset(["run", "resources", "num_nodes", "setup", "secrets", "file_mounts", "workdir", "envs"])


def format_of(path: str, text: str) -> str:
    """The job format of a YAML text ("SkyPilot task"), "" when it is none. What it holds decides, before its name."""
    keys = {found[2] for found in _KEY.finditer(text)}
    if {"apiVersion", "kind"} <= keys:
        return KUBERNETES
    if _DSTACK_TYPE.search(text) and keys & {"commands", "resources", "image", "python", "ide", "nodes", "env"}:
        return DSTACK
    if "jobs" in keys and ("on" in keys or "steps:" in text):
        return WORKFLOW
    if {"runs", "name"} <= keys and "steps:" in text:
        return ACTION
    if len(keys & _SKYPILOT_KEYS) > 1 and ("setup" in keys or _STRING_RUN.search(text)):
        return SKYPILOT
    if "services" in keys and _IMAGE.search(text):
        return COMPOSE
    if "stages" in keys and "schema" not in keys and _SCRIPT.search(text):
        return GITLAB
    return next((name for by_name, name in _NAMED if by_name.search(path)), "")
