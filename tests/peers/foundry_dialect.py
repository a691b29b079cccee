"""The client of Foundry Local's service, with Ebb in the service's place.

It asks the program `foundry` where the service is: here a script that names Ebb's address (see foundry.rs). It knows no
keys: its HTTP client gets one, as Ebb's every route asks for it.
"""

import json
import os

from foundry_local import FoundryLocalManager
from foundry_local.client import HttpResponseError

manager = FoundryLocalManager(bootstrap=False)
without_key = None
try:
    manager.httpx_client.get("/openai/status")
except HttpResponseError as error:
    without_key = str(error)[:3]
manager.httpx_client._client.headers["Authorization"] = "Bearer " + os.environ["EBB_KEY"]

names = lambda models: sorted(model.alias for model in models)
catalog = manager.list_catalog_models()
before = names(manager.list_loaded_models())
loaded = manager.load_model("smollm2", ttl=600)
during = names(manager.list_loaded_models())
manager.unload_model("smollm2", force=True)
newer = {path: manager.httpx_client.get(path) for path in ("/status", "/models/loaded")}
manager.httpx_client.get("/models/load/smollm2")
again = names(manager.list_loaded_models())
manager.httpx_client.get("/models/unload/smollm2")

print(
    json.dumps(
        {
            "without_key": without_key,
            "catalog": names(catalog),
            "task": {model.alias: model.task for model in catalog},
            "cache": manager.get_cache_location(),
            "cached": names(manager.list_cached_models()),
            "before": before,
            "loaded": loaded.alias,
            "during": during,
            "again": again,
            "after": names(manager.list_loaded_models()),
            "newer": newer,
        }
    )
)
