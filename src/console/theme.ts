// Light, dark, or as the system says.
export type Theme = 'auto' | 'light' | 'dark';

const KEY = 'orcrawl-theme';

export function chosenTheme(): Theme {
  const kept = localStorage.getItem(KEY);
  return kept === 'light' || kept === 'dark' ? kept : 'auto';
}

export function applyTheme(theme: Theme = chosenTheme()): void {
  if (theme === 'auto') localStorage.removeItem(KEY);
  else localStorage.setItem(KEY, theme);
  document.documentElement.dataset.theme = theme;
}
