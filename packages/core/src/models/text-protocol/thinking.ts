const opening = /^[ \t]{0,8}(?:<(?:think|thinking|thought|reasoning|scratchpad)>|\[THINK\])/i;
const closing = /<\/(?:think|thinking|thought|reasoning|scratchpad)>|\[\/THINK\]/i;
const longestClosing = '</scratchpad>'.length;
const tags = ['<think>', '<thinking>', '<thought>', '<reasoning>', '<scratchpad>', '[think]'];

/** The length of the tag with which a line begins thoughts. */
export function thinkingTag(line: string): number | undefined {
  return opening.exec(line)?.[0].length;
}

/** True for a beginning of such a tag. */
export function mayBecomeThinking(text: string): boolean {
  return tags.some((tag) => tag.startsWith(text));
}

/** Divides a text into thoughts and what stands behind them, or may be the end of them. */
export function splitThinking(
  text: string,
  isEnd: boolean,
): { readonly thought: string; readonly rest: string; readonly isClosed: boolean } {
  const found = closing.exec(text);
  if (found !== null) {
    const rest = text.slice(found.index + found[0].length);
    return { thought: text.slice(0, found.index), rest, isClosed: true };
  }
  const tail = isEnd ? '' : (/[<[][^<[]*$/.exec(text.slice(-longestClosing))?.[0] ?? '');
  const length = text.length - tail.length;
  return { thought: text.slice(0, length), rest: tail, isClosed: false };
}
