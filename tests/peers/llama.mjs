// llama.cpp on the GGUF file that the model was imported from, fed with what Ebb wrote: which token would it have chosen
// in each place?
//
//     node llama.mjs GGUF TEXTS_JSON
//
// TEXTS_JSON holds objects {prompt, tokens}: a text that already went through the chat template, and the token ids that
// Ebb continued it with.

import fs from "node:fs";
import { getLlama, LlamaLogLevel } from "node-llama-cpp";

const [gguf, file] = process.argv.slice(2);
const llama = await getLlama({ gpu: false, build: "never", logLevel: LlamaLogLevel.error, progressLogs: false });
const model = await llama.loadModel({ modelPath: gguf });
const context = await model.createContext({ contextSize: 1024, threads: 2 });
const sequence = context.getSequence();

const answers = [];
for (const { prompt, tokens } of JSON.parse(fs.readFileSync(file, "utf8"))) {
  await sequence.clearHistory();
  const read = model.tokenize(prompt, true);
  const likeliest = { generateNext: { token: true, options: { temperature: 0 } } };
  const input = [...read.slice(0, -1), [read.at(-1), likeliest], ...tokens.slice(0, -1).map((id) => [id, likeliest])];
  const output = await sequence.controlledEvaluate(input);
  answers.push({ prompt_tokens: read.length, tokens: output.filter((one) => one).map((one) => one.next.token) });
}
console.log(JSON.stringify(answers));
await llama.dispose();
