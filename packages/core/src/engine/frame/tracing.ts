import type { ModelCallRequest } from '../../effects/model-call/ports.ts';
import type { ToolAttempt } from '../../effects/tool-call/ports.ts';
import type { Event, InvocationMode } from '../../ledger/event.ts';
import type { InvocationRecord } from '../../ledger/folds/invocation-fold.ts';
import type { Ledger } from '../../ledger/ledger.ts';
import { contextWindowOf } from '../../models/measures/window.ts';
import type { Middleware } from '../../runnables/hooks.ts';
import type { Around, RunOperation } from '../../runnables/operation.ts';
import type { Runnable } from '../../session/runnable.ts';
import type { Session } from '../../session/session.ts';

/** Runnable of a run, and the open run that it continues. */
interface TracedRun {
  readonly open: InvocationRecord | undefined;
  readonly runnable: Runnable;
  readonly request: { readonly runId: string; readonly isFound?: boolean | undefined };
}

/** Observers and middleware of an app. */
interface TracedApp {
  readonly observers: ReadonlySet<Around>;
  readonly middleware: readonly Middleware[];
}

/** Middleware around the work of one run. */
export class RunTracing {
  readonly #around: Around;
  readonly #operation: RunOperation;
  readonly #forget: (() => void)[] = [];
  #trace: string | undefined;

  private constructor(around: Around, session: Session, run: TracedRun) {
    this.#around = around;
    this.#operation = this.#operationOf(session, run);
  }

  /**
   * Returns `undefined` when nobody observes the app and no middleware has `around`, so that
   * nothing is called.
   */
  static of(
    { observers, middleware }: TracedApp,
    session: Session,
    run: TracedRun,
  ): RunTracing | undefined {
    // A replay does no work that is worth tracing.
    if (session.ledger.ports.tape !== undefined) return undefined;
    const around = [...observers, ...middleware.flatMap((one) => one.around ?? [])].reduceRight<
      Around | undefined
    >(joined, undefined);
    return around === undefined ? undefined : new RunTracing(around, session, run);
  }

  #operationOf({ app, ledger }: Session, { open, runnable, request }: TracedRun): RunOperation {
    const runId = open?.path ?? request.runId;
    return Object.freeze({
      type: 'run',
      app,
      session: ledger.session,
      runId,
      kind: runnable.kind,
      name: runnable.name,
      version: runnable.version,
      continued: open !== undefined,
      asked: request.isFound !== true,
      startedAt: open?.start.at,
      traceBefore: open === undefined ? undefined : lastTrace(ledger, runId),
      keepTrace: (traceparent: string) => {
        this.#trace = traceparent;
      },
      listen: (listener: (event: Event) => void) =>
        void this.#forget.push(ledger.onDraft(listener)),
      whole: <E extends Event>(event: E) => ledger.whole(event),
    } satisfies RunOperation);
  }

  /** Trace that is recorded with the event that begins or continues the run. */
  get trace(): string | undefined {
    return this.#trace;
  }

  run<Result>(work: () => Result): Result {
    return this.#around(this.#operation, work);
  }

  invocation<Result>(
    {
      path,
      runnable,
      mode,
      resumed,
    }: {
      readonly path: string;
      readonly runnable: Runnable;
      readonly mode: InvocationMode;
      readonly resumed: boolean;
    },
    work: () => Result,
  ): Result {
    const { kind, name, version } = runnable;
    return this.#around(
      {
        type: 'invocation',
        run: this.#operation,
        invocationId: path,
        kind,
        name,
        version,
        mode,
        continued: resumed,
      },
      work,
    );
  }

  readonly model = <Result>(
    { path, agent, round, attempt, model, options }: ModelCallRequest,
    work: () => Result,
  ): Result => {
    const { provider, modelId } = model;
    return this.#around(
      {
        type: 'model',
        run: this.#operation,
        invocationId: path,
        agent,
        round,
        attempt,
        provider,
        modelId,
        contextWindow: contextWindowOf(model),
        options,
      },
      work,
    );
  };

  readonly tool = <Result>(
    { tool, call, args, attempt }: ToolAttempt,
    work: () => Result,
  ): Result => {
    const { callId, providerCallId, agent, invocationId = '' } = call;
    const { name, description } = tool;
    return this.#around(
      {
        type: 'tool',
        run: this.#operation,
        invocationId,
        agent,
        callId,
        providerCallId,
        name,
        description,
        args,
        attempt,
      },
      work,
    );
  };

  /** Ends the listeners: nothing of the run is under way here any more. */
  close(): void {
    for (const forget of this.#forget.splice(0)) forget();
  }
}

/** Joins two `around` functions: the earlier one of the list lies outside. */
function joined(inner: Around | undefined, outer: Around): Around {
  return inner === undefined
    ? outer
    : (operation, work) => outer(operation, () => inner(operation, work));
}

function lastTrace({ events }: Ledger, runId: string): string | undefined {
  for (let index = events.length - 1; index >= 0; index--) {
    const event = events[index];
    if (
      event?.invocationId !== runId ||
      (event.type !== 'invocation_start' && event.type !== 'invocation_resume')
    )
      continue;
    if (event.trace !== undefined) return event.trace;
  }
  return undefined;
}
