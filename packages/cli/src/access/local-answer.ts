import type { RequestEntry, Runtime } from 'adjutant';
import { defined } from 'adjutant/text';
import { carryOut, commandLine, commandText } from '../actions/carry-out.ts';
import { type GivenAnswer, readAnswer, refusalOf } from '../actions/given-value.ts';
import { assistantName } from '../app/agent.ts';
import { type AgentApp, openAgentApp, openExistingLedgers } from '../app/app.ts';
import { holderNow, laneOf, openRunOf, whyNotHere } from '../app/open-run.ts';
import { exitCodes, UsageError } from '../failure.ts';
import type { Host } from '../host/host.ts';
import { readableStorePath } from '../host/store-location.ts';
import { sayAnswered } from '../output/answered.ts';
import { laneWords } from '../output/lane-text.ts';
import { notice } from '../output/notice.ts';
import { plainLine } from '../output/plain-text.ts';
import type { AnswerContext } from './app-access.ts';

type AnswerOptions = AnswerContext['options'];

/** Answers a request in the store, and continues its run unless another process works on it. */
export async function answerLocally(
  context: AnswerContext,
  requestId: string,
  answer: GivenAnswer,
): Promise<number> {
  const { host, options } = context;
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
  answer: GivenAnswer,
): Promise<number> {
  const app = openExistingLedgers(host, options);
  try {
    const { session: id, invocationId } = await post(host, app, options, requestId, answer);
    if (options.json) return exitCodes.ok;
    const session = await app.sessions.get(id);
    const lane = laneOf(session.events, invocationId);
    const run = openRunOf(session, lane);
    notice(
      host,
      run === undefined || run === assistantName
        ? `The run goes on with: ${commandLine(['resume', id, ...laneWords(lane)], options)}`
        : `The run goes on in the program that has "${plainLine(run)}".`,
    );
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
  given: GivenAnswer,
): Promise<RequestEntry> {
  const request = await app.requests.get(requestId);
  const command = commandText(options);
  const answer = readAnswer(request, given, command);
  await app.requests.answer(requestId, answer).catch((error: unknown) => {
    throw refusalOf(error, request, answer, command);
  });
  sayAnswered(host, options, request, answer.decision);
  return request;
}

async function goOn(
  context: AnswerContext,
  { app, agent, announceStandIn }: AgentApp,
  request: RequestEntry,
): Promise<number> {
  const { host } = context;
  const session = await app.sessions.open({ id: request.session });
  const ofLane = defined({ lane: laneOf(session.events, request.invocationId) });
  const why =
    whyNotHere(session, agent.name, ofLane.lane) ??
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
  const inLane = { ...context, options: { ...context.options, ...ofLane } };
  return carryOut(inLane, session, (given) => app.resume(session, { ...given, ...ofLane }));
}
