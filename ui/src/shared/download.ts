import { native } from '../api';

/** Saves a file: where the user says in the desktop app, among the downloads in a browser. Whether it was saved. */
export async function download(name: string, content: Blob, title: string): Promise<boolean> {
  const desktop = native();
  if (desktop !== null) {
    const path = await desktop.pick('save', title, name);
    if (path === null) return false;
    await desktop.saveFile(path, content);
    return true;
  }
  const link = document.createElement('a');
  link.href = URL.createObjectURL(content);
  link.download = name;
  link.click();
  // The browser has taken it by then.
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
  return true;
}
