import { accessSync, constants, statSync, writeFileSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import type { Runtime, Store } from 'adjutant';
import type { EvalOptions, EvalProgress, EvalReport, EvalVariant } from 'adjutant/eval';
import { sqlite } from 'adjutant/sqlite';
import { defined } from 'adjutant/text';
import { exitCodes, UsageError } from '../failure.ts';
import type { Host } from '../host/host.ts';
import type { Interruption } from '../host/interruption.ts';
import { ownName } from '../host/own-name.ts';
import { writableStorePath } from '../host/store-location.ts';
import { evalsFolder } from '../modules/evals-folder.ts';
import { type LoadedEval, loadEval } from '../modules/load-eval.ts';
import {
  type EvalProgressOutput,
  evalProgressOutput,
  silentProgress,
} from '../output/eval-progress.ts';
import { evalLines, verdictLine } from '../output/eval-text.ts';
import { jsonLine } from '../output/json-output.ts';
import { notice } from '../output/notice.ts';
import { styleFor } from '../output/style.ts';
import { shellWord } from './carry-out.ts';

export interface EvalCommandOptions {
  readonly config?: string;
  readonly variant?: readonly string[];
  readonly case?: readonly string[];
  readonly tag?: readonly string[];
  readonly trials?: number;
  readonly concurrency?: number;
  readonly threshold?: number;
  readonly store?: string;
  readonly run?: string;
  readonly continue?: boolean;
  readonly json?: boolean;
  readonly html?: string;
  readonly quiet?: boolean;
  /** Folder of the kept reports; `false`: it is not kept. */
  readonly reports?: string | false;
}

export interface EvalContext {
  readonly host: Host;
  readonly interruption: Interruption;
}

/**
 * Runs an eval, shows it, and returns the exit code. A signal stops it and tells how to continue.
 */
export async function runEval(
  { host, interruption }: EvalContext,
  file: string,
  options: EvalCommandOptions,
): Promise<number> {
  const page = options.html === undefined ? undefined : writableFile(host, options.html);
  const store = sqlite(writableStorePath(host, options.store));
  const stop = new AbortController();
  let loaded: LoadedEval | undefined;
  try {
    loaded = await loadEval(host, file, options.config, { store });
    const { library } = loaded;
    const apps = new AppNames();
    const given = evalOptions(loaded, options, store);
    const output = progressOutput(host, options);
    const onProgress = (progress: EvalProgress): void => output.show(progress);
    const variants = given.variants.map((variant) => apps.watched(variant));
    const report = await interruption
      .during(
        () => stop.abort(),
        () => library.evaluate({ ...given, variants, onProgress, signal: stop.signal }),
      )
      .finally(() => output.close());
    const sessionCommand = apps.sessionCommand(
      options.store ?? (loaded.tookStore ? undefined : unknown),
    );
    if (page !== undefined) writeFileSync(page, library.evalReportHtml(report, { sessionCommand }));
    show(host, report, options, sessionCommand);
    await keep(host, report, options);
    return ended(host, interruption, report, [file, ...flagWords(options)], options);
  } finally {
    await close(loaded, store);
  }
}

/** Options of the eval: those of the module, overridden by the command line. */
function evalOptions(
  { options, dataset, tookStore }: LoadedEval,
  flags: EvalCommandOptions,
  store: Store,
): EvalOptions {
  const { trials = options.trials ?? 1, concurrency, threshold, run, continue: goesOn } = flags;
  const passK = options.passK?.filter((k) => k <= trials) ?? [];
  const { passK: _, ...others } = options;
  const isOwnStore =
    flags.store !== undefined ||
    tookStore ||
    (options.store === undefined && options.variants.some((one) => 'open' in one));
  return {
    ...others,
    dataset: { ...dataset, cases: chosenCases(dataset, flags) },
    variants: chosenVariants(options.variants, flags.variant),
    trials,
    ...(passK.length > 0 ? { passK } : {}),
    ...defined({ concurrency, threshold, runId: run, continue: goesOn }),
    ...(isOwnStore ? { store } : {}),
  };
}

function chosenVariants(
  variants: readonly EvalVariant[],
  names: readonly string[] | undefined,
): readonly EvalVariant[] {
  if (names === undefined) return variants;
  const known = variants.map(({ name }) => name);
  refuseUnknown('--variant', names, known);
  return variants.filter(({ name }) => names.includes(name));
}

function chosenCases(
  { cases }: LoadedEval['dataset'],
  { case: ids, tag: tags }: EvalCommandOptions,
): LoadedEval['dataset']['cases'] {
  refuseUnknown(
    '--case',
    ids ?? [],
    cases.map(({ id }) => id),
  );
  refuseUnknown('--tag', tags ?? [], [...new Set(cases.flatMap((one) => one.tags))]);
  const chosen = cases.filter(
    (one) =>
      (ids?.includes(one.id) ?? true) && (tags?.some((tag) => one.tags.includes(tag)) ?? true),
  );
  if (chosen.length === 0 && cases.length > 0)
    throw new UsageError({ reason: '--case and --tag together leave no case.' });
  return chosen;
}

const mostNamed = 10;

function refuseUnknown(option: string, given: readonly string[], known: readonly string[]): void {
  const unknown = given.find((name) => !known.includes(name));
  if (unknown === undefined) return;
  const named = known.slice(0, mostNamed).map((name) => `"${name}"`);
  const more = known.length > mostNamed ? `, and ${known.length - mostNamed} more` : '';
  throw new UsageError({
    reason:
      `${option}: there is no "${unknown}". There ` +
      `${known.length === 0 ? 'are none' : `is ${named.join(', ')}${more}`}.`,
  });
}

function progressOutput(host: Host, { json, quiet }: EvalCommandOptions): EvalProgressOutput {
  if (quiet === true) return silentProgress;
  if (json === true)
    return {
      show: (progress) => void host.stdout.write(jsonLine(progress)),
      close: () => undefined,
    };
  const { stderr: stream, clock, env } = host;
  return evalProgressOutput({
    stream,
    clock,
    style: styleFor(stream),
    isLive: stream.isTTY === true && env['TERM'] !== 'dumb',
  });
}

type SessionCommand = (session: string, variant: string) => string;

function show(
  host: Host,
  report: EvalReport,
  { json, quiet }: EvalCommandOptions,
  sessionCommand: SessionCommand,
): void {
  const style = styleFor(host.stdout);
  if (json === true) host.stdout.write(jsonLine({ type: 'report', report }));
  else if (quiet === true) host.stdout.write(`${verdictLine(report, style)}\n`);
  else host.stdout.write(`${evalLines(report, { style, sessionCommand }).join('\n')}\n`);
}

/** Keeps the report where `adjutant serve` finds it. An eval that is not kept does not fail. */
async function keep(
  host: Host,
  report: EvalReport,
  { reports: given, config, json, quiet }: EvalCommandOptions,
): Promise<void> {
  if (given === false) return;
  const folder =
    given === undefined ? evalsFolder(host, defined({ config })) : resolve(host.cwd, given);
  const { evalReports } = await import('adjutant/eval');
  try {
    const { file } = await evalReports({ folder }).keep(report);
    if (json !== true && quiet !== true) notice(host, `The report is kept: ${file}`);
  } catch (error) {
    notice(host, `The report is not kept: ${(error as Error).message}. --reports names a folder.`);
  }
}

/**
 * Returns the exit code. For an eval that was stopped, it also prints the command that continues
 * it.
 */
function ended(
  host: Host,
  interruption: Interruption,
  report: EvalReport,
  words: readonly string[],
  { json }: EvalCommandOptions,
): number {
  if (report.finishedAt !== undefined) return report.passed ? exitCodes.ok : exitCodes.failed;
  const command = [...ownName(), 'eval', ...words, '--run', report.runId].map(shellWord).join(' ');
  if (json === true)
    host.stdout.write(jsonLine({ type: 'stopped', runId: report.runId, continue: command }));
  else host.stdout.write(`Continue with: ${command}\n`);
  return interruption.exitCode ?? exitCodes.failed;
}

/** Options that make a repeated call run the same eval. */
function flagWords({
  config,
  variant,
  case: ids,
  tag,
  trials,
  concurrency,
  threshold,
  store,
  html,
  reports,
}: EvalCommandOptions): string[] {
  const lists = Object.entries({ variant, case: ids, tag }).flatMap(([name, values]) =>
    (values ?? []).flatMap((value) => [`--${name}`, value]),
  );
  const single = Object.entries({ config, trials, concurrency, threshold, store, html });
  const kept =
    reports === undefined ? [] : reports === false ? ['--no-reports'] : ['--reports', reports];
  return [
    ...lists,
    ...kept,
    ...single.flatMap(([name, value]) => (value === undefined ? [] : [`--${name}`, String(value)])),
  ];
}

/**
 * Path of the page for `--html`, checked before the first trial and not after the last. @throws
 * UsageError
 */
function writableFile(host: Host, given: string): string {
  const path = resolve(host.cwd, given);
  try {
    const found = statSync(path, { throwIfNoEntry: false });
    if (found?.isDirectory()) throw new Error('it is a folder');
    accessSync(found === undefined ? dirname(path) : path, constants.W_OK);
    return path;
  } catch (error) {
    throw new UsageError({
      reason: `--html: ${path} cannot be written (${(error as Error).message}).`,
    });
  }
}

/**
 * Placeholder for values that only the module knows, such as the store of an app that it opened
 * itself.
 */
const unknown = '…';

/**
 * Names of the apps, which `adjutant show` needs besides the session. Some variants tell them only
 * when they are opened.
 */
class AppNames {
  readonly #names = new Map<string, string>();

  /**
   * Returns the variant, and notes the name of its app. A variant that opens an app for each trial
   * stays unchanged: its text is part of what identifies its trials.
   */
  watched(variant: EvalVariant): EvalVariant {
    if ('open' in variant) return variant;
    const { app, name } = variant;
    if (typeof app !== 'function') {
      this.#names.set(name, app.app);
      return variant;
    }
    const open = async (): Promise<Runtime> => {
      const opened = await app();
      this.#names.set(name, opened.app);
      return opened;
    };
    return { ...variant, app: open };
  }

  /**
   * Returns a function that makes the `adjutant show` command for a session.
   * @param store store of the sessions; `undefined`: the default store of the command line
   */
  sessionCommand(store: string | undefined): SessionCommand {
    return (session, variant) => {
      const app = this.#names.get(variant);
      const place =
        app === undefined
          ? ['--store', unknown, '--app', unknown]
          : [...(store === undefined ? [] : ['--store', store]), '--app', app];
      return [...ownName(), 'show', session, '--tree', ...place]
        .map((word) => (word === unknown ? word : shellWord(word)))
        .join(' ');
    };
  }
}

/** Closes the apps that a module made when it was loaded, which would keep the process alive. */
async function close(loaded: LoadedEval | undefined, store: Store): Promise<void> {
  for (const variant of loaded?.options.variants ?? []) {
    if (!('open' in variant) && typeof variant.app !== 'function')
      await variant.app.close().catch(() => undefined);
  }
  await store.close().catch(() => undefined);
}
