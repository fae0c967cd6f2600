"""Clean launchers made at random, and the same with the fault of one rule: what the fix is to give back."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass, field

A, R, M = "actor_rollout_ref.actor", "actor_rollout_ref.rollout", "actor_rollout_ref.model"

PLAIN = {
    "algorithm.adv_estimator": "grpo",
    "data.train_files": '"${DATA_ROOT}/train.parquet"',
    "data.val_files": '"${DATA_ROOT}/val.parquet"',
    "data.train_batch_size": "256",
    "data.max_prompt_length": "1024",
    "data.max_response_length": "4096",
    f"{M}.path": '"${POLICY}"',
    f"{M}.use_remove_padding": "True",
    f"{A}.optim.lr": "1e-6",
    f"{A}.ppo_mini_batch_size": "64",
    f"{A}.use_dynamic_bsz": "True",
    f"{A}.ppo_max_token_len_per_gpu": "8192",
    f"{R}.name": "vllm",
    f"{R}.n": "8",
    f"{R}.gpu_memory_utilization": "0.6",
    "trainer.n_gpus_per_node": "8",
    "trainer.logger": "console",
    "trainer.save_freq": "50",
    "trainer.default_local_dir": '"${CKPT_ROOT}/${RUN_NAME}"',
}
EXACT = {
    **PLAIN,
    "algorithm.adv_estimator": "opo",
    f"{A}.ppo_mini_batch_size": "256",
    f"{A}.ppo_epochs": "1",
    f"{A}.use_kl_loss": "False",
    f"{A}.entropy_coeff": "0",
    "algorithm.use_kl_in_reward": "False",
    f"{R}.top_p": "1.0",
    f"{R}.top_k": "-1",
}
FEW_SAMPLES = {**PLAIN, f"{R}.n": "5"}
FIXED_SIZES = {key: text for key, text in PLAIN.items() if "dynamic" not in key and "max_token" not in key} | {
    f"{A}.ppo_micro_batch_size_per_gpu": "4",
    f"{R}.log_prob_micro_batch_size_per_gpu": "8",
}
MORE = {
    "trainer.project_name": "maths",
    "trainer.experiment_name": "'second try'",
    "trainer.test_freq": "25",
    "data.shuffle": "True",
    "trainer.total_epochs": "3",
    "data.prompt_key": '"prompt"',
}
NOTES = (
    "# as in the paper",
    "# \N{SNOWMAN} \N{OCTOPUS} tuned by hand",
    '# see notes.txt; a `tick`, a "quote" and a \\',
)
ROOTS = ("DATA_ROOT", "CKPT_ROOT", "POLICY", "RUN_NAME")


@dataclass
class Launcher:
    """Lines above the command, its words, and lines below."""

    verl: str
    head: list[str]
    words: list[str]
    tail: list[str] = field(default_factory=list)
    indent: str = "    "
    array: str = ""
    options: str = "set -euo pipefail"
    suffix: str = ""

    def text(self) -> str:
        """The launcher as a file."""
        top = ["#!/usr/bin/env bash", f"# verlint: verl={self.verl}", self.options, ""]
        roots = [f'{name}="${{{name}:?say where}}"' for name in ROOTS]
        start = "python3 -m verl.trainer.main_ppo"
        if self.array:
            body = [f"{self.array}=(", *(self.indent + word for word in self.words), ")", ""]
            body.append(f'{start} "${{{self.array}[@]}}"{self.suffix}')
        else:
            lines = [start, *(self.indent + word for word in self.words)]
            body = [f"{line} \\" for line in lines[:-1]] + [lines[-1] + self.suffix]
        return "\n".join([*top, *roots, "", *self.head, *body, *self.tail, ""])

    def index(self, key: str) -> int:
        """Where a key stands among the words."""
        return next(number for number, word in enumerate(self.words) if word.split("=")[0] == key)

    def put(self, key: str, text: str) -> None:
        """Give a key another value."""
        self.words[self.index(key)] = f"{key}={text}"

    def rename(self, key: str, name: str) -> None:
        """Give a value another key."""
        at = self.index(key)
        self.words[at] = f"{name}={self.words[at].partition('=')[2]}"


def launcher(chance: random.Random, base: dict[str, str], verl: str = "0.7.1", *, array: bool = True) -> Launcher:
    """A clean launcher: these overrides and some more in any order, with comments and commands around."""
    chosen = dict(chance.sample(sorted(MORE.items()), chance.randint(0, len(MORE))))
    words = [f"{key}={text}" for key, text in {**chosen, **base}.items()]
    chance.shuffle(words)
    head = [chance.choice(NOTES) for _ in range(chance.randint(0, 2))]
    head += chance.choice([[], ["export TOKENIZERS_PARALLELISM=true", ""], ["echo 'a \\", "b'", ""]])
    tail = chance.choice([[], ["echo done"], ["", chance.choice(NOTES)]])
    indent = chance.choice(["    ", "  ", "\t"])
    name = chance.choice(["", "", "ARGS"]) if array else ""
    return Launcher(verl, head, words, tail, indent, name)


Fault = Callable[[random.Random], tuple[str, str]]
"""Gives a clean launcher and the same with a fault."""


def value(key: str, *wrong: str, base: dict[str, str], verl: str = "0.7.1", array: bool = True) -> Fault:
    """A key with a wrong value."""

    def make(chance: random.Random) -> tuple[str, str]:
        one = launcher(chance, base, verl, array=array)
        clean = one.text()
        one.put(key, chance.choice(wrong))
        return clean, one.text()

    return make


def name(key: str, *wrong: str, base: dict[str, str], verl: str = "0.7.1") -> Fault:
    """A value with a wrong key."""

    def make(chance: random.Random) -> tuple[str, str]:
        one = launcher(chance, base, verl)
        clean = one.text()
        one.rename(key, chance.choice(wrong))
        return clean, one.text()

    return make


def word(right: str, wrong: str, base: dict[str, str], verl: str = "0.7.1", *, array: bool = True) -> Fault:
    """A word that is written otherwise, or not at all (right is "")."""

    def make(chance: random.Random) -> tuple[str, str]:
        one = launcher(chance, base, verl, array=array)
        one.words = [each for each in one.words if each.partition("=")[0] not in right]
        at = chance.randint(1, len(one.words) - 1)
        clean = list(one.words)
        if right:
            clean.insert(at, right)
        broken = list(one.words)
        broken.insert(at, wrong)
        one.words = clean
        text = one.text()
        one.words = broken
        return text, one.text()

    return make


def head(right: list[str], wrong: list[str], options: str = "set -euo pipefail", suffix: str = "") -> Fault:
    """Other lines above the command, which ends in `suffix`."""

    def make(chance: random.Random) -> tuple[str, str]:
        one = launcher(chance, PLAIN, array=not suffix)
        one.options, one.suffix = options, suffix
        above = one.head
        one.head = [*above, *right]
        clean = one.text()
        one.head = [*above, *wrong]
        return clean, one.text()

    return make


def options(right: str, wrong: str, suffix: str = "", tail: tuple[str, ...] = ()) -> Fault:
    """Other options of the shell, where the command ends in `suffix` and more commands follow."""

    def make(chance: random.Random) -> tuple[str, str]:
        one = launcher(chance, PLAIN)
        one.suffix, one.tail = suffix, [*tail, *one.tail]
        texts = []
        for each in (right, wrong):
            one.options = each
            texts.append(one.text())
        return texts[0], texts[1]

    return make


def plus(chance: random.Random) -> tuple[str, str]:
    """A `+` at a key of the config."""
    one = launcher(chance, PLAIN)
    clean = one.text()
    at = one.index(chance.choice(("data.train_batch_size", f"{A}.optim.lr", f"{R}.n", "trainer.save_freq")))
    one.words[at] = "+" + one.words[at]
    return clean, one.text()


def twice(chance: random.Random) -> tuple[str, str]:
    """A key that is set before with another value."""
    one = launcher(chance, PLAIN)
    clean = one.text()
    at = chance.randint(1, len(one.words) - 1)
    key = one.words[at].partition("=")[0]
    one.words.insert(chance.randint(0, at - 1), f"{key}=7")
    return clean, one.text()


def passed_on(chance: random.Random) -> tuple[str, str]:
    """The caller's overrides in the middle."""
    one = launcher(chance, PLAIN, array=False)
    one.words.append('"$@"')
    clean = one.text()
    one.words.insert(chance.randint(0, len(one.words) - 2), one.words.pop())
    return clean, one.text()


def continuation(chance: random.Random) -> tuple[str, str]:
    """A line of the command with a blank behind its backslash, or without a backslash."""
    one = launcher(chance, PLAIN, array=False)
    clean = one.text()
    lines = clean.split("\n")
    first = lines.index("python3 -m verl.trainer.main_ppo \\")
    at = chance.randint(first, first + len(one.words) - 1)
    lines[at] = chance.choice([lines[at] + " ", lines[at] + "\t", lines[at].removesuffix(" \\")])
    return clean, "\n".join(lines)


def windows(chance: random.Random) -> tuple[str, str]:
    """A file that was saved with the line ends of Windows."""
    clean = launcher(chance, PLAIN).text()
    return clean, clean.replace("\n", "\r\n")


def one_word(chance: random.Random) -> tuple[str, str]:
    """An array that is passed without its index, or as one word."""
    one = launcher(chance, PLAIN)
    one.array = "ARGS"
    clean = one.text()
    return clean, clean.replace('"${ARGS[@]}"', chance.choice(['"${ARGS[*]}"', '"${ARGS}"', "$ARGS"]))


def literal_gpus(chance: random.Random) -> tuple[str, str]:
    """GPUs per node that cannot be chosen, while the nodes can."""
    one = launcher(
        chance, {**PLAIN, "trainer.nnodes": '"${NNODES:-1}"', "trainer.n_gpus_per_node": "${N_GPUS_PER_NODE:-8}"}
    )
    clean = one.text()
    one.put("trainer.n_gpus_per_node", "8")
    return clean, one.text()


def without_nounset(fault: Fault) -> Fault:
    """A fault in a launcher that goes on when a variable is unset."""

    def make(chance: random.Random) -> tuple[str, str]:
        clean, broken = fault(chance)
        return clean.replace("set -euo", "set -eo"), broken.replace("set -euo", "set -eo")

    return make


LOOP = [
    "while [[ $# -gt 0 ]]; do",
    "    case $1 in",
    '        --model) MODEL="${2?--model needs a value}"; shift 2 ;;',
    "        *) break ;;",
    "    esac",
    "done",
    "export MODEL",
]
MERGE = 'python3 tools/merge.py --local_dir "${CKPT_ROOT}/${RUN_NAME}/global_step_50/actor"'
WORKERS = "+ray_kwargs.ray_init.runtime_env.env_vars.NCCL_CUMEM_ENABLE"
BRACED = {**PLAIN, "trainer.default_local_dir": "${CKPT_ROOT}/${RUN_NAME}_v2"}
RENAMED = {**PLAIN, f"{A}.optim.clip_grad": "0.2"}
REWARD = {**PLAIN, "reward.custom_reward_function.path": "reward.py"}

FAULTS: dict[str, tuple[Fault, ...]] = {
    "VL601": (value(f"{A}.ppo_mini_batch_size", "128", "64", "32", base=EXACT),),
    "VL602": (value(f"{A}.ppo_epochs", "2", "4", base=EXACT),),
    "VL603": (value(f"{A}.use_kl_loss", "True", base=EXACT),),
    "VL604": (value("algorithm.use_kl_in_reward", "True", base=EXACT),),
    "VL605": (value(f"{A}.entropy_coeff", "0.001", "0.01", base=EXACT),),
    "VL606": (value("algorithm.adv_estimator", "grpo", "rloo", base=EXACT, verl="0.7.1\n# verlint: family=opo"),),
    "VL607": (value(f"{R}.top_p", "0.9", "0.95", base=EXACT), value(f"{R}.top_k", "50", "20", base=EXACT)),
    "VL613": (value(f"{A}.ppo_mini_batch_size", "2048", base=EXACT | {"algorithm.adv_estimator": "grpo"}),),
    "VL701": (
        word("'trainer.experiment_name=\"lr=1e-6\"'", "trainer.experiment_name=lr=1e-6", PLAIN),
    ),
    "VL702": (
        name("data.train_batch_size", "data.train_batchsize", "data.trian_batch_size", base=PLAIN),
        name(f"{R}.gpu_memory_utilization", f"{R}.gpu_memory_utilisation", base=PLAIN),
        name("trainer.save_freq", "trainer.save_frec", base=PLAIN),
    ),
    "VL704": (plus,),
    "VL706": (word("", "~trainer.note", PLAIN),),
    "VL707": (word('"trainer.logger=[console,tensorboard]"', "trainer.logger=console,tensorboard", PLAIN),),
    "VL709": (twice,),
    "VL712": (passed_on,),
    "VL714": (name(f"{A}.optim.clip_grad", f"{A}.grad_clip", base=RENAMED, verl="0.8.0"),),
    "VL716": (
        name("reward.custom_reward_function.path", "custom_reward_function.path", base=REWARD, verl="0.9.1"),
    ),
    "VL720": (value("data.train_batch_size", "250", "252", "255", base=FEW_SAMPLES),),
    "VL721": (word("", f"{A}.ppo_micro_batch_size=64", FIXED_SIZES, "0.5.0"),),
    "VL722": (value(f"{A}.ppo_mini_batch_size", "512", "320", base={**FIXED_SIZES, f"{A}.ppo_mini_batch_size": "256"}),),
    "VL723": (value(f"{M}.use_remove_padding", "False", base={**PLAIN, f"{A}.ulysses_sequence_parallel_size": "2"}),),
    "VL724": (value(f"{A}.ppo_max_token_len_per_gpu", "4096", "5000", base={**PLAIN, f"{A}.ppo_max_token_len_per_gpu": "5120"}),),
    "VL901": (continuation, windows),
    "VL902": (without_nounset(value("trainer.default_local_dir", "${CKPT_ROOT}/$RUN_NAME_v2", base=BRACED)),),
    "VL903": (
        head(
            ['if [ "${OMPI_COMM_WORLD_RANK:-0}" -eq 0 ]; then', "    ray status", "fi"],
            ["if [ $OMPI_COMM_WORLD_RANK -eq 0 ]; then", "    ray status", "fi"],
            "set -eo pipefail",
        ),
    ),
    "VL914": (one_word, word("trainer.nnodes=1", "trainer.nnodes= 1", PLAIN), word("trainer.nnodes=1", "trainer.nnodes =1", PLAIN)),
    "VL916": (literal_gpus,),
    "VL917": (head(['export HF_HOME="${CKPT_ROOT}/hub"'], ['HF_HOME="${CKPT_ROOT}/hub"']),),
    "VL920": (
        head(["ray start --head --dashboard-host=127.0.0.1"], ["ray start --head --dashboard-host=0.0.0.0"]),
    ),
    "VL102": (head(['export DATA_DIR="${DATA_DIR:-/data/math}"'], ["export DATA_DIR=/data/math"]),),
    "VL101": (head(['export HF_HOME=${HF_HOME:-/mnt/disk1/hub}'], ["export HF_HOME=/mnt/disk1/hub"]),),
    "VL107": (
        head(["ray start --head --temp-dir=$HOME/tmp"], ["ray start --head --temp-dir=~/tmp"]),
        head(['ray start --head --temp-dir="$HOME/ray tmp"'], ['ray start --head --temp-dir="~/ray tmp"']),
    ),
    "VL402": (head([': "${WANDB_API_KEY:?set WANDB_API_KEY}"'], ["export WANDB_API_KEY='YOUR_WANDB_API_KEY'"]),),
    "VL008": (head([], ["# verlint: ignore  nothing to see"]), head([], ["# verlint: ignore[]"])),
    "VL403": (
        head(
            ["docker run --rm -e HF_TOKEN example/verl:0.4.1 true"],
            ['docker run --rm -e HF_TOKEN="${HF_TOKEN}" example/verl:0.4.1 true'],
        ),
    ),
    "VL404": (
        head(
            ["{ set +x; } 2>/dev/null", ': "${WANDB_API_KEY:?set WANDB_API_KEY}"', "set -x"],
            [': "${WANDB_API_KEY:?set WANDB_API_KEY}"'],
            "set -euxo pipefail",
        ),
    ),
    "VL905": (head(LOOP, [line.replace("${2?--model needs a value}", "$2") for line in LOOP], "set -o pipefail"),),
    "VL906": (
        options("set -o pipefail\nset -e", "set -e", " | tee train.log", (MERGE,)),
        options("set -eo pipefail\nset -u", "set -u", "", (MERGE,)),
    ),
    "VL919": (options("set -o pipefail\nset -e", "set -e", " 2>&1 | tee train.log"),),
    "VL921": (
        word(f"{WORKERS}=\"'0'\"", f"{WORKERS}=0", PLAIN, array=False),
        word(f"{WORKERS}=\"'1'\"", f"{WORKERS}=1", PLAIN, array=False),
    ),
    "VL922": (head(["mkdir -p logs/now"], [], suffix=" > logs/now/train.log"),),
}  # fmt: skip
