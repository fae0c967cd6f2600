"""LLM-as-a-Coach: experiential learning and RL with a coach model. Source: microsoft/LMOps `llm-as-a-coach/`."""

from verlint.families.model import Family, StageKind, stages

_RESUME = (("--resume_policy_name", "--resume_policy_ckpt"),)

COACH = Family(
    name="coach",
    title="LLM-as-a-Coach",
    source="microsoft/LMOps llm-as-a-coach/usage_example.sh, llm-as-a-coach/scripts",
    folders=("llm-as-a-coach", "coach"),
    stages=stages(
        StageKind("data-prep", launchers=(r"download_data\.sh",)),
        StageKind("train", launchers=(r"train_el\.sh", r"train_rl\.sh"), saves=("actor",), resumes=_RESUME),
        StageKind("eval", launchers=(r"scripts/(?:\w+/)?eval\.sh",)),
        StageKind("eval-fuzzy", launchers=(r"eval_fuzzy\.sh",)),
        StageKind("eval-endtask", launchers=(r"eval_endtask\.sh",)),
        StageKind("score", launchers=(r"eval_gpt4o(?:_fuzzy)?\.py",)),
    ),
)
