import { defined } from '../../../base/defined.ts';
import { isAdjutantError } from '../../../base/error.ts';
import type { JsonValue } from '../../../base/json.ts';
import { isSaidBy, kindOf } from '../../../ledger/actor.ts';
import { decision } from '../../../ledger/decisions/decision.ts';
import type { Actor, EventDraft, EventOf, RequestDetails } from '../../../ledger/event.ts';
import type { Ledger } from '../../../ledger/ledger.ts';
import { belongsTo } from '../../../ledger/path.ts';
import type { InboxEntry } from '../../../ledger/port.ts';
import { postAnswer } from '../../../session/answer.ts';
import { isQuestion } from '../../../session/pending-request.ts';
import {
  type AskedInput,
  type MessageInput,
  readMessageInput,
} from '../../../tools/message-input.ts';
import { mismatchWithShown, validateInput } from '../../../tools/validate.ts';
import type { AppServices } from '../../frame/app-services.ts';
import { inputDraft } from './answer-item.ts';
import type { ItemOutcome } from './item.ts';
import type { MessageDraft } from './target.ts';

/** Run that messages come to. */
interface AskingRun {
  readonly app: AppServices;
  readonly ledger: Ledger;
  readonly runId: string;
}

/** Message of a user. */
interface Message {
  readonly text: string;
  readonly by: Actor;
  readonly at: number;
}

type Found =
  | { readonly request: EventOf<'tool_yield'>; readonly input: JsonValue }
  | { readonly ambiguous: EventDraft };

/**
 * Finds the request that a message answers: that of the one waiting call or question whose input it
 * can be read as. Of several, those whose fields it names come first. `undefined` when it answers
 * none.
 */
async function findAnswered(run: AskingRun, message: Message): Promise<Found | undefined> {
  const fits: { readonly request: EventOf<'tool_yield'>; readonly read: MessageInput }[] = [];
  for (const request of waitingFor(run, message)) {
    const asked = askedInput(run, request);
    const read = asked === undefined ? undefined : await readMessageInput(asked, message.text);
    if (read !== undefined) fits.push({ request, read });
  }
  const explicit = fits.filter(({ read }) => read.isExplicit);
  const [one, ...others] = explicit.length > 0 ? explicit : fits;
  if (one === undefined) return undefined;
  if (others.length === 0) return { request: one.request, input: one.read.input };
  return {
    ambiguous: ambiguousDraft(
      run.runId,
      [one, ...others].map(({ request }) => request),
    ),
  };
}

/** The input that a request asks for; `undefined` when this process does not have its tool. */
function askedInput(
  { app, ledger }: AskingRun,
  asked: EventOf<'tool_yield'>,
): AskedInput | undefined {
  const { name } = asked;
  const request = ledger.resolve(asked.request) as RequestDetails;
  if (isQuestion(asked)) {
    const schema = request.inputSchema ?? {};
    const fits = async (input: JsonValue): Promise<boolean> =>
      (await mismatchWithShown(name, schema, input)) === undefined;
    return { schema, fits };
  }
  const tool = app.registry.findTool(request.agent, name) ?? app.tools.get(name);
  if (tool?.yieldSchema === undefined) return undefined;
  const fits = async (input: JsonValue): Promise<boolean> => (await validateInput(tool, input)).ok;
  return { schema: tool.yieldInputSchema ?? {}, fits };
}

/** Open requests for input that were made before the message, and that its author may answer. */
function waitingFor(
  { ledger, runId }: AskingRun,
  { by, at }: Message,
): readonly EventOf<'tool_yield'>[] {
  if (kindOf(by) !== 'user') return [];
  return [...ledger.requests.values()].filter((asked) => {
    const { callId, expiresAt, generation, kind, requestId } = asked;
    const { mayDecide } = ledger.resolve(asked.request) as RequestDetails;
    return (
      kind === 'input' &&
      belongsTo(asked.invocationId, runId) &&
      asked.at <= at &&
      (expiresAt === undefined || at < expiresAt) &&
      (mayDecide === undefined || mayDecide.some((id) => isSaidBy(by, id))) &&
      !ledger.accepted.has(requestId) &&
      // A copied ledger makes the requests of its original anew.
      requestId === ledger.requestId(callId, generation)
    );
  });
}

function ambiguousDraft(runId: string, requests: readonly EventOf<'tool_yield'>[]): EventDraft {
  const names = requests.map(({ name, callId }) => `${name} (${callId})`).join(', ');
  return decision('inbox', 'ambiguous_answer', {
    invocationId: runId,
    reasoning:
      `The message fits ${requests.length} calls that wait for input: ${names}. It answers none ` +
      'of them. Name the fields of the one that is meant, or answer its request.',
    data: { requests: requests.map(({ requestId }) => requestId) },
  });
}

/**
 * Posts the input of a run that was asked for again as an answer, when a waiting call can use it.
 * Returns what is to be appended with the input otherwise.
 */
export async function postAsAnswer(
  run: AskingRun,
  { text, clientKey }: { readonly text: string; readonly clientKey: string | undefined },
): Promise<'posted' | readonly EventDraft[]> {
  const found = await findAnswered(run, { text, by: 'user', at: run.app.clock.now() });
  if (found === undefined) return [];
  if ('ambiguous' in found) return [found.ambiguous];
  const { request, input } = found;
  const answer = {
    decision: 'answer',
    input,
    by: 'user',
    text,
    ...defined({ clientKey }),
  } as const;
  try {
    await postAnswer(run.ledger, request.requestId, answer);
  } catch (error) {
    if (!isAdjutantError(error, 'request_settled')) throw error;
    return [];
  }
  return 'posted';
}

/**
 * Outcome of a posted message that answers a waiting call. The request is settled in the store
 * first: of all answers one wins. The item then leaves the inbox with the answer, so a process that
 * stops between the two finds it again. `undefined` when it is a message like any other.
 */
export async function outcomeAsAnswer(
  run: AskingRun,
  entry: InboxEntry,
  message: MessageDraft,
): Promise<ItemOutcome | undefined> {
  const { ledger } = run;
  const { by, at } = entry;
  const { text, clientKey } = message;
  const found = await findAnswered(run, { text, by, at });
  if (found === undefined) return undefined;
  if ('ambiguous' in found) return { drafts: [message, found.ambiguous] };
  const { request, input } = found;
  const { requestId } = request;
  await ledger.durable();
  if (!(await settles(ledger, requestId, by))) return undefined;
  const data = defined({ decision: 'answer', input, text, clientKey });
  return { drafts: [inputDraft({ ...entry, data }, request)] };
}

/** Settles a request for a message. Returns false when another answer was there first. */
async function settles({ ports, session }: Ledger, requestId: string, by: Actor): Promise<boolean> {
  try {
    await ports.store.settle(session, { requestId, status: 'answered', by });
  } catch (error) {
    if (isAdjutantError(error, 'request_settled')) return false;
    throw error;
  }
  // For the store, an answer by the same person is the same settlement; it is still in the inbox.
  return (await ports.store.inbox(session)).every((entry) => entry.settles !== requestId);
}
