/** Keys that are no characters. */
export type KeyName =
  | 'enter'
  | 'escape'
  | 'tab'
  | 'backspace'
  | 'delete'
  | 'insert'
  | 'up'
  | 'down'
  | 'left'
  | 'right'
  | 'home'
  | 'end'
  | 'pageUp'
  | 'pageDown';

/** Keys that are held with another one. */
export interface Modifiers {
  readonly ctrl?: true;
  readonly alt?: true;
  readonly shift?: true;
}

/** One thing that a person did at the keyboard. */
export type Input =
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'paste'; readonly text: string }
  /** A key by its name, or a character that was typed with Ctrl or Alt. */
  | ({ readonly kind: 'key'; readonly key: KeyName | (string & {}) } & Modifiers);

const finals: Readonly<Record<string, KeyName>> = {
  A: 'up',
  B: 'down',
  C: 'right',
  D: 'left',
  F: 'end',
  H: 'home',
};

const numbered: Readonly<Record<string, KeyName>> = {
  1: 'home',
  2: 'insert',
  3: 'delete',
  4: 'end',
  5: 'pageUp',
  6: 'pageDown',
  7: 'home',
  8: 'end',
};

/** Codes of the kitty protocol that are no characters. */
const coded: Readonly<Record<number, KeyName>> = {
  9: 'tab',
  13: 'enter',
  27: 'escape',
  127: 'backspace',
  57414: 'enter',
  57417: 'left',
  57418: 'right',
  57419: 'up',
  57420: 'down',
  57421: 'pageUp',
  57422: 'pageDown',
  57423: 'home',
  57424: 'end',
  57425: 'insert',
  57426: 'delete',
};

/** Returns a key with its modifiers. */
export function keyInput(key: string, held: Modifiers = {}): Input {
  return { kind: 'key', key, ...held };
}

/** Returns the key of a control character: Enter, Tab, or a letter with Ctrl. */
export function controlKey(character: string, held: Modifiers = {}): Input | undefined {
  const code = character.charCodeAt(0);
  if (character === '\r') return keyInput('enter', held);
  if (character === '\t') return keyInput('tab', held);
  if (character === '\x7f' || character === '\b') return keyInput('backspace', held);
  if (code === 0) return keyInput(' ', { ...held, ctrl: true });
  if (code >= 0x20) return undefined;
  return keyInput(String.fromCharCode(code + 0x40).toLowerCase(), { ...held, ctrl: true });
}

/** Returns the key of `ESC [ parameters final`; `undefined`: it is none of a person. */
export function sequenceKey(parameters: string, final: string): Input | undefined {
  if (/[^\d:;]/.test(parameters)) return undefined;
  const [first = '', second = '', third = ''] = parameters.split(';');
  const [modifier = '', event = ''] = second.split(':');
  // Kitty terminals tell of the release of a key, too.
  if (event === '3') return undefined;
  const held = modifiers(Number(modifier || 1));
  if (final === 'Z') return keyInput('tab', { shift: true });
  if (final === '~' && first === '27') return codeKey(Number(third), held, '');
  if (final === '~') return named(numbered[first], held);
  if (final === 'u') return codeKey(Number(first.split(':')[0]), held, third);
  return named(finals[final], held);
}

function named(name: KeyName | undefined, held: Modifiers): Input | undefined {
  return name === undefined ? undefined : keyInput(name, held);
}

function modifiers(value: number): Modifiers {
  const bits = Math.max(0, value - 1);
  return {
    ...(bits & 4 ? { ctrl: true } : {}),
    ...(bits & 2 ? { alt: true } : {}),
    ...(bits & 1 ? { shift: true } : {}),
  };
}

/** Key of a code point; `codes` are those of the text that the key gives. */
function codeKey(code: number, held: Modifiers, codes: string): Input | undefined {
  const name = coded[code];
  if (name !== undefined) return keyInput(name, held);
  const isPrivate = code >= 57_344 && code <= 63_743;
  if (!(code >= 0x20 && code <= 0x10ffff) || isPrivate) return undefined;
  const character = String.fromCodePoint(code);
  if (held.ctrl || held.alt) return keyInput(character, held);
  const given = codes.split(':').map(Number);
  if (codes !== '' && given.every((each) => each >= 0x20 && each <= 0x10ffff))
    return { kind: 'text', text: String.fromCodePoint(...given) };
  return { kind: 'text', text: held.shift ? character.toUpperCase() : character };
}
