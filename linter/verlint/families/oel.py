"""OEL: rounds of extracting and consolidating experience in text games. Source: microsoft/LMOps `oel/README.md`, `oel/scripts/`."""

from verlint.families.model import Family, StageKind, stages

_RESUME = (("--resume_policy_name", "--resume_policy_ckpt"),)

OEL = Family(
    name="oel",
    title="OEL",
    source="microsoft/LMOps oel/scripts",
    folders=("oel",),
    stages=stages(
        StageKind("extract", launchers=(r"textgame_extract(?:_inturn)?\.sh",)),
        StageKind("experience-list", launchers=(r"make_exp_list\.py",)),
        StageKind("deploy", launchers=(r"textgame_generate_deploy\.sh",), resumes=_RESUME),
        StageKind("consolidate", launchers=(r"textgame_consolidate\.sh",), saves=("actor",), resumes=_RESUME),
        StageKind("eval", launchers=(r"textgame_eval(?:_inturn)?\.sh",)),
    ),
)
