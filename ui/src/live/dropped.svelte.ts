import { route } from './route.svelte';

/** What was dropped on the desktop window, until the view that it belongs to takes it. */
class Dropped {
  /** Folders and files of models. */
  models = $state.raw<string[]>([]);
  /** Components, and folders with a `plugin.toml` cannot be told from models by name: the user says. */
  plugins = $state.raw<string[]>([]);
  /** Sound files. */
  audio = $state.raw<string[]>([]);

  take(paths: string[]): void {
    const ends = (path: string, ...endings: string[]) =>
      endings.some((end) => path.toLowerCase().endsWith(end));
    this.plugins = paths.filter((path) => ends(path, '.wasm', 'plugin.toml'));
    this.audio = paths.filter((path) => ends(path, '.wav', '.flac', '.mp3', '.ogg'));
    this.models = paths.filter((path) => !this.plugins.includes(path) && !this.audio.includes(path));
    if (this.plugins.length > 0) route.go('plugins');
    else if (this.audio.length > 0) route.go('chat', 'transcribe');
    else if (this.models.length > 0) route.go('models');
  }
}

export const dropped = new Dropped();
