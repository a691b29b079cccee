"""onnxruntime-genai, greedy, on the same folder.

    genai_reference.py MODEL_FOLDER PROMPTS_JSON TOKENS

PROMPTS_JSON holds texts that already went through the chat template.
"""

import json
import sys

import onnxruntime_genai as og

folder, prompts_file, count = sys.argv[1], sys.argv[2], int(sys.argv[3])
model = og.Model(folder)
tokenizer = og.Tokenizer(model)


def continued(text):
    ids = tokenizer.encode(text)
    params = og.GeneratorParams(model)
    # Without an end of its own, so that as many tokens are made as were asked for.
    params.set_search_options(do_sample=False, max_length=len(ids) + count, min_length=len(ids) + count)
    generator = og.Generator(model, params)
    generator.append_tokens(ids)
    tokens = []
    while not generator.is_done():
        generator.generate_next_token()
        tokens.append(int(generator.get_next_tokens()[0]))
    return {"prompt_tokens": len(ids), "tokens": tokens}


with open(prompts_file, encoding="utf-8") as file:
    print(json.dumps([continued(text) for text in json.load(file)]))
