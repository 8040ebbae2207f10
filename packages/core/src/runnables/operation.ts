import type { LanguageModelV4CallOptions } from '@ai-sdk/provider';
import type { Event, InvocationMode, RunnableKind } from '../ledger/event.ts';

/** The definition that is invoked, with its kind and name. */
interface InvokedDefinition {
  readonly kind: RunnableKind;
  readonly name: string;
  readonly version?: string | undefined;
}

/**
 * The part of a run that this process carries out: from its start here up to its result. Dispatched
 * work may continue after it, as operations of the same run. All operations of the run have the
 * same object.
 */
export interface RunOperation extends InvokedDefinition {
  readonly type: 'run';
  readonly app: string;
  readonly session: string;
  readonly runId: string;
  /** True when a part of it ran before, in this or another process. */
  readonly continued: boolean;
  /**
   * True when the caller asked for it just now: `run`, `resume`, `advance`. Otherwise the runtime
   * found the run and continues it by itself.
   */
  readonly asked: boolean;
  /** Epoch milliseconds of its first event, when a part of it ran before. */
  readonly startedAt: number | undefined;
  /** The `trace` that was recorded last for this run. */
  readonly traceBefore: string | undefined;
  /**
   * Keeps a W3C `traceparent` with the event that begins or continues the run, so that the process
   * that continues it finds it in `traceBefore`. To be called before `work`; later it has no
   * effect.
   */
  keepTrace(traceparent: string): void;
  /**
   * Calls `listener` with each event of the session as it is appended, as long as anything of the
   * run is under way here.
   */
  listen(listener: (event: Event) => void): void;
  /** An event with its large values in the place of their references. */
  whole<E extends Event>(event: E): E;
}

/**
 * An invocation from its start, or its continuation here, to its recorded end, or until it is
 * released.
 */
export interface InvocationOperation extends InvokedDefinition {
  readonly type: 'invocation';
  readonly run: RunOperation;
  readonly invocationId: string;
  readonly mode: InvocationMode;
  readonly continued: boolean;
}

/** One request to a model: its answer is recorded after it. */
export interface ModelOperation {
  readonly type: 'model';
  readonly run: RunOperation;
  readonly invocationId: string;
  readonly agent: string;
  readonly round: number;
  /** 1 for the first attempt. */
  readonly attempt: number;
  readonly provider: string;
  readonly modelId: string;
  /** Tokens that prompt and answer may have together. */
  readonly contextWindow: number;
  readonly options: Omit<LanguageModelV4CallOptions, 'abortSignal' | 'headers'>;
}

/** One execution of a tool, with the recording of its result. */
export interface ToolOperation {
  readonly type: 'tool';
  readonly run: RunOperation;
  readonly invocationId: string;
  readonly agent: string;
  readonly callId: string;
  readonly providerCallId: string;
  /** The tool that is run, which may stand in for the one that was asked for. */
  readonly name: string;
  readonly description: string;
  /** The prepared arguments. */
  readonly args: unknown;
  /** 1 for the first attempt. */
  readonly attempt: number;
}

/** A piece of the runtime's work that middleware can wrap. */
export type Operation = RunOperation | InvocationOperation | ModelOperation | ToolOperation;

/** Carries out a piece of work: calls `work` once, at once, and gives what it gives. */
export type Around = <Result>(operation: Operation, work: () => Result) => Result;
