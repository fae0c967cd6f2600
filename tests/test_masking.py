"""No output shows a secret: all formats and the diff, all rules over all fixtures that hold one, and over a project that
puts one secret of each provider wherever messages quote the text."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import pytest

from fixture_cases import EXAMPLES, FIXTURES, transcript
from verlint.cli.fixing import diff_text
from verlint.engine import check_project
from verlint.example import Example, check_example, project_copy
from verlint.files.loading import load
from verlint.report import FORMATS, render
from verlint.result import Report
from verlint.secret import find_secrets
from verlint.settings import Settings

HEX = "0123456789abcdef"
SECRETS = {
    "wandb": (HEX * 3)[:40],
    "huggingface": "hf_" + HEX * 2 + "ab",
    "openai": "sk-proj-" + HEX * 3,
    "anthropic": "sk-ant-api03-" + HEX * 3,
    "github": "ghp_" + HEX * 2 + "abcd",
    "aws": "AKIA" + "ABCD0123ABCD0123",
    "google": "AIza" + HEX * 2 + "abc",
    "generic": "A1b2C3d4E5f6A1b2C3d4",
}
RUN = 10
"""So many characters of a secret in a row are not to be seen; the public prefix of a provider is shorter."""

LAUNCHER = """#!/usr/bin/env bash
set -x
export WANDB_API_KEY={secret}
export JUDGE_API_KEY='{secret}'
KEY={secret}
wandb login {secret}
hf download --token "$JUDGE_API_KEY" lab/data
curl -H "Authorization: Bearer {secret}" https://api.example.org | bash
git clone https://user:{secret}@git.example.org/lab/verl
docker run --privileged -e WANDB_API_KEY={secret} -v /home:/home example/verl:2.3 env
echo "key $WANDB_API_KEY" > .env
env | sort
bash scripts/missing.sh --api_key {secret} --exp_name "$WANDB_API_KEY"
if [ $WANDB_API_KEY == {secret} ]; then echo yes; fi
python3 -m verl.trainer.main_ppo \\
    data.train_files=/mnt/data/{secret}/train.parquet \\
    data.val_files=/mnt/data/{secret}/train.parquet \\
    actor_rollout_ref.model.path=/mnt/$JUDGE_API_KEY/model \\
    actor_rollout_ref.model.trust_remote_code=True \\
    trainer.api_key={secret} \\
    trainer.api_key=$WANDB_API_KEY \\
    +judge.url=https://user:{secret}@judge.example.org/v1 \\
    trainer.resume_mode={secret} \\
    trainer.project_name=$KEY \\
    trainer.total_epochs="$WANDB_API_KEY" \\ # {secret}
    trainer.experiment_name={secret}
"""
SPEC = """schema: verlint/exp-v1
name: "{secret}"
credentials:
  WANDB_API_KEY: {secret}
  HF_TOKEN: {{value: "{secret}"}}
approvals:
  code: {{granted_by: "{secret}"}}
stages:
  train:
    kind: train
    launcher: train.sh
    args: {{api_key: {secret}, judge: "https://user:{secret}@judge.example.org"}}
    env: {{WANDB_API_KEY: "{secret}", API_KEY_{secret}: yes}}
    overrides: {{trainer.api_key: {secret}}}
"""
README = """# Run

```bash
export HF_TOKEN={secret}
wandb login --relogin {secret}
bash train.sh --api_key={secret} trainer.api_key={secret}
```
"""
PROGRAM = """import argparse
import os

os.environ["OPENAI_API_KEY"] = "{secret}"
# starts verl.trainer.main_ppo
argparse.ArgumentParser().add_argument("--api_key", default="{secret}")
"""
ENVIRONMENT = "working_dir: ./\nenv_vars:\n  WANDB_API_KEY: {secret}\n  OPENAI_API_KEY: '{secret}'\n"
FILES = {"train.sh": LAUNCHER, "run.exp.yaml": SPEC, "README.md": README, "start.py": PROGRAM, "env.yaml": ENVIRONMENT}


def shown_runs(output: str, secret: str) -> list[str]:
    """The runs of a secret's characters that stand in an output."""
    return [run for at in range(len(secret) - RUN + 1) if (run := secret[at : at + RUN]) in output]


def outputs(report: Report) -> list[str]:
    """A report in all formats, narrow and wide, plain and coloured."""
    return [
        transcript(report),
        *(
            render(report, name, color=color, width=width)
            for name in FORMATS
            for color, width in ((False, 60), (True, 200))
        ),
    ]


@pytest.mark.parametrize("provider", SECRETS)
def test_a_project_full_of_a_secret(provider: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    secret = SECRETS[provider]
    for name, text in FILES.items():
        (tmp_path / name).write_text(text.format(secret=secret), "utf-8")
    monkeypatch.chdir(tmp_path)
    settings = Settings(root=tmp_path)
    loading = load(["."], settings)
    report = check_project(loading.files, settings, tmp_path, unreadable=loading.unreadable)
    codes = {finding.code for finding in report.findings}
    assert {"VL401", "VL403", "VL404", "VL410"} <= codes
    assert not report.crashed
    texts = [*outputs(report), diff_text(report, loading, unsafe=True)]
    assert [shown_runs(text, secret) for text in texts if shown_runs(text, secret)] == []


@cache
def secrets_of(path: Path) -> frozenset[str]:
    """The secrets of a file."""
    text = path.read_bytes().decode("utf-8", "replace")
    return frozenset(text[each.start : each.end] for each in find_secrets(text) if not each.placeholder)


def with_secrets() -> list[Example]:
    """The examples in whose files a secret stands."""
    return [example for example in EXAMPLES if any(secrets_of(example.folder / path) for path in example.files())]


@pytest.mark.parametrize("example", with_secrets(), ids=lambda example: example.name)
def test_all_rules_over_an_example(example: Example) -> None:
    secrets = {secret for path in example.files() for secret in secrets_of(example.folder / path)}
    report = check_example(example, select=("ALL",))
    with project_copy(example) as folder:
        settings = Settings(root=folder)
        loading = load(["."], settings)
        again = check_project(loading.files, settings, folder, unreadable=loading.unreadable)
        texts = [*outputs(report), diff_text(again, loading, unsafe=True)]
    assert [secret for secret in secrets for text in texts if secret in text] == []


@pytest.mark.parametrize("folder", sorted(FIXTURES.glob("experiments/*/broken")), ids=lambda path: path.parent.name)
def test_all_rules_over_an_experiment(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    secrets = {secret for path in folder.rglob("*") if path.is_file() for secret in secrets_of(path)}
    monkeypatch.chdir(folder)
    settings = Settings(root=folder)
    loading = load(["."], settings)
    report = check_project(loading.files, settings, folder, unreadable=loading.unreadable)
    texts = [*outputs(report), diff_text(report, loading, unsafe=True)]
    assert [secret for secret in secrets for text in texts if secret in text] == []
