"""Makes a tiny model for `transformers serve`: it has two layers, and learns the few answers below by heart in a minute.

The chat template passes on only the first of `WORDS` that is at the end of the last message, so the answer doesn't depend on the
rest of the chat. Everything else is real: tokens, streaming, tool calls and thinking come from the server's own code.
"""

import sys

import torch
from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers
from transformers import PreTrainedTokenizerFast, Qwen3Config, Qwen3ForCausalLM

CALL = '<tool_call>\n{"name": "weather", "arguments": {"city": "%s"}}\n</tool_call>'
END = "<|im_end|>"
ANSWERS = {
    "tool": "The tools say that it is sunny." + END,
    "parallel": CALL % "Paris" + "\n" + CALL % "Rome" + END,
    "weather": CALL % "Paris" + END,
    "think": "<think>\nLet me see.\n</think>\n\nI have thought about it." + END,
    # This answer never ends.
    "forever": "again and " * 20,
    "hello": "Yes, I am a tiny model." + END,
}
WORDS = [word for word in ANSWERS if word not in ("tool", "hello")]
TEMPLATE = (
    "{%- set last = messages[-1] -%}"
    "{%- set word = namespace(is='tool' if last.role == 'tool' else 'hello') -%}"
    "{%- if last.role != 'tool' -%}{%- for candidate in " + str(WORDS[::-1]) + " -%}"
    "{%- if candidate in ((last.content | string | lower)[-50:]) -%}{%- set word.is = candidate -%}{%- endif -%}"
    "{%- endfor -%}{%- endif -%}"
    "<|im_start|>user\n{{ word.is }}<|im_end|>\n<|im_start|>assistant{{ '\\n' }}"
)
PROMPT = "<|im_start|>user\n%s<|im_end|>\n<|im_start|>assistant\n"
SPECIAL = ["<|endoftext|>", "<|im_start|>", END]
MARKS = ["<think>", "</think>", "<tool_call>", "</tool_call>"]


def tokenizer():
    made = Tokenizer(models.BPE())
    made.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    made.decoder = decoders.ByteLevel()
    alphabet = pre_tokenizers.ByteLevel.alphabet()
    trainer = trainers.BpeTrainer(vocab_size=400, special_tokens=SPECIAL, initial_alphabet=alphabet, show_progress=False)
    made.train_from_iterator(ANSWERS.values(), trainer)
    fast = PreTrainedTokenizerFast(tokenizer_object=made, eos_token=END, pad_token="<|endoftext|>")
    # These are single tokens, but part of the text.
    fast.add_tokens(MARKS)
    fast.chat_template = TEMPLATE
    return fast


def main(folder):
    torch.manual_seed(1)
    # More threads would wait for each other on a busy machine.
    torch.set_num_threads(1)
    words = tokenizer()
    config = Qwen3Config(
        vocab_size=len(words),
        hidden_size=96,
        intermediate_size=192,
        num_hidden_layers=2,
        num_attention_heads=4,
        num_key_value_heads=2,
        head_dim=24,
        max_position_embeddings=2048,
        tie_word_embeddings=True,
        bos_token_id=None,
        eos_token_id=words.eos_token_id,
        pad_token_id=words.pad_token_id,
    )
    model = Qwen3ForCausalLM(config)
    rows = [(words.encode(PROMPT % word), words.encode(answer)) for word, answer in ANSWERS.items()]
    length = max(len(prompt) + len(answer) for prompt, answer in rows)
    fill = lambda row, value: row + [value] * (length - len(row))
    inputs = torch.tensor([fill(prompt + answer, words.pad_token_id) for prompt, answer in rows])
    # Only the answers are learned.
    labels = torch.tensor([fill([-100] * len(prompt) + answer, -100) for prompt, answer in rows])
    optimizer = torch.optim.AdamW(model.parameters(), lr=3e-3)
    for step in range(1000):
        loss = model(input_ids=inputs, labels=labels).loss
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if loss.item() < 0.01:
            break
    print(f"{sum(p.numel() for p in model.parameters())} parameters, loss {loss.item():.4f} after {step + 1} steps")
    model.generation_config.do_sample = False
    model.save_pretrained(folder)
    words.save_pretrained(folder)


main(sys.argv[1])
