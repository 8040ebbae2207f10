import { type Event, type EventOf, isSuccess, type Operation, type RunOperation } from 'adjutant';
import { formatDuration, shorten } from '../output/format.ts';
import { plainLine } from '../output/plain-text.ts';
import { usageText } from '../tui/feed/amounts.ts';
import { noTotals, type Totals, withUsage } from '../tui/feed/totals.ts';

const longestText = 80;
const shownOfId = 6;

export interface RunLogOptions {
  readonly tell: (line: string) => void;
  /** Command that answers a request. */
  readonly answerWith: (requestId: string) => string;
}

/** Tells of the runs that this process works on. For `app.streams.observe`. */
export function runLog(
  options: RunLogOptions,
): <Result>(op: Operation, work: () => Result) => Result {
  return (operation, work) => {
    if (operation.type === 'run') {
      const told = new ToldRun(operation, options);
      operation.listen((event) => told.hear(event));
    }
    return work();
  };
}

/** Ending of the id of a session, as it is shown. */
export function endingOf(session: string): string {
  return session.length > shownOfId ? `…${session.slice(-shownOfId)}` : session;
}

class ToldRun {
  readonly #operation: RunOperation;
  readonly #options: RunLogOptions;
  readonly #calls: string[] = [];
  #totals: Totals = noTotals;
  #round = 0;
  #startedAt: number | undefined;

  constructor(operation: RunOperation, options: RunLogOptions) {
    this.#operation = operation;
    this.#options = options;
    this.#startedAt = operation.startedAt;
    if (operation.continued) this.#tell(`${plainLine(operation.name)} goes on`);
  }

  hear(event: Event): void {
    this.#startedAt ??= event.at;
    if (event.type === 'user') this.#said(event);
    else if (event.type === 'model_start') this.#roundBegins(event);
    else if (event.type === 'model_end') this.#totals = withUsage(this.#totals, event);
    else if (event.type === 'tool_result' && event.settled) this.#called(event);
    else if (event.type === 'tool_yield') this.#asks(event);
    else if (event.type === 'invocation_end' && this.#isOwn(event)) this.#ends(event);
  }

  #tell(line: string): void {
    this.#options.tell(`${endingOf(this.#operation.session)} ${line}`);
  }

  #isOwn({ invocationId }: Event): boolean {
    return invocationId === this.#operation.runId;
  }

  #said({ text }: EventOf<'user'>): void {
    this.#tell(`${plainLine(this.#operation.name)} "${shorten(plainLine(text), longestText)}"`);
  }

  #roundBegins({ round }: EventOf<'model_start'>): void {
    this.#tellRound();
    this.#round = round;
  }

  #called({ name, result, durationMs }: EventOf<'tool_result'>): void {
    const mark = isSuccess(result) ? '✓' : '✗';
    this.#calls.push(`${mark} ${plainLine(name)} ${formatDuration(durationMs)}`);
  }

  #asks({ name, requestId, request }: EventOf<'tool_yield'>): void {
    this.#tellRound();
    const what = shorten(plainLine(request.summary), longestText);
    this.#tell(`? ${plainLine(name)} waits: ${what} → ${this.#options.answerWith(requestId)}`);
  }

  #ends({ status, error, at }: EventOf<'invocation_end'>): void {
    this.#tellRound();
    const took = usageText(this.#totals, at - (this.#startedAt ?? at));
    const why = error === undefined ? '' : `: ${plainLine(error.message)}`;
    const mark = status === 'completed' ? '✓' : '✗';
    this.#tell(`${mark} ${plainLine(this.#operation.name)} ${status}${why} · ${took}`);
  }

  #tellRound(): void {
    if (this.#calls.length === 0) return;
    this.#tell(`r${this.#round} ${this.#calls.splice(0).join(' · ')}`);
  }
}
