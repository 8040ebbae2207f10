import { AdjutantError } from '../../base/error.ts';

/**
 * An option of a task, or of a call about tasks, does not fit. Nothing was submitted or changed.
 */
export class InvalidTaskError extends AdjutantError {
  constructor(data: { refused?: string; reason: string }) {
    const { refused = 'The task cannot be submitted', reason } = data;
    super('invalid_task', `${refused}: ${reason}.`, data);
  }
}

/** No task has this id in this app and tenant, or it has ended and is no longer listed. */
export class TaskNotFoundError extends AdjutantError {
  constructor(data: { task: string; app: string }) {
    super(
      'task_not_found',
      `There is no task "${data.task}" in app "${data.app}". Ended tasks are listed for 24 hours.`,
      data,
    );
  }
}

/** The task has ended, so that it can no longer be changed. */
export class TaskEndedError extends AdjutantError {
  constructor(data: { task: string; state: string }) {
    super(
      'task_ended',
      `The task "${data.task}" has ended (${data.state}), so that nothing of it can be changed.`,
      data,
    );
  }
}

/**
 * The code of a body, such as a step, a tool or a hook, waits for a task of its own app. The body
 * would keep its place while the task waits for one.
 */
export class WouldDeadlockError extends AdjutantError {
  constructor(data: { body: string; app: string }) {
    super(
      'would_deadlock',
      `"${data.body}" waits for a task of its own app "${data.app}", and would keep its place ` +
        'while that task waits for one. Call the runnable with `ctx.call`, which waits without a ' +
        'place, or submit the task and go on: give it a `key`, and look at it later.',
      data,
    );
  }
}
