import { defined } from '../base/defined.ts';
import { checkOptions } from '../base/invalid-option.ts';
import type { JsonValue } from '../base/json.ts';
import type { OptionChecks } from '../base/options.ts';
import { type Event, foldEvent, type RequestDetails, type RequestKind } from '../ledger/event.ts';
import {
  emptyInvocationTree,
  type InvocationRecord,
  invocationFold,
} from '../ledger/folds/invocation-fold.ts';
import { defaultLane, isLane, laneAt } from '../ledger/folds/lanes.ts';
import { type PendingRequests, requestFold } from '../ledger/folds/request-fold.ts';
import { firstSleepEnd } from '../ledger/folds/sleeps.ts';
import { isBelow, isWithin } from '../ledger/path.ts';

const optionChecks: OptionChecks<ResumeStateOptions> = { lane: isLane };

/** Something that a run asked of somebody outside, and that nobody has answered yet. */
export interface UnansweredCall {
  readonly callId: string;
  readonly requestId: string;
  /** Path of the agent that made the call. */
  readonly invocationId: string;
  readonly name: string;
  /** The prepared arguments. */
  readonly args: JsonValue;
  readonly kind: RequestKind;
  /** The details that people are shown. */
  readonly request: RequestDetails;
}

/** Tells if a session can be continued, and lists the requests that it waits for. */
export interface ResumeState {
  /**
   * A run is open, and nothing that it waits for is missing. With some answers of several it can be
   * resumed as well; it waits again for the rest.
   */
  readonly canResume: boolean;
  /** Path of the run that is open; missing when there is none. */
  readonly openRun?: string;
  /**
   * Calls without the input, decision or result that they need, in the order in which they were
   * asked.
   */
  readonly pendingCalls: readonly UnansweredCall[];
  /** Invocations that wait for a message of the user: a loop with `yields: true`. */
  readonly awaitingInput: readonly { readonly invocationId: string; readonly name: string }[];
  /**
   * Epoch milliseconds at which the first open sleep ends; missing when nothing sleeps. A run that
   * is resumed before sleeps on.
   */
  readonly sleepsUntil?: number;
}

export interface ResumeStateOptions {
  /** Lane whose run is to be resumed. @default the default lane */
  readonly lane?: string;
}

/**
 * Returns the unresolved parts of a ledger, as data to check before the run of a lane is resumed.
 * @throws InvalidOptionError
 */
export function validateResumeState(
  events: readonly Event[],
  options: ResumeStateOptions = {},
): ResumeState {
  checkOptions('validateResumeState', options, optionChecks);
  const { lane = defaultLane } = options;
  const tree = emptyInvocationTree();
  const requests: PendingRequests = new Map();
  for (const event of events) {
    foldEvent(invocationFold, tree, event);
    foldEvent(requestFold, requests, event);
  }
  const isOfLane = ({ invocationId }: { readonly invocationId?: string }): boolean =>
    laneAt(tree, invocationId) === lane;
  const root = tree.byPath.get(tree.lanes.get(lane) ?? '');
  const openRun = root !== undefined && isOpen(root) ? root.path : undefined;
  const pendingCalls = [...requests.values()]
    .filter(isOfLane)
    .map(({ callId, requestId, invocationId = '', name, args, kind, request }) => {
      return { callId, requestId, invocationId, name, args, kind, request };
    });
  const waiting = [...tree.byPath.values()].filter(
    (record) => laneAt(tree, record.path) === lane && waitsForMessage(record, events, lane),
  );
  // The invocations around it wait as well, for it.
  const innermost = waiting.filter(
    ({ path }) => !waiting.some((other) => isBelow(other.path, path)),
  );
  const awaitingInput = innermost.map(({ path, name }) => ({ invocationId: path, name }));
  const canResume =
    openRun !== undefined && pendingCalls.length === 0 && awaitingInput.length === 0;
  const sleepsUntil = firstSleepEnd(tree, lane) ?? undefined;
  return {
    canResume,
    ...defined({ openRun }),
    pendingCalls,
    awaitingInput,
    ...defined({ sleepsUntil }),
  };
}

function isOpen({ status }: InvocationRecord): boolean {
  return status === 'open' || status === 'yielded';
}

function waitsForMessage(
  record: InvocationRecord,
  events: readonly Event[],
  lane: string,
): boolean {
  if (record.status !== 'yielded') return false;
  const last = record.events.findLast((event) => event.type === 'invocation_yield');
  if (last?.type !== 'invocation_yield' || last.reason !== 'input') return false;
  const isAddressed = (path: string | undefined): boolean =>
    path === undefined || isWithin(path, record.path);
  return !events.some(
    (event) =>
      event.type === 'user' &&
      event.seq > last.seq &&
      isAddressed(event.invocationId) &&
      (event.invocationId !== undefined || (event.lane ?? defaultLane) === lane),
  );
}
