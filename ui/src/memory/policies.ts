import type { Attachment, PluginEntry, Saw } from '../api';
import { text } from '../text/en';

/** The policies of a model, in the order in which they are asked. */
export function attachedTo(
  plugins: readonly PluginEntry[],
  alias: string,
): (Attachment & { name: string })[] {
  return plugins
    .flatMap(({ attachments, manifest }) =>
      attachments.map((attachment) => ({ ...attachment, name: manifest.name || manifest.id })),
    )
    .filter(({ model }) => model === alias)
    .sort((one, other) => one.position - other.position);
}

/** The figures that a policy decided on. */
export function sawWords(saw: Saw): string {
  const { memory } = text;
  const words = [memory.saw(saw.in_use_bytes, saw.reserved_bytes, saw.resident_bytes, saw.runs)];
  if (saw.idle_ms != null) words.push(memory.sawIdle(saw.idle_ms));
  if (saw.available_bytes != null) words.push(memory.sawAvailable(saw.available_bytes));
  return words.join(', ');
}
