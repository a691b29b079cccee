/** Takes out of a report what is nobody else's business: paths, texts, addresses, keys, and the names that people gave. */

/** Fields that hold nothing but such. */
const PRIVATE =
  /^(path|paths|file|files|folder|library|runtime_library|text|texts|prompt|content|contents|message_text|messages|input|inputs|answer|question|query|document|documents|title|url|key_hash|token|user|host_name)$/;

/** What a program calls something, not a person: option keys, codes, devices, versions. */
const NAME = /^[A-Za-z0-9][\w.:+-]{0,63}$/;

const ENDINGS =
  'onnx|ort|gguf|safetensors|wasm|wat|json|jsonl|toml|ya?ml|txt|md|html?|pdf|docx?|odt|xlsx?|csv|wav|flac|mp3|ogg|m4a|png|jpe?g|bin|so|dll|dylib|log|py|js|ts|rs';

/** From the beginning of a path to where a sentence would go on: names of folders may have spaces. */
const PATHS = [
  /file:\/\/[^\n:;,()]*/gi,
  /\b[A-Za-z]:[\\/](?:(?!: |; |, | \(|\)|\n).)*/g,
  /(?<![\w/])(?:~|\$HOME|%[A-Z]+%)?[\\/]{1,2}(?=[^\s\\/])(?:(?!: |; |, | \(|\)|\n).)*/g,
  /(?:\S+[\\/])+\S*/g,
];
const FILE = new RegExp(`[^\\s'"“”\`]+\\.(?:${ENDINGS})\\b`, 'giu');
const ADDRESS = /\bhttps?:\/\/(?!127\.0\.0\.1|localhost|\[::1\])\S+/gi;
const OWN_ADDRESS = /\bhttps?:\/\/(?:127\.0\.0\.1|localhost|\[::1\])(?::\d+)?/gi;
const MAIL = /[^\s@<>]+@[^\s@<>]+\.[^\s@<>]+/g;
const SECRET = /\bebb-[A-Za-z0-9_-]{8,}|\b[A-Fa-f0-9]{32,}\b|\bBearer\s+\S+/g;
const QUOTED = /'([^'\n]*)'|"([^"\n]*)"|“([^”\n]*)”|`([^`\n]*)`/g;

/** Longest text that is left. */
const LONGEST = 400;

export class Scrub {
  #models = new Map<string, string>();

  constructor(aliases: Iterable<string> = []) {
    for (const alias of aliases) this.model(alias);
  }

  /** A model by number: its name is its owner's. */
  model(alias: string): string {
    const known = this.#models.get(alias);
    if (known !== undefined) return known;
    const name = `model-${this.#models.size + 1}`;
    this.#models.set(alias, name);
    return name;
  }

  /** A sentence, without what it quotes and where files lie. */
  sentence(said: string): string {
    // What a host listens on says nothing of its owner.
    const kept: string[] = [];
    let text = said.replace(OWN_ADDRESS, (address) => `\u0001${kept.push(address) - 1}\u0001`);
    for (const [alias, name] of this.#models) if (alias.length > 2) text = replaceWord(text, alias, name);
    text = text
      .replace(ADDRESS, '[address]')
      .replace(MAIL, '[address]')
      .replace(SECRET, '[key]')
      .replace(QUOTED, (whole, ...groups: unknown[]) => {
        const inner = groups.slice(0, 4).find((group) => typeof group === 'string') as string;
        return /^model-\d+$/.test(inner) ||
          (NAME.test(inner) && /[_.:]/.test(inner) && !FILE_ALONE.test(inner))
          ? whole
          : '[text]';
      });
    for (const path of PATHS) text = text.replace(path, '[path]');
    text = text
      .replace(FILE, '[file]')
      .replaceAll(/\u0001(\d+)\u0001/g, (_, index) => kept[Number(index)] ?? '');
    return text.length > LONGEST ? `${text.slice(0, LONGEST)}…` : text;
  }

  /** A value with all that is in it. What is no sentence is a name that a program gave, or a text. */
  value(value: unknown, field = '', sentences = SENTENCES): unknown {
    if (Array.isArray(value)) return value.map((each) => this.value(each, field, sentences));
    if (typeof value === 'object' && value !== null) {
      const entries = Object.entries(value).filter(([key]) => !PRIVATE.test(key));
      return Object.fromEntries(entries.map(([key, each]) => [key, this.value(each, key, sentences)]));
    }
    if (typeof value !== 'string') return value;
    if (field === 'model' || field === 'alias') return this.model(value);
    const clean = this.sentence(value);
    return sentences.has(field) || NAME.test(clean) || /^\[\w+\]$/.test(clean) ? clean : '[text]';
  }
}

/** Fields that the host writes sentences into. */
const SENTENCES = new Set(['reason', 'message', 'decision', 'hint', 'error', 'name', 'requested', 'failure']);

const FILE_ALONE = new RegExp(`\\.(?:${ENDINGS})$`, 'i');

/** Replaces a name where it stands by itself. */
function replaceWord(text: string, word: string, by: string): string {
  const escaped = word.replaceAll(/[.*+?^${}()|[\]\\]/g, String.raw`\$&`);
  return text.replaceAll(new RegExp(String.raw`(?<![\p{L}\p{N}_-])${escaped}(?![\p{L}\p{N}_-])`, 'gu'), by);
}
