"""A chain of LangChain: documents and a question to vectors, the nearest documents and the question to an answer."""

import json
import os

from langchain_core.documents import Document
from langchain_core.output_parsers import StrOutputParser
from langchain_core.prompts import ChatPromptTemplate
from langchain_core.runnables import RunnablePassthrough
from langchain_core.vectorstores import InMemoryVectorStore
from langchain_openai import ChatOpenAI, OpenAIEmbeddings

URL, KEY = os.environ["EBB_URL"] + "/v1", os.environ["EBB_KEY"]
TEXTS = [
    "An arena keeps the memory that its tensors gave back, so that the next run need not ask the system for it.",
    "The harbour of Rotterdam is the largest in Europe.",
    "Sourdough needs a starter of flour and water, fed for a week.",
    "A shrink returns the free regions of an arena to the operating system.",
    "Penguins live almost only in the southern half of the world.",
]

# Texts go as they are: this tokenizer's ids would be OpenAI's, not the model's.
embeddings = OpenAIEmbeddings(model="minilm", base_url=URL, api_key=KEY, check_embedding_ctx_length=False)
store = InMemoryVectorStore.from_documents([Document(text) for text in TEXTS], embeddings)
retriever = store.as_retriever(search_kwargs={"k": 2})
model = ChatOpenAI(model="smollm2", base_url=URL, api_key=KEY, temperature=0, max_tokens=32, max_retries=0)
prompt = ChatPromptTemplate.from_messages(
    [("system", "Answer from this:\n{context}"), ("user", "{question}")],
)
chain = (
    {"context": retriever | (lambda found: "\n".join(one.page_content for one in found)), "question": RunnablePassthrough()}
    | prompt
    | model
    | StrOutputParser()
)

QUESTION = "How does memory go back to the system?"
print(
    json.dumps(
        {
            "found": [TEXTS.index(one.page_content) for one in retriever.invoke(QUESTION)],
            "answer": chain.invoke(QUESTION),
            "streamed": "".join(chain.stream(QUESTION)),
            "usage": model.invoke("Say hello.").usage_metadata,
        }
    )
)
