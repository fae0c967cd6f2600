"""One whole sequence fits into the token budgets and the model.

With dynamic batching a micro-batch takes as many samples as fit into `ppo_max_token_len_per_gpu` (times the GPUs that
share a sequence). Up to 0.7.1 samples are padded to `data.max_prompt_length` + `data.max_response_length`, so a
smaller budget stops the first step, after the rollout has been made. The same holds for the budgets of log-probs and
critic; their default is the actor's, and then only that one is named.

Up to 0.6.1 vLLM in one process with the trainer wants `rollout.max_num_batched_tokens` (8192 unless said otherwise)
to hold a whole sequence while chunked prefill is on, and stops otherwise, although chunks are what it is for. EasyR1
wants the same of `worker.rollout.max_num_batched_tokens`, with chunked prefill and without; a
`worker.rollout.max_model_len` there must leave room for an answer to the longest prompt, and hold the longest answer.

With the model's `config.json` at hand (that of `--model-config`, else that in the folder which
`actor_rollout_ref.model.path` names) the sequence is held against its `max_position_embeddings` as well. Up to 0.6.1
prompt and response together must not be longer (since 0.5 times the factor of its `rope_scaling`) when the rollout is
in one process with the trainer; since 0.7.1 `rollout.max_model_len` must not. A field that `model.override_config`
sets counts as set there. Later versions cut responses at the end of the model without an error.

With `rollout.enable_chunked_prefill=False` the server of 0.7 to 0.9.0 hands `max_num_batched_tokens` to vLLM as it is,
and newer releases of vLLM stop when a whole sequence does not fit in it; older ones go on, so that is to be verified.
The teacher of a distillation (since 0.8) has a longest sequence of its own: prompt, response and one token.

Fix: raise the budget to the sum that the message names, or shorten prompts or responses.
"""

from __future__ import annotations

from collections.abc import Iterator

from verlint.experiment.launch import Launch
from verlint.finding import Finding
from verlint.rule import ERROR, Context, rule
from verlint_rules.config.rejections import rejections


@rule(
    "VL724",
    "token-budget",
    on=Launch,
    severity=ERROR,
    since="0.1",
    fixable="unsafe",
    words=("main_ppo", "main_dapo", "verl.trainer.main "),
)
def check(launch: Launch, ctx: Context) -> Iterator[Finding]:
    if launch.program.entry == "verl.trainer.main":
        from verlint_rules.config.easyr1 import token_budget

        yield from token_budget(launch, ctx)
        return
    from verlint.verl.constraints.distillation import TOKENS
    from verlint.verl.constraints.tokens import ROWS

    yield from rejections(launch, ctx, (*ROWS, *TOKENS))
