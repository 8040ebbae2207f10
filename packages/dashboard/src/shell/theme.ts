/** Theme that the reader chose; without a choice it is that of the system. */
type Theme = 'light' | 'dark';

const place = 'adjutant.theme';

function chosen(): Theme | undefined {
  const theme = localStorage.getItem(place);
  return theme === 'light' || theme === 'dark' ? theme : undefined;
}

export function applyTheme(): void {
  const theme = chosen();
  if (theme === undefined) delete document.documentElement.dataset['theme'];
  else document.documentElement.dataset['theme'] = theme;
}

export function isDark(): boolean {
  const theme = chosen();
  return theme === undefined
    ? matchMedia('(prefers-color-scheme: dark)').matches
    : theme === 'dark';
}

export function changeTheme(): void {
  localStorage.setItem(place, isDark() ? 'light' : 'dark');
  applyTheme();
  dispatchEvent(new Event('adjutant:theme'));
}

/** Calls back whenever colours change, by a choice or by the system. */
export function onThemeChange(listener: () => void): () => void {
  const system = matchMedia('(prefers-color-scheme: dark)');
  addEventListener('adjutant:theme', listener);
  system.addEventListener('change', listener);
  return () => {
    removeEventListener('adjutant:theme', listener);
    system.removeEventListener('change', listener);
  };
}
