import type { ModelCallRequest } from '../../../effects/model-call/ports.ts';
import type { ToolAttempt } from '../../../effects/tool-call/ports.ts';
import type { Event, InvocationMode } from '../../../ledger/event.ts';
import type { InvocationRecord } from '../../../ledger/folds/invocation-fold.ts';
import type { Ledger } from '../../../ledger/ledger.ts';
import { contextWindowOf } from '../../../models/measures/window.ts';
import type { Middleware } from '../../../runnables/hooks.ts';
import type { Around, RunOperation } from '../../../runnables/operation.ts';
import type { Runnable } from '../../../session/runnable.ts';
import type { Session } from '../../../session/session.ts';
import type { AgentMiddleware } from './agent-middleware.ts';
import { surrounded } from './surrounded-work.ts';

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

/** Session of a run, with the middleware of the app and of its agents. */
interface TracedSession {
  readonly app: TracedApp;
  readonly session: Session;
  readonly agents: AgentMiddleware;
}

/** Middleware around the work of one run: that of the app, and that of its agents. */
export class RunTracing {
  /** Of the app; `undefined` when it has none, so that nothing is called. */
  readonly #outer: Around | undefined;
  readonly #agents: AgentMiddleware;
  readonly #operation: RunOperation;
  readonly #forget: (() => void)[] = [];
  #trace: string | undefined;

  private constructor(
    outer: Around | undefined,
    { session, agents }: Pick<TracedSession, 'session' | 'agents'>,
    run: TracedRun,
  ) {
    this.#outer = outer;
    this.#agents = agents;
    this.#operation = this.#operationOf(session, run);
  }

  /** Returns `undefined` in a replay, which does no work that is worth tracing. */
  static of({ app, session, agents }: TracedSession, run: TracedRun): RunTracing | undefined {
    if (session.ledger.ports.recording !== undefined) return undefined;
    const { observers, middleware } = app;
    const outer = joined([...observers, ...middleware.flatMap((one) => one.around ?? [])]);
    return new RunTracing(outer, { session, agents }, run);
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

  run<Result>(work: () => Promise<Result>): Promise<Result> {
    return this.#outer === undefined ? work() : surrounded(this.#outer, this.#operation, work);
  }

  /** True when something lies around the run. */
  get surroundsRun(): boolean {
    return this.#outer !== undefined;
  }

  /** True when something lies around the work of an invocation. */
  surrounds(path: string): boolean {
    return this.#outer !== undefined || this.#agents.around(path).length > 0;
  }

  /** Middleware around the work of an invocation; `undefined` when there is none. */
  #around(path: string): Around | undefined {
    const agents = this.#agents.around(path);
    if (agents.length === 0) return this.#outer;
    return joined(this.#outer === undefined ? agents : [this.#outer, ...agents]);
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
    work: () => Promise<Result>,
  ): Promise<Result> {
    const around = this.#around(path);
    if (around === undefined) return work();
    const { kind, name, version } = runnable;
    return surrounded(
      around,
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
    work: () => Promise<Result>,
  ): Promise<Result> => {
    const around = this.#around(path);
    if (around === undefined) return work();
    const { provider, modelId } = model;
    return surrounded(
      around,
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
    work: () => Promise<Result>,
  ): Promise<Result> => {
    const { callId, providerCallId, agent, invocationId = '' } = call;
    const around = this.#around(invocationId);
    if (around === undefined) return work();
    const { name, description } = tool;
    return surrounded(
      around,
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

/** Joins `around` functions: the earlier one of the list lies outside. */
function joined(all: readonly Around[]): Around | undefined {
  return all.reduceRight<Around | undefined>(
    (inner, outer) =>
      inner === undefined
        ? outer
        : (operation, work) => outer(operation, () => inner(operation, work)),
    undefined,
  );
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
