// The `openai` client for Node, pointed at Ebb: chat, stream, tools, embeddings, speech, responses, errors.
//
//     node openai_client.mjs WAV

import fs from "node:fs";
import OpenAI, { toFile } from "openai";

const wav = process.argv[2];
const baseURL = `${process.env.EBB_URL}/v1`;
const client = new OpenAI({ baseURL, apiKey: process.env.EBB_KEY, maxRetries: 0 });
const ask = { model: "smollm2", messages: [{ role: "user", content: "Write one sentence about the sea." }] };
const short = { ...ask, max_tokens: 24, temperature: 0 };

async function chat() {
  const whole = await client.chat.completions.create(short);
  let streamed = "";
  let usage = null;
  const stream = await client.chat.completions.create({
    ...short,
    stream: true,
    stream_options: { include_usage: true },
  });
  for await (const chunk of stream) {
    usage = chunk.usage ?? usage;
    streamed += chunk.choices[0]?.delta?.content ?? "";
  }
  return { text: whole.choices[0].message.content, usage: whole.usage, streamed, streamUsage: usage };
}

async function tools() {
  const parameters = {
    type: "object",
    properties: { city: { type: "string", maxLength: 20 } },
    required: ["city"],
    additionalProperties: false,
  };
  const asked = await client.chat.completions.create({
    model: "smollm2",
    messages: [{ role: "user", content: "What is the weather in Paris?" }],
    tools: [{ type: "function", function: { name: "get_weather", parameters } }],
    tool_choice: "required",
    max_tokens: 64,
    temperature: 0,
  });
  const call = asked.choices[0].message.tool_calls[0];
  return { name: call.function.name, arguments: JSON.parse(call.function.arguments) };
}

async function embeddings() {
  const input = ["one", "two"];
  const plain = await client.embeddings.create({ model: "minilm", input });
  const floats = await client.embeddings.create({ model: "minilm", input, encoding_format: "float" });
  const differences = plain.data.flatMap((one, row) =>
    Array.from(one.embedding, (value, at) => Math.abs(value - floats.data[row].embedding[at])),
  );
  return { dimensions: plain.data[0].embedding.length, same: Math.max(...differences) };
}

async function speech() {
  const file = await toFile(fs.createReadStream(wav), "two_cities.wav");
  return (await client.audio.transcriptions.create({ model: "moonshine", file })).text;
}

async function responses() {
  const how = { model: "smollm2", input: "Write one sentence about the sea.", max_output_tokens: 24, temperature: 0 };
  const whole = await client.responses.create(how);
  let streamed = "";
  for await (const event of await client.responses.create({ ...how, stream: true })) {
    if (event.type === "response.output_text.delta") streamed += event.delta;
  }
  return { text: whole.output_text, streamed };
}

async function errors() {
  const failed = async (act) => {
    try {
      await act();
    } catch (error) {
      if (error instanceof OpenAI.APIError) return [error.constructor.name, error.status, error.code, error.type];
      throw error;
    }
    return null;
  };
  const wrong = new OpenAI({ baseURL, apiKey: "wrong", maxRetries: 0 });
  return {
    wrongKey: await failed(() => wrong.chat.completions.create(short)),
    unknownModel: await failed(() => client.chat.completions.create({ ...short, model: "not-there" })),
    noTokens: await failed(() => client.chat.completions.create({ ...short, max_tokens: 0 })),
  };
}

const said = {
  chat: await chat(),
  tools: await tools(),
  embeddings: await embeddings(),
  speech: await speech(),
  responses: await responses(),
  errors: await errors(),
};
console.log(JSON.stringify(said));
