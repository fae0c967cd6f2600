"""OPCD: on-policy context distillation, three tracks. Source: microsoft/LMOps `opcd/README.md`, `opcd/scripts/`."""

from verlint.families.model import Family, Record, StageKind, stages

_EXTRACT = Record(
    launchers=(r"textgame_extract_inturn\.sh",),
    fields=(
        "EXP_NAME", "CKPT_START", "CKPT_END", "CKPT_STEP", "RESUME_POLICY_NAME", "RESUME_POLICY_CKPT", "PROMPT_VERSION",
        "VAL_SAMPLES_LIMIT", "EXP_SEL_WITH_PREV", "MAX_RESPONSE_LENGTH", "TEXTGAME_NAME", "TEXTGAME_MAX_RESPONSE",
        "TEXTGAME_MAX_STEPS", "TEXTGAME_NO_THINK", "EXP_MODEL_PATH",
    ),
    resumes=(("RESUME_POLICY_NAME", "RESUME_POLICY_CKPT"),),
)  # fmt: skip
"""Source: the `read` of opcd/scripts/textgame_extract_inturn.sh; OEL's record without the round."""

_EVAL = Record(
    launchers=(r"textgame_eval_inturn\.sh",),
    fields=(
        "EXP_NAME", "CKPT_START", "CKPT_END", "CKPT_STEP", "MODEL_PATH", "USE_BSL", "MAX_RESPONSE_LENGTH",
        "TEXTGAME_NAME", "TEXTGAME_MAX_STEPS", "TEXTGAME_NO_THINK",
    ),
)  # fmt: skip
"""Source: the `read` of opcd/scripts/textgame_eval_inturn.sh."""

OPCD = Family(
    name="opcd",
    title="OPCD",
    source="microsoft/LMOps opcd/scripts",
    folders=("opcd",),
    stages=stages(
        StageKind("data-prep", launchers=(r"prepare_data\.py",)),
        StageKind("extract", launchers=(r"(?:math|textgame)_extract(?:_inturn)?\.sh",), records=(_EXTRACT,)),
        StageKind(
            "on-policy",
            launchers=(r"(?:math|textgame|sys)_consolidate\.sh",),
            saves=("actor",),
            aliases=("consolidate",),
        ),
        StageKind("off-policy-data", launchers=(r"(?:math|textgame|sys)_generate_offp\.sh",)),
        StageKind("off-policy", launchers=(r"(?:math|textgame|sys)_train_offp\.sh",), saves=("actor",)),
        StageKind("eval", launchers=(r"(?:math|textgame|sys)_eval(?:_inturn)?\.sh",), records=(_EVAL,)),
    ),
)
