"""Other people's decoders with the same trunk: Hugging Face's `generate`, and llama.cpp.

Both are optional: `pip install transformers`, `pip install llama-cpp-python gguf` (which compiles).
"""

from __future__ import annotations

import ctypes
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np
import torch
from decode_shapes import VOCABULARY, WINDOW, Shape


class HuggingFace:
    """`generate` of a class of transformers, sampling with top-p 0.95."""

    def __init__(self, shape: Shape, kind: str, dtype: torch.dtype) -> None:
        import transformers  # pyright: ignore  optional

        common = {"vocab_size": VOCABULARY, "bos_token_id": 1, "eos_token_id": None}
        if kind == "llama":
            config = transformers.LlamaConfig(
                hidden_size=shape.d_model,
                intermediate_size=shape.d_ff,
                num_hidden_layers=shape.n_layers,
                num_attention_heads=shape.n_heads,
                max_position_embeddings=WINDOW + 64,
                tie_word_embeddings=True,
                **common,
            )
            model: Any = transformers.LlamaForCausalLM(config)
        else:
            config = transformers.GPT2Config(
                n_embd=shape.d_model,
                n_layer=shape.n_layers,
                n_head=shape.n_heads,
                n_inner=shape.d_ff_ungated,
                n_positions=WINDOW + 64,
                **common,
            )
            model = transformers.GPT2LMHeadModel(config)
        self._model = model.to(dtype).eval()
        self._stamps: list[float] = []

    def _stamp(self, ids: torch.Tensor, scores: torch.Tensor) -> torch.Tensor:
        self._stamps.append(time.perf_counter())
        return scores

    @torch.inference_mode()
    def measure(self, position: int, n_steps: int) -> float:
        """Return tokens a second from `position` on; the prompt's own time does not count."""
        self._stamps.clear()
        ids = torch.zeros(1, position, dtype=torch.int64)
        self._model.generate(
            ids,
            attention_mask=torch.ones_like(ids),
            do_sample=True,
            top_p=0.95,
            top_k=0,
            max_new_tokens=n_steps + 1,
            min_new_tokens=n_steps + 1,
            pad_token_id=0,
            logits_processor=[self._stamp],
        )
        return n_steps / (self._stamps[-1] - self._stamps[0])


class LlamaCpp:
    """llama.cpp by its own C calls: one token a batch, its own top-p sampler.

    Its own choice of attention with a float16 cache, or what was measured to be its fastest with
    heads this narrow: flash attention over a q8_0 cache.
    """

    def __init__(
        self,
        shape: Shape,
        quantization: str,
        n_threads: int,
        *,
        n_takes: int = 1,
        int8_cache: bool = False,
    ) -> None:
        import llama_cpp  # pyright: ignore  optional

        self._lib = lib = llama_cpp
        silent = lib.llama_log_callback(lambda *_: None)
        lib.llama_log_set(silent, ctypes.c_void_p(0))
        self._keep = silent
        lib.llama_backend_init()
        with tempfile.TemporaryDirectory() as folder:
            file = Path(folder) / "model.gguf"
            write_gguf(file, shape, quantization)
            model_params = lib.llama_model_default_params()
            self._model = lib.llama_model_load_from_file(str(file).encode(), model_params)
        params = lib.llama_context_default_params()
        params.n_ctx = (WINDOW + 64) * n_takes
        params.n_batch = 512
        params.n_seq_max = n_takes
        params.n_threads = params.n_threads_batch = n_threads
        params.kv_unified = False
        if int8_cache:
            params.type_k = params.type_v = lib.GGML_TYPE_Q8_0
            params.flash_attn_type = lib.LLAMA_FLASH_ATTN_TYPE_ENABLED
        self._context = lib.llama_init_from_model(self._model, params)
        if not self._context:  # its int8 cache wants heads of 32, say
            raise RuntimeError(f"llama.cpp does not take the shape {shape}")
        self._memory = lib.llama_get_memory(self._context)
        self._sampler = lib.llama_sampler_chain_init(lib.llama_sampler_chain_default_params())
        lib.llama_sampler_chain_add(self._sampler, lib.llama_sampler_init_top_p(0.95, 1))
        lib.llama_sampler_chain_add(self._sampler, lib.llama_sampler_init_dist(1))
        self._n_takes = n_takes
        self._batch = lib.llama_batch_init(512, 0, n_takes)

    def _decode(self, tokens: list[int], positions: list[int], takes: list[int]) -> None:
        batch = self._batch
        batch.n_tokens = len(tokens)
        for i, (token, position, take) in enumerate(zip(tokens, positions, takes, strict=True)):
            batch.token[i], batch.pos[i] = token, position
            batch.n_seq_id[i], batch.seq_id[i][0] = 1, take
            batch.logits[i] = i == len(tokens) - 1 or len(tokens) == self._n_takes
        if self._lib.llama_decode(self._context, batch):
            raise RuntimeError("llama.cpp did not decode")

    def measure(self, position: int, n_steps: int) -> float:
        """Return tokens a second from `position` on, of all takes together."""
        lib = self._lib
        lib.llama_memory_clear(self._memory, True)
        for take in range(self._n_takes):
            for begin in range(0, position, 256):
                n = min(256, position - begin)
                self._decode([0] * n, list(range(begin, begin + n)), [take] * n)
        tokens = [0] * self._n_takes
        began = time.perf_counter()
        for i in range(n_steps):
            self._decode(tokens, [position + i] * self._n_takes, list(range(self._n_takes)))
            tokens = [
                lib.llama_sampler_sample(self._sampler, self._context, take)
                for take in range(self._n_takes)
            ]
        return self._n_takes * n_steps / (time.perf_counter() - began)


def write_gguf(file: Path, shape: Shape, quantization: str) -> None:
    """Write random weights of that shape, without a tokenizer."""
    import gguf  # pyright: ignore  optional

    kind = {"q8_0": gguf.GGMLQuantizationType.Q8_0, "q4_0": gguf.GGMLQuantizationType.Q4_0}
    writer = gguf.GGUFWriter(file, "llama")
    d, n_ff = shape.d_model, shape.d_ff_in_blocks
    writer.add_vocab_size(VOCABULARY)
    writer.add_context_length(WINDOW + 64)
    writer.add_embedding_length(d)
    writer.add_block_count(shape.n_layers)
    writer.add_feed_forward_length(n_ff)
    writer.add_head_count(shape.n_heads)
    writer.add_head_count_kv(shape.n_heads)
    writer.add_layer_norm_rms_eps(1e-6)
    writer.add_rope_dimension_count(d // shape.n_heads)
    writer.add_tokenizer_model("no_vocab")
    random = np.random.default_rng(0)

    def matrix(name: str, rows: int, columns: int) -> None:
        weight = random.normal(0, columns**-0.5, (rows, columns)).astype(np.float32)
        packed = gguf.quants.quantize(weight, kind[quantization])
        writer.add_tensor(name, packed, raw_dtype=kind[quantization])

    matrix("token_embd.weight", VOCABULARY, d)
    writer.add_tensor("output_norm.weight", np.ones(d, np.float32))
    for i in range(shape.n_layers):
        writer.add_tensor(f"blk.{i}.attn_norm.weight", np.ones(d, np.float32))
        writer.add_tensor(f"blk.{i}.ffn_norm.weight", np.ones(d, np.float32))
        for name in ("attn_q", "attn_k", "attn_v", "attn_output"):
            matrix(f"blk.{i}.{name}.weight", d, d)
        matrix(f"blk.{i}.ffn_gate.weight", n_ff, d)
        matrix(f"blk.{i}.ffn_up.weight", n_ff, d)
        matrix(f"blk.{i}.ffn_down.weight", d, n_ff)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
