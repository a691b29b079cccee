import { bytes, count, time } from '../../shared/format';

const many = (value: number, one: string, more = `${one}s`) => `${count(value)} ${value === 1 ? one : more}`;

/** The view in which models are tried: chat, embeddings, transcription. */
export const chat = {
  pages: { chat: 'Chat', embed: 'Embeddings', transcribe: 'Transcription' },
  sections: 'What to try',

  model: {
    label: 'Model',
    none: {
      chat: 'No chat model yet',
      embeddings: 'No embedding model yet',
      audio: 'No speech model yet',
      tensors: 'No model yet',
    },
    noneBody: {
      chat: 'Add a model that writes text, or the small one among the demo models, then talk to it here. It runs on this machine alone.',
      embeddings:
        'Add an embedding model, or the small one among the demo models, then see here which texts it takes for alike.',
      audio:
        'Add a speech model, or the small one among the demo models, then drop a recording here to have it written down.',
      tensors: 'Add a model first.',
    },
    add: 'Go to models',
    load: 'Load',
    loading: (alias: string) => `Loading ${alias}…`,
    state: {
      unloaded: 'not loaded',
      loading: 'loading',
      loaded: 'loaded',
      restarting: 'starting again',
      failed: 'failed',
    },
    needed: 'Load the model first.',
    bare: 'This model has no chat template: what you write is continued as it is.',
  },

  memory: {
    title: (alias: string) => `Memory of ${alias}`,
    inUse: 'In use',
    slack: 'Slack',
    peak: 'Most in use',
    resident: 'Resident',
    pool: (name: string) => ({ kv: 'KV cache', prefix: 'Kept from before' })[name] ?? name,
    shrink: 'Shrink now',
    shrinking: 'Shrinking…',
    more: 'All figures',
    notLoaded: 'It takes no memory while it is not loaded.',
    slackHint: 'Slack is what it has reserved and does not use now. A shrink gives it back.',
  },

  conversation: {
    title: 'Conversation',
    list: 'Conversations',
    new: 'New chat',
    untitled: 'New conversation',
    forget: (title: string) => `Delete “${title}”`,
    forgetAll: 'Delete all',
    forgetAllTitle: 'Delete all conversations?',
    forgetAllBody: (conversations: number) =>
      `${many(conversations, 'conversation')} kept in this browser ${conversations === 1 ? 'is' : 'are'} deleted. They are nowhere else.`,
    kept: 'Kept in this browser alone.',
    notKept: 'There is no room in this browser to keep this conversation.',
    you: 'You',
    message: 'Message',
    placeholder: 'Write a message. Enter sends it, Shift and Enter begin a new line.',
    send: 'Send',
    stop: 'Stop',
    again: 'Answer again',
    examples: 'Try one of these',
    prompts: [
      'Explain in three sentences what an arena allocator is.',
      'Write a haiku about memory that is given back.',
      'Give me three reasons to drink water, as a list.',
    ],
    reading: (done: number, total: number) => `Reading: ${count(done)} of ${count(total)} tokens`,
    waiting: 'Thinking…',
    stopped: 'stopped',
    copyAnswer: 'Copy answer',
    failedTitle: 'It could not answer',
    figures: {
      label: 'Figures of this answer',
      tokens: (tokens: number) => many(tokens, 'token'),
      prompt: (prompt: number, cached: number) =>
        `${many(prompt, 'prompt token')}${cached === 0 ? '' : `, ${count(cached)} of them kept from before`}`,
      speed: (speed: number) => `${speed.toFixed(1)} tokens/s`,
      first: (us: number) => `first token after ${time(us / 1000)}`,
      took: (us: number) => `${time(us / 1000)} in all`,
      kv: (kv: number) => `KV cache ${bytes(kv)}`,
      length: 'cut at the most tokens',
      retries: (retries: number) => `hit its cap ${retries === 1 ? 'once' : `${count(retries)} times`}`,
      seed: (seed: number) => `seed ${seed}`,
    },
    context: (used: number, all: number) => `${count(used)} of ${count(all)} tokens of its context used`,
  },

  markdown: {
    picture: (alt: string) => (alt === '' ? '[picture]' : `[picture: ${alt}]`),
    code: 'Code',
    table: 'Table',
  },

  options: {
    title: 'How it answers',
    system: 'System prompt',
    systemHint: 'What the model is told before everything else.',
    own: 'model’s own',
    reset: 'Set all to the model’s own',
    changed: (changed: number) => `${many(changed, 'value')} changed`,
    number: 'Type a number.',
    whole: 'Type a whole number.',
    range: (least: number, most: number) => `From ${count(least)} to ${count(most)}.`,
    from: (least: number) => `At least ${count(least)}.`,
    schema: 'The schema is no JSON.',
    regex: 'Type a regular expression.',
    fields: {
      max_tokens: ['Max tokens', 'At most this many are written; as many as there is room for where empty.'],
      temperature: ['Temperature', '0 always takes the likeliest word; higher is more varied.'],
      top_p: ['Top p', 'Choose among the likeliest that have this probability together; 1 is all.'],
      top_k: ['Top k', 'Choose among so many of the likeliest; 0 is all.'],
      min_p: ['Min p', 'Leave out what has less than this part of the likeliest’s probability.'],
      repetition_penalty: ['Repetition penalty', 'Above 1 it repeats itself less.'],
      frequency_penalty: ['Frequency penalty', 'Taken off for each time that a word was used.'],
      presence_penalty: ['Presence penalty', 'Taken off once a word was used.'],
      seed: ['Seed', 'The same seed gives the same answer; random where empty.'],
    },
    stop: 'Stop texts',
    stopHint: 'One a line: the answer ends before any of them.',
    format: 'Answer must be',
    formats: {
      text: 'any text',
      json_object: 'JSON',
      json_schema: 'JSON that fits a schema',
      regex: 'text that fits an expression',
    },
    schemaLabel: 'JSON schema',
    regexLabel: 'Regular expression',
    schemaExample: '{"type":"object","properties":{"name":{"type":"string"}},"required":["name"]}',
    regexExample: '(yes|no)',
    wrong: 'Some values under “How it answers” are wrong.',
  },

  embed: {
    lead: 'One text a line. Each becomes a vector; the closer two texts are in meaning, the nearer their similarity is to 1.',
    texts: 'Texts, one a line',
    example:
      'The cat sleeps on the sofa.\nA kitten naps on the couch.\nThe stock market fell today.\nShares lost value this morning.\nHow do I give memory back?',
    useExample: 'Use an example',
    run: 'Compare',
    running: 'Embedding…',
    lines: (lines: number) => many(lines, 'text'),
    tooMany: (most: number) =>
      `Only the first ${count(most)} texts are compared: the table would not fit a screen.`,
    tooFew: 'Write at least two texts to compare.',
    matrix: 'Cosine similarity of each text to each other',
    text: 'Text',
    nearest: 'Most alike',
    pair: (a: string, b: string, similarity: string) => `${a} and ${b}: ${similarity}`,
    figures: (texts: number, tokens: number, dimensions: number, ms: number) =>
      `${many(texts, 'text')}, ${many(tokens, 'token')}, vectors of ${count(dimensions)} numbers, in ${time(ms)}`,
    retries: (retries: number) =>
      `The cap was hit ${retries === 1 ? 'once' : `${count(retries)} times`}; it went on in smaller parts.`,
    truncatedTitle: (texts: number) => `${many(texts, 'text')} longer than the model takes`,
    truncated: (index: number, used: number, tokens: number, exact: boolean) =>
      `Text ${index + 1}: the first ${count(used)} of ${exact ? '' : 'at least '}${many(tokens, 'token')} were used.`,
  },

  transcribe: {
    lead: 'WAV, FLAC, MP3 or OGG. It is heard on this machine; nothing leaves it.',
    file: 'Sound file',
    drop: 'or drop it here',
    pathOnly: (name: string) =>
      `The window was given the place of ${name}, not its contents. Choose it with the button above.`,
    language: 'Language',
    automatic: 'Found by the model',
    run: 'Transcribe',
    again: 'Transcribe again',
    hearing: (done: number, total: number) => `Heard ${time(done)} of ${time(total)}`,
    sending: (size: string) => `Reading ${size}…`,
    stopped: 'Stopped: this is what was heard until then.',
    nothing: 'No speech was heard.',
    segments: 'What was said',
    from: 'From',
    to: 'To',
    said: 'Said',
    figures: (segments: number, audio: number, speech: number, ms: number) =>
      `${many(segments, 'segment')} of ${time(audio)} of sound, ${time(speech)} of it speech, in ${time(ms)} (${ms === 0 ? '' : `${(audio / ms).toFixed(1)} times as fast as it was said`})`,
    save: { srt: 'Save SRT', vtt: 'Save VTT', txt: 'Save text' },
    saveTitle: 'Save subtitles',
    copy: 'Copy text',
  },
};
