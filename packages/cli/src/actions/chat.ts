import { createInterface } from 'node:readline';
import { type AnySession, isAdjutantError, type Runtime } from 'adjutant';
import { defined } from 'adjutant/text';
import { rememberAskBefore } from '../app/app.ts';
import { chosenAgent } from '../app/chosen-agent.ts';
import { sessionToGoOn } from '../app/named-session.ts';
import { laneOf } from '../app/open-run.ts';
import { openProject, type Project, withProject } from '../app/project.ts';
import { exitCodes } from '../failure.ts';
import type { Host } from '../host/host.ts';
import type { Interruption } from '../host/interruption.ts';
import { laneWords } from '../output/lane-text.ts';
import { notice } from '../output/notice.ts';
import { styleFor } from '../output/style.ts';
import type { TerminalLook } from '../tui/app/open-terminal.ts';
import { carryOut, commandLine, type RunContext } from './carry-out.ts';

export interface ChatLook extends TerminalLook {
  /** True to talk line by line in a terminal, too. @default false */
  readonly plain?: boolean;
}

/** `adjutant chat`: holds a conversation in one session, with a run for each line. */
export async function chat(
  context: RunContext,
  sessionId: string | undefined,
  { plain = false, ...look }: ChatLook = {},
): Promise<number> {
  const { host } = context;
  if (!plain && takesKeys(host)) {
    const { openTerminal } = await import('../tui/app/open-terminal.ts');
    return openTerminal(context, sessionId, look);
  }
  const opening = openProject(host, context.options, { session: sessionId });
  return withProject(opening, (project) => talk(context, project, sessionId));
}

/** True for a terminal that can show the terminal app. */
function takesKeys({ stdin, stdout, env }: Host): boolean {
  return stdin.isTTY === true && stdout.isTTY === true && env['TERM'] !== 'dumb' && !env['CI'];
}

async function talk(
  context: RunContext,
  project: Project,
  named: string | undefined,
): Promise<number> {
  const { host, interruption, options } = context;
  const { app } = project;
  const id = named === undefined ? undefined : await sessionToGoOn(project, named);
  const agent = await chosenAgent(host, project, { agent: options.agent, session: id });
  const isTerminal = host.stdin.isTTY === true && host.stdout.isTTY === true;
  const style = styleFor(host.stdout);
  const ofLane = defined({ lane: options.lane });
  let failed = false;
  let code: number = exitCodes.ok;
  let session = await app.sessions.open(defined({ id }));
  await project.check(agent, session);
  await project.remember(session);
  await rememberAskBefore(session, context.options);
  project.announce(agent);
  if (isTerminal) host.stdout.write(`${style.dim('What is to be done? /exit or Ctrl-D ends.')}\n`);
  for await (const line of isTerminal
    ? typedLines(host, interruption)
    : createInterface({ input: host.stdin })) {
    const input = line.trim();
    if (input === '/exit' || input === '/quit') break;
    if (input === '') continue;
    // Another process may have continued the session meanwhile.
    session = await app.sessions.open({ id: session.id });
    const decision = decisionIn(input);
    if (decision !== undefined && !(await decide({ host, app, session, ...ofLane }, decision)))
      continue;
    code = await carryOut(context, session, (options) =>
      decision === undefined
        ? app.run(agent, { ...options, ...ofLane, input, session })
        : app.resume(session, { ...options, ...ofLane }),
    );
    if (interruption.exitCode !== undefined) return interruption.exitCode;
    failed ||= code !== exitCodes.ok && code !== exitCodes.waiting;
    if (code === exitCodes.waiting && isTerminal)
      host.stdout.write(`${style.dim('Here, /approve and /reject answer.')}\n`);
  }
  if (isTerminal && session.events.length > 0) {
    const words = ['chat', '--session', session.id, ...laneWords(ofLane.lane)];
    const later = commandLine(words, context.options);
    host.stdout.write(`${style.dim(`To go on later: ${later}`)}\n`);
  }
  return interruption.exitCode ?? (isTerminal ? exitCodes.ok : failed ? exitCodes.failed : code);
}

interface Decision {
  readonly decision: 'approve' | 'reject';
  readonly reason?: string;
}

/** Decision that a line states about the waiting call: `/approve`, or `/reject` with a reason. */
function decisionIn(line: string): Decision | undefined {
  const [, decision, reason = ''] = /^\/(approve|reject)(?:\s+(.*))?$/.exec(line) ?? [];
  if (decision !== 'approve' && decision !== 'reject') return undefined;
  return { decision, ...(reason === '' ? {} : { reason }) };
}

interface Chat {
  readonly host: Host;
  readonly app: Runtime;
  readonly session: AnySession;
  readonly lane?: string;
}

/**
 * Answers the oldest request of the lane that offers this decision. Returns true when the run can
 * go on.
 */
async function decide({ host, app, session, lane }: Chat, answer: Decision): Promise<boolean> {
  const asked = session.pendingYieldingCalls.find(
    ({ accepted, request, invocationId }) =>
      !accepted &&
      request.options.includes(answer.decision) &&
      laneOf(session.events, invocationId) === lane,
  );
  if (asked === undefined) {
    notice(host, 'Nothing waits for that.');
    return false;
  }
  try {
    await app.requests.answer(asked.requestId, answer);
  } catch (error) {
    if (!isAdjutantError(error, 'request_settled')) throw error;
    // The request was answered elsewhere or has expired: the run goes on with that.
    notice(host, error.message);
  }
  return true;
}

/**
 * Yields lines from a terminal. Between the prompts the terminal is out of raw mode, so that Ctrl-C
 * is a signal again.
 */
async function* typedLines(host: Host, interruption: Interruption): AsyncGenerator<string> {
  let history: string[] = [];
  for (;;) {
    const prompt = createInterface({ input: host.stdin, output: host.stdout, history });
    prompt.on('history', (entries) => {
      history = entries;
    });
    prompt.on('SIGINT', () => interruption.interrupt('SIGINT'));
    const line = await interruption.during(
      () => prompt.close(),
      () =>
        new Promise<string | undefined>((resolve) => {
          prompt.on('close', () => resolve(undefined));
          prompt.question('> ', resolve);
        }),
    );
    prompt.close();
    if (line === undefined) {
      host.stdout.write('\n');
      return;
    }
    yield line;
  }
}
