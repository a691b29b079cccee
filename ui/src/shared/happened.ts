import type { Event, ShrinkReport } from '../api';
import { text } from '../text/en';

/** What a shrink did, in words, the important first: `gave back 62.0 MiB of 66.0 MiB in 18 ms; resident 351.0 → 289.0 MiB`. */
export function shrinkWords(report: ShrinkReport): string[] {
  const { freed_bytes, reserved_before_bytes, targets, dropped, pools_dropped } = report;
  const { memory } = text;
  const took_ms = (report.took_us + report.trim_us) / 1000;
  const lines: string[] = [];
  if (targets.length === 0) {
    if (dropped.length === 0) lines.push(memory.noArena);
  } else if (freed_bytes === 0) {
    lines.push(memory.gaveNothing(report.reserved_after_bytes, took_ms));
  } else {
    const { resident_before_bytes, resident_after_bytes } = report;
    lines.push(
      memory.gaveBack(
        freed_bytes,
        reserved_before_bytes,
        took_ms,
        resident_before_bytes,
        resident_after_bytes,
      ),
    );
  }
  for (const { name, bytes } of pools_dropped)
    lines.push(memory.poolDropped(memory.poolNames[name] ?? name, bytes));
  for (const { target, reason } of dropped) lines.push(memory.leftOut(target, reason));
  return lines;
}

/** Who asked for a shrink. */
export const causeWords = (cause: string): string => text.memory.causes[cause] ?? text.memory.byPolicy(cause);

/** What decides by a load option of the model, without any plugin. */
export const OWN_POLICY = 'shrink-every';

/** Who decided: a plugin, or the model's own option. */
export const policyWords = (policy: string): string =>
  policy === OWN_POLICY ? text.memory.byOwnOption : policy;

/** What a policy decided, in words. The host tells it as its own code spells it. */
export function decisionWords(told: string): string {
  const { decisions } = text.happened;
  const second = ', but another policy came first';
  if (told.endsWith(second)) return decisions.second(decisionWords(told.slice(0, -second.length)));
  const failed = 'keep, because it failed: ';
  if (told.startsWith(failed)) return decisions.failed(told.slice(failed.length));
  if (told === 'Reload') return decisions.reload;
  if (told === 'Unload') return decisions.unload;
  if (told.startsWith('ShrinkAfterNextRun(')) return decisions.after;
  if (told.startsWith('Shrink(')) {
    const targets = [...told.matchAll(/\b(Cpu|Gpu)\((\d+)\)/g)].map(
      ([, device, index]) => `${device?.toLowerCase()}:${index}`,
    );
    return targets.length === 0 ? decisions.shrink : decisions.shrinkTargets(targets.join(', '));
  }
  const option = /^SetRuntimeOption \{ key: "(.*)", value: "(.*)" \}$/s.exec(told);
  return option === null ? told : decisions.option(option[1] ?? '', option[2] ?? '');
}

/** An event in one line. */
export function eventWords(event: Event): string {
  const words = text.happened;
  switch (event.event) {
    case 'added':
      return words.added(event.kind);
    case 'removed':
      return words.removed;
    case 'load_options':
      return words.load_options(event.options.profile ?? null);
    case 'loading':
      return words.loading;
    case 'loaded':
      return words.loaded(event.load_ms, event.sample.resident_bytes);
    case 'load_failed':
      return words.load_failed(event.reason);
    case 'run':
      return runWords(event);
    case 'shrink':
      return `${causeWords(event.cause)}: ${shrinkWords(event.report).join('; ')}`;
    case 'grown':
      return words.grown(event.device, event.before_bytes, event.after_bytes);
    case 'near_cap':
      return words.near_cap(event.device, event.reserved_bytes, event.limit_bytes);
    case 'runtime_option':
      return event.value == null ? words.optionRemoved(event.key) : words.optionSet(event.key, event.value);
    case 'policy':
      return words.policy(policyWords(event.policy), decisionWords(event.decision));
    case 'attached':
      return words.attached(event.policy);
    case 'detached':
      return words.detached(event.policy, event.reason ?? null);
    case 'crashed':
      return words.crashed(event.reason, event.restart_in_ms ?? null);
    case 'unloaded':
      return words.unloaded(event.resident_before_bytes, event.worker_gone);
    default:
      // A newer host may tell what this page does not know yet.
      return (event as { event: string }).event;
  }
}

function runWords(run: Event & { event: 'run' }): string {
  const words = text.happened;
  const parts = [words.run(run.run, run.took_us, run.items)];
  if (run.outcome !== 'ok') parts.push((words.outcomes[run.outcome] ?? run.outcome).toLowerCase());
  if (run.cap_retries > 0) parts.push(words.retried(run.cap_retries));
  if (run.queued > 0) parts.push(words.waiting(run.queued));
  return parts.join('; ');
}
