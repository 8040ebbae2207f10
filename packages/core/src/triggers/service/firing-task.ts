import { defined } from '../../base/defined.ts';
import type { JsonObject, JsonValue } from '../../base/json.ts';
import type { TaskPriority } from '../../engine/tasks/priority.ts';
import type { WorkDefaults } from '../../engine/tasks/profile.ts';
import { submissionOf } from '../../engine/tasks/submission.ts';
import type {
  CauseData,
  Firing,
  TriggerDeclaration,
} from '../../ledger/decisions/service-decisions.ts';
import type { Send } from '../../ledger/port.ts';
import type { Runnable } from '../../session/runnable.ts';
import type { TriggerContext } from './action.ts';
import { triggerKind } from './trigger-row.ts';

export interface FiringTaskParts {
  readonly app: string;
  readonly tenant: string;
  readonly now: number;
  readonly work: WorkDefaults;
  /** Session of the trigger, which is told the end of the task. */
  readonly session: string;
  /** Identity of the trigger: another one of its name has another. */
  readonly identity: string;
  readonly cause: CauseData;
  /** Instant after which it need not start any more. @default never */
  readonly expiresAt?: number | undefined;
}

/** The task of a firing, and the send that submits it. */
export interface FiringTask {
  readonly task: string;
  readonly session: string;
  readonly send: Send;
}

/** Makes the task that a firing starts. The same firing always makes the same task. */
export function firingTask(
  declaration: TriggerDeclaration,
  firing: Firing,
  parts: FiringTaskParts,
): FiringTask {
  const { name, priority, queue, requester, start } = declaration;
  const { app, cause, expiresAt, identity, now, session, tenant, work } = parts;
  const context = contextOf(declaration, firing);
  const made = submissionOf(
    { name: start } as Runnable,
    textOf(declaration, firing),
    {
      key: `${identity}:${firing.id}`,
      name,
      source: firing.kind === 'schedule' ? 'cron' : 'trigger',
      data: context as unknown as JsonValue,
      ...defined({ queue, requester, priority: priority as TaskPriority | undefined }),
    },
    {
      ...{ app, tenant, now, work, freshKey: firing.id },
      more: {
        cause,
        began: { trigger: name, firing: firing.id, why: whyFired(firing) },
        // Told in any process: the trigger may need other functions by then, or none.
        onEnd: [{ session, runnable: triggerKind, name, data: { firing: firing.id } }],
      },
    },
  );
  return {
    task: made.id,
    session: made.session,
    send: { ...made.options, to: made.session, item: made.item, ...defined({ expiresAt }) },
  };
}

function contextOf({ input, name }: TriggerDeclaration, firing: Firing): TriggerContext {
  const { about, instant, kind, missed, standsFor } = firing;
  const more = { missed, standsFor, about, instruction: input };
  return { trigger: name, kind, instant, ...(defined(more) as JsonObject) };
}

/** The message of the started run: that which has fired, and the instruction. */
function textOf({ input = '', name }: TriggerDeclaration, { about, kind }: Firing): string {
  const rest = input === '' ? '' : `\n${input}`;
  switch (kind) {
    case 'schedule':
      return `[Scheduled Task] ${input === '' ? name : input}`;
    case 'event':
      return `[Event Trigger] ${String(about?.['type'])}: ${jsonOf(about, 'data')}${rest}`;
    case 'condition':
      return `[Condition Trigger] Condition met: ${name}${seen(about)}${rest}`;
    case 'webhook':
      return `[Webhook Trigger] ${jsonOf(about, 'body')}${rest}`;
    case 'manual':
      return `[Trigger] ${input === '' ? name : input}`;
  }
}

/** Cause of a firing, for the end of a sentence. */
function whyFired({ about, instant, kind, missed, standsFor = 1 }: Firing): string {
  switch (kind) {
    case 'schedule': {
      const late = missed === true ? ', late' : '';
      const many = standsFor > 1 ? `, for ${standsFor} instants` : '';
      return `its schedule was due at ${new Date(instant).toISOString()}${late}${many}`;
    }
    case 'event': {
      const from = typeof about?.['source'] === 'string' ? ` by "${about['source']}"` : '';
      return `the event "${String(about?.['type'])}" was published${from}`;
    }
    case 'condition':
      return `its condition became true${seen(about)}`;
    case 'webhook':
      return 'a signed delivery of its webhook came in';
    case 'manual':
      return 'somebody fired it';
  }
}

function jsonOf(about: JsonObject | undefined, member: string): string {
  return JSON.stringify(about?.[member] ?? null);
}

function seen(about: JsonObject | undefined): string {
  const saw = about?.['saw'];
  return saw === undefined ? '' : ` (${JSON.stringify(saw)})`;
}
