"""OEL: rounds of extracting and consolidating experience in text games. Source: microsoft/LMOps `oel/README.md`,
`oel/scripts/`."""

from verlint.families.model import Family, Record, StageKind, stages

_RESUME = (("--resume_policy_name", "--resume_policy_ckpt"),)

_EXTRACT = Record(
    launchers=(r"textgame_extract_inturn\.sh",),
    fields=(
        "EXP_NAME", "CKPT_START", "CKPT_END", "CKPT_STEP", "RESUME_POLICY_NAME", "RESUME_POLICY_CKPT", "PROMPT_VERSION",
        "VAL_SAMPLES_LIMIT", "EXP_SEL_WITH_PREV", "MAX_RESPONSE_LENGTH", "TEXTGAME_NAME", "TEXTGAME_MAX_RESPONSE",
        "TEXTGAME_MAX_STEPS", "TEXTGAME_NO_THINK", "OEL_ROUND", "EXP_MODEL_PATH",
    ),
    resumes=(("RESUME_POLICY_NAME", "RESUME_POLICY_CKPT"),),
)  # fmt: skip
"""Source: the `read` of oel/scripts/textgame_extract_inturn.sh."""

_LIST = Record(
    launchers=(r"make_exp_list\.py",),
    fields=("EXP_NAME", "CKPT_START", "CKPT_END", "CKPT_STEP", "VAL_SAMPLES_LIMIT", "VAL_SAMPLES_USE"),
)
"""Source: oel/tools/make_exp_list.py."""

_EVAL = Record(
    launchers=(r"textgame_eval_inturn\.sh",),
    fields=(
        "EXP_NAME", "CKPT_START", "CKPT_END", "CKPT_STEP", "MODEL_PATH", "USE_BSL", "MAX_RESPONSE_LENGTH",
        "TEXTGAME_NAME", "TEXTGAME_MAX_STEPS", "TEXTGAME_NO_THINK",
    ),
)  # fmt: skip
"""Source: the `read` of oel/scripts/textgame_eval_inturn.sh."""

OEL = Family(
    name="oel",
    title="OEL",
    source="microsoft/LMOps oel/scripts",
    folders=("oel",),
    stages=stages(
        StageKind("extract", launchers=(r"textgame_extract(?:_inturn)?\.sh",), records=(_EXTRACT,)),
        StageKind("experience-list", launchers=(r"make_exp_list\.py",), records=(_LIST,)),
        StageKind("deploy", launchers=(r"textgame_generate_deploy\.sh",), resumes=_RESUME),
        StageKind("consolidate", launchers=(r"textgame_consolidate\.sh",), saves=("actor",), resumes=_RESUME),
        StageKind("eval", launchers=(r"textgame_eval(?:_inturn)?\.sh",), records=(_EVAL,)),
    ),
)
