import { defined } from '../base/defined.ts';
import type { JsonValue } from '../base/json.ts';
import { isDecision } from '../ledger/decisions/decision.ts';
import { type Severity, severityOf } from '../ledger/decisions/severity.ts';
import type { Event } from '../ledger/event.ts';
import { belongsTo, isRoot } from '../ledger/path.ts';
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
  /** Weight of the failure: as the router recorded it, else that of its code. */
  readonly severity: Severity;
  /**
   * `seq` of the failure in the list that this one followed from: the failed tool behind an
   * escalation, the failed part behind a failed run.
   */
  readonly cause?: number;
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
  const causes = new FailureCauses();
  const severities = new Map<string, Severity>();
  return events.flatMap((event) => {
    const recorded = recordedSeverity(event);
    if (recorded !== undefined) severities.set(...recorded);
    const place = places.of(event);
    const found = failureOf(event, place.agent ?? place.path ?? 'the session', resolve);
    if (found === undefined) return [];
    const own = event.type === 'tool_result' ? severities.get(event.callId) : undefined;
    const cause = causes.of(event, found.code);
    return [
      {
        seq: event.seq,
        at: event.at,
        ...defined({ session }),
        ...place,
        ...found,
        severity: own ?? severityOfFailure(event, found),
        ...defined({ cause }),
      },
    ];
  });
}

/** Returns the severity that the router recorded for a call; the last one of a call counts. */
function recordedSeverity(event: Event): [string, Severity] | undefined {
  if (!isDecision(event, 'error_router')) return undefined;
  const { callId, severity } = event.data ?? {};
  return callId === undefined || severity === undefined ? undefined : [callId, severity];
}

function severityOfFailure(event: Event, { kind, code }: Pick<Failure, 'kind' | 'code'>): Severity {
  if (event.type === 'tool_result')
    return severityOf({ errorType: code, status: event.result.status });
  return kind === 'model' ? 'medium' : severityOf({ errorType: code, status: 'error_permanent' });
}

/** Finds the failure that another one followed from. */
class FailureCauses {
  /** Failures so far, with the path that each belongs to. */
  readonly #earlier: { readonly seq: number; readonly path: string; readonly code: string }[] = [];
  #lastTool: number | undefined;

  /**
   * A failure is passed on with its code: from a part to what is around it. An escalation follows
   * from the tool that failed last.
   */
  of(event: Event, code: string): number | undefined {
    const path = event.type === 'tool_result' ? event.callId : (event.invocationId ?? '');
    const before = this.#earlier.findLast(
      (earlier) =>
        earlier.code === code &&
        (earlier.path === path ? event.type === 'invocation_end' : belongsTo(earlier.path, path)),
    );
    const cause = before?.seq ?? (code === 'escalated' ? this.#lastTool : undefined);
    if (event.type === 'tool_result') this.#lastTool = event.seq;
    this.#earlier.push({ seq: event.seq, path, code });
    return cause;
  }
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
