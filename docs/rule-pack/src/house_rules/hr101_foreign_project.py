"""A run is logged to a project that is not one of ours.

The dashboards of the group show the runs of its own projects only. A run that is logged elsewhere is found by nobody.

Nothing is said where the launcher leaves the project to the configuration file.

Fix: set `trainer.project_name` to a project of the group. `projects` in the settings (`[rules.HR101]`) lists them.
"""

from __future__ import annotations

from collections.abc import Iterator

from verlint.experiment.launch import Launch
from verlint.finding import Finding
from verlint.rule import WARNING, Context, rule

_PROJECT = "trainer.project_name"


@rule(
    "HR101",
    "foreign-project",
    on=Launch,
    severity=WARNING,
    words=("project_name",),
    options={"projects": ["alignment", "distillation"]},
)
def check(launch: Launch, ctx: Context) -> Iterator[Finding]:
    project = launch[_PROJECT]
    ours = list(ctx.options["projects"])
    if not project.given or any(project.equals(name) is True for name in ours):
        return
    help = f"one of {', '.join(ours)}"
    if any(project.equals(name) is None for name in ours):
        message = f"the project {project} may not be one of ours"
        yield ctx.unsure(project, message, verify=f'echo "{project}"', help=help)
    else:
        yield ctx.fail(project, f"the project {project} is not one of ours", help=help)
