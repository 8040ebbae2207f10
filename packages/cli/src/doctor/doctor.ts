import { existsSync } from 'node:fs';
import { basename, dirname, join, relative } from 'node:path';
import type { Runnable } from 'adjutant';
import { assistant, assistantName } from '../app/agent.ts';
import { chooseModel } from '../app/model-choice.ts';
import { openReader, type Project } from '../app/project.ts';
import { describeFailure, exitCodes } from '../failure.ts';
import type { Host } from '../host/host.ts';
import { type ConfigOptions, findConfig } from '../modules/find-config.ts';
import { formatCount } from '../output/format.ts';
import { jsonLine } from '../output/json-output.ts';
import { plainLine } from '../output/plain-text.ts';
import { styleFor } from '../output/style.ts';
import { checkModels, checkStore, checkTools } from './app-checks.ts';
import { checkEnvFile, checkTerminal, checkVersions } from './environment-checks.ts';
import { type Finding, failure, ok } from './finding.ts';

export interface DoctorOptions extends ConfigOptions {
  readonly offline?: boolean;
  readonly json?: boolean;
}

/** `adjutant doctor`: tells what is set up and what is missing. Exit code 1: there is an error. */
export async function diagnose(host: Host, options: DoctorOptions): Promise<number> {
  const findings: Finding[] = [];
  for await (const finding of findingsOf(host, options)) {
    findings.push(finding);
    host.stdout.write(
      options.json === true ? jsonLine({ type: 'check', ...finding }) : line(host, finding),
    );
  }
  const errors = findings.filter(({ level }) => level === 'error').length;
  const warnings = findings.filter(({ level }) => level === 'warning').length;
  if (options.json !== true) host.stdout.write(`${summary(errors, warnings)}\n`);
  return errors > 0 ? exitCodes.failed : exitCodes.ok;
}

async function* findingsOf(host: Host, options: DoctorOptions): AsyncGenerator<Finding> {
  const config = findConfig(host, options);
  yield checkVersions(config);
  const base = config === undefined ? host.cwd : dirname(config);
  let project: Project | undefined;
  try {
    project = await openReader(host, options);
    yield configFinding(project, config);
    yield* appFindings(host, options, { project, base });
  } catch (error) {
    yield failure(
      `config ${config === undefined ? '' : basename(config)}: ${describeFailure(error)}`,
    );
  } finally {
    await project?.close();
  }
  const env = join(base, '.env');
  yield* await checkEnvFile(existsSync(env) ? env : undefined);
  yield checkTerminal(host);
}

function configFinding(project: Project | undefined, config: string | undefined): Finding {
  if (config === undefined || project === undefined)
    return ok(`no adjutant.config.ts from here up: the built-in agent ${assistantName} answers`);
  const names = project.agents.map(({ name }) => name).join(', ');
  return ok(`config ${basename(config)}: app ${project.app.app}; ${names || 'no agents'}`);
}

async function* appFindings(
  host: Host,
  { offline = false }: DoctorOptions,
  { project, base }: { readonly project: Project | undefined; readonly base: string },
): AsyncGenerator<Finding> {
  const isOwn = project?.configured !== undefined;
  if (project === undefined) yield ok('store: none yet, the first run makes it');
  else {
    const { description } = project.app.store;
    yield checkStore(project.app, shownPlace(description, base), base);
  }
  const runnables: readonly Runnable[] =
    isOwn && project !== undefined ? project.app.runnables : [builtIn(host)];
  yield* await checkModels(host, runnables, offline);
  if (isOwn) yield* checkTools(runnables, base);
}

function builtIn(host: Host): Runnable {
  return assistant(chooseModel(undefined, host.env).model, host.cwd);
}

/** A path below the folder of the project is shown from there. */
function shownPlace(description: string, base: string): string {
  const path = relative(base, description);
  return description.startsWith('/') && !path.startsWith('..') ? path : description;
}

const marks = { ok: '✓', warning: '!', error: '✗' } as const;

function line(host: Host, { level, text }: Finding): string {
  const style = styleFor(host.stdout);
  const paint = { ok: style.green, warning: style.yellow, error: style.red }[level];
  return `${paint(marks[level])} ${plainLine(text)}\n`;
}

function summary(errors: number, warnings: number): string {
  if (errors + warnings === 0) return 'Nothing to mend.';
  const parts = [
    ...(errors > 0 ? [formatCount(errors, 'error')] : []),
    ...(warnings > 0 ? [formatCount(warnings, 'warning')] : []),
  ];
  const code = errors > 0 ? exitCodes.failed : exitCodes.ok;
  return `${errors + warnings} to mend: ${parts.join(', ')} (exit code ${code})`;
}
