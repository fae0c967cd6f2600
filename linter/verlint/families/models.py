"""What the names of models say."""

TOKENIZERS: tuple[tuple[str, str], ...] = (
    (r"qwen-?(?:1\.5|2|2\.5|3)?[-_]", "Qwen"),
    (r"(?:meta-)?llama-3(?:\.\d)?[-_]", "Llama 3"),
    (r"(?:meta-)?llama-2[-_]", "Llama 2"),
    (r"gemma-?\d", "Gemma"),
    (r"olmo-[23][-_]", "OLMo"),
    (r"mistral-7b", "Mistral"),
)
"""How the names of models begin, and whose tokenizer they have. Models distilled into another architecture begin
otherwise (`DeepSeek-R1-Distill-Qwen-7B`) and are none of these. Source: the model cards on the Hugging Face hub."""

GATED = ("meta-llama/", "google/gemma")
"""How the names of models begin that the hub gives to known users only. Source: the model cards on the Hugging Face
hub."""
