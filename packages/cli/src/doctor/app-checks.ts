import { existsSync, globSync, readFileSync, statSync } from 'node:fs';
import { basename, dirname, isAbsolute, join, resolve } from 'node:path';
import {
  type Agent,
  agent,
  type ModelInput,
  type Runnable,
  type Runtime,
  run,
  type Tool,
} from 'adjutant';
import { describeFailure } from '../failure.ts';
import type { Host } from '../host/host.ts';
import { formatCount, formatDuration } from '../output/format.ts';
import { type Finding, failure, ok, warning } from './finding.ts';

/** Sessions that are counted; beyond them the number is a lower bound. */
const mostCounted = 500;

/** The store: that it answers, and who may read its file. */
export async function checkStore(app: Runtime, place: string, base: string): Promise<Finding> {
  try {
    const { sessions, cursor } = await listed(app);
    const count = `${cursor === undefined ? '' : 'at least '}${formatCount(sessions, 'session')}`;
    return access(`store ${place}`, count, fileOf(place, base));
  } catch (error) {
    return failure(`store ${place}: ${describeFailure(error)}`);
  }
}

async function listed(app: Runtime): Promise<{ sessions: number; cursor: string | undefined }> {
  const page = await app.sessions.list({ limit: mostCounted });
  return { sessions: page.sessions.length, cursor: page.cursor };
}

/** Path of the file of a store. `undefined`: it has none. */
function fileOf(place: string, base: string): string | undefined {
  const path = isAbsolute(place) ? place : resolve(base, place);
  return existsSync(path) && statSync(path).isFile() ? path : undefined;
}

const others = 0o077;

function access(what: string, count: string, file: string | undefined): Finding {
  if (file === undefined) return ok(`${what}: ${count}`);
  const mode = statSync(file).mode & 0o777;
  const shown = `mode 0${mode.toString(8)}`;
  const folder = statSync(dirname(file)).mode & 0o777;
  const isClosed = (mode & others) === 0 || (folder & others) === 0 || process.platform === 'win32';
  const told =
    (mode & others) !== 0 && (folder & others) === 0
      ? `${shown} in a folder of mode 0${folder.toString(8)}`
      : shown;
  return isClosed
    ? ok(`${what}: SQLite, ${count}, ${told}`)
    : warning(`${what}: SQLite, ${count}, ${told}: others may read it. Say chmod 600 ${file}`);
}

/** Each model of the agents: that it can be loaded, and, unless `isOffline`, that it answers. */
export async function checkModels(
  host: Host,
  runnables: readonly Runnable[],
  isOffline: boolean,
): Promise<readonly Finding[]> {
  const models = new Map<string, ModelInput>();
  for (const one of runnables)
    if (one.kind === 'agent') models.set(nameOf((one as Agent).model), (one as Agent).model);
  const findings: Finding[] = [];
  for (const [name, model] of models)
    findings.push(
      isOffline ? ok(`model ${name} (--offline: not asked)`) : await asked(host, name, model),
    );
  return findings;
}

function nameOf({ provider, modelId }: ModelInput): string {
  return `${provider}:${modelId}`;
}

async function asked(host: Host, name: string, model: ModelInput): Promise<Finding> {
  const began = host.clock.now();
  const asking = agent({ name: 'doctor', model, instructions: 'Answer with the word ok.' });
  try {
    const { status, error } = await run(asking, 'Are you there?');
    if (status === 'completed')
      return ok(`model ${name} answered in ${formatDuration(host.clock.now() - began)}`);
    return failure(`model ${name}: ${error?.message ?? `the run ended as ${status}`}`);
  } catch (error) {
    return failure(`model ${name}: ${describeFailure(error)}`);
  }
}

/** Tools of agents that say nothing of recovery, each with its place where that can be found. */
export function checkTools(runnables: readonly Runnable[], base: string): readonly Finding[] {
  const tools = new Map<string, Tool>();
  for (const one of runnables)
    if (one.kind === 'agent') for (const tool of (one as Agent).tools) tools.set(tool.name, tool);
  return [...tools.values()].filter(isUndeclared).map(({ name }) => {
    const place = placeOf(name, base);
    return warning(
      `tool ${name} declares no recovery: after a crash it is reported as unknown. Say recovery: ` +
        `'report' or 'rerun'${place === undefined ? '' : ` (${place})`}`,
    );
  });
}

/** True for a tool that declares nothing that tells what becomes of a call that is cut off. */
function isUndeclared({ recovery, onRepeat, destructive }: Tool): boolean {
  return recovery === 'report' && onRepeat === 'allow' && !destructive;
}

const mostFiles = 2_000;

/** File and line of a definition, if exactly one line of the project names the tool. */
function placeOf(name: string, base: string): string | undefined {
  const named = new RegExp(`\\bname:\\s*(['"\`])${name.replace(/[^\w-]/g, '\\$&')}\\1`);
  const exclude = (path: string): boolean =>
    /^(?:node_modules|dist|test|\..*)$/.test(basename(path));
  const files = globSync('**/*.{ts,mts,js,mjs}', { cwd: base, exclude }).slice(0, mostFiles);
  const places = files.flatMap((file) =>
    readFileSync(join(base, file), 'utf8')
      .split('\n')
      .flatMap((line, at) => (named.test(line) ? [`${file}:${at + 1}`] : [])),
  );
  return places.length === 1 ? places[0] : undefined;
}
