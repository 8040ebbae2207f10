import { isAdjutantError } from '../../base/error.ts';
import type { JsonObject } from '../../base/json.ts';
import {
  type Event,
  isDurable,
  type StreamEvent,
  type TransientEvent,
} from '../../ledger/event.ts';
import { isOfOtherLane } from '../../ledger/folds/lanes.ts';
import { takenText } from '../../ledger/folds/taken-message.ts';
import type { Ledger } from '../../ledger/ledger.ts';
import type { Session } from '../../session/session.ts';
import { RunStoppedError } from '../frame/errors.ts';
import { rootToContinue } from './root-run.ts';
import type { RunControl, RunSink } from './run.ts';
import type { RunRequest } from './run-request.ts';

/**
 * Checks that another process took the session over while a run was carried out here. A conflict
 * under the same epoch is none: the store has lost events, and would lose them again.
 */
export function isTakenOver(error: unknown, { ledger }: Session): boolean {
  if (ledger.failure === undefined || !isAdjutantError(error, 'ledger_conflict')) return false;
  const { expected, found } = error.data as Readonly<Record<'expected' | 'found', JsonObject>>;
  return found['epoch'] !== expected['epoch'];
}

/** A run whose session was lost to another process. */
interface TakenOverRun {
  /** The session as this process had it. */
  readonly lost: Session;
  /** The session as it is stored. */
  readonly fresh: Session;
  readonly request: RunRequest;
  readonly sink: HeardEvents;
}

/**
 * Returns the request that asks for nothing but the end of a run which another process has taken
 * over: its input is in the ledger.
 * @throws the error of the lost session when the run, or its input, had not landed
 * @throws RunStoppedError when the run was stopped meanwhile
 */
export function askedAfterTakeOver(
  error: unknown,
  { lost, fresh, request, sink }: TakenOverRun,
): RunRequest {
  const root = rootToContinue(lost, request);
  const input = inputEvent(lost.ledger, request);
  const hasLanded = input === undefined || fresh.events.some(({ id }) => id === input.id);
  if (root === undefined || !fresh.ledger.invocations.byPath.has(root.path) || !hasLanded)
    throw error;
  if (sink.isStopped) throw new RunStoppedError({ session: fresh.id, runId: root.path });
  return {
    ...request,
    runId: root.path,
    isNamed: true,
    input: undefined,
    data: undefined,
    permissions: undefined,
    posted: undefined,
  };
}

/** The last event that the input of a request became. */
function inputEvent(ledger: Ledger, { input }: RunRequest): Event | undefined {
  if (input === undefined) return undefined;
  return ledger.events.findLast(
    (event) =>
      (event.type === 'user' || event.type === 'tool_input') &&
      ledger.resolve(takenText(event)) === input,
  );
}

/**
 * The sink of a run that knows what it has had. When a run is followed after it was carried out
 * here, the events between the two are passed on, each once.
 */
export class HeardEvents implements RunSink {
  readonly attach: RunSink['attach'];
  readonly accept: RunSink['accept'];
  readonly background: RunSink['background'];
  readonly #sink: RunSink;
  readonly #lane: string;
  #lastSeq = 0;
  #isTakenOver = false;
  #isStopped = false;
  /** Cancel of the caller that no ledger is known to have. */
  #cancel: { readonly reason: string | undefined } | undefined;

  constructor(sink: RunSink, lane: string) {
    this.#sink = sink;
    this.#lane = lane;
    this.attach = (control) => {
      sink.attach({
        ...control,
        cancel: (reason) => {
          this.#cancel = { reason };
          control.cancel(reason);
        },
        stop: () => {
          this.#isStopped = true;
          control.stop();
        },
      });
      this.#cancelAgain(control);
    };
    this.accept = (confirm) => sink.accept(confirm);
    this.background = (work) => sink.background(work);
  }

  get isHeard(): boolean {
    return this.#sink.isHeard;
  }

  made(event: TransientEvent): void {
    this.#sink.made(event);
  }

  push(event: StreamEvent): void {
    if (isDurable(event)) this.#lastSeq = event.seq;
    if (event.type === 'cancel') this.#cancel = undefined;
    this.#sink.push(event);
  }

  /** True when the run was stopped, perhaps before it was known that the session was lost. */
  get isStopped(): boolean {
    return this.#isStopped;
  }

  /** Notes that the durable events of a session that was lost need not be passed on. */
  begin({ ledger }: Session): void {
    this.#lastSeq = Math.max(this.#lastSeq, ledger.durableSeq);
    this.#isTakenOver = true;
  }

  /** Passes on the events of a session that was read again. */
  passOn({ events, ledger }: Session): void {
    if (!this.#isTakenOver) return;
    for (const event of events.slice(this.#lastSeq, ledger.durableSeq))
      if (!isOfOtherLane(ledger.invocations, event, this.#lane)) this.push(event);
  }

  /** Repeats the caller's cancel after a take-over: the lost ledger has not recorded it. */
  #cancelAgain(control: RunControl): void {
    const cancel = this.#cancel;
    if (!this.#isTakenOver || cancel === undefined) return;
    this.#cancel = undefined;
    control.cancel(cancel.reason);
  }
}
