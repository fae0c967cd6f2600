"""Which stage of which family a launch is, from its override set alone. First match wins; None when that cannot be
told.

Source: the stage tables of the LMOps families (launchers' stage-defining overrides).
"""

from __future__ import annotations

from verlint.experiment.launch import Launch
from verlint.families import family_of_folder
from verlint.record import replace
from verlint.verl.defaults import CONSTANT
from verlint.verl.in_use import fixed

_ANY_VERSION = fixed("", CONSTANT)
_STOCK_FOLDERS = frozenset(["verl", "examples", "recipe", "tests"])


def infer(launch: Launch) -> tuple[str, str] | None:
    """Family and stage kind of a launch."""
    launch = replace(launch, verl=_ANY_VERSION)
    prompts = launch["data.prompt_key"].equals("prompt") and "trainer.stage" in launch
    if prompts or "trainer.use_exp_model" in launch or launch["trainer.stage"].equals("rl"):
        return ("coach", "eval") if launch["trainer.val_only"].equals(True) else ("coach", "train")
    if "trainer.stage" in launch:
        return _consolidating(launch)
    return _plain(launch)


def home_of(path: str) -> str:
    """The family that the folder of a launcher speaks for: OPO, whose launches look like others; "" for none.

    Launchers that came with a VeRL checkout in that folder are not the family's own, unless their name says so.
    """
    home = family_of_folder(path)
    if home is None or home.name != "opo":
        return ""
    pieces = path.split("/")
    at = max(number for number, piece in enumerate(pieces[:-1]) if piece in home.folders)
    below = pieces[at + 1 :]
    stock = _STOCK_FOLDERS.intersection(below) and not any("opo" in piece.lower() for piece in below)
    return "" if stock else home.name


def stage_in(family: str, launch: Launch) -> str:
    """The stage kind of a launch whose family is known from elsewhere, "" when that cannot be told."""
    return "train" if family == "opo" and launch["trainer.val_only"].equals(True) is not True else ""


def _consolidating(launch: Launch) -> tuple[str, str] | None:
    """OEL and OPCD say their stage in `trainer.stage`."""
    stage = launch["trainer.stage"]
    if stage.equals("extract"):
        kind = "eval" if launch["trainer.eval_wo_experience"].equals(True) else "extract"
        if "trainer.oel_round" in launch:
            return "oel", kind
        return None if launch["trainer.setting"].equals("textgame") else ("opcd", kind)
    if stage.equals("consolidate"):
        if launch["trainer.train_oel"].equals(True):
            return "oel", "deploy" if launch["trainer.on_policy_merge"].equals(False) else "consolidate"
        if launch["trainer.generate_off_policy"].equals(True):
            return "opcd", "off-policy-data"
        return "opcd", "off-policy" if launch["trainer.on_policy_merge"].equals(False) else "on-policy"
    return None


def _plain(launch: Launch) -> tuple[str, str] | None:
    """GAD and OPO use stock keys."""
    if "trainer.val_data" in launch:
        return "gad", "generation"
    critic = launch["critic.model.path"]
    if critic.given and critic.text is not None and critic.text.suffix.rstrip("/").endswith("critic/huggingface"):
        return "gad", "adversarial"
    content = launch["data.prompt_key"].equals("content")
    if content and critic.given and launch["actor_rollout_ref.actor.kl_loss_type"].equals("low_var_kl"):
        return "gad", "warmup"
    if content and _no_regulariser(launch) and "lmsys" in str(launch["data.train_files"]):
        return "gad", "seqkd"
    # without the estimator OPO looks like any launcher that switches KL and entropy off, so those numbers say nothing
    return ("opo", "train") if launch["algorithm.adv_estimator"].equals("opo") else None


def _no_regulariser(launch: Launch) -> bool:
    actor = "actor_rollout_ref.actor"
    zero = (launch[f"{actor}.{key}"] for key in ("kl_loss_coef", "entropy_coeff"))
    return bool(launch[f"{actor}.use_kl_loss"].given and launch[f"{actor}.use_kl_loss"].equals(False)) and all(
        value.given and value.equals(0) for value in zero
    )
