"""What Ebb's chat is compared with: onnxruntime-genai, as its users run it, greedy, with its defaults but for the number of
threads.

    chat_peer.py MODEL_FOLDER PROMPTS_JSON THREADS

PROMPTS_JSON holds texts, already through the chat template. Says what it holds after load and one warm-up, then answers
each line `N TOKENS` on stdin with what generating so many tokens after prompt N took, one JSON object a line.
"""

import json
import os
import sys
import time

import onnxruntime_genai as og


def resident_bytes():
    with open("/proc/self/statm", encoding="ascii") as statm:
        return int(statm.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def main():
    folder, prompts_file, threads = sys.argv[1], sys.argv[2], int(sys.argv[3])
    with open(prompts_file, encoding="utf-8") as file:
        prompts = json.load(file)
    config = og.Config(folder)
    config.overlay(
        json.dumps({"model": {"decoder": {"session_options": {"intra_op_num_threads": threads}}}})
    )
    model = og.Model(config)
    tokenizer = og.Tokenizer(model)

    def generate(text, tokens):
        ids = tokenizer.encode(text)
        params = og.GeneratorParams(model)
        # Without an end of its own, so that as many tokens are made as were asked for.
        params.set_search_options(
            do_sample=False, max_length=len(ids) + tokens, min_length=len(ids) + tokens
        )
        started = time.perf_counter_ns()
        generator = og.Generator(model, params)
        generator.append_tokens(ids)
        made, first = 0, 0
        while made < tokens and not generator.is_done():
            generator.generate_next_token()
            made += 1
            first = first or time.perf_counter_ns() - started
        took = time.perf_counter_ns() - started
        return {
            "prompt_tokens": len(ids),
            "tokens": made,
            "first_token_us": first // 1000,
            "took_us": took // 1000,
            "resident_bytes": resident_bytes(),
        }

    generate("warm up", 4)
    print(json.dumps({"resident_bytes": resident_bytes()}), flush=True)
    for line in sys.stdin:
        prompt, tokens = line.split()
        print(json.dumps(generate(prompts[int(prompt)], int(tokens))), flush=True)


main()
