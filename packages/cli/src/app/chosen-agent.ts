import { createInterface } from 'node:readline';
import type { Runnable } from 'adjutant';
import { nearestName } from 'adjutant/text';
import { UsageError } from '../failure.ts';
import type { Host } from '../host/host.ts';
import { plainLine } from '../output/plain-text.ts';
import { exportedRunnable, ownerOf, type Project } from './project.ts';

export interface AgentWish {
  /** Name of the wanted agent. */
  readonly agent?: string | undefined;
  /** Session that the agent is for. The one of its last run goes on with it. */
  readonly session?: string | undefined;
}

/**
 * Returns the agent that a goal is for: the wanted one, else the one of the session's last run,
 * else the one that the configuration exports as `runnable`, else the only one. Where there are
 * several, a person is asked: by `ask`, or at a terminal.
 * @throws UsageError when none is named, and nobody can be asked; when there is none of the name
 */
export async function chosenAgent(
  host: Host,
  project: Project,
  { agent, session }: AgentWish,
  ask: (agents: readonly Runnable[]) => Promise<Runnable> = () => askWhich(host, project),
): Promise<Runnable> {
  if (agent !== undefined) return runnableNamed(project, agent);
  const { configured, agents } = project;
  const [only, ...others] = agents;
  if (only === undefined) throw noAgents(project);
  const last = session === undefined ? undefined : await lastAgent(project, session);
  const found = last ?? (configured && exportedRunnable(configured));
  if (found !== undefined) return found;
  return others.length === 0 ? only : ask(agents);
}

/**
 * Returns a runnable by its name.
 * @param flag the flag that named it
 * @throws UsageError with the nearest name, when there is none of this name
 */
export function runnableNamed(project: Project, name: string, flag = '--agent'): Runnable {
  const found = project.find(name);
  if (found !== undefined) return found;
  const names = [...new Set([...project.agents, ...project.app.runnables].map((one) => one.name))];
  const meant = nearestName(name, names);
  throw new UsageError({
    reason:
      `${flag} ${name}: ${ownerOf(project)} has no such agent` +
      `${meant === undefined ? '' : ` (did you mean ${meant}?)`}. ` +
      `${names.length === 0 ? 'It has none.' : `There are ${names.join(', ')}.`}`,
  });
}

/** Returns the runnable of the last run of a session, if the app still has it. */
async function lastAgent({ app, find }: Project, id: string): Promise<Runnable | undefined> {
  const [listed] = (await app.sessions.list({ id, limit: 1 })).sessions;
  return listed?.runnable === undefined ? undefined : find(listed.runnable);
}

function noAgents(project: Project): UsageError {
  const { app } = project.app;
  return new UsageError({
    reason:
      `The app "${app}" of ${ownerOf(project)} has no agents. Register one: ` +
      `runtime({ app: '${app}', runnables: [clerk] }).`,
  });
}

function severalAgents(project: Project): UsageError {
  const names = project.agents.map(({ name }) => name).join(', ');
  return new UsageError({
    reason: `${ownerOf(project)} has several agents: ${names}. Name one with --agent.`,
  });
}

/** Asks a person at a terminal which agent is meant, by its number or name. */
async function askWhich({ stdin, stdout, stderr }: Host, project: Project): Promise<Runnable> {
  if (stdin.isTTY !== true || stdout.isTTY !== true) throw severalAgents(project);
  const { agents } = project;
  const lines = agents.map(({ name, description = '' }, i) =>
    plainLine(`${i + 1}  ${name}  ${description}`),
  );
  stderr.write(`Which agent?\n${lines.map((line) => `  ${line}\n`).join('')}`);
  const prompt = createInterface({ input: stdin, output: stderr });
  prompt.setPrompt(`1–${agents.length}: `);
  prompt.prompt();
  try {
    for await (const line of prompt) {
      const given = line.trim();
      const found = agents.find(({ name }, i) => name === given || String(i + 1) === given);
      if (found !== undefined) return found;
      prompt.prompt();
    }
  } finally {
    prompt.close();
  }
  throw severalAgents(project);
}
