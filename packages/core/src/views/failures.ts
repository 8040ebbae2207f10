import { defined } from '../base/defined.ts';
import type { JsonValue } from '../base/json.ts';
import type { Event } from '../ledger/event.ts';
import { isRoot } from '../ledger/path.ts';
import { isSuccess } from '../ledger/tool-result.ts';
import type { AnySession } from '../session/session.ts';
import { EventPlaces } from './event-places.ts';
import { sourceOf } from './view-source.ts';

/** Something that did not end well. */
export interface Failure {
  readonly seq: number;
  /** Epoch milliseconds. */
  readonly at: number;
  /** Missing when only events were given. */
  readonly session?: string;
  readonly run?: string;
  readonly path?: string;
  readonly agent?: string;
  /**
   * Put on the list by supervision (`escalation`), or how far it reached: a whole run, a part of
   * one, a call of a tool or of a model.
   */
  readonly kind: 'escalation' | 'run' | 'part' | 'tool' | 'model';
  /** The name of the failed run or call. */
  readonly name: string;
  readonly code: string;
  readonly message: string;
  readonly data?: JsonValue;
}

/**
 * Returns the escalated failures, and the runs and calls that ended in errors, in the order of the
 * ledger.
 * @throws InvalidOptionError
 */
export function failures(source: AnySession | readonly Event[]): readonly Failure[] {
  const { events, resolve, session } = sourceOf('failures', source);
  const places = new EventPlaces(events);
  return events.flatMap((event) => {
    const place = places.of(event);
    const found = failureOf(event, place.agent ?? place.path ?? 'the session', resolve);
    if (found === undefined) return [];
    return [
      {
        seq: event.seq,
        at: event.at,
        ...defined({ session }),
        ...place,
        ...found,
      },
    ];
  });
}

function failureOf(
  event: Event,
  agent: string,
  resolve: (value: unknown) => unknown,
): Pick<Failure, 'kind' | 'name' | 'code' | 'message' | 'data'> | undefined {
  switch (event.type) {
    case 'error': {
      const { name, code, message, data } = event.error;
      if (event.phase !== 'escalation') return undefined;
      return {
        kind: 'escalation',
        name: agent || name,
        code,
        message,
        ...(data === undefined ? {} : { data: resolve(data) as JsonValue }),
      };
    }
    case 'invocation_end': {
      if (event.status !== 'error') return undefined;
      const kind = isRoot(event.invocationId) ? 'run' : 'part';
      return {
        kind,
        name: agent,
        code: event.error?.code ?? 'error',
        message: event.error?.message ?? 'It ended as an error.',
      };
    }
    case 'tool_result': {
      const { result, name, settled } = event;
      if (!settled || isSuccess(result)) return undefined;
      return {
        kind: 'tool',
        name,
        code: result.errorType ?? result.status,
        message: inShort(resolve(result.content)),
      };
    }
    case 'model_end': {
      if (event.status !== 'error' || event.retryAfterMs !== undefined) return undefined;
      return {
        kind: 'model',
        name: agent,
        code: event.error?.code ?? 'error',
        message: event.error?.message ?? 'It failed.',
      };
    }
    default:
      return undefined;
  }
}

const longestMessage = 500;

function inShort(content: unknown): string {
  const text = typeof content === 'string' ? content : (JSON.stringify(content) ?? '');
  return text.length > longestMessage ? `${text.slice(0, longestMessage)}…` : text;
}
