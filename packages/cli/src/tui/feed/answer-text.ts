import { splitBlocks } from '../text/markdown/blocks.ts';

/** A whole part of an answer. */
export interface AnswerPart {
  readonly markdown: string;
  /** True for the rest of a part that was too long to wait for its end. */
  readonly isContinued: boolean;
}

/** Lines of a code block or a list that are kept before they are given out in parts. */
const longestPart = 60;

/**
 * The text of an answer while it is streamed. Blocks of it are given out as soon as the next one
 * has begun: from then on nothing in them changes. Of long ones parts are given out before.
 */
export class AnswerText {
  #all = '';
  #open = '';
  #isBegun = false;
  #isContinued = false;

  /** Everything that was streamed. */
  get all(): string {
    return this.#all;
  }

  /** The part that is being written. */
  get open(): string {
    return this.#open;
  }

  /** True when parts of it were given out. */
  get isBegun(): boolean {
    return this.#isBegun;
  }

  /** Takes the next piece, and returns the parts that are whole now. */
  push(piece: string): AnswerPart[] {
    this.#all += piece;
    this.#open += piece;
    // Only a whole line begins or closes a block.
    if (!/[\r\n]/.test(piece)) return [];
    const { closed, open } = splitBlocks(this.#open);
    const parts = closed.flatMap((block) => {
      const { whole, rest } = partsOf(block);
      return [...whole, rest].flatMap((markdown, at) => this.#part(markdown, at < whole.length));
    });
    const { whole, rest } = partsOf(open);
    this.#open = rest;
    return [...parts, ...whole.flatMap((markdown) => this.#part(markdown, true))];
  }

  /** Ends the text, and returns what is left of it. */
  end(): AnswerPart[] {
    const rest = this.#open;
    this.#open = '';
    return this.#part(rest, false);
  }

  /** A part to give out; `goesOn`: the next one belongs to the same block. */
  #part(text: string, goesOn: boolean): AnswerPart[] {
    const isContinued = this.#isContinued;
    this.#isContinued = goesOn;
    const markdown = text.replace(/^\s*\n|\s+$/g, '');
    if (markdown.trim() === '' || isEmptyCode(markdown, isContinued)) return [];
    this.#isBegun = true;
    return [{ markdown, isContinued }];
  }
}

interface Parts {
  readonly whole: readonly string[];
  readonly rest: string;
}

const fence = /^( {0,3})(`{3,}|~{3,})/;

/** Parts a long code block or list. Where it is parted depends on its lines alone. */
function partsOf(block: string): Parts {
  const lines = block.split(/(?<=\n)/);
  const opening = lines[0] ?? '';
  const [, , mark] = fence.exec(opening) ?? [];
  const whole: string[] = [];
  let rest = lines;
  for (;;) {
    const at = mark === undefined ? nextItem(rest) : longestPart + 1;
    if (at === -1 || rest.slice(0, at + 1).filter((line) => line.endsWith('\n')).length <= at)
      break;
    const part = rest.slice(0, at).join('');
    whole.push(mark === undefined ? part : `${part}${mark}\n`);
    rest = [...(mark === undefined ? [] : [opening]), ...rest.slice(at)];
  }
  return { whole, rest: rest.join('') };
}

/** Place of the first item of a list behind its longest part. */
function nextItem(lines: readonly string[]): number {
  const item = /^(?:[-*+]|\d{1,9}[.)])[ \t]/;
  if (!item.test(lines[0] ?? '')) return -1;
  return lines.findIndex((line, at) => at >= longestPart && item.test(line));
}

/** Checks whether only the end of a code block is left, whose lines were given out. */
function isEmptyCode(markdown: string, isContinued: boolean): boolean {
  if (!isContinued || !fence.test(markdown)) return false;
  const [, ...rest] = markdown.split('\n');
  return rest.length === 0 || (rest.length === 1 && fence.test(rest[0] ?? ''));
}
