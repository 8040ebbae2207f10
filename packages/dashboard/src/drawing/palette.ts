import { onThemeChange } from '../shell/theme.ts';

const names = [
  'bg',
  'surface',
  'sunken',
  'line',
  'line-2',
  'edge',
  'ink',
  'text',
  'text-2',
  'text-3',
  ...['model', 'tool', 'wait', 'state', 'decision', 'control', 'message', 'error'].flatMap(
    (kind) => [kind, `${kind}-fill`, `${kind}-soft`],
  ),
] as const;

/** Colours of the tokens for canvases, and the fonts. */
export interface Palette {
  readonly colour: (token: string) => string;
  readonly sans: string;
  readonly mono: string;
}

let known: Palette | undefined;
onThemeChange(() => {
  known = undefined;
});

/** Returns the colours of the present theme: read once, as canvases know no variables. */
export function palette(): Palette {
  if (known !== undefined) return known;
  const probe = document.createElement('i');
  probe.style.display = 'none';
  document.body.append(probe);
  const style = getComputedStyle(probe);
  const colours = new Map<string, string>();
  for (const name of names) {
    probe.style.color = `var(--${name})`;
    colours.set(name, style.color);
  }
  const root = getComputedStyle(document.documentElement);
  probe.remove();
  known = {
    colour: (token) => colours.get(token) ?? colours.get('text') ?? '#000',
    sans: root.getPropertyValue('--sans') || 'sans-serif',
    mono: root.getPropertyValue('--mono') || 'monospace',
  };
  return known;
}
