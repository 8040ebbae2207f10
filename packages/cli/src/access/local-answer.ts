import type { Agent, RequestEntry, Runnable, Runtime, Session } from 'adjutant';
import { defined } from 'adjutant/text';
import { carryOut, commandLine, commandText } from '../actions/carry-out.ts';
import { type GivenAnswer, readAnswer, refusalOf } from '../actions/given-value.ts';
import { holderNow, laneOf, openRunOf, whyNotHere } from '../app/open-run.ts';
import { openExisting, openProject, type Project, withProject } from '../app/project.ts';
import { exitCodes } from '../failure.ts';
import type { Host } from '../host/host.ts';
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
  const opening = openProject(host, options, { mustExist: true, request: requestId });
  return withProject(opening, async (project) => {
    await checkRun(project, requestId);
    const request = await post(host, project.app, options, requestId, answer);
    return goOn(context, project, request);
  });
}

async function postOnly(
  host: Host,
  options: AnswerOptions,
  requestId: string,
  answer: GivenAnswer,
): Promise<number> {
  return withProject(openExisting(host, options), async (project) => {
    const { app } = project;
    const { session: id, invocationId } = await post(host, app, options, requestId, answer);
    if (options.json) return exitCodes.ok;
    const session = await app.sessions.get(id);
    const lane = laneOf(session.events, invocationId);
    const run = openRunOf(session, lane);
    notice(
      host,
      run === undefined || project.find(run) !== undefined
        ? `The run goes on with: ${commandLine(['resume', id, ...laneWords(lane)], options)}`
        : `The run goes on in the program that has "${plainLine(run)}".`,
    );
    return exitCodes.ok;
  });
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
  project: Project,
  request: RequestEntry,
): Promise<number> {
  const { host } = context;
  const { app } = project;
  const session = await app.sessions.open({ id: request.session });
  const ofLane = defined({ lane: laneOf(session.events, request.invocationId) });
  const why = whyNotHere(session, project, ofLane.lane) ?? whyNotTool(project, request);
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
  const agent = runnableOf(project, session, ofLane.lane);
  if (agent !== undefined) project.announce(agent);
  const inLane = { ...context, options: { ...context.options, ...ofLane } };
  return carryOut(inLane, session, (given) => app.resume(session, { ...given, ...ofLane }));
}

/**
 * Reason why the agent of the command line cannot continue a run of an agent with the same name.
 */
function whyNotTool({ configured, agents }: Project, { name }: RequestEntry): string | undefined {
  const [assistant] = agents as readonly Agent[];
  if (configured !== undefined || assistant?.tools.some((tool) => tool.name === name))
    return undefined;
  return `it uses the tool ${name}, which the agent of the command line does not have`;
}

/** Checks that the run of a request could go on here, before the request is answered. */
async function checkRun(project: Project, requestId: string): Promise<void> {
  const request = await project.app.requests.get(requestId);
  const session = await project.app.sessions.open({ id: request.session, observe: false });
  if (whyNotTool(project, request) !== undefined) return;
  const agent = runnableOf(project, session, laneOf(session.events, request.invocationId));
  if (agent !== undefined) await project.check(agent, session);
}

/** Returns the runnable of the open run of a lane, if the project has it. */
function runnableOf(
  project: Project,
  session: Session,
  lane: string | undefined,
): Runnable | undefined {
  const name = openRunOf(session, lane);
  return name === undefined ? undefined : project.find(name);
}
