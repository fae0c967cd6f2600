"""OPO: exact on-policy training with the optimal reward baseline. Source: microsoft/LMOps `opo/README.md`."""

from verlint.families.model import Family, StageKind, stages

OPO = Family(
    name="opo",
    title="OPO",
    source="microsoft/LMOps opo/README.md",
    verl="0.2.0",
    folders=("opo",),
    stages=stages(StageKind("train", saves=("actor",), aliases=("config",))),
)
