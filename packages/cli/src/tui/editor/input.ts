import { controlKey, type Input, keyInput, sequenceKey } from './keys.ts';

/** Bytes of the keyboard that are not yet a whole key or paste. */
export interface InputState {
  /** Begin of a sequence whose rest may come. */
  readonly pending: string;
  /** Text of a paste whose end has not come. */
  readonly paste?: string;
  /** Time at which the last chunk came. */
  readonly at: number;
  /** The last chunk was a paste without marks: its rest may come in further chunks. */
  readonly isPasting?: boolean;
}

export interface Reading {
  readonly state: InputState;
  readonly inputs: readonly Input[];
}

/** Nothing was read yet. */
export const noInput: InputState = { pending: '', at: Number.NEGATIVE_INFINITY };

/** Times in milliseconds after which something is taken as it stands. */
const patience = { sequence: 100, paste: 2_000, chunks: 50 };
const pasteEnd = '\x1b[201~';

/** Time at which `readTimeout` is to be called, if no chunk comes before. */
export function inputDueAt({ pending, paste, at }: InputState): number | undefined {
  if (paste !== undefined) return at + patience.paste;
  return pending === '' ? undefined : at + patience.sequence;
}

/**
 * Reads a chunk of the terminal's input. Sequences may be cut anywhere: an `ESC` whose rest comes
 * within 100 ms is no Escape. A chunk with a line break inside is a paste and sends nothing; one
 * that ends with its only `\r` is a text and Enter.
 */
export function readChunk(former: InputState, chunk: string, now: number): Reading {
  const { state, inputs } = readTimeout(former, now);
  if (state.paste !== undefined) return after(inputs, readPaste(state.paste, chunk, now));
  if (state.isPasting === true && now - state.at < patience.chunks && isPastedRest(chunk))
    return { state: pasting(now), inputs: [...inputs, paste(chunk)] };
  const joined = joinsPending(state.pending, chunk);
  const begun = joined || state.pending === '' ? [] : expired(state.pending);
  return after([...inputs, ...begun], readKeys((joined ? state.pending : '') + chunk, now));
}

/** Takes as it stands what has waited too long: Escape, or a paste without its end. */
export function readTimeout(state: InputState, now: number): Reading {
  const due = inputDueAt(state);
  if (due === undefined || now < due) return { state, inputs: [] };
  const inputs = state.paste === undefined ? expired(state.pending) : [paste(state.paste)];
  return { state: { pending: '', at: state.at }, inputs };
}

function after(inputs: readonly Input[], reading: Reading): Reading {
  return { state: reading.state, inputs: [...inputs, ...reading.inputs] };
}

function paste(text: string): Input {
  return { kind: 'paste', text: text.replace(/\r\n?/g, '\n') };
}

function pasting(now: number): InputState {
  return { pending: '', at: now, isPasting: true };
}

/** Checks whether a chunk goes on with a paste that came without marks. */
function isPastedRest(chunk: string): boolean {
  return !chunk.includes('\x1b') && /[\r\n]|\P{Cc}/u.test(chunk);
}

/** Checks whether a chunk can be the rest of what waits: after an `ESC` one key, or `[A`. */
function joinsPending(pending: string, chunk: string): boolean {
  if (pending !== '\x1b') return pending !== '';
  const [, second] = chunk;
  return second === undefined || second === '\x1b' || /^(?:\[[\d:;<=>?]*[@-~]?|O[ -~])/.test(chunk);
}

/** Keys of a sequence whose rest did not come. */
function expired(pending: string): Input[] {
  if (pending === '\x1b') return [keyInput('escape')];
  if (pending === '\x1b\x1b') return [keyInput('escape'), keyInput('escape')];
  return pending === '\x1b[' || pending === '\x1bO'
    ? [keyInput(pending[1] ?? '', { alt: true })]
    : [];
}

function readPaste(before: string, chunk: string, now: number): Reading {
  const text = before + chunk;
  const end = text.indexOf(pasteEnd, Math.max(0, before.length - pasteEnd.length));
  if (end === -1) return { state: { pending: '', paste: text, at: now }, inputs: [] };
  const rest = readKeys(text.slice(end + pasteEnd.length), now);
  return after([paste(text.slice(0, end))], rest);
}

/** Sequences of terminals: answers with a text, keys with parameters, keys by one letter. */
const control = String.raw`\u001b`;
const sequence = new RegExp(
  [
    `(?<answer>${control}[\\]PX^_][^${control}\\u0007]*(?:\\u0007|${control}\\\\))`,
    `(?<alt>${control}?)${control}\\[(?<parameters>[0-?]*)(?<between>[ -/]*)(?<final>[@-~])`,
    `${control}O(?<letter>[ -~])`,
    `(?<unfinished>${control}${control}?(?:\\[[0-?]*[ -/]*|O)?$|${control}[\\]PX^_][^\\u0007]*$)`,
    `${control}(?<key>[^${control}])`,
    `(?<lone>${control})`,
    `(?<text>[^${control}]+)`,
  ].join('|'),
  'uy',
);

/** Reads keys from the begin of a text; what is unfinished at its end waits. */
function readKeys(text: string, now: number): Reading {
  const inputs: Input[] = [];
  let at = 0;
  while (at < text.length) {
    sequence.lastIndex = at;
    const groups = sequence.exec(text)?.groups;
    if (groups === undefined) break;
    at = sequence.lastIndex;
    if (groups['unfinished'] !== undefined)
      return { state: { pending: groups['unfinished'], at: now }, inputs };
    if (groups['final'] === '~' && groups['parameters'] === '200')
      return after(inputs, readPaste('', text.slice(at), now));
    const run = groups['text'];
    if (run !== undefined && isPaste(run)) {
      inputs.push(paste(run));
      if (at === text.length) return { state: pasting(now), inputs };
    } else inputs.push(...(run === undefined ? sequenceInputs(groups) : typed(run)));
  }
  return { state: { pending: '', at: now }, inputs };
}

/** Characters that nobody types at once. */
const longestTyped = 1_000;

/** Checks whether a text that came at once is long, or has a line break that nobody typed. */
function isPaste(text: string): boolean {
  const at = text.search(/[\r\n]/);
  if (at === -1) return text.length > longestTyped;
  if (text.length === 1) return false;
  return at < text.length - 1 || text[at] === '\n';
}

type Groups = Readonly<Record<string, string | undefined>>;

function sequenceInputs(groups: Groups): Input[] {
  const { final, parameters = '', between = '', letter, key, lone, alt } = groups;
  if (lone !== undefined) return [keyInput('escape')];
  if (key !== undefined) return [altKey(key)];
  // The Enter of the number pad.
  if (letter === 'M') return [keyInput('enter')];
  const found =
    letter !== undefined
      ? sequenceKey('', letter)
      : final !== undefined && between === ''
        ? sequenceKey(parameters, final)
        : undefined;
  if (found === undefined) return [];
  return [alt && found.kind === 'key' ? { ...found, alt: true } : found];
}

function altKey(key: string): Input {
  return controlKey(key, { alt: true }) ?? keyInput(key, { alt: true });
}

/** Inputs of characters that were typed: texts, and keys between them. */
function typed(text: string): Input[] {
  return (text.match(/\p{Cc}|\P{Cc}+/gu) ?? []).flatMap((part): Input[] => {
    if (!/^\p{Cc}/u.test(part)) return [{ kind: 'text', text: part }];
    const found = controlKey(part);
    return found === undefined ? [] : [found];
  });
}
