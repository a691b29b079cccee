import { keepText, keptText } from '../shared/kept';

/** Light, dark, or as the system has it. */
export type Theme = 'system' | 'light' | 'dark';

const KEY = 'ebb.theme';

/** How the page looks; kept in this browser. */
class Look {
  theme = $state<Theme>(before());

  set(theme: Theme): void {
    this.theme = theme;
    keepText(KEY, theme);
    this.apply();
  }

  /** Puts the choice on the page; styles do the rest. */
  apply(): void {
    if (this.theme === 'system') delete document.documentElement.dataset.theme;
    else document.documentElement.dataset.theme = this.theme;
  }
}

function before(): Theme {
  const theme = keptText(KEY);
  return theme === 'light' || theme === 'dark' ? theme : 'system';
}

export const look = new Look();
