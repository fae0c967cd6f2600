"""Lists of visible devices that are none: an entry that names no device, or a device twice."""

from __future__ import annotations

from collections.abc import Iterator

from verlint.experiment.paths import written_at
from verlint.experiment.places import assignments_by_name, variants_in
from verlint.experiment.script import Script
from verlint.finding import Edit, Finding, Safety
from verlint.lazy import pattern
from verlint.rule import Context
from verlint.source import Span
from verlint.value import Text

DEVICES = ("CUDA_VISIBLE_DEVICES", "ASCEND_RT_VISIBLE_DEVICES", "HIP_VISIBLE_DEVICES", "ROCR_VISIBLE_DEVICES")
"""Variables that list the devices a process sees."""
_DEVICE = pattern(r"(?:-?\d+|\d+-\d+|(?:GPU|MIG)-[\w./-]*|NoDevFiles|all|none|void)?")
"""A number, for Ascend also a range; the start of a UUID; or a word that stands for all or none."""
_NUMBER = pattern(r"\d+")


def odd_lists(script: Script, ctx: Context) -> Iterator[Finding]:
    """A finding for each list that a script writes, exported or in front of a command."""
    seen: set[tuple[str, int, int]] = set()
    for name in DEVICES:
        if name not in script.source.text:
            continue
        for text in _lists(script, name, ctx):
            place = written_at(text)
            if text.known is None or place is None or place.in_file().order() in seen:
                continue
            seen.add(place.in_file().order())
            yield from _judged(name, text.known, place, ctx)


def _lists(script: Script, name: str, ctx: Context) -> Iterator[Text]:
    for each in assignments_by_name(ctx.project, script.source).get(name, ()):
        if each.value is not None:
            yield each.value
    for variant in variants_in(ctx.project, script.source):
        if name in variant.command.prefix:
            yield variant.command.prefix[name]


def _judged(name: str, listed: str, place: Span, ctx: Context) -> Iterator[Finding]:
    entries = [entry.strip() for entry in listed.split(",")]
    odd = next((entry for entry in entries if not _DEVICE.fullmatch(entry)), None)
    twice = next((entry for at, entry in enumerate(entries) if entry and entry in entries[:at]), None)
    if odd is not None:
        message = f"`{odd}` in {name} is no device: the run sees the devices before it only, or stops"
        numbers = [_NUMBER.match(entry) for entry in entries]
        right = ",".join(dict.fromkeys(number.group() for number in numbers if number is not None))
    elif twice is not None:
        message = f"{name} lists device {twice} twice, and then the run sees none"
        right = ",".join(dict.fromkeys(entries))
    else:
        return
    finding = ctx.fail(place, message, value=f"{name} = {listed}", help=f"write {right}" if right else "list numbers")
    if right and place.text == listed:
        finding = finding.with_fix(f"write {right}", Edit(place, right), safety=Safety.UNSAFE)
    yield finding
