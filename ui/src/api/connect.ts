import { use } from './client';

/** Finds out where this page runs, and takes the way to the host that fits. Each is loaded only where it is used. */
export async function connect(): Promise<void> {
  if ('__TAURI_INTERNALS__' in window) use((await import('./tauri')).tauri);
  else if (new URLSearchParams(location.search).has('recorded')) use((await import('./fake')).recorded());
  else use((await import('./http')).http);
}
