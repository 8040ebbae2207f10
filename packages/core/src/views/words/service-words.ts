import type { ServiceDecisions } from '../../ledger/decisions/service-decisions.ts';
import { isJsonObject, plain, type Sentence, type Subject, textOf } from '../decision-subject.ts';

/** Sentences about the decisions of services; `other` is for those that have no words here. */
type ServiceWords = {
  readonly [Component in keyof ServiceDecisions]: {
    readonly [Name in keyof ServiceDecisions[Component] | 'other']: Sentence;
  };
};

export const serviceWords: ServiceWords = {
  outbox: {
    dead_letter: (of) =>
      `A message to "${textOf(of.data, 'to') ?? 'another session'}" did not arrive ` +
      `(${textOf(of.data, 'reason') ?? 'refused'}).`,
    other: (of) => `A message to another session was dealt with: ${plain(of.decision)}.`,
  },
  service: {
    roll: () => 'The session of the app became long, and another one goes on.',
    begin: () => 'The session goes on where an earlier one of the app ended.',
    other: (of) => `The app dealt with its own session: ${plain(of.decision)}.`,
  },
  bus: {
    publish: (of) => `${of.who} published the event ${typeIn(of)}.`,
    fan_out: (of) => `The event ${typeIn(of)} was handed to those who subscribe to it.`,
    other: (of) => `An event was dealt with: ${plain(of.decision)}.`,
  },
  trigger: {
    declare: () => 'The trigger was declared.',
    pause: () => 'Somebody paused the trigger.',
    resume: () => 'Somebody let the trigger fire again.',
    disable: () => 'Somebody disabled the trigger.',
    delete: () => 'Somebody deleted the trigger.',
    complete: () => 'The trigger has no further instant.',
    fire: (of) => `The trigger fired, and started the task ${textOf(of.data, 'task') ?? ''}.`,
    queue: () => 'A firing waits for the end of earlier work.',
    join: () => 'A firing joined another one that waits.',
    skip: () => 'A firing was skipped, because earlier work goes on.',
    cancel: () => 'Earlier work was cancelled for a new firing.',
    leave_out: () => 'Instants of the schedule did not fire by themselves.',
    begin_again: () => 'The trigger began again, because its clock had been wrong.',
    check: () => 'The condition of the trigger was checked.',
    end: (of) => `The work of a firing ended: ${textOf(of.data, 'status') ?? 'unknown'}.`,
    refuse: (of) => `A firing was refused (${textOf(of.data, 'reason') ?? 'unknown'}).`,
    other: (of) => `The trigger was dealt with: ${plain(of.decision)}.`,
  },
  notifier: {
    accept: () => 'A notice came in.',
    attempt: (of) => `A notice is sent by ${textOf(of.data, 'channel') ?? 'a channel'}.`,
    send: (of) => `A notice was sent by ${textOf(of.data, 'channel') ?? 'a channel'}.`,
    fail: (of) => `A notice could not be sent by ${textOf(of.data, 'channel') ?? 'a channel'}.`,
    drop: (of) => `A notice is not sent (${textOf(of.data, 'reason') ?? 'unknown'}).`,
    other: (of) => `A notice was dealt with: ${plain(of.decision)}.`,
  },
};

/** The type of the event that a decision is about, in quotation marks. */
function typeIn({ data }: Subject): string {
  const event = data?.['event'];
  const type = isJsonObject(event) ? event['type'] : undefined;
  return `"${typeof type === 'string' ? type : 'unknown'}"`;
}
