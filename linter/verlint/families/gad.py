"""GAD: black-box distillation against a discriminator. Source: microsoft/LMOps `gad/README.md`, `gad/scripts/`."""

from verlint.families.model import Family, StageKind, stages

GAD = Family(
    name="gad",
    title="GAD",
    source="microsoft/LMOps gad/README.md, gad/scripts/train, gad/scripts/generate",
    folders=("gad",),
    checkout="verl",
    stages=stages(
        StageKind("data-prep", launchers=(r"export_\w*parquet\.py",)),
        StageKind("seqkd", launchers=(r"[\w.-]*seqkd[\w.-]*\.sh",), branch="seqkd", saves=("actor",)),
        StageKind("warmup", launchers=(r"[\w.-]*warmup[\w.-]*\.sh",), branch="warmup", saves=("actor", "critic")),
        StageKind(
            "adversarial", launchers=(r"[\w.-]*adversarial[\w.-]*\.sh",), branch="gad", saves=("actor", "critic")
        ),
        StageKind(
            "generation",
            launchers=(r"generate/(?:parallel_)?generate\.sh",),
            branch="eval",
            aliases=("eval", "generate"),
        ),
        StageKind("score"),
    ),
)
