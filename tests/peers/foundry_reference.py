"""Foundry Local, greedy, on the same folder as a model of the user's own.

    foundry_reference.py MODEL_FOLDER PROMPTS_JSON TOKENS
"""

import json
import sys
import tempfile
import warnings

from foundry_local_sdk import CatalogType, Configuration, FoundryLocalManager, ModelInfoBuilder

# The client is to go at the end of 2026.
warnings.simplefilter("ignore", DeprecationWarning)
folder, prompts_file, count = sys.argv[1], sys.argv[2], int(sys.argv[3])
with open(prompts_file, encoding="utf-8") as file:
    prompts = json.load(file)

with tempfile.TemporaryDirectory() as home:
    places = {"app_data_dir": home, "model_cache_dir": f"{home}/models", "logs_dir": f"{home}/logs"}
    FoundryLocalManager.initialize(
        Configuration(app_name="ebb-peers", disable_nonessential_telemetry=True, **places)
    )
    manager = FoundryLocalManager.instance
    with ModelInfoBuilder() as told:
        told.set_string_property("task", "chat-completion")
        told.set_string_property("display_name", "the same folder")
        catalog = manager.get_catalog(CatalogType.LOCAL)
        model = catalog.register_model(model_path=folder, model_id="same-generic-cpu:1", metadata=told)
    model.load()
    client = model.get_chat_client()
    client.settings.temperature = 0
    client.settings.max_tokens = count
    answers = []
    for prompt in prompts:
        answer = client.complete_chat([{"role": "user", "content": prompt}])
        answers.append({"text": answer.choices[0].message.content, "prompt_tokens": answer.usage.prompt_tokens})
    model.unload()
    manager.close()
print(json.dumps(answers))
