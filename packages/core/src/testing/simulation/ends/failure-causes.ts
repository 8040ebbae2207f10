import type { Event, EventOf } from '../../../ledger/event.ts';
import { isBelow, isRoot, isWithin, parentOf } from '../../../ledger/path.ts';
import type { Fault, FaultKind } from '../faults.ts';
import { isTold } from '../repairs/outcome-checks.ts';
import type { WatchedLedger } from '../watched-ledger.ts';

type Result = EventOf<'tool_result'>;
type End = EventOf<'invocation_end'>;

/** Faults that hold a process up: time limits go by meanwhile. */
const delays = ['stop', 'pause', 'slowStore', 'lostAnswer', 'refusedCall', 'deploy'] as const;
/** Codes of errors that each kind of fault may end an invocation with. */
const codesOfFaults: Partial<Record<FaultKind, readonly string[]>> = {
  modelError: ['model_overloaded', 'model_rate_limit', 'model_connection'],
  slowModel: ['model_timeout', 'timeout'],
  slowTool: ['timeout'],
  ...Object.fromEntries(delays.map((kind) => [kind, ['timeout']])),
};
/** Types of the errors that faults of tools themselves may give a call. */
const ofTools: Partial<Record<FaultKind, readonly string[]>> = {
  toolError: ['http_503', 'connection_lost', 'tool_error', 'unknown_outcome'],
  slowTool: ['timeout', 'unknown_outcome'],
};
/** Types of the errors that each kind of fault may give a call. */
const typesOfFaults: Partial<Record<FaultKind, readonly string[]>> = {
  ...ofTools,
  slowModel: ['timeout'],
  ...Object.fromEntries(delays.map((kind) => [kind, ['timeout', 'unknown_outcome']])),
};
/** Codes and types of errors of code that does not fit the ledger which another version began. */
const ofOtherCode: ReadonlySet<string> = new Set([
  'orphaned_child',
  'orphaned_effect',
  'ledger_mismatch',
  'input_mismatch',
  'runnable_mismatch',
  'unknown_runnable',
  'unknown_tool',
  'validation_error',
]);
/** Codes of errors that the code of an app throws. */
const ofApps: ReadonlySet<string> = new Set(['step_error', 'step_failed', 'tool_failure']);
/** Cut-off attempts after which a repeatable effect is settled as unknown. */
const mostInterruptions = 3;

/** True when something that happened to the run explains why a call did not succeed. */
export function isResultExplained(ledger: WatchedLedger, result: Result): boolean {
  const { callId } = result;
  const type = result.result.errorType ?? result.result.status;
  const recovery = ledger.recoveries.get(callId);
  // An attempt that was cut off before it began has told nobody of its recovery.
  const isOnce = recovery === undefined || recovery === 'report';
  switch (type) {
    case 'rejected':
      return isAnswered(ledger, callId, 'reject');
    case 'expired':
      return isAnswered(ledger, callId, 'expire');
    case 'cancelled':
      return isCancelled(ledger, callId, result);
    case 'interrupted':
      return cutOffs(ledger, result) >= (isOnce ? 1 : mostInterruptions);
    case 'unknown_outcome': {
      if (isCancelled(ledger, callId, result)) return true;
      // A stop, or a delay, does not make the outcome of what may run again unknown.
      if (recovery === 'rerun' && !ledger.isEdited) return hasMet(ledger, ofTools, type, callId);
      return hasMet(ledger, typesOfFaults, type, callId) || cutOffs(ledger, result) > 0;
    }
    default:
      return isOtherExplained(ledger, result, { path: callId, code: type, faults: typesOfFaults });
  }
}

/** True when something that happened to the run explains why an invocation did not complete. */
export function isEndExplained(ledger: WatchedLedger, end: End): boolean {
  const { error, invocationId: path, status } = end;
  if (status === 'cancelled') return isCancelled(ledger, path, end);
  const code = error?.code ?? '';
  return isOtherExplained(ledger, end, { path, code, faults: codesOfFaults });
}

const codesOfAnswers: Readonly<Record<string, string>> = {
  expire: 'question_expired',
  reject: 'question_rejected',
  cancel: 'question_cancelled',
};

function isOtherExplained(
  ledger: WatchedLedger,
  event: Result | End,
  {
    code,
    faults,
    path,
  }: {
    readonly path: string;
    readonly code: string;
    readonly faults: typeof codesOfFaults;
  },
): boolean {
  if (ofOtherCode.has(code) && ledger.isEdited) return true;
  if (isPassedOn(ledger, event, path, code)) return true;
  if (hasMet(ledger, faults, code, path)) return true;
  // The code of an app may fail in its own way when something else has failed before.
  const isOfApp = ofApps.has(code) || !isKnown(code);
  return isOfApp && ledger.events.some((other) => other.seq < event.seq && isDeviation(other));
}

/** True when a part has failed in a way that is that of the whole. */
function isPassedOn({ events }: WatchedLedger, whole: Result | End, path: string, code: string) {
  return events.some(
    (event) =>
      event.seq < whole.seq &&
      isBelowOf(event, path) &&
      ((event.type === 'invocation_end' &&
        isFailed(event) &&
        (event.error?.code === code || code === 'too_few_branches')) ||
        (event.type === 'tool_result' && isFailedEffect(event, code)) ||
        (event.type === 'tool_input' && code === codesOfAnswers[event.decision ?? 'answer'])),
  );
}

/** True for an event that not every order of the world brings. */
export function isDeviation(event: Event): boolean {
  switch (event.type) {
    case 'tool_result':
      return (
        event.late === true || (event.settled && event.result.status !== 'success') || isTold(event)
      );
    case 'invocation_end':
      return isFailed(event);
    case 'tool_input':
    case 'cancel':
      return true;
    case 'decision':
      // Work of another version of the code was left behind.
      return event.component === 'invoke' && event.decision.startsWith('accept_');
    case 'user':
      return isSaid(event);
    default:
      return false;
  }
}

/**
 * True for a message of which the program without faults does not know. One that is taken as the
 * answer to a question is no other answer, but another text.
 */
export function isSaid({ clientKey }: { readonly clientKey?: string | undefined }): boolean {
  return clientKey?.startsWith('people/') === true;
}

/** Codes and types that the runtime gives for reasons of its own. */
function isKnown(code: string): boolean {
  return (
    ofOtherCode.has(code) ||
    /^(internal|unexpected_error|timeout|cancelled|interrupted|unknown_outcome)$/.test(code) ||
    /^(model|ledger|effect|invocation|store|state|seq|session)_/.test(code)
  );
}

function isFailed({ status }: End): boolean {
  return status === 'error' || status === 'cancelled';
}

function isFailedEffect(event: Result, code: string): boolean {
  const { effect, result, retryAfterMs, settled } = event;
  const isOutcome = settled || (isTold(event) && retryAfterMs === undefined);
  if (!isOutcome || result.status === 'success') return false;
  return code === (effect === 'unknown' ? 'effect_unknown' : 'effect_failed');
}

function isBelowOf(event: Event, path: string): boolean {
  const of = 'callId' in event ? event.callId : event.invocationId;
  return of !== undefined && isBelow(of, path);
}

function isAnswered({ events }: WatchedLedger, callId: string, decision: string): boolean {
  return events.some(
    (event) =>
      event.type === 'tool_input' && event.callId === callId && event.decision === decision,
  );
}

/**
 * Events with which a body that ends takes back what it waits for no more. A body whose process
 * stops before its own end lands is resumed, and ends then.
 */
const ofEnds: ReadonlySet<string> = new Set([
  'invocation_end',
  'invocation_resume',
  'decision',
  'state_change',
]);

/** True for the end of a question or a sleep that its body waits for no more: a race is open. */
export function isLostWait(ledger: WatchedLedger, event: Event): boolean {
  return (
    event.type === 'invocation_end' &&
    event.status === 'cancelled' &&
    isWaitedForNoMore(ledger, event.invocationId, event.seq)
  );
}

/** True for a question or a sleep whose body ends at once, such as the loser of a race. */
function isWaitedForNoMore({ events }: WatchedLedger, path: string, seq: number): boolean {
  const isWait = events.some(
    (event) =>
      event.type === 'invocation_start' &&
      event.invocationId === path &&
      (event.kind === 'question' || event.kind === 'sleep'),
  );
  const body = parentOf(path);
  const next = events.find(
    (event) =>
      event.seq > seq &&
      // Dispatched children of the body go on beside it.
      (event.invocationId === body ||
        (event.type === 'invocation_start' && parentOf(event.invocationId) === body)) &&
      (!ofEnds.has(event.type) || (event.type === 'invocation_end' && event.invocationId === body)),
  );
  return isWait && next?.type === 'invocation_end';
}

/** True when the run was cancelled, or a body around it ended without it or left it behind. */
function isCancelled(ledger: WatchedLedger, path: string, { seq }: Result | End): boolean {
  if (isWaitedForNoMore(ledger, path, seq)) return true;
  return ledger.events.some(
    (event) =>
      (event.type === 'cancel' && event.seq < seq) ||
      (event.type === 'invocation_end' && isFailed(event) && isBelow(path, event.invocationId)) ||
      // The tool that called it was given up.
      (event.type === 'tool_result' &&
        event.result.status !== 'success' &&
        isBelow(path, event.callId)) ||
      (event.type === 'invocation_start' &&
        (event.mode === 'spawn' || event.mode === 'dispatch') &&
        isWithin(path, event.invocationId)),
  );
}

/** Faults after which a process may give a run up, and go on with it under the same claim. */
const troubles: ReadonlySet<FaultKind> = new Set(['lostAnswer', 'refusedCall', 'slowStore']);

/**
 * Number of the attempts of a call that another owner of the session, or the same one after trouble
 * with the store, has found open.
 */
function cutOffs({ epochs, events, faults }: WatchedLedger, { callId, seq }: Result): number {
  const isTroubled = faults.some(({ kind }) => troubles.has(kind));
  let count = 0;
  for (const attempt of events) {
    if (attempt.type !== 'tool_attempt' || attempt.callId !== callId) continue;
    const result = events.find(
      (event) =>
        event.type === 'tool_result' &&
        event.callId === callId &&
        event.attempt === attempt.attempt &&
        event.seq <= seq,
    );
    const isFound = result?.type === 'tool_result' && result.result.errorType === 'interrupted';
    if (epochs[attempt.seq - 1] !== epochs[(result?.seq ?? seq) - 1] || (isTroubled && isFound))
      count++;
  }
  return count;
}

/** True when a fault that may have such an outcome met the run, at this path or for all of it. */
function hasMet(
  { faults }: WatchedLedger,
  outcomes: typeof codesOfFaults,
  code: string,
  path: string,
): boolean {
  return faults.some(
    ({ kind, subject }: Fault) =>
      outcomes[kind]?.includes(code) === true &&
      // The time of a part is that of the whole.
      (subject === undefined || code === 'timeout' || isWithin(subject, path) || isRoot(path)),
  );
}
