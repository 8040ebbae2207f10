import type { JsonValue, RequestAnswer, RequestEntry, Runtime } from 'adjutant';
import { type AgentApp, type AgentOptions, openAgentApp, openExistingLedgers } from '../app.ts';
import { exitCodes, UsageError } from '../failure.ts';
import type { Host } from '../host.ts';
import { holderNow, whyNotHere } from '../open-run.ts';
import { jsonLine } from '../output/json-output.ts';
import { notice } from '../output/notice.ts';
import { plainLine } from '../output/plain-text.ts';
import { isRemote, type ServerFlags } from '../remote/open-client.ts';
import { readableStorePath } from '../store-location.ts';
import { carryOut, commandLine, type RunContext } from './carry-out.ts';

export interface AnswerOptions extends AgentOptions, ServerFlags {
  readonly json?: boolean;
  /** Whether the run is continued here once it is answered. */
  readonly continue: boolean;
}

export interface AnswerContext extends RunContext {
  readonly options: AnswerOptions;
}

const saidOf: Readonly<Record<string, string>> = {
  approve: 'Approved',
  reject: 'Rejected',
  edit: 'Approved with changes',
};

/**
 * `adjutant approve|reject|edit|answer <id>`: answers what a run waits for, and continues the run
 * unless somebody else works on it.
 */
export async function answerRequest(
  context: AnswerContext,
  requestId: string,
  answer: RequestAnswer,
): Promise<number> {
  const { host, options } = context;
  if (isRemote(options)) {
    const { answerRemotely } = await import('../remote/remote-answer.ts');
    return answerRemotely({ ...context, options }, requestId, answer);
  }
  if (!options.continue) return postOnly(host, options, requestId, answer);
  if (readableStorePath(host, options.store) === undefined)
    throw new UsageError({ reason: 'There are no sessions yet.' });
  const opened = await openAgentApp(host, options);
  try {
    const request = await post(host, opened.app, options, requestId, answer);
    return await goOn(context, opened, request);
  } finally {
    await opened.app.close().catch(() => undefined);
  }
}

async function postOnly(
  host: Host,
  options: AnswerOptions,
  requestId: string,
  answer: RequestAnswer,
): Promise<number> {
  const app = openExistingLedgers(host, options);
  try {
    const { session } = await post(host, app, options, requestId, answer);
    if (!options.json)
      notice(host, `The run goes on with: ${commandLine(['resume', session], options)}`);
    return exitCodes.ok;
  } finally {
    await app.close().catch(() => undefined);
  }
}

async function post(
  host: Host,
  app: Runtime,
  options: AnswerOptions,
  requestId: string,
  answer: RequestAnswer,
): Promise<RequestEntry> {
  const request = await app.requests.get(requestId);
  await app.requests.answer(requestId, answer);
  sayAnswered(host, options, request, answer.decision);
  return request;
}

type Answered = Pick<RequestEntry, 'requestId' | 'session' | 'name' | 'summary'>;

/** Says that a request is answered. */
export function sayAnswered(
  host: Host,
  { json }: AnswerOptions,
  { requestId, session, name, summary }: Answered,
  decision: RequestAnswer['decision'] = 'answer',
): void {
  if (json) host.stdout.write(jsonLine({ type: 'answered', requestId, decision, session, name }));
  else host.stdout.write(`${saidOf[decision] ?? 'Answered'}: ${plainLine(summary)}\n`);
}

async function goOn(
  context: AnswerContext,
  { app, agent, announceStandIn }: AgentApp,
  request: RequestEntry,
): Promise<number> {
  const { host } = context;
  const session = await app.sessions.open({ id: request.session });
  const why =
    whyNotHere(session, agent.name) ??
    (agent.tools.some(({ name }) => name === request.name)
      ? undefined
      : `it uses the tool ${request.name}, which the agent of the command line does not have`);
  if (why !== undefined) {
    notice(
      host,
      `The run is not continued here: ${why}. The program that it belongs to goes on with it.`,
    );
    return exitCodes.ok;
  }
  const holder = await holderNow(session);
  if (holder !== undefined) {
    notice(host, `${holder} works on session "${session.id}" and takes the answer in.`);
    return exitCodes.ok;
  }
  announceStandIn();
  return carryOut(context, session, (given) => app.resume(session, given));
}

/** A value that was given as JSON on the command line. @throws UsageError */
export function givenJson(text: string): JsonValue {
  try {
    return JSON.parse(text) as JsonValue;
  } catch (error) {
    throw new UsageError({
      reason:
        `What was given is not JSON: ${(error as Error).message}. Put it in single quotes: ` +
        `'{"name":"value"}'.`,
    });
  }
}
