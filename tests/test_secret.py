"""Secrets are found by shape or by name, stand-ins are told apart, and masking leaves nothing behind."""

from __future__ import annotations

import json
from base64 import urlsafe_b64encode

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from verlint.secret import Secret, find_secrets, is_placeholder, is_secret_name, mask, mask_spans, secret_values

HEX = "0123456789abcdef"
HEX40 = (HEX * 3)[:40]
HF = "hf_" + HEX * 2 + "ab"
OPENAI = "sk-proj-" + HEX * 3
ANTHROPIC = "sk-ant-api03-" + HEX * 3
GITHUB = "ghp_" + HEX * 2 + "abcd"
GITHUB_PAT = "github_pat_" + HEX * 3
AWS = "AKIA" + "ABCD0123ABCD0123"
AWS_SECRET = "abcdABCD0123+/" * 2 + "abcdABCD0123"
GOOGLE = "AIza" + HEX * 2 + "abc"
SLACK = "xoxb-" + "0123456789-" * 2 + "abcdef"
DOCKER = "dckr_pat_" + HEX * 2
SLACK_HOOK = "https://hooks.slack.com/services/T0123ABCD/B0123ABCD/" + HEX * 2
OPAQUE = "A1b2C3d4E5f6A1b2C3d4"


def _web_token(**claims: object) -> str:
    """A JSON web token with these claims."""
    parts = ({"alg": "HS256", "typ": "JWT"}, claims)
    encoded = [urlsafe_b64encode(json.dumps(part).encode()).decode().rstrip("=") for part in parts]
    return ".".join([*encoded, HEX * 2])


LASTING = _web_token(iss="registry", exp=1800000000, iat=1700000000)


@pytest.mark.parametrize(
    ("text", "value", "provider"),
    [
        (f"export WANDB_API_KEY={HEX40}", HEX40, "wandb"),
        (f"export WANDB_API_KEY='{'deadbeef' * 5}'", "deadbeef" * 5, "wandb"),
        (f"wandb login {HEX40}", HEX40, "wandb"),
        (f"wandb login --relogin --host=https://api.example.org \\\n  '{HEX40}' && echo ok", HEX40, "wandb"),
        (f"wandb login local-{HEX40}", f"local-{HEX40}", "wandb"),
        (f"python -c \"import wandb; wandb.login(relogin=True, key='{HEX40}')\"", HEX40, "wandb"),
        (f"WANDB_API_KEY: {HEX40}", HEX40, "wandb"),
        (f'{{"env_vars": {{"WANDB_API_KEY": "{HEX40}"}}}}', HEX40, "wandb"),
        (f'{{"env_vars":{{"WANDB_API_KEY":"{HEX40}"}}}}', HEX40, "wandb"),
        (f'--runtime-env-json "{{\\"WANDB_API_KEY\\": \\"{HEX40}\\"}}"', HEX40, "wandb"),
        (f'os.environ["WANDB_API_KEY"] = "{HEX40}"', HEX40, "wandb"),
        (f'os.environ.setdefault("WANDB_API_KEY", "{HEX40}")', HEX40, "wandb"),
        (f': "${{WANDB_API_KEY:={HEX40}}}"', HEX40, "wandb"),
        (f'key="${{WANDB_API_KEY:-{HEX40}}}"', HEX40, "wandb"),
        (f"docker run -e HF_TOKEN={HF} image", HF, "huggingface"),
        (f"huggingface-cli login --token {HF}", HF, "huggingface"),
        (f"git clone https://user:{HF}@huggingface.co/x/y", HF, "huggingface"),
        (f"OPENAI_API_KEY={OPENAI}", OPENAI, "openai"),
        (f"api_key: {ANTHROPIC}", ANTHROPIC, "anthropic"),
        (f"git clone https://{GITHUB}@github.com/x/y", GITHUB, "github"),
        (f"GH={GITHUB_PAT}", GITHUB_PAT, "github"),
        (f"export AWS_ACCESS_KEY_ID={AWS}", AWS, "aws"),
        (f"export AWS_SECRET_ACCESS_KEY={AWS_SECRET}", AWS_SECRET, "aws"),
        (f"curl -H 'x-goog-api-key: {GOOGLE}'", GOOGLE, "google"),
        (f"SLACK_BOT={SLACK}", SLACK, "slack"),
        (f"curl -H 'Authorization: Bearer {OPAQUE}'", OPAQUE, "bearer"),
        (f"python judge.py --api_key {OPAQUE}", OPAQUE, "generic"),
        (f"python judge.py --api-key={OPAQUE}", OPAQUE, "generic"),
        (f"python judge.py --api_key \\\n    {OPAQUE}", OPAQUE, "generic"),
        (f"MY_SERVICE_TOKEN={OPAQUE}", OPAQUE, "generic"),
        ("POSTGRES_PASSWORD=Tr0ub4dor", "Tr0ub4dor", "generic"),
        ("redis://default:Tr0ub4dor@cache:6379/0", "Tr0ub4dor", "url"),
        (f"SWANLAB_API_KEY = {OPAQUE}", OPAQUE, "generic"),
        (f"credentials:\n  HF_TOKEN: {{value: {HEX40}}}", HEX40, "huggingface"),
        (f"credentials:\n  HF_TOKEN:\n    value: '{HEX40}'", HEX40, "huggingface"),
        (f"env:\n- name: HF_TOKEN\n  value: {HEX40}", HEX40, "huggingface"),
        (f"machine api.wandb.ai login user password {HEX40}", HEX40, "generic"),
        (f"docker login -u bob -p {OPAQUE} registry.example.org", OPAQUE, "generic"),
        (f"sshpass -p {OPAQUE} ssh node-1", OPAQUE, "generic"),
        (f"curl -s -u user:{OPAQUE} https://api.example.org", OPAQUE, "generic"),
        (f"ENV WANDB_API_KEY {HEX40}", HEX40, "wandb"),
        (f"setenv HF_TOKEN {HEX40}", HEX40, "huggingface"),
        (f"KEY={HEX40}\nwandb login --relogin $KEY", HEX40, "wandb"),
        (f"AccountKey={AWS_SECRET}", AWS_SECRET, "generic"),
        (f"docker_token: {DOCKER}", DOCKER, "docker"),
        (f"url={SLACK_HOOK}", SLACK_HOOK.removeprefix("https://"), "slack"),
        (f"curl -H 'X-Auth: {LASTING}' https://api.example.org", LASTING, "jwt"),
        *((f"X-Auth: {token}", token, "jwt") for token in (_web_token(iss="registry"), _web_token(exp=[], nbf=0))),
    ],
)
def test_a_secret_is_found_with_its_place(text: str, value: str, provider: str) -> None:
    start = text.index(value)
    assert find_secrets(text) == [Secret(start, start + len(value), provider)]
    assert secret_values(text) == {value}


@pytest.mark.parametrize(
    ("text", "value", "provider"),
    [
        ("export WANDB_API_KEY='YOUR_WANDB_API_KEY'", "YOUR_WANDB_API_KEY", "wandb"),
        ("export WANDB_API_KEY=<YOUR_WANDB_API_KEY>", "<YOUR_WANDB_API_KEY>", "wandb"),
        ("export WANDB_API_KEY=... # your wandb API key", "...", "wandb"),
        ("export WANDB_API_KEY=YOUR_WANDB_API_KEY_HERE", "YOUR_WANDB_API_KEY_HERE", "wandb"),
        ('export HF_TOKEN="your-huggingface-token"', "your-huggingface-token", "huggingface"),
        ('export OPENAI_API_KEY="<your-api-key>"', "<your-api-key>", "openai"),
        ("OPENAI_API_KEY=EMPTY", "EMPTY", "openai"),
        ("OPENAI_API_KEY=sk-...", "sk-...", "openai"),
        ("OPENAI_API_KEY=sk-xxxxxxxxxxxxxxxxxxxxxxxx", "sk-xxxxxxxxxxxxxxxxxxxxxxxx", "openai"),
        ("HF_TOKEN=hf_" + "x" * 34, "hf_" + "x" * 34, "huggingface"),
        ("WANDB_API_KEY=" + "0" * 40, "0" * 40, "wandb"),
        ("AWS_ACCESS_KEY_ID=AKIAIOSFODNN7EXAMPLE", "AKIAIOSFODNN7EXAMPLE", "aws"),
        ("DB_PASSWORD=changeme", "changeme", "generic"),
    ],
)
def test_a_stand_in_is_told_apart(text: str, value: str, provider: str) -> None:
    start = text.index(value)
    assert find_secrets(text) == [Secret(start, start + len(value), provider, placeholder=True)]
    assert mask(text) == text


@pytest.mark.parametrize(
    "text",
    [
        f"git checkout {HEX40}",
        f"![curve](https://images.example.org/curve.png?jwt={_web_token(iss='images', nbf=1700000000, exp=1700000300)})",
        f"curl 'https://store.example.org/a?X-Amz-Credential={AWS}%2F20250101%2Fs3%2Faws4_request&X-Amz-Expires=300'",
        f"pip install git+https://github.com/wandb/wandb@{HEX40}",
        f"docker pull image@sha256:{HEX * 4}",
        "id: 123e4567-e89b-12d3-a456-426614174000",
        "![x](data:image/png;base64," + "iVBORw0KGgoAAAANSUhEUgAKIAABCDEFGHIJKLMNOPhf/" * 8 + ")",
        "export WANDB_API_KEY=${WANDB_API_KEY}",
        'export WANDB_API_KEY="$WANDB_API_KEY"',
        ': "${WANDB_API_KEY:?set it first}"',
        "wandb login ${WANDB_API_KEY}",
        "export HF_TOKEN=$(cat ~/.cache/huggingface/token)",
        'export OPENAI_API_KEY=""',
        "WANDB_API_KEY:\n  secret: wandb",
        "sky launch --secret WANDB_API_KEY --secret HF_TOKEN -y",
        '[ "$WANDB_API_KEY" = "A1b2C3d4E5f6A1b2C3d4" ]',
        "TOKENIZERS_PARALLELISM=true",
        "PPO_MAX_TOKEN_LEN=$((MAX_PROMPT_LENGTH + 1024))",
        "actor.ppo_max_token_len_per_gpu=16384",
        "PPO_MAX_TOKEN=20480",
        "data.prompt_key=prompt data.response_key=extra_info",
        "reward_model.reward_fn_key=data_source_1a2b3c4d5e6f",
        "EOS_TOKEN=<|endoftext|> pad_token='<|im_end_0123456789|>'",
        "tokenizer=/models/Qwen2.5-7B-Instruct token=abc",
        "HF_TOKEN_FILE=/run/secrets/hf1a2b3c4d5e",
        "API_KEY=/run/secrets/api_key_1a2b3c4d",
        "task-id: ${{ secrets.SCORECARD_TOKEN }}",
        "pip install sk-learn-extensions-for-everything",
        "https://user:${HF_TOKEN}@huggingface.co/x",
        'echo "$REGISTRY_TOKEN" | docker login -u bob --password-stdin',
        "docker run -u 1000:1000 image; curl -s https://api.example.org",
        "machine api.wandb.ai login user password $WANDB_API_KEY",
        f"KEY={HEX40}\ngit checkout $KEY; wandb login",
        "the machine asks for a password once",
    ],
)
def test_what_only_looks_like_a_secret_is_left_alone(text: str) -> None:
    assert [each for each in find_secrets(text) if not each.placeholder] == []
    assert mask(text) == text


@pytest.mark.parametrize(
    ("name", "secret"),
    [
        ("WANDB_API_KEY", True),
        ("HF_TOKEN", True),
        ("HUGGING_FACE_HUB_TOKEN", True),
        ("OPENAI_API_KEY", True),
        ("openai_api_key", True),
        ("apiKey", True),
        ("judge.api_key", True),
        ("--api-key", True),
        ("AWS_SECRET_ACCESS_KEY", True),
        ("AWS_ACCESS_KEY_ID", True),
        ("CLIENT_SECRET", True),
        ("DB_PASSWORD", True),
        ("TOKEN", True),
        ("TOKENIZERS_PARALLELISM", False),
        ("TOKENIZER", False),
        ("MAX_TOKEN_LEN", False),
        ("PPO_MAX_TOKEN_LEN", False),
        ("ppo_max_token_len_per_gpu", False),
        ("PPO_MAX_TOKEN", False),
        ("max_num_batched_tokens", False),
        ("EOS_TOKEN", False),
        ("prompt_key", False),
        ("reward_fn_key", False),
        ("KEY", False),
        ("PUBLIC_KEY", False),
        ("HF_TOKEN_FILE", False),
        ("SECRETS_DIR", False),
        ("", False),
    ],
)
def test_names_of_credentials(name: str, secret: bool) -> None:
    assert is_secret_name(name) is secret


STAND_INS = """
YOUR_KEY|<token>|xxx|XXXX-XXXX|changeme|key|none|None|...|…|aaaaaaaa|${HF_TOKEN}|$KEY|hf_****|hf_...|sk-your-key-here
EMPTY|WANDB_API_KEY|[token]|{{ token }}|not-needed|my-api-key|todo|****||''
"""


@pytest.mark.parametrize("value", [value for line in STAND_INS.strip().splitlines() for value in line.split("|")])
def test_placeholders(value: str) -> None:
    assert is_placeholder(value)


@pytest.mark.parametrize("value", [HEX40, HF, OPENAI, GITHUB, AWS, OPAQUE, "Tr0ub4dor"])
def test_no_placeholders(value: str) -> None:
    assert not is_placeholder(value)


@pytest.mark.parametrize(
    ("text", "masked"),
    [
        (f"a {HF} b", "a hf_**** b"),
        (f"{OPENAI}", "sk-p****"),
        (f"{ANTHROPIC}", "sk-a****"),
        (f"{GITHUB} {GITHUB_PAT}", "ghp_**** gith****"),
        (f"{AWS}", "AKIA****"),
        (f"WANDB_API_KEY = {HEX40}", "WANDB_API_KEY = ****"),
        (f"WANDB_API_KEY={HEX40} wandb login {HEX40}", "WANDB_API_KEY=**** wandb login ****"),
        (f"x {HF[:14]}… and {OPENAI[:20]}...", "x hf_****… and sk-p****..."),
        ("plain text", "plain text"),
    ],
)
def test_masking(text: str, masked: str) -> None:
    assert mask(text) == masked
    assert mask(masked) == masked


def test_known_values_are_masked_without_context_and_when_cut() -> None:
    assert mask(f"resolved to {HEX40}", {HEX40}) == "resolved to ****"
    assert mask(f"resolved to {HEX40[:15]}", {HEX40}) == "resolved to ****"
    assert mask(f"prefix{OPAQUE}suffix, {OPAQUE[:9]}…", {OPAQUE}) == "prefix****suffix, ****…"
    assert mask("short abc12", {"abc12"}) == "short abc12"


def test_mask_spans_give_the_places() -> None:
    (masked,) = mask_spans(f"x={HF}")
    assert (masked.start, masked.end, masked.text) == (2, 2 + len(HF), "hf_****")


@settings(max_examples=200, derandomize=True, deadline=None)
@given(st.text(max_size=30), st.sampled_from([HF, OPENAI, ANTHROPIC, GITHUB, AWS, OPAQUE, HEX40]), st.text(max_size=30))
def test_a_known_value_never_survives(before: str, value: str, after: str) -> None:
    assert value not in mask(before + value + after, {value})


@settings(max_examples=200, derandomize=True, deadline=None)
@given(st.text(alphabet="KEYTOKNapi_=:-\"'{}$<>.x1 \n\\", max_size=80))
def test_any_text_can_be_searched(text: str) -> None:
    at = 0
    for secret in find_secrets(text):
        assert at <= secret.start < secret.end <= len(text)
        at = secret.end
