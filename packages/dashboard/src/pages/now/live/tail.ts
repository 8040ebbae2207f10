import type { LedgerEvent } from '../../../ledger/event-pages.ts';

/** The last events of a session, oldest first. */
export interface Tail {
  readonly session: string;
  readonly title: string;
  readonly events: readonly LedgerEvent[];
}

/** A decision of any session. */
export interface RecentDecision {
  readonly session: string;
  readonly title: string;
  readonly seq: number;
  readonly at: number;
  readonly component: string;
  readonly decision: string;
  readonly reasoning: string;
}

/** Returns the last decisions of all tails, the newest first. */
export function recentDecisions(tails: readonly Tail[], most: number): readonly RecentDecision[] {
  return tails
    .flatMap(({ session, title, events }) =>
      events
        .filter(({ type }) => type === 'decision')
        .slice(-most)
        .map((event) => ({
          ...{ session, title, seq: event.seq, at: atOf(event) },
          component: textOf(event['component']),
          decision: textOf(event['decision']),
          reasoning: textOf(event['reasoning']),
        })),
    )
    .sort((a, b) => b.at - a.at || b.seq - a.seq)
    .slice(0, most);
}

/** Present work of a session, as far as its last events tell. */
export interface Activity {
  /** The last thing that began and has not ended, or that ended last. */
  readonly words: string;
  /** Models that are answering. */
  readonly models: readonly string[];
  /** Agents below the one that the session is of, which are at work. */
  readonly agents: readonly string[];
  /** Epoch milliseconds of the beginning of its run; missing when that lies further back. */
  readonly startedAt?: number;
  /** Why its last run failed. */
  readonly failure?: string;
}

interface OpenThing {
  readonly words: string;
  readonly model?: string;
  readonly agent?: string;
}

/** Returns what a session does by its last events. */
export function activityOf({ events }: Tail): Activity {
  const open = new Map<string, OpenThing>();
  let last = '';
  let startedAt: number | undefined;
  let failure: string | undefined;
  for (const event of events) {
    const invocation = textOf(event['invocationId']);
    switch (event.type) {
      case 'invocation_start':
        if (event['parent'] === undefined) {
          startedAt = atOf(event);
          failure = undefined;
        }
        if (event['kind'] === 'agent')
          open.set(`i${invocation}`, {
            words: textOf(event['name']),
            agent: textOf(event['name']),
          });
        break;
      case 'invocation_end':
        open.delete(`i${invocation}`);
        open.delete(`m${invocation}`);
        failure = fieldOf(event['error'], 'message') || failure;
        break;
      case 'model_start':
        open.set(`m${invocation}`, {
          words: `round ${textOf(event['round'])}, ${modelOf(event)} answers`,
          model: modelOf(event),
        });
        break;
      case 'model_end':
        open.delete(`m${invocation}`);
        last = `round ${textOf(event['round'])} answered`;
        break;
      case 'tool_call':
        open.set(`t${textOf(event['callId'])}`, { words: textOf(event['name']) });
        break;
      case 'tool_result':
        open.delete(`t${textOf(event['callId'])}`);
        last = `${textOf(event['name'])} ${fieldOf(event['result'], 'status')}`;
        break;
      case 'tool_yield':
        last = fieldOf(event['request'], 'summary') || textOf(event['name']);
        break;
      default:
    }
  }
  const things = [...open.values()];
  const act = things.findLast(({ agent }) => agent === undefined) ?? things.at(-1);
  return {
    words: act?.words ?? last,
    models: [...new Set(things.flatMap(({ model }) => model ?? []))],
    agents: [...new Set(things.flatMap(({ agent }) => agent ?? []))],
    ...(startedAt === undefined ? {} : { startedAt }),
    ...(failure === undefined ? {} : { failure }),
  };
}

/** Returns the time of the last event of a type, or `undefined`. */
export function lastOf({ events }: Tail, type: string): number | undefined {
  const event = events.findLast((one) => one.type === type);
  return event === undefined ? undefined : atOf(event);
}

function atOf(event: LedgerEvent): number {
  const at = event['at'];
  return typeof at === 'number' ? at : 0;
}

/** Name of a model without its provider. */
function modelOf(event: LedgerEvent): string {
  const name = textOf(event['model']);
  return name.slice(name.indexOf(':') + 1);
}

function textOf(value: unknown): string {
  if (typeof value === 'string') return value;
  return typeof value === 'number' ? String(value) : '';
}

function fieldOf(value: unknown, name: string): string {
  return typeof value === 'object' && value !== null
    ? textOf((value as Readonly<Record<string, unknown>>)[name])
    : '';
}
