import { checkOptions } from '../../../base/invalid-option.ts';
import { isCount, isFlag, isOneOf, type OptionChecks } from '../../../base/options.ts';
import type { Event } from '../../../ledger/event.ts';
import { parentOf, predecessorOf, slotOf } from '../../../ledger/path.ts';
import { type LedgerSource, type ReadSource, readSource } from './ledger-source.ts';
import { StoryIds } from './story-ids.ts';
import { StoryLines } from './story-lines.ts';

export interface StoryOptions {
  /**
   * Adds the events that the others imply: the call and the answer of a model, the run of a tool.
   * @default false
   */
  readonly all?: boolean;
  /**
   * `tree`: the events of an invocation or a call stand below it, in their own order. Concurrent
   * branches then always give the same story. `ledger`: the order in which events were recorded,
   * not indented.
   * @default 'tree'
   */
  readonly order?: 'tree' | 'ledger';
  /**
   * Number of characters of a text or value that are shown. The rest is shown by its length and
   * hash.
   * @default 120
   */
  readonly longest?: number;
}

const storyChecks: OptionChecks<StoryOptions> = {
  all: isFlag,
  order: isOneOf('tree', 'ledger'),
  longest: isCount,
};

/** One line of a story, and its event. */
export interface StoryLine {
  readonly line: string;
  readonly event: Event;
}

/**
 * Tells a ledger as a story, with a short line for each event. Lines have no ids, times, durations
 * and costs, so that the same conversation gives the same text. For `toMatchInlineSnapshot`,
 * `assert.equal` and people. It needs no test runner, and no matcher of this package needs it.
 * @throws InvalidMatcherUseError when the source has no events, InvalidOptionError
 */
export function ledgerStory(source: LedgerSource, options: StoryOptions = {}): string {
  checkOptions<StoryOptions>('ledgerStory', options, storyChecks);
  return storyOf(readSource('ledgerStory', source), options)
    .map(({ line }) => line)
    .join('\n');
}

/** Returns the lines of a story; those of a tree are indented by the depth of their events. */
export function storyOf(
  { events, resolve }: ReadSource,
  options: StoryOptions,
): readonly StoryLine[] {
  const { all = false, order = 'tree', longest = 120 } = options;
  const lines = new StoryLines({ all, longest, resolve: new StoryIds(events).resolver(resolve) });
  const tree = new StoryTree();
  for (const event of events) tree.add(event, lines.of(event));
  return order === 'tree' ? tree.lines() : tree.linesInOrder();
}

/** The lines and further nodes below an invocation or a call, in order. */
interface StoryNode {
  readonly depth: number;
  readonly parts: (StoryLine | StoryNode)[];
}

/**
 * Number of levels that are indented further; hostile ledgers may be nested as deep as they are
 * long.
 */
const deepestIndent = 40;

class StoryTree {
  readonly #root: StoryNode = { depth: 0, parts: [] };
  readonly #nodes = new Map<string, StoryNode>();
  readonly #recorded: StoryLine[] = [];

  add(event: Event, line: string | undefined): void {
    const node = this.#placeOf(event);
    if (line !== undefined) {
      node.parts.push({ line: '  '.repeat(Math.min(node.depth, deepestIndent)) + line, event });
      this.#recorded.push({ line, event });
    }
    if (event.type === 'invocation_start') this.#open(event.invocationId, node);
    if (event.type === 'tool_call') this.#open(event.callId, node);
  }

  #open(path: string, around: StoryNode): void {
    if (this.#nodes.has(path)) return;
    const node: StoryNode = { depth: around.depth + 1, parts: [] };
    this.#nodes.set(path, node);
    around.parts.push(node);
  }

  #placeOf(event: Event): StoryNode {
    if (event.type === 'invocation_start') return this.#around(event.invocationId);
    if (event.type === 'tool_call') return this.#at(event.invocationId);
    const callId =
      event.type === 'decision'
        ? event.data?.['callId']
        : event.type !== 'state_change' && 'callId' in event
          ? event.callId
          : undefined;
    return (
      (typeof callId === 'string' ? this.#nodes.get(callId) : undefined) ??
      this.#at(event.invocationId)
    );
  }

  /** Returns the node of a path, or of the nearest one above it. */
  #at(path: string | undefined): StoryNode {
    for (let at = path; at !== undefined && at !== ''; at = above(at)) {
      const node = this.#nodes.get(at);
      if (node !== undefined) return node;
    }
    return this.#root;
  }

  /**
   * Returns the node in which an invocation begins. After a handoff, the next invocation stands
   * beside the previous one.
   */
  #around(path: string): StoryNode {
    return this.#at(parentOf(slotOf(path)));
  }

  linesInOrder(): readonly StoryLine[] {
    return this.#recorded;
  }

  lines(): readonly StoryLine[] {
    const lines: StoryLine[] = [];
    const open: Iterator<StoryLine | StoryNode>[] = [this.#root.parts.values()];
    // Recursion is avoided: a hostile ledger may be nested deeper than the stack.
    for (let top = open.at(-1); top !== undefined; top = open.at(-1)) {
      const { value, done } = top.next();
      if (done === true) open.pop();
      else if ('line' in value) lines.push(value);
      else open.push(value.parts.values());
    }
    return lines;
  }
}

/** Returns the path before a handoff, or else the path above; `''` above the root of a run. */
function above(path: string): string {
  return predecessorOf(path) ?? parentOf(path);
}
