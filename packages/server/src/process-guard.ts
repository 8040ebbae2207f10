import { AdjutantError } from 'adjutant';
import { type ReportFailure, textOf } from './http/failure-report.ts';

/** Failure that no code handled. `cause` is the thrown value. */
export class UnhandledFailureError extends AdjutantError<string> {
  constructor({ isRejection, goesOn }: { isRejection: boolean; goesOn: boolean }, cause: unknown) {
    const code = isRejection ? 'unhandled_rejection' : 'uncaught_exception';
    const what = isRejection
      ? 'A promise was rejected and nobody handled it'
      : 'An exception was thrown and nobody caught it';
    const next = goesOn ? 'The server goes on' : 'The server closes, and the process ends';
    super(
      code,
      `${what}: ${textOf(cause)}. ${next}; the stack of \`cause\` says where to handle it.`,
      {},
      { cause },
    );
  }
}

/** A server of this process that is to be kept. */
export interface Guarded {
  readonly report: ReportFailure;
  /**
   * Closes the server and its app before the process ends; missing: the process goes on, whatever
   * is thrown.
   */
  readonly close?: () => Promise<void>;
}

/** The servers of this process that have a guard; they share its listeners. */
const guarded = new Set<Guarded>();

/**
 * Keeps unhandled failures from ending the process while a server listens. Listeners of the app are
 * called as well.
 * @returns function that ends the guard; further calls do nothing
 */
export function guardProcess(server: Guarded): () => void {
  if (guarded.size === 0) {
    process.on('unhandledRejection', onRejection);
    process.on('uncaughtException', onException);
  }
  guarded.add(server);
  return () => {
    if (!guarded.delete(server) || guarded.size > 0) return;
    process.off('unhandledRejection', onRejection);
    process.off('uncaughtException', onException);
  };
}

function onRejection(reason: unknown): void {
  tell(new UnhandledFailureError({ isRejection: true, goesOn: true }, reason));
}

function onException(thrown: unknown): void {
  const closing = [...guarded].flatMap(({ close }) => (close === undefined ? [] : [close]));
  const goesOn = closing.length === 0 || isFailedConnection(thrown);
  tell(new UnhandledFailureError({ isRejection: false, goesOn }, thrown));
  if (!goesOn) void closeAll(closing);
}

/** Reports each failure once, however many servers report it. */
function tell(error: UnhandledFailureError): void {
  for (const report of new Set([...guarded].map(({ report }) => report))) report(error);
}

async function closeAll(closing: readonly (() => Promise<void>)[]): Promise<void> {
  const isAlone = process.listenerCount('uncaughtException') === 1;
  await Promise.allSettled(closing.map((close) => close()));
  // Another listener decides when the process ends.
  if (isAlone) process.exit(1);
}

/**
 * A connection broke and nobody listened. The event loop itself says so: no code was cut off in the
 * middle of anything.
 */
function isFailedConnection(thrown: unknown): boolean {
  const { syscall, code } = (thrown instanceof Error ? thrown : {}) as {
    readonly syscall?: unknown;
    readonly code?: unknown;
  };
  return (
    ['read', 'write', 'shutdown', 'connect'].includes(String(syscall)) && typeof code === 'string'
  );
}
