import { AdjutantError } from '../../base/error.ts';

/** Error for a body that used its context after it had ended. */
export class InvocationEndedError extends AdjutantError {
  constructor(data: { path: string; method: string }) {
    super(
      'invocation_ended',
      `ctx.${data.method} was used after "${data.path}" had ended. Await everything that ` +
        'the body starts.',
      data,
    );
  }
}

/** Error for a question or a sleep that cannot begin. One without a key was written without it. */
export class InvalidWaitError extends AdjutantError {
  constructor(data: { what: 'question' | 'sleep'; key?: string; reason: string }) {
    const wait = data.key === undefined ? `A ${data.what}` : `The ${data.what} "${data.key}"`;
    super('invalid_wait', `${wait} cannot begin: ${data.reason}.`, data);
  }
}

/** Error for a handoff or call that would go too deep, or in a circle. */
export class HandoffRefusedError extends AdjutantError {
  constructor(data: { path: string; to: string; reason: string }) {
    super(
      'handoff_refused',
      `"${data.path}" may not hand over to "${data.to}": ${data.reason}.`,
      data,
    );
  }
}

/**
 * Error for a runnable that the ledger names and the app does not have. Nothing is lost: register
 * it and resume.
 */
export class UnknownRunnableError extends AdjutantError {
  constructor(data: { name: string; known: readonly string[] }) {
    super(
      'unknown_runnable',
      `There is no runnable named "${data.name}" in this ` +
        `app${data.known.length === 0 ? '' : ` (it has ${data.known.join(', ')})`}. Register ` +
        'it: runtime({ runnables: [...] }).',
      data,
    );
  }
}

/** Error for two different definitions with one name. */
export class DuplicateRunnableError extends AdjutantError {
  constructor(data: { name: string }) {
    super(
      'duplicate_runnable',
      `Two different runnables are named "${data.name}". The ledger finds definitions by ` +
        'name: rename one, or give the other version a runtime of its own.',
      data,
    );
  }
}

/**
 * Error for a run that was released before its end. It can be continued from its session, here or
 * elsewhere.
 */
export class RunStoppedError extends AdjutantError {
  constructor(data: { session: string; runId: string }) {
    super(
      'run_stopped',
      `Run ${data.runId} was stopped before its end. Continue it from session "${data.session}".`,
      data,
    );
  }
}

/** Error for a session without a run to resume. */
export class NoOpenRunError extends AdjutantError {
  constructor(data: { session: string }) {
    super(
      'no_open_run',
      `Session "${data.session}" has no run to continue: every run in it has ended, perhaps in ` +
        'another process. Give `runId`, as in app.resume(runnable, session, { runId }), for the ' +
        'result of one that has ended; app.run starts a new one.',
      data,
    );
  }
}

/** Error for the resumption of a run with another runnable than its own. Nothing was changed. */
export class RunnableMismatchError extends AdjutantError {
  constructor(data: { session: string; runId: string; recorded: string; given: string }) {
    super(
      'runnable_mismatch',
      `Session "${data.session}" has a run of ${data.recorded}, and ${data.given} cannot ` +
        'continue it. Resume it with its own runnable, or with the session alone: ' +
        'app.resume(session).',
      data,
    );
  }
}

/** Error for options that a run cannot begin with, or that an operation on sessions cannot use. */
export class InvalidRunError extends AdjutantError {
  constructor({ refused = 'The run cannot begin', reason }: { refused?: string; reason: string }) {
    super('invalid_run', `${refused}: ${reason}.`, { reason });
  }
}

/** Error for data that does not fit the `input` of the agent to start. Nothing was recorded. */
export class InvalidInputError extends AdjutantError {
  constructor(data: { runnable: string; reason: string }) {
    super(
      'invalid_input',
      `The data for "${data.runnable}" does not fit its input: ${data.reason}.`,
      data,
    );
  }
}

/** Error for options that no runtime can be made of. */
export class InvalidRuntimeError extends AdjutantError {
  constructor({
    refused = 'The runtime cannot be made',
    reason,
  }: { refused?: string; reason: string }) {
    super('invalid_runtime', `${refused}: ${reason}.`, { reason });
  }
}

/** Error for a key that cannot name a child or an effect. */
export class InvalidKeyError extends AdjutantError {
  constructor(data: { key: string; reason: string }) {
    super(
      'invalid_key',
      `"${data.key}" cannot be the key of a child or an effect: ${data.reason}.`,
      data,
    );
  }
}
