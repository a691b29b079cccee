/** Light, dark, or as the system has it. */
export type Theme = 'system' | 'light' | 'dark';

const KEY = 'ebb.theme';

/** How the page looks; kept in this browser. */
class Look {
  theme = $state<Theme>(kept());

  set(theme: Theme): void {
    this.theme = theme;
    localStorage.setItem(KEY, theme);
    this.apply();
  }

  /** Puts the choice on the page; styles do the rest. */
  apply(): void {
    if (this.theme === 'system') delete document.documentElement.dataset.theme;
    else document.documentElement.dataset.theme = this.theme;
  }
}

function kept(): Theme {
  const theme = localStorage.getItem(KEY);
  return theme === 'light' || theme === 'dark' ? theme : 'system';
}

export const look = new Look();
