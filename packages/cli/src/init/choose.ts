import { emitKeypressEvents, type Key } from 'node:readline';
import type { Host } from '../host/host.ts';
import type { Interruption } from '../host/interruption.ts';
import { type Style, styleFor } from '../output/style.ts';

export interface Choice {
  readonly value: string;
  readonly label: string;
}

const titleWidth = 14;
const defaultColumns = 80;
const clearLine = '\r\x1b[2K';

/** One line with all choices and a mark before the chosen one; a narrow terminal shows only it. */
export function choiceLine(
  title: string,
  choices: readonly Choice[],
  { marked, columns, style }: { marked: number; columns: number; style: Style },
): string {
  const head = title.padEnd(titleWidth);
  const plain = choices.map(({ label }, at) => (at === marked ? `› ${label}` : label));
  if (head.length + plain.join(' · ').length < columns) {
    const shown = choices.map(({ label }, at) =>
      at === marked ? `${style.cyan('›')} ${style.bold(label)}` : label,
    );
    return `${head}${shown.join(' · ')}`;
  }
  const place = ` (${marked + 1} of ${choices.length})`;
  const room = columns - 1 - head.length - 2 - place.length;
  const label = choices[marked]?.label.slice(0, Math.max(1, room)) ?? '';
  return `${head}${style.cyan('›')} ${style.bold(label)}${style.dim(place)}`;
}

/** Place of the mark after a key. `'taken'`: the choice is made. */
export function markAfter(key: Key, marked: number, count: number): number | 'taken' {
  const { name = '', sequence = '' } = key;
  if (name === 'return' || name === 'enter') return 'taken';
  if (name === 'left' || name === 'up') return (marked + count - 1) % count;
  if (name === 'right' || name === 'down' || name === 'tab') return (marked + 1) % count;
  const digit = Number(sequence);
  return Number.isInteger(digit) && digit >= 1 && digit <= count ? digit - 1 : marked;
}

/** Lets a person choose in a terminal, with the arrows and Enter. */
export async function choose(
  { host, interruption }: { readonly host: Host; readonly interruption: Interruption },
  title: string,
  choices: readonly Choice[],
): Promise<Choice> {
  const { stdin, stdout } = host;
  const style = styleFor(stdout);
  let marked = 0;
  const draw = (): void => {
    const columns = stdout.columns || defaultColumns;
    stdout.write(`${clearLine}${choiceLine(title, choices, { marked, columns, style })}`);
  };
  draw();
  await keysUntil(stdin, (key) => {
    if (key.ctrl === true && key.name === 'c') interruption.interrupt('SIGINT');
    const next = markAfter(key, marked, choices.length);
    if (next === 'taken') return true;
    marked = next;
    draw();
    return false;
  });
  stdout.write('\n');
  return choices[marked] as Choice;
}

/** Asks for a yes or a no. Every other key than `y` is a no. */
export async function agrees(
  { host, interruption }: { readonly host: Host; readonly interruption: Interruption },
  question: string,
): Promise<boolean> {
  let answer = false;
  host.stdout.write(`${question} `);
  await keysUntil(host.stdin, (key) => {
    if (key.ctrl === true && key.name === 'c') interruption.interrupt('SIGINT');
    answer = key.name === 'y';
    return true;
  });
  host.stdout.write(`${answer ? 'y' : 'n'}\n`);
  return answer;
}

/** Hands over the keys that are typed, until `take` says that it has enough. */
async function keysUntil(stdin: Host['stdin'], take: (key: Key) => boolean): Promise<void> {
  emitKeypressEvents(stdin);
  stdin.setRawMode(true);
  stdin.resume();
  const { promise, resolve } = Promise.withResolvers<void>();
  const listener = (_text: string | undefined, key: Key): void => {
    if (take(key)) resolve();
  };
  stdin.on('keypress', listener);
  try {
    await promise;
  } finally {
    stdin.off('keypress', listener);
    stdin.setRawMode(false);
    stdin.pause();
  }
}
