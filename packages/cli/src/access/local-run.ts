import { isAdjutantError, type Runnable, type Session } from 'adjutant';
import { defined } from 'adjutant/text';
import { carryOut, commandLine, type RunContext } from '../actions/carry-out.ts';
import { modelOf } from '../app/agents.ts';
import { existingSession, rememberAskBefore } from '../app/app.ts';
import { chosenAgent } from '../app/chosen-agent.ts';
import { namedSession, sessionToGoOn } from '../app/named-session.ts';
import { openRunnable, openRunOf } from '../app/open-run.ts';
import { openProject, withProject } from '../app/project.ts';
import { modelOfNextRun } from '../app/session-memory.ts';
import { UsageError } from '../failure.ts';
import type { Host } from '../host/host.ts';
import { inLane, laneWords } from '../output/lane-text.ts';
import { notice } from '../output/notice.ts';

/** Runs an agent of the app on a goal. */
export async function runLocally(
  context: RunContext,
  goal: string,
  given: string | undefined,
): Promise<number> {
  const { host, options } = context;
  return withProject(openProject(host, options, { session: given }), async (project) => {
    const { app } = project;
    const id = given === undefined ? undefined : await sessionToGoOn(project, given);
    const agent = await chosenAgent(host, project, { agent: options.agent, session: id });
    const session = await app.sessions.open(defined({ id }));
    const chosen = modelOfNextRun(session, agent, openRunOf(session, options.lane) !== undefined);
    if (chosen.model === undefined) await project.check(agent, session);
    await project.remember(session, chosen.model);
    await rememberAskBefore(session, options);
    project.announce(agent);
    const { lane } = options;
    return carryOut(context, session, (run) =>
      app.run(agent, { ...run, ...chosen, input: goal, session, ...defined({ lane }) }),
    );
  });
}

/** Continues the open run of a session. */
export async function resumeLocally(context: RunContext, named: string): Promise<number> {
  const { host, options } = context;
  const opening = openProject(host, options, { mustExist: true, session: named });
  return withProject(opening, async (project) => {
    const id = await namedSession(project, named);
    const session = await existingSession(project.app, id);
    const agent = openRunnable(session, project, options.lane);
    if (agent === undefined) throw nothingToContinue(context, id);
    await project.check(agent, session);
    await project.remember(session);
    project.announce(agent);
    if (project.configured === undefined) tellOtherModel(host, session, agent);
    try {
      return await carryOut(context, session, (given) =>
        project.app.resume(agent, session, { ...given, ...defined({ lane: options.lane }) }),
      );
    } catch (error) {
      if (isAdjutantError(error, 'no_open_run')) throw nothingToContinue(context, id);
      throw error;
    }
  });
}

function nothingToContinue({ options }: RunContext, id: string): UsageError {
  const { lane } = options;
  const next = commandLine(['run', '…', '--session', id, ...laneWords(lane)], options);
  return new UsageError({
    reason: `Session "${id}" has no run to continue${inLane(lane)}. To go on with it: ${next}`,
  });
}

function tellOtherModel(host: Host, session: Session, agent: Runnable): void {
  const before = session.events.findLast((event) => event.type === 'model_start')?.model;
  const now = modelOf(agent);
  if (before === undefined || before === now) return;
  notice(
    host,
    `This session used the model ${before}; it goes on with ${now}. To choose another ` +
      'one, use --model.',
  );
}
