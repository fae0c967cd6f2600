"""A launcher logs in to Weights & Biases, and nothing that it starts logs there.

The login asks for a key that the run has no use for: whoever has none cannot run the stage, and whoever has one gives
it to a job (and to a file in the home folder of the node) for nothing. It also waits for an answer when the key is
missing. Launches that log to the console only, and runs with `WANDB_MODE=offline` or `disabled`, need no key.

Silent when a launch's loggers are not known, or another program is started that may use wandb.

Fix: delete the login from stages that only generate, extract or evaluate.
"""

from __future__ import annotations

from collections.abc import Iterator

from verlint.experiment.paths import written_at
from verlint.experiment.script import Script
from verlint.finding import Finding
from verlint.rule import INFO, Context, rule
from verlint_rules.credentials.logger import LOGGER, switched_off


@rule("VL409", "unneeded-credential", on=Script, severity=INFO, since="0.1", words=("login",))
def check(script: Script, ctx: Context) -> Iterator[Finding]:
    if script.document or "login" not in script.source.text:
        return
    from verlint_rules.credentials.logins import logins_of

    for seen in logins_of(script, ctx.project).values():
        if seen.quiet is None or not seen.needless:
            continue
        off = switched_off(seen.quiet.command)
        why = f"{off[0]} keeps its runs here" if off is not None else "no launch behind it logs there"
        finding = ctx.fail(
            seen.command.span,
            f"the login is not needed: {why}",
            help="delete the login",
        )
        logger = seen.quiet[LOGGER]
        place = written_at(off[1]) if off is not None else logger.span if logger.given else seen.quiet.head
        yield finding.with_related(place, off[0] if off is not None else f"{LOGGER} = {logger}")
