import { characterWidth } from './width.ts';

/**
 * Place where a text is shown:
 * - `prose`: messages and answers; joiners stay inside emoji and in writings that need them.
 * - `request`: what a person agrees to; nothing invisible stays.
 * - `output`: output of tools; its colours are left out, and `\r` begins its line anew.
 *
 * The places that end in `Line` have one line: breaks are shown as `⏎`.
 */
export type Place = 'prose' | 'proseLine' | 'request' | 'requestLine' | 'output' | 'outputLine';

/** Part of a visible text. */
export interface Piece {
  readonly text: string;
  /**
   * `escape`: this program wrote it in the place of a character that terminals obey or do not
   * show; it is painted yellow. `break`: it stands for a line break.
   */
  readonly mark?: 'escape' | 'break';
}

/** A text that a terminal shows as it is and does not obey. */
export interface Visible {
  readonly pieces: readonly Piece[];
  /** Number of colours and other looks (SGR sequences) that were left out. */
  readonly leftOut: number;
}

/** Marks of combining characters that are shown above and below one character. */
const mostMarks = 4;
const tabStops = { prose: 4, request: 4, output: 8 } as const;

/**
 * Characters that terminals show as nothing or as a blank, or that turn the direction of a text.
 * Signs of the category `Cf` that are seen, such as the Arabic sign of a number, stay.
 */
const hidden = [
  String.raw`[\p{Default_Ignorable_Code_Point}\p{Zl}\p{Zp}\p{Cs}\p{Bidi_Control}\u2800`,
  String.raw`\p{Noncharacter_Code_Point}\u{e0000}-\u{e0fff}`,
  String.raw`[\p{Cf}--[\u0600-\u0605\u06dd\u070f\u0890\u0891\u08e2\u{110bd}\u{110cd}]]]`,
].join('');
const combining = `(?:(?!${hidden})\\p{M})`;

const picture = String.raw`\p{Extended_Pictographic}[\u{1f3fb}-\u{1f3ff}]?\ufe0f?`;
const emoji = String.raw`${picture}(?:\u200d${picture}){0,3}|[\d#*]\ufe0f\u20e3`;

/** Writings whose letters change beside a joiner or a non-joiner. */
const joinedWritings = [
  ...['Arab', 'Syrc', 'Mong', 'Nkoo', 'Phag', 'Mand', 'Adlm', 'Rohg'],
  ...['Deva', 'Beng', 'Guru', 'Gujr', 'Orya', 'Taml', 'Telu', 'Knda', 'Mlym', 'Sinh'],
  ...['Khmr', 'Mymr', 'Tibt', 'Bali', 'Java', 'Cham', 'Newa', 'Tirh'],
].map((script) => String.raw`\p{scx=${script}}`);
const joinedLetter = `[[\\p{L}\\p{M}]&&[${joinedWritings.join('')}]]`;
const joiner = `[\\u200c\\u200d](?<=${joinedLetter}[\\u200c\\u200d])(?=${joinedLetter})`;

const control = String.raw`\u001b\[|\u009b`;
const sgr = new RegExp(`(?:${control})[0-9;:]*m`, 'g');

function tokens(keepsJoiners: boolean): RegExp {
  const kept = keepsJoiners ? `(?<kept>${emoji}|${joiner})|` : '';
  const rest = String.raw`(?<marks>${combining}+)|(?<hidden>\p{Cc}|${hidden})`;
  return new RegExp(
    `(?<plain>[ -~]+(?!\\ufe0f))|(?<break>\\r?\\n)|(?<tab>\\t)|${kept}${rest}`,
    'gv',
  );
}
const tokensOfProse = tokens(true);
const tokensElsewhere = tokens(false);

/**
 * Returns a text as it may be shown: the wall between text from outside and the terminal.
 * Characters that terminals obey or do not show are written out. All text that this program did
 * not write itself passes it.
 */
export function visible(text: string, where: Place): Visible {
  const isLine = where.endsWith('Line');
  const kind = where.replace('Line', '') as 'prose' | 'request' | 'output';
  if (/^[ -~]*$/.test(text)) return { pieces: text === '' ? [] : [{ text }], leftOut: 0 };
  const { text: shown, leftOut } = kind === 'output' ? asTerminal(text) : { text, leftOut: 0 };
  const writer = new PieceWriter(isLine, tabStops[kind]);
  const pattern = kind === 'prose' ? tokensOfProse : tokensElsewhere;
  let at = 0;
  for (const match of shown.matchAll(pattern)) {
    writer.plain(shown.slice(at, match.index));
    writeToken(writer, match);
    at = match.index + match[0].length;
  }
  writer.plain(shown.slice(at));
  return { pieces: writer.pieces, leftOut };
}

/** Returns the visible text as one string, for places that paint no escapes. */
export function visibleString(text: string, where: Place): string {
  return visible(text, where)
    .pieces.map((piece) => piece.text)
    .join('');
}

/** Takes the colours out of the output of a tool, and of each line what `\r` wrote over. */
function asTerminal(text: string): { readonly text: string; readonly leftOut: number } {
  const leftOut = text.match(sgr)?.length ?? 0;
  const lastStates = text
    .replaceAll(sgr, '')
    .split('\n')
    .map((line) => line.replace(/\r+$/, '').replace(/^.*\r/s, ''));
  return { text: lastStates.join('\n'), leftOut };
}

function writeToken(writer: PieceWriter, { 0: token, groups = {} }: RegExpExecArray): void {
  if (groups['break'] !== undefined) writer.lineBreak();
  else if (groups['tab'] !== undefined) writer.tab();
  else if (groups['marks'] !== undefined) writer.marks(token);
  else if (groups['hidden'] !== undefined) writer.escape(written(token));
  else if (/^[\u200c\u200d]$/.test(token)) writer.joiner(token);
  else writer.plain(token);
}

/** Returns the name of a character that is not shown: `␛`, or `⟨U+202E⟩`. */
function written(character: string): string {
  const code = character.codePointAt(0) as number;
  if (code < 0x20) return String.fromCodePoint(0x2400 + code);
  if (code === 0x7f) return '␡';
  return `⟨U+${code.toString(16).toUpperCase().padStart(4, '0')}⟩`;
}

class PieceWriter {
  readonly pieces: Piece[] = [];
  readonly #isLine: boolean;
  readonly #tabStop: number;
  /** Columns of the current line, for the stops of tabs, but for its text not measured yet. */
  #column = 0;
  #unmeasured = '';
  #canCombine = false;

  constructor(isLine: boolean, tabStop: number) {
    this.#isLine = isLine;
    this.#tabStop = tabStop;
  }

  plain(text: string): void {
    if (text === '') return;
    this.#add({ text });
    this.#canCombine = true;
  }

  escape(text: string): void {
    this.#add({ text, mark: 'escape' });
    this.#canCombine = false;
  }

  /** Combining marks. Without a character before them they would change what this app wrote. */
  marks(text: string): void {
    const marks = [...text];
    if (!this.#canCombine && marks.length <= mostMarks)
      for (const mark of marks) this.escape(written(mark));
    else {
      const kept = this.#canCombine ? marks.slice(0, mostMarks).join('') : '';
      this.plain(kept);
      const more = marks.length - [...kept].length;
      if (more > 0) this.escape(`⟨+${more} mark${more === 1 ? '' : 's'}⟩`);
    }
  }

  /** A joiner between two letters. It joins nothing when the one before it is written out. */
  joiner(text: string): void {
    if (this.#canCombine) this.plain(text);
    else this.escape(written(text));
  }

  tab(): void {
    for (const character of this.#unmeasured)
      this.#column += /\p{M}/u.test(character) ? 0 : characterWidth(character);
    this.#unmeasured = '';
    const stop = this.#isLine ? 1 : this.#tabStop;
    this.plain(' '.repeat(stop - (this.#column % stop)));
  }

  lineBreak(): void {
    if (this.#isLine) this.#add({ text: '⏎', mark: 'break' });
    else this.#add({ text: '\n' });
    this.#column = 0;
    this.#unmeasured = '';
    this.#canCombine = false;
  }

  #add(piece: Piece): void {
    this.#unmeasured += piece.text;
    const last = this.pieces.at(-1);
    if (last === undefined || last.mark !== piece.mark) this.pieces.push(piece);
    else this.pieces[this.pieces.length - 1] = { ...last, text: last.text + piece.text };
  }
}
