import { SvelteMap } from 'svelte/reactivity';

import { ApiError, api, done, isCancelled } from '../api';
import type { LoadOptions, LoadReport, ModelEntry, Profile, Sample } from '../api';
import type { OptionProblem, OptionsCheck } from '../api/generated/schema';
import { models } from '../live/models.svelte';
import { notices } from '../live/notices.svelte';
import { system } from '../live/system.svelte';
import { text } from '../text/en';
import { catalogue } from './catalogue.svelte';
import { type Field, type Standing, ofProfile, same } from './fields';
import { type Given, type Row, given, pathOf, rowPath, written } from './options';
import { OWN } from './own';

/** After the last key stroke. */
const CHECK_AFTER_MS = 250;

/** Loading that came to an end. */
export interface Loaded {
  report: LoadReport;
  /** What it held before, where it was in memory. */
  before: Sample | null;
}

/** The load dialog of one model: what is chosen, what the host says of it, and the loading. */
export class LoadForm {
  readonly alias: string;
  /** Values of typed fields, by path. */
  readonly given = new SvelteMap<string, Given>();
  rows = $state<Row[]>([]);

  /** What the host said of the options last. */
  check = $state.raw<OptionsCheck | null>(null);
  checkError = $state.raw<ApiError | null>(null);
  checking = $state(false);

  /** Since when it loads, by `performance.now()`. */
  loading_since = $state<number | null>(null);
  error = $state.raw<ApiError | null>(null);
  loaded = $state.raw<Loaded | null>(null);

  readonly #written = $derived(written(this.given.values(), this.rows));
  /** The load options that are meant. */
  readonly options = $derived(this.#written.options);
  /** The same as text: it changes only where the options do. */
  readonly json = $derived(JSON.stringify(this.options));
  readonly #problems = $derived(this.#byField());

  #last: Partial<LoadOptions>;
  /** The options that were refused last. */
  #refused = $state('');
  #nextRow = 1;

  constructor(model: ModelEntry) {
    this.alias = model.alias;
    this.#last = model.options;
    this.startOver();
  }

  get model(): ModelEntry | undefined {
    return models.of(this.alias);
  }

  /** Whether applying means loading it again. */
  readonly inMemory = $derived.by(() => models.of(this.alias)?.state === 'loaded');

  /** Back to the options that the model last had. */
  startOver(): void {
    this.#last = this.model?.options ?? this.#last;
    this.given.clear();
    this.rows = [];
    for (const option of given(this.#last)) {
      if (this.#hasField(option)) this.given.set(pathOf(option.scope, option.key), option);
      else this.rows.push({ ...option, id: this.#nextRow++ });
    }
  }

  /** Rows whose key has a field, once the catalogue is there, move into it. */
  settle(): void {
    for (const row of this.rows.filter((row) => this.#hasField(row))) {
      const path = pathOf(row.scope, row.key);
      if (this.given.has(path)) continue;
      this.given.set(path, { scope: row.scope, key: row.key, value: row.value });
      this.removeRow(row.id);
    }
  }

  #hasField({ scope, key, value }: Given): boolean {
    if (scope === '') return key in OWN;
    // An empty value takes a run option of the profile away; a field cannot say that.
    const field = catalogue.fields.find((field) => field.scope === scope && field.key === key);
    return field !== undefined && field.control !== 'none' && value !== '';
  }

  /** Whether something was chosen that the model was not loaded with last. */
  get isDirty(): boolean {
    const before = new Map(given(this.#last).map((one) => [pathOf(one.scope, one.key), one.value]));
    const now = [...this.given.values(), ...this.rows.filter(({ key, value }) => key !== '' || value !== '')];
    return (
      before.size !== now.length || now.some((one) => before.get(pathOf(one.scope, one.key)) !== one.value)
    );
  }

  value(path: string): string {
    return this.given.get(path)?.value ?? '';
  }

  /** Sets a field; an empty text leaves it as it would be. */
  set({ path, scope, key }: Pick<Field, 'path' | 'scope' | 'key'>, value: string): void {
    if (value === '') this.given.delete(path);
    else this.given.set(path, { scope, key, value });
  }

  setOwn(key: keyof typeof OWN, value: string): void {
    this.set({ path: key, scope: '', key }, value);
  }

  resetAll(): void {
    this.given.clear();
    this.rows = [];
  }

  addRow(scope = 'session', key = ''): Row {
    const row = { id: this.#nextRow++, scope, key, value: '' };
    this.rows.push(row);
    return row;
  }

  removeRow(id: number): void {
    this.rows = this.rows.filter((row) => row.id !== id);
  }

  /** The profile that the options lie over. */
  readonly profile = $derived<Profile | undefined>(
    catalogue.profiles.find(({ name }) => name === this.value('profile')) ??
      (this.value('profile') === '' ? catalogue.profiles[0] : undefined),
  );
  readonly #ofProfile = $derived(ofProfile(this.profile));

  /** What holds for a field where nothing is chosen. */
  standing(field: Field): Standing {
    return this.#ofProfile.get(field.path) ?? { value: field.default, profile: null, reason: null };
  }

  /** Paths of the fields that say something else than would hold anyway. */
  readonly changed = $derived<ReadonlySet<string>>(
    new Set([...this.given.keys()].filter((path) => this.#differs(path))),
  );

  #differs(path: string): boolean {
    const field = catalogue.fields.find((field) => field.path === path);
    const standing = this.#ofProfile.get(path)?.value ?? field?.default ?? null;
    return standing === null || !same(standing, this.value(path));
  }

  /** Whether this option is other than what is in memory. */
  isPending(path: string): boolean {
    return this.inMemory && this.check?.changed.includes(path) === true;
  }

  /** Everything to know, errors first. */
  readonly problems = $derived<OptionProblem[]>([
    ...this.#written.problems,
    ...(this.check?.problems ?? []),
    ...this.#ofError(),
  ]);

  problemsOf(path: string): OptionProblem[] {
    return this.#problems.get(path) ?? [];
  }

  problemsOfRow({ id, scope, key }: Row): OptionProblem[] {
    return [...this.problemsOf(rowPath(id)), ...(key === '' ? [] : this.problemsOf(pathOf(scope, key)))];
  }

  #byField(): Map<string, OptionProblem[]> {
    const found = new Map<string, OptionProblem[]>();
    for (const problem of this.problems) {
      const field = problem.field ?? '';
      found.set(field, [...(found.get(field) ?? []), problem]);
    }
    return found;
  }

  /** A check or a load that is refused because of one field says so at that field, until it is another one. */
  #ofError(): OptionProblem[] {
    const refused = this.#refused === this.json ? this.error : null;
    const known = new Set(this.check?.problems.map(({ message }) => message));
    return [this.checkError, refused].flatMap((error) => {
      if (error?.param == null || known.has(error.message)) return [];
      const { message, hint, param } = error;
      return [{ severity: 'error', field: this.#fieldOf(param), message, hint, nearest: null }];
    });
  }

  /** The field that the host means where it names just the key. */
  #fieldOf(param: string): string {
    const keyed = [...this.given.values(), ...this.rows].find(({ key }) => key === param);
    return keyed === undefined ? param : pathOf(keyed.scope, keyed.key);
  }

  /** Asks the host what the options come to, in a moment; the result takes that back. For an effect that reads `json`. */
  checkSoon(): () => void {
    const ending = new AbortController();
    this.checking = true;
    const timer = setTimeout(() => void this.#check(ending.signal), CHECK_AFTER_MS);
    return () => {
      clearTimeout(timer);
      ending.abort();
    };
  }

  async #check(signal: AbortSignal): Promise<void> {
    const [path, body] = [{ alias: this.alias }, this.options as LoadOptions];
    try {
      this.check = await done(api.POST('/ebb/v1/models/{alias}/check', { params: { path }, body, signal }));
      this.checkError = null;
    } catch (thrown) {
      if (signal.aborted || isCancelled(thrown)) return;
      [this.check, this.checkError] = [null, ApiError.from(thrown)];
    }
    this.checking = false;
  }

  /** The first field that keeps the options from being sent at all. */
  get blocked(): string | null {
    return this.#written.problems[0]?.field ?? null;
  }

  /** Loads the model, anew where it is in memory. Whatever comes of it, all that was chosen stays. */
  async load(): Promise<void> {
    if (this.loading_since !== null || this.blocked !== null) return;
    [this.loading_since, this.error, this.loaded] = [performance.now(), null, null];
    const path = { alias: this.alias };
    const body = this.options as LoadOptions;
    try {
      const before = this.inMemory ? await this.#held() : null;
      const query = { force: this.inMemory };
      const report = await done(api.POST('/ebb/v1/models/{alias}/load', { params: { path, query }, body }));
      this.loaded = { report, before };
      this.#last = body;
    } catch (thrown) {
      this.error = ApiError.from(thrown);
      this.#refused = JSON.stringify(body);
    }
    this.loading_since = null;
    void models.refresh();
    void system.refresh();
  }

  async #held(): Promise<Sample | null> {
    const path = { alias: this.alias };
    return done(api.GET('/ebb/v1/models/{alias}/stats', { params: { path } })).then(
      ({ now }) => now,
      () => null,
    );
  }

  /** Gives up a load that goes on. */
  async stop(): Promise<void> {
    const path = { alias: this.alias };
    try {
      await done(api.POST('/ebb/v1/models/{alias}/unload', { params: { path } }));
    } catch (thrown) {
      if (this.loading_since !== null) notices.fail(thrown);
    }
  }

  /** Saves what was chosen, and what its profile adds, as a profile of its own. */
  async saveProfile(name: string, description: string): Promise<void> {
    const body = { name, description, built_in: false, reasons: {}, options: this.#whole() };
    await done(api.PUT('/ebb/v1/profiles/{name}', { params: { path: { name } }, body }));
    notices.say(text.models.profileSaved(name));
    await catalogue.refreshProfiles();
  }

  /** A profile cannot lie on another one: it holds what that says too. */
  #whole(): LoadOptions {
    const chosen = new Set(this.given.keys());
    const rows = this.rows.filter(({ key }) => key !== '');
    for (const { scope, key } of rows) chosen.add(pathOf(scope, key));
    const below = given(this.profile?.options ?? {}).filter(
      ({ scope, key }) => !chosen.has(pathOf(scope, key)),
    );
    const { profile, ...options } = written([...below, ...this.given.values()], rows).options;
    return options as LoadOptions;
  }
}

const kept = new Map<string, LoadForm>();

/** The form of a model: the one that was left with something chosen in it or while it loads, else a new one. */
export function formOf(model: ModelEntry): LoadForm {
  const left = kept.get(model.alias);
  if (left !== undefined) return left;
  // Under a root of its own, for what it derives is to live on when the dialog that made it is gone.
  let form!: LoadForm;
  $effect.root(() => void (form = new LoadForm(model)));
  kept.set(model.alias, form);
  return form;
}

/** The dialog of a form is closed: what was chosen stays for the next time. */
export function leave(form: LoadForm): void {
  form.loaded = null;
  if (form.loading_since === null && !form.isDirty) kept.delete(form.alias);
}
