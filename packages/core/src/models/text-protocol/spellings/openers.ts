/**
 * Beginnings of calls in the markup of model families. They are tokens of those models, so they
 * count in the middle of a line, too.
 */
const markup: readonly string[] = [
  '<tool_call>',
  '<tool_calls>',
  '<tools>',
  '<tool_code>',
  '<function_call>',
  '<function_calls>',
  '<functioncall>',
  '<start_function_call>',
  '<|tool_call|>',
  '<|tool_calls|>',
  '<|tool_call_start|>',
  '<|tool_calls_section_begin|>',
  '<|tool_call_begin|>',
  '<|python_tag|>',
  '<|channel|>commentary to=',
  '<｜tool▁calls▁begin｜>',
  '<｜tool▁call▁begin｜>',
  '<function=',
  '<function name=',
  '<function(',
  '<invoke name=',
  '[tool_calls]',
  '[tool_request]',
];
/** Markers of the protocol that models write in the middle of a line. */
const inline: readonly string[] = ['action: {', 'action:{', 'final answer:'];
const all = [...markup, ...inline];
const longest = Math.max(...all.map(({ length }) => length));
const firstCharacter = /[<[af]/gi;

export interface Opener {
  readonly at: number;
  readonly kind: 'call' | 'answer' /** The end of the text, which may become one. */ | 'part';
}

/**
 * The first opener in `text`, or an end that may become one. An opener right behind a backtick is
 * talked about and not used; a marker in a line follows a sentence.
 * @param before the end of what stands before `text`
 */
export function openerIn(text: string, before: string): Opener | undefined {
  firstCharacter.lastIndex = 0;
  for (let found = firstCharacter.exec(text); found !== null; found = firstCharacter.exec(text)) {
    const at = found.index;
    const rest = text.slice(at, at + longest).toLowerCase();
    const isEnd = at + rest.length === text.length;
    const candidates = all.filter(
      (opener) => rest.startsWith(opener) || (isEnd && opener.startsWith(rest)),
    );
    const [first] = candidates;
    if (first === undefined || !mayStand(first, text.slice(Math.max(0, at - 8), at), before))
      continue;
    if (!rest.startsWith(first)) return { at, kind: 'part' };
    return { at, kind: first === 'final answer:' ? 'answer' : 'call' };
  }
  return undefined;
}

function mayStand(opener: string, own: string, before: string): boolean {
  const previous = own.length < 8 ? before.slice(-8) + own : own;
  if (!inline.includes(opener)) return !previous.endsWith('`');
  return /[.!?:)"'`]\s{1,3}[*_]{0,3}$/.test(previous);
}

/** True when a text begins with the markup of a model family. */
export function startsWithMarkup(text: string): boolean {
  const beginning = text.slice(0, longest).toLowerCase();
  return markup.some((opener) => beginning.startsWith(opener));
}
