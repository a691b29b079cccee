"""The answering. A resource that a component exports is a class in a module named after its interface."""

import json

from componentize_py_types import Err
from wit_world.exports.pipeline import Citation
from wit_world.imports import inference, plugin_host, store
from wit_world.imports.inference import GenerateOptions, Message
from wit_world.imports.store import Query
from wit_world.imports.types import Error_NotFound

PROMPT = (
    "Answer the question from the numbered passages alone, and name the passages you used, like [1]. "
    "If they do not say, say so."
)


def model_for(kind):
    """The first model of a kind that was granted."""
    for model in inference.models():
        if model.kind == kind:
            return model.alias
    raise Err(Error_NotFound(f"no model for {kind} was granted"))


def index(dimensions):
    return store.Collection.open("passages", dimensions)


class Answer:
    def __init__(self, found, generation):
        self.found = found
        self.generation = generation

    @classmethod
    def ask(cls, question, history):
        vector = inference.embed(model_for("embeddings"), [question])
        limit = json.loads(plugin_host.setting("passages") or "4")
        hits = index(vector.dimensions).search(Query(question, vector, limit, [], []))
        passages = "\n\n".join(f"[{number}] {hit.text}" for number, hit in enumerate(hits, 1))
        messages = [Message("system", PROMPT)]
        for asked, answered in history:
            messages += [Message("user", asked), Message("assistant", answered)]
        messages.append(Message("user", f"{passages}\n\nQuestion: {question}"))
        options = GenerateOptions(
            max_tokens=400, temperature=0.0, top_p=None, top_k=None, seed=None, stop=[], json_schema=None, more=[]
        )
        return cls(hits, inference.Generation.start(model_for("chat"), messages, options))

    def citations(self):
        places = [json.loads(hit.metadata) for hit in self.found]
        return [
            Citation(number, hit.document, hit.text, place["start"], place["end"], hit.score)
            for number, (hit, place) in enumerate(zip(self.found, places), 1)
        ]

    def next(self):
        return self.generation.next()

    def cancel(self):
        self.generation.cancel()
