import type { EventDraft } from '../../ledger/event.ts';
import type { InvocationRecord } from '../../ledger/folds/invocation-fold.ts';
import { hasOutcome } from '../../ledger/folds/invocation-fold.ts';
import { takenMessage } from '../../ledger/folds/taken-message.ts';
import { taskDraft, taskRow } from '../../ledger/folds/task.ts';
import type { ListedRow } from '../../ledger/port.ts';
import type { Runnable } from '../../session/runnable.ts';
import type { Session } from '../../session/session.ts';
import type { AppServices } from '../frame/app-services.ts';
import { runGrants } from '../frame/grants.ts';
import { openDetachedIn } from '../frame/open-detached.ts';
import { messageDrafts } from '../invoke/input-contract.ts';
import { postAsAnswer } from './inbox/message-answer.ts';
import type { InboxReader } from './inbox/reader.ts';
import { limitDrafts } from './run-limits.ts';
import type { RunRequest } from './run-request.ts';

/** The run that gets an input; `open` is its root when that is open already. */
interface ReceivingRun {
  readonly app: AppServices;
  readonly session: Session;
  readonly request: RunRequest;
  readonly runId: string;
  readonly runnable: Runnable;
  readonly open: InvocationRecord | undefined;
}

/** Events that go before the start of a root, and inbox items that its start takes out. */
export interface RunInput {
  readonly before: readonly EventDraft[];
  readonly consumes: readonly number[];
  readonly rows?: readonly ListedRow[] | undefined;
}

/** The input of a turn that gets none. */
export const noRunInput: RunInput = { before: [], consumes: [] };

/**
 * Returns the input of a new run, for the append of its start. The input of an open run is appended
 * at once.
 */
export async function takeRunInput(
  { app, open, request, runId, runnable, session }: ReceivingRun,
  inbox: InboxReader,
): Promise<RunInput> {
  const { ledger } = session;
  const { posted } = request;
  const granted = [
    ...runGrants(ledger.events, runId, request.permissions),
    ...limitDrafts(ledger.events, runId, request.limits),
  ];
  if (open !== undefined && granted.length > 0) ledger.append(granted);
  const input =
    posted !== undefined && takenMessage(ledger, posted) !== undefined
      ? []
      : messageDrafts(ledger, runId, request);
  const left = posted === undefined ? undefined : inbox.left.get(posted);
  const consumes = left === undefined ? [] : [left.position];
  // Input and start share one append: a crash between the two would lose the input.
  if (open === undefined) {
    const { task } = request;
    if (task === undefined) return { before: [...granted, ...input], consumes };
    const begun = { task, runnable: runnable.name, startedAt: app.clock.now() };
    const before = [taskDraft(task), ...granted, ...input];
    return { before, consumes, rows: [taskRow('open', begun)] };
  }
  if (left !== undefined) ledger.append([], { consumes });
  const clientKey = posted ?? (request.isNamed ? request.runId : undefined);
  const [message] = input;
  const answer =
    message?.type === 'user' && request.data === undefined
      ? await postAsAnswer({ app, ledger, runId }, { text: message.text, clientKey })
      : [];
  if (answer === 'posted') {
    await inbox.drain();
    return noRunInput;
  }
  // A run that has ended gets no more messages.
  const isOver = hasOutcome(ledger.invocations, open.path);
  if (input.length > 0 && !isOver) ledger.append([...input, ...answer]);
  if (!isOver || openDetachedIn(ledger, request.lane).length > 0)
    ledger.append([], { wakeAt: app.clock.now() });
  return noRunInput;
}
