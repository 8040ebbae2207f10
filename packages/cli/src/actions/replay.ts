import { statSync } from 'node:fs';
import { resolve } from 'node:path';
import {
  type Model,
  parseModelName,
  type Runtime,
  rehearsal,
  runtime,
  type Session,
} from 'adjutant';
import type { Divergence, LedgerFile, ReplayOptions, ReplayReport } from 'adjutant/replay';
import { defined } from 'adjutant/text';
import { assistant } from '../app/agent.ts';
import { chooseModel } from '../app/model-choice.ts';
import { exitCodes, UsageError } from '../failure.ts';
import type { Host } from '../host/host.ts';
import { type LedgerSources, type SourceOptions, withLedgers } from '../modules/ledger-source.ts';
import { diffLines } from '../output/diff-lines.ts';
import { formatCount } from '../output/format.ts';
import { jsonLine } from '../output/json-output.ts';
import { notice } from '../output/notice.ts';
import { plainLine } from '../output/plain-text.ts';
import { styleFor } from '../output/style.ts';

export interface ReplayCommandOptions extends SourceOptions {
  /** Last event that is replayed, as its `seq`. */
  readonly until?: number;
  readonly liveModel?: boolean;
  readonly liveTools?: boolean;
  /** Model of the built-in agent. @default the model of the record */
  readonly model?: string;
  readonly root?: string;
  readonly json?: boolean;
}

/**
 * `adjutant replay [session|file]`: compares the present code with a record. Exit code 1 means that
 * the code behaves differently.
 */
export function replayRecord(
  host: Host,
  name: string,
  options: ReplayCommandOptions,
): Promise<number> {
  return withLedgers(host, options, async (sources) => {
    const record = await sources.ledger(name);
    const report = await replayed(host, record, sources, options);
    const { divergence } = report;
    if (options.json === true)
      host.stdout.write(jsonLine({ type: 'replay', ...report, divergence: divergence ?? null }));
    else host.stdout.write(reportText(host, report, sources, options.liveTools === true));
    if (options.json !== true && report.undeclaredSteps.length > 0)
      notice(host, stepsText(report.undeclaredSteps));
    return divergence === undefined ? exitCodes.ok : exitCodes.failed;
  });
}

async function replayed(
  host: Host,
  record: Session | LedgerFile,
  { configured, replaying }: LedgerSources,
  options: ReplayCommandOptions,
): Promise<ReplayReport> {
  refuseAgentOptions(options, configured !== undefined);
  if (options.until !== undefined && options.until > record.events.length) {
    throw new UsageError({
      reason:
        `--until ${options.until}: the record has only ` +
        `${formatCount(record.events.length, 'event')}.`,
    });
  }
  const live: ReplayOptions = {
    ...defined({ until: options.until }),
    ...(options.liveModel === true ? { model: 'live' } : {}),
    ...(options.liveTools === true ? { tools: 'live' } : {}),
  };
  const own = configured === undefined ? await builtInApp(host, record, options) : undefined;
  const app = own ?? (configured?.app as Runtime);
  try {
    return await ('format' in record
      ? replaying.replayFile(record, app, live)
      : replaying.replay(record, app, live));
  } finally {
    await own?.close();
  }
}

/**
 * Refuses options of the built-in agent for another one.
 * @throws UsageError
 */
function refuseAgentOptions({ model, root }: ReplayCommandOptions, isConfigured: boolean): void {
  const given = model === undefined ? (root === undefined ? undefined : '--root') : '--model';
  if (isConfigured && given !== undefined) {
    throw new UsageError({
      reason:
        `${given} is for the agent of the command line; the app of the config file says ` +
        'itself what it uses. (--no-config leaves the file out.)',
    });
  }
}

/**
 * Returns an app with the agent of the command line. Its model is the one that is named, else the
 * model of the record.
 */
async function builtInApp(
  host: Host,
  { events }: Session | LedgerFile,
  options: ReplayCommandOptions,
): Promise<Runtime> {
  const root = resolve(host.cwd, options.root ?? '.');
  if (!statSync(root, { throwIfNoEntry: false })?.isDirectory())
    throw new UsageError({ reason: `--root: ${root} is not a folder.` });
  const recorded = events.find((event) => event.type === 'model_start')?.model;
  const model =
    options.model === undefined && recorded !== undefined
      ? modelNamed(recorded, host)
      : chooseModel(options.model, host.env).model;
  if (options.liveModel === true) await model.load();
  return runtime({ app: 'replay', runnables: [assistant(model, root)] });
}

/** Model for a replay, which only compares its name: it needs neither key nor package. */
function modelNamed(name: string, { env }: Host): Model {
  try {
    return parseModelName(name, env);
  } catch {
    return name.startsWith('rehearsal') ? rehearsal() : chooseModel(undefined, env).model;
  }
}

function stepsText(steps: readonly string[]): string {
  return (
    `Bodies of steps ran for real: ${steps.map(plainLine).join(', ')}. What they do outside by ` +
    'themselves was done again; `effects: false` says that there is nothing of it.'
  );
}

function reportText(
  host: Host,
  { session, events, divergence, divergences }: ReplayReport,
  { replaying }: LedgerSources,
  all: boolean,
): string {
  const style = styleFor(host.stdout);
  const place = plainLine(session);
  if (divergence === undefined)
    return (
      `${style.green('✓')} ${place}: ${formatCount(events, 'event')} replayed, no ` +
      `divergence.\n`
    );
  const shown: readonly Divergence[] = all ? divergences : [divergence];
  const head = `${style.red('✗')} ${place}: the code no longer does what is recorded.`;
  const lines = shown.flatMap((one) => ['', ...diffLines(style, replaying.divergenceText(one))]);
  return `${[head, ...lines].join('\n')}\n`;
}
