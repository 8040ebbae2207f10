import type { ErrorRecord } from '../../base/error.ts';
import type { JsonValue } from '../../base/json.ts';
import { decisionFold } from '../decisions/steering.ts';
import type {
  Event,
  EventOf,
  Fold,
  InvocationEndEvent,
  InvocationInput,
  InvocationKind,
  InvocationMode,
  InvocationStatus,
  NextInvocation,
  StopReason,
} from '../event.ts';
import { handoffPath, parentOf, slotOf } from '../path.ts';
import { type LaneWaits, laneAt, noteWait } from './lanes.ts';

/** State of one invocation, folded from the ledger. */
export interface InvocationRecord {
  readonly path: string;
  /** Path of the nearest invocation above it. */
  readonly parent: string | undefined;
  readonly kind: InvocationKind;
  readonly name: string;
  /**
   * Origin of the invocation; a spawned invocation that was detached is a `dispatch` from then on.
   */
  mode: InvocationMode;
  readonly input: InvocationInput | undefined;
  readonly inputHash: string | undefined;
  readonly branch: boolean;
  readonly start: EventOf<'invocation_start'>;
  deadline: number | undefined;
  /** `open` until it ends, and again after it was reopened. */
  status: 'open' | 'yielded' | InvocationStatus;
  /** Reason of its last yield. */
  yielded: EventOf<'invocation_yield'>['reason'] | undefined;
  output: JsonValue | undefined;
  error: ErrorRecord | undefined;
  stopReason: StopReason | undefined;
  next: NextInvocation | undefined;
  end: InvocationEndEvent | undefined;
  /** Paths of its children, in the order in which they started. */
  readonly children: string[];
  /** The events that carry its path, in order. */
  readonly events: Event[];
}

/** All invocations of a ledger by path, and the root ones in the order in which they started. */
export interface InvocationTree {
  readonly byPath: Map<string, InvocationRecord>;
  readonly roots: string[];
  /** Path of the last root in each lane, after handoffs of that of its last part. */
  readonly lanes: Map<string, string>;
  /** Events that belong to no invocation. */
  readonly outside: Event[];
  /** Waits of the parts of the run of a lane that yielded since it went on last. */
  readonly waits: LaneWaits;
}

export function emptyInvocationTree(): InvocationTree {
  return {
    byPath: new Map(),
    roots: [],
    lanes: new Map(),
    outside: [],
    waits: new Map(),
  };
}

/**
 * The nearest started invocation above `path`. A slot continued by `key>name` lies beside `key`,
 * not below it.
 */
export function enclosingInvocation<Invocation>(
  byPath: ReadonlyMap<string, Invocation>,
  path: string,
): Invocation | undefined {
  for (let above = parentOf(path); above !== ''; above = parentOf(above)) {
    const record = byPath.get(above);
    if (record !== undefined) return record;
  }
  return undefined;
}

function attach(tree: InvocationTree, event: Event): InvocationTree {
  const record = event.invocationId === undefined ? undefined : tree.byPath.get(event.invocationId);
  (record?.events ?? tree.outside).push(event);
  return tree;
}

function start(tree: InvocationTree, event: EventOf<'invocation_start'>): InvocationTree {
  const path = event.invocationId;
  const parent = enclosingInvocation(tree.byPath, path);
  const record: InvocationRecord = {
    path,
    parent: parent?.path,
    kind: event.kind,
    name: event.name,
    mode: event.mode,
    input: event.input,
    inputHash: event.inputHash,
    branch: event.branch === true,
    start: event,
    deadline: event.deadline,
    status: 'open',
    yielded: undefined,
    output: undefined,
    error: undefined,
    stopReason: undefined,
    next: undefined,
    end: undefined,
    children: [],
    events: [event],
  };
  tree.byPath.set(path, record);
  (parent?.children ?? tree.roots).push(path);
  if (parent === undefined) tree.lanes.set(laneAt(tree, path), path);
  if (event.mode === 'root') tree.waits.delete(laneAt(tree, path));
  return tree;
}

function end(tree: InvocationTree, event: EventOf<'invocation_end'>): InvocationTree {
  const record = tree.byPath.get(event.invocationId);
  if (record !== undefined) applyEnd(record, event);
  return attach(tree, event);
}

function applyEnd(record: InvocationRecord, event: InvocationEndEvent): void {
  record.status = event.status;
  record.output = event.output;
  record.error = event.error;
  record.stopReason = event.stopReason;
  record.next = event.next;
  record.end = event;
}

function reopen(tree: InvocationTree, event: EventOf<'invocation_reopen'>): InvocationTree {
  const record = tree.byPath.get(event.invocationId);
  if (record !== undefined) {
    Object.assign(record, {
      status: 'open',
      output: undefined,
      error: undefined,
      stopReason: undefined,
      next: undefined,
      end: undefined,
    });
  }
  return attach(tree, event);
}

const steer = decisionFold<'invocations', InvocationTree>({
  'spawn.detach': ({ byPath }, { data }) => {
    const detached = byPath.get(data?.path ?? '');
    if (detached?.mode === 'spawn') detached.mode = 'dispatch';
  },
});

/**
 * Folds a ledger into its invocations. The tree is changed in place: each fold needs a tree of its
 * own.
 */
export const invocationFold: Fold<InvocationTree> = {
  user: attach,
  assistant: attach,
  thought: attach,
  tool_call: attach,
  tool_attempt: attach,
  tool_result: attach,
  tool_yield: attach,
  tool_input: attach,
  state_change: attach,
  invocation_start: start,
  invocation_yield: (tree, event) => {
    const record = tree.byPath.get(event.invocationId);
    if (record !== undefined) {
      record.status = 'yielded';
      record.yielded = event.reason;
    }
    noteWait(tree.waits, laneAt(tree, event.invocationId), event.reason);
    return attach(tree, event);
  },
  invocation_resume: (tree, event) => {
    const record = tree.byPath.get(event.invocationId);
    if (record !== undefined) {
      record.status = 'open';
      if (event.deadline !== undefined) record.deadline = event.deadline;
    }
    tree.waits.delete(laneAt(tree, event.invocationId));
    return attach(tree, event);
  },
  invocation_end: end,
  invocation_reopen: reopen,
  model_start: attach,
  model_end: attach,
  handoff: attach,
  decision: (tree, event) => {
    steer(tree, event);
    return attach(tree, event);
  },
  compaction: attach,
  artifact: attach,
  plan: attach,
  plan_update: attach,
  error: attach,
  cancel: attach,
  memory: attach,
};

/** Replaces the event with the same `seq`, as if the new one had been folded instead. */
export function replaceInTree(tree: InvocationTree, seq: number, event: Event): void {
  const record = event.invocationId === undefined ? undefined : tree.byPath.get(event.invocationId);
  const events = record?.events ?? tree.outside;
  const index = events.findLastIndex((candidate) => candidate.seq === seq);
  if (index >= 0) events[index] = event;
  if (event.type === 'invocation_end' && record !== undefined) applyEnd(record, event);
}

/** The last record of the slot at `path`, handoffs followed as far as they have begun. */
export function lastRecord<
  Invocation extends { readonly path: string; readonly next: NextInvocation | undefined },
>(
  tree: { readonly byPath: ReadonlyMap<string, Invocation> },
  path: string,
): Invocation | undefined {
  let record = tree.byPath.get(path);
  while (record?.next !== undefined) {
    const next = tree.byPath.get(handoffPath(record.path, record.next.name));
    if (next === undefined) break;
    record = next;
  }
  return record;
}

/** Checks that the slot at `path` has an outcome, handoffs followed. */
export function hasOutcome(tree: InvocationTree, path: string): boolean {
  const record = lastRecord(tree, path);
  return record?.end !== undefined && record.next === undefined;
}

/**
 * Returns how the slot of an invocation began. One that was handed over to has the mode `transfer`,
 * and goes on in the place of the first of its slot.
 */
export function slotMode(tree: InvocationTree, path: string): InvocationMode | undefined {
  return tree.byPath.get(slotOf(path))?.mode;
}
