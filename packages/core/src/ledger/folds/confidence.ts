import type { Event, InvocationKind, NextInvocation } from '../event.ts';
import { isSuccess } from '../tool-result.ts';
import type { InvocationRecord, InvocationTree } from './invocation-fold.ts';
import { enclosingInvocation, lastRecord } from './invocation-fold.ts';

/** Parts of the confidence in the output of an invocation. */
interface Judged {
  readonly path: string;
  readonly kind: InvocationKind;
  readonly status: string;
  readonly next: NextInvocation | undefined;
  readonly children: readonly string[];
}

interface Judging<Part extends Judged> {
  readonly byPath: ReadonlyMap<string, Part>;
  /** `confidence` of the output. */
  claimed(part: Part): number | undefined;
  /** The best confidence of the results of an agent; `undefined` when it has none. */
  bestOfResults(part: Part): number | undefined;
}

/**
 * Returns the confidence in the output of an invocation, from 0 to 1; `undefined` when nothing
 * lowers it. It is the least of these:
 * - `confidence` of the output, when that is a number from 0 to 1;
 * - for an agent, the best confidence of its successful tool results: an answer is worth no more
 *   than what it rests on;
 * - for a sequence or a parallel, the confidence of each part; for a loop, of the last iteration.
 */
export function confidenceIn(
  record: InvocationRecord,
  { byPath }: InvocationTree,
  resolve: (value: unknown) => unknown,
): number | undefined {
  return leastOf(record, {
    byPath,
    claimed: ({ output }) => claimedIn(resolve(output)),
    bestOfResults: ({ events }) => {
      const results = new ResultsOfAgent();
      for (const event of events) results.add(event);
      return results.best;
    },
  });
}

function leastOf<Part extends Judged>(part: Part, judging: Judging<Part>): number | undefined {
  const found = [judging.claimed(part), ...belowIn(part, judging)].filter(
    (confidence) => confidence !== undefined,
  );
  const least = Math.min(...found);
  return least < 1 ? least : undefined;
}

function claimedIn(output: unknown): number | undefined {
  if (typeof output !== 'object' || output === null || !Object.hasOwn(output, 'confidence'))
    return undefined;
  const { confidence } = output as { readonly confidence: unknown };
  return typeof confidence === 'number' && confidence >= 0 && confidence <= 1
    ? confidence
    : undefined;
}

function belowIn<Part extends Judged>(
  part: Part,
  judging: Judging<Part>,
): readonly (number | undefined)[] {
  switch (part.kind) {
    case 'agent':
      return [judging.bestOfResults(part)];
    case 'sequence':
    case 'parallel':
    case 'plan':
    case 'graph':
    case 'router':
      return part.children.map((path) => ofChild(path, judging));
    case 'loop':
      return part.children.slice(-1).map((path) => ofChild(path, judging));
    default:
      return [];
  }
}

function ofChild<Part extends Judged>(path: string, judging: Judging<Part>): number | undefined {
  const child = lastRecord(judging, path);
  return child?.status === 'completed' ? leastOf(child, judging) : undefined;
}

/** The successful results of the tools that an agent called. */
class ResultsOfAgent {
  readonly #called = new Set<string>();
  #best: number | undefined;

  get best(): number | undefined {
    return this.#best;
  }

  add(event: Event): void {
    if (event.type === 'tool_call') this.#called.add(event.callId);
    else if (event.type === 'tool_result' && event.settled && this.#called.has(event.callId)) {
      if (isSuccess(event.result))
        this.#best = Math.max(this.#best ?? 0, event.result.confidence ?? 1);
    }
  }
}

interface FoldedPart extends Judged {
  status: string;
  next: NextInvocation | undefined;
  readonly children: string[];
  claimed: number | undefined;
  readonly results: ResultsOfAgent;
}

const bytesOfInvocation = 300;
const bytesOfCall = 100;

/**
 * Confidence in the outputs of a ledger's invocations, folded from its events, of which nothing
 * else is kept. Outputs must not be references to large values.
 */
export class ConfidenceFold {
  readonly #byPath = new Map<string, FoldedPart>();

  #size = 0;

  /** About how many bytes it holds. */
  get size(): number {
    return this.#size;
  }

  add(event: Event): void {
    if (event.type === 'invocation_start') this.#size += bytesOfInvocation;
    if (event.type === 'tool_call') this.#size += bytesOfCall;
    if (event.type === 'invocation_start') this.#start(event.invocationId, event.kind);
    const part =
      event.invocationId === undefined ? undefined : this.#byPath.get(event.invocationId);
    if (part === undefined) return;
    if (event.type === 'invocation_end') {
      part.status = event.status;
      part.next = event.next;
      part.claimed = claimedIn(event.output);
    } else if (event.type === 'invocation_reopen') {
      Object.assign(part, { status: 'open', next: undefined, claimed: undefined });
    } else part.results.add(event);
  }

  /** The confidence in the output of an invocation, handoffs followed. */
  of(path: string): number | undefined {
    const part = lastRecord({ byPath: this.#byPath }, path);
    return part === undefined
      ? undefined
      : leastOf(part, {
          byPath: this.#byPath,
          claimed: ({ claimed }) => claimed,
          bestOfResults: ({ results }) => results.best,
        });
  }

  #start(path: string, kind: InvocationKind): void {
    const results = new ResultsOfAgent();
    const none = { next: undefined, claimed: undefined, children: [] };
    this.#byPath.set(path, { path, kind, status: 'open', results, ...none });
    enclosingInvocation(this.#byPath, path)?.children.push(path);
  }
}
