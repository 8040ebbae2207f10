import type { OfferedTools } from './spellings/offered-tools.ts';
import { mayBecomeThinking, thinkingTag } from './thinking.ts';

const labels = [
  'tool:',
  'tool call:',
  'tool_call:',
  'function:',
  'function call:',
  'call:',
  'functools[',
];
const lead = /^[ \t]{0,8}/;

/**
 * Tells if a line begins thoughts in tags (the length of the tag), or may begin a call. `part`: the
 * line is too short to tell.
 */
export function lineOpening(
  line: string,
  tools: OfferedTools,
  isStart: boolean,
): 'held' | 'part' | { readonly thinking: number } | undefined {
  const thinking = thinkingTag(line);
  if (thinking !== undefined) return { thinking };
  const text = line.slice(lead.exec(line)?.[0].length ?? 0);
  if (text === '') return undefined;
  if (text.startsWith('{') || text.startsWith('```')) return 'held';
  const lower = text.toLowerCase();
  if (labels.some((label) => lower.startsWith(label))) return 'held';
  if (/^\[\s*\{/.test(text)) return 'held';
  if (tools.list.some(({ name }) => text.startsWith(`${name}(`))) return 'held';
  const isPart = (whole: string) => whole.startsWith(lower);
  const mayBecome =
    mayBecomeThinking(lower) ||
    labels.some(isPart) ||
    (!isStart && (text === '[' || text === '`' || text === '``')) ||
    tools.list.some(({ name }) => `${name}(`.startsWith(text));
  return mayBecome ? 'part' : undefined;
}

/** Lines that are held back because they may be a call. */
export class HeldLines {
  readonly behind: 'nothing' | 'text' | 'thought';
  #text = '';
  #lineStart = 0;
  /** The place of the next line within a fence, if it began with one. */
  #place: 'start' | 'fence' | 'content' | 'closed' | 'elsewhere' = 'start';

  constructor(behind: HeldLines['behind']) {
    this.behind = behind;
  }

  get text(): string {
    return this.#text;
  }

  /** Adds a piece. `hopeless`: the lines are certainly no call, so they need not be held back. */
  add(piece: string, tools: OfferedTools): 'hopeless' | undefined {
    this.#text += piece;
    // Only at the ends of lines, so that the sizes of the pieces make no difference.
    if (!piece.endsWith('\n')) return undefined;
    const line = this.#text.slice(this.#lineStart).trim();
    this.#lineStart = this.#text.length;
    if (line === '') return undefined;
    switch (this.#place) {
      case 'start':
        this.#place = line.startsWith('```') ? 'fence' : 'elsewhere';
        return undefined;
      case 'fence':
        this.#place = 'content';
        return line.startsWith('```') || mayBeCall(line, tools) ? undefined : 'hopeless';
      case 'content':
        if (line.startsWith('```')) this.#place = 'closed';
        return undefined;
      case 'closed':
        return this.behind !== 'nothing' && /^[^`{[<]/.test(line) ? 'hopeless' : undefined;
      case 'elsewhere':
        return undefined;
    }
  }
}

function mayBeCall(content: string, tools: OfferedTools): boolean {
  if (/^(?:[{[<]|(?:print|await|return)\b)/.test(content)) return true;
  return tools.list.some(({ name }) => content.startsWith(name));
}
