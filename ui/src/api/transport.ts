/** What a kind of file is picked for. */
export type Pick = 'folder' | 'model' | 'plugin' | 'audio' | 'image' | 'trace' | 'save';

/** What the desktop shell knows and keeps. */
export interface DesktopInfo {
  version: string;
  /** Address that the command line and other programs use. */
  server_url: string | null;
  /** A headless host was running and this app took over its models: what to say of it. */
  took_over: string | null;
  /** The host could not be opened: what the window shows instead of everything else. */
  startup_error: { code: string; message: string; hint?: string | null } | null;
  /** Paths that the app was started with; told once. */
  dropped: string[];
  preferences: { notifications: boolean; autostart: boolean; close_to_tray: boolean };
}

/** What only the desktop app can do; a browser has none of it. */
export interface Native {
  info(): Promise<DesktopInfo>;
  /** Opens the system's dialog; `null`: the user closed it. */
  pick(kind: Pick, title: string, name?: string): Promise<string | null>;
  /** Opens a file or folder with the program that the system has for it. */
  openPath(path: string): Promise<void>;
  /** Writes a file that the user picked with `pick('save')`. */
  saveFile(path: string, content: Blob): Promise<void>;
  setPreference(name: keyof DesktopInfo['preferences'], value: boolean): Promise<void>;
  quit(): Promise<void>;
  /** Files and folders dropped on the window. Ends when the result is called. */
  onDropped(handle: (paths: string[]) => void): () => void;
  /** The app is asked to end while requests run: what runs. */
  onQuitting(handle: (running: string[]) => void): () => void;
}

/** The way to a host. */
export interface Transport {
  /** How it is called, for the about page: `desktop`, `http`, `recorded`. */
  readonly name: 'desktop' | 'http' | 'recorded';
  fetch(request: Request): Promise<Response>;
  readonly native: Native | null;
}
