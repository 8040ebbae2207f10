import { execFile } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { repositoryRoot } from '../../run-cli.ts';
import type { Cell, Screen } from './screen.ts';

const cell = { width: 9, height: 18, baseline: 14 } as const;
const margin = 10;
/** Title of pictures, which readers of screens tell. */
export const titleOfPictures = '<title>A screen of the terminal app</title>';
const themes = {
  dark: { paper: '#1e1e1e', ink: '#d4d4d4', colours: ['#000000', '#f14c4c', '#23d18b', '#e5e510'] },
  light: {
    paper: '#ffffff',
    ink: '#333333',
    colours: ['#000000', '#cd3131', '#00a35a', '#949800'],
  },
} as const;
/** The rest of the sixteen colours, which both themes share. */
const others = ['#3b8eea', '#c040c0', '#29a8c8', '#999999'] as const;
export type Theme = keyof typeof themes;
export const bothThemes: readonly Theme[] = ['dark', 'light'];

/** Renders the visible part of a screen, or all of it, as SVG. */
export function svgOf(screen: Screen, theme: Theme, part: 'visible' | 'whole' = 'visible'): string {
  const { paper, ink } = themes[theme];
  const first = part === 'visible' ? screen.top : 0;
  const last = part === 'visible' ? first + screen.rows : screen.allLines.length;
  const rows = Array.from({ length: last - first }, (_, row) =>
    rowOf(screen.cells(first + row), row, theme),
  );
  const width = screen.columns * cell.width + 2 * margin;
  const height = (last - first) * cell.height + 2 * margin;
  const { column, row } = screen.cursor;
  const cursorRow = row + screen.top - first;
  const cursor =
    `<rect x="${margin + column * cell.width}" y="${margin + cursorRow * cell.height}" ` +
    `width="2" height="${cell.height}" fill="${ink}"/>`;
  return (
    `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" ` +
    'font-family="DejaVu Sans Mono, monospace" font-size="15">' +
    `${titleOfPictures}<rect width="100%" height="100%" fill="${paper}"/>${rows.join('')}${cursor}</svg>`
  );
}

/** Cells beside one another that look the same. */
interface Run {
  readonly column: number;
  readonly look: string;
  text: string;
  width: number;
}

function rowOf(cells: readonly Cell[], row: number, theme: Theme): string {
  const y = margin + row * cell.height + cell.baseline;
  return runsOf(cells, theme)
    .map(({ column, look, text, width }) => {
      const x = margin + column * cell.width;
      return (
        `<text x="${x}" y="${y}" ${look} textLength="${width * cell.width}" ` +
        `xml:space="preserve">${escaped(text)}</text>`
      );
    })
    .join('');
}

function runsOf(cells: readonly Cell[], theme: Theme): readonly Run[] {
  const runs: Run[] = [];
  for (const [column, one] of cells.entries()) {
    if (one.text.trim() === '') continue;
    const look =
      `fill="${colourOf(one, theme)}"` +
      `${one.bold ? ' font-weight="bold"' : ''}${one.dim ? ' opacity="0.55"' : ''}`;
    const last = runs.at(-1);
    const gap = last === undefined ? 0 : column - last.column - last.width;
    if (last?.look === look && gap <= 1) {
      last.text += `${' '.repeat(gap)}${one.text}`;
      last.width += gap + one.width;
    } else runs.push({ column, look, text: one.text, width: one.width });
  }
  return runs;
}

function colourOf({ colour }: Cell, theme: Theme): string {
  const { ink, colours } = themes[theme];
  if (colour === undefined) return ink;
  const base = colour % 8;
  return [...colours, ...others][base] ?? ink;
}

function escaped(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}

/**
 * Keeps a screen as text, and as pictures in both themes, below `dist/terminal`. Only with
 * `ADJUTANT_PICTURES=1`, because nothing but a person looks at them.
 */
export async function keepPicture(screen: Screen, name: string): Promise<void> {
  if (process.env['ADJUTANT_PICTURES'] !== '1') return;
  const folder = join(repositoryRoot, 'dist/terminal');
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, `${name}.txt`), `${screen.text}\n`);
  for (const theme of bothThemes) {
    const file = join(folder, `${name}-${theme}`);
    const svg = svgOf(screen, theme);
    writeFileSync(`${file}.svg`, svg);
    const [, width, height] = /width="(\d+)" height="(\d+)"/.exec(svg) ?? [];
    await promisify(execFile)(process.env['CHROMIUM_PATH'] ?? 'chromium', [
      '--headless',
      '--no-sandbox',
      '--hide-scrollbars',
      `--screenshot=${file}.png`,
      `--window-size=${width},${height}`,
      `file://${file}.svg`,
    ]);
  }
}
