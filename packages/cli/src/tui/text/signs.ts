/** Signs of the terminal app, each with the one for terminals without UTF-8. */
const signs = {
  user: ['›', '>'],
  done: ['✓', '+'],
  failed: ['✗', 'x'],
  asks: ['?', '?'],
  attention: ['!', '!'],
  waiting: ['○', 'o'],
  stopped: ['■', '#'],
  again: ['↻', '~'],
  model: ['◆', '*'],
  child: ['↳', '\\_'],
  output: ['│', '|'],
  state: ['Δ', '='],
  note: ['·', '-'],
  arrow: ['→', '->'],
  folded: ['▸', '>'],
  unfolded: ['▾', 'v'],
  ellipsis: ['…', '...'],
  hairline: ['─', '-'],
  bullet: ['•', '*'],
  earlier: ['┄', '-'],
  times: ['×', 'x'],
  minus: ['−', '-'],
  up: ['↑', 'up'],
  down: ['↓', 'down'],
  left: ['←', '<-'],
  dash: ['–', '-'],
  lineBreak: ['⏎', '\\n'],
  cursor: ['▏', '_'],
} as const;

export type SignName = keyof typeof signs;

/** Returns the sign of that name. */
export function sign(name: SignName, ascii = false): string {
  return signs[name][ascii ? 1 : 0];
}

const spinner = ['⠋', '⠙', '⠹', '⠸', '⠼', '⠴', '⠦', '⠧', '⠇', '⠏'];
const asciiSpinner = ['|', '/', '-', '\\'];

/** Returns the picture of the spinner for a tick of its clock. */
export function spinnerSign(tick: number, ascii = false): string {
  const pictures = ascii ? asciiSpinner : spinner;
  return pictures[Math.trunc(Math.abs(tick)) % pictures.length] as string;
}

const twins = new Map<string, string>([
  ...Object.values(signs),
  ...spinner.map((picture, at) => [picture, asciiSpinner[at % 4] as string] as const),
  ['⟨', '<'],
  ['⟩', '>'],
  ['↑↓', 'up down'],
]);

/** Returns a text of this program with the signs of terminals without UTF-8. */
export function withAsciiSigns(text: string): string {
  return text.replaceAll(/↑↓|[^\n -~]/gu, (character) => {
    const code = character.codePointAt(0) as number;
    if (code === 0x2421) return '^?';
    if (code >= 0x2400 && code < 0x2420) return `^${String.fromCodePoint(code - 0x2400 + 64)}`;
    return twins.get(character) ?? character;
  });
}
