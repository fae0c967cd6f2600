"""The VeRL versions that a project declares beside the one a launch is judged by."""

from __future__ import annotations

from collections.abc import Mapping

from verlint.experiment.checkout_folders import checkout_folders
from verlint.experiment.launch import Launch
from verlint.experiment.project import Project
from verlint.verl.schema import known_version


def declared_versions(launch: Launch, project: Project) -> Mapping[str, str]:
    """Versions other than the one in use, each with who says so: a directive, the settings, a pin. Empty when nothing
    but the version in use is declared."""
    verl = launch.verl
    if verl is None:
        return {}
    source = launch.command.span.in_file().source
    said = project.known_launches.said(source, launch.command)
    found = {"directive": said.get("verl", ""), "settings": project.settings.verl}
    for folder in checkout_folders(launch.command, source, project.root):
        pin = project.known_launches.finder.pin(folder)
        if pin is not None:
            found[pin[1]] = pin[0]
            break
    used = known_version(verl.text)
    out: dict[str, str] = {}
    for who, text in found.items():
        known = known_version(text) if text else ""
        if known and known != used and known not in (known_version(each) for each in out.values()):
            out[who] = text
    return out
