"""OPCD: on-policy context distillation, three tracks. Source: microsoft/LMOps `opcd/README.md`, `opcd/scripts/`."""

from verlint.families.model import Family, StageKind, stages

OPCD = Family(
    name="opcd",
    title="OPCD",
    source="microsoft/LMOps opcd/scripts",
    folders=("opcd",),
    stages=stages(
        StageKind("data-prep", launchers=(r"prepare_data\.py",)),
        StageKind("extract", launchers=(r"(?:math|textgame)_extract(?:_inturn)?\.sh",)),
        StageKind("on-policy", launchers=(r"(?:math|textgame|sys)_consolidate\.sh",), saves=("actor",), aliases=("consolidate",)),
        StageKind("off-policy-data", launchers=(r"(?:math|textgame|sys)_generate_offp\.sh",)),
        StageKind("off-policy", launchers=(r"(?:math|textgame|sys)_train_offp\.sh",), saves=("actor",)),
        StageKind("eval", launchers=(r"(?:math|textgame|sys)_eval(?:_inturn)?\.sh",)),
    ),
)
