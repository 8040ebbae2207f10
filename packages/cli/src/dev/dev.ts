import { existsSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import type { ListeningServer } from '@adjutant/server';
import type { SessionCheck } from 'adjutant/replay';
import { beginServing, type ServeContext, untilStopped } from '../actions/serve.ts';
import { describeFailure, exitCodes, UsageError } from '../failure.ts';
import { ownName } from '../host/own-name.ts';
import { findConfig } from '../modules/find-config.ts';
import { type ConfiguredApp, loadApp, replayingFor } from '../modules/load-module.ts';
import { placeOfThrown } from '../modules/thrown.ts';
import { formatCount, formatDuration } from '../output/format.ts';
import { plainLine } from '../output/plain-text.ts';
import { styleFor } from '../output/style.ts';
import { ProjectModules } from './project-modules.ts';
import { logRequests } from './request-log.ts';
import { endingOf, runLog } from './run-log.ts';
import { WatchedFiles } from './watched-files.ts';

/**
 * `adjutant dev`: serves the app of the configuration, loads it anew when one of its modules
 * changes, and tells of requests and runs. It runs until a signal ends it.
 */
export async function serveWhileDeveloping(context: ServeContext): Promise<number> {
  const { host, options } = context;
  const config = findConfig(host, options);
  if (config === undefined)
    throw new UsageError({
      reason: 'adjutant dev serves the app of adjutant.config.ts: write one, or adjutant init.',
    });
  const server = new DevelopedApp(context, config);
  try {
    await server.start();
    await context.interruption.during(...untilStopped());
    return exitCodes.ok;
  } finally {
    await server.close();
  }
}

/** The app that is served now, and the way to the next one. */
class DevelopedApp {
  readonly #context: ServeContext;
  readonly #config: string;
  readonly #base: string;
  readonly #modules: ProjectModules;
  readonly #files: WatchedFiles;
  #served: { readonly app: ConfiguredApp; readonly listening: ListeningServer } | undefined;
  /** Reloads follow each other. */
  #work: Promise<void> = Promise.resolve();
  #endRequestLog: () => void = () => undefined;

  constructor(context: ServeContext, config: string) {
    this.#context = context;
    this.#config = config;
    this.#base = dirname(config);
    this.#modules = new ProjectModules(this.#base);
    this.#files = new WatchedFiles(context.host.clock, (files) => {
      this.#work = this.#work.then(() => this.#reload(files));
    });
  }

  async start(): Promise<void> {
    const { host } = this.#context;
    const app = await this.#load();
    this.#endRequestLog = logRequests(
      host.clock,
      () => this.#served?.listening.port ?? -1,
      (line) => this.#tell(line),
    );
    const listening = await this.#serve(app);
    this.#files.watch(this.#watched());
    const facts = [
      `${plainLine(app.app.app)} at ${styleFor(host.stdout).bold(listening.url)}`,
      `watching ${formatCount(this.#watched().size, 'file')}`,
      ...(existsSync(join(this.#base, '.env')) ? ['.env read'] : []),
    ];
    host.stdout.write(`${facts.join(' · ')}\n`);
  }

  async close(): Promise<void> {
    this.#files.close();
    await this.#work;
    this.#endRequestLog();
    await this.#served?.listening.close().catch(() => undefined);
    await this.#served?.app.app.close().catch(() => undefined);
    this.#modules.close();
  }

  /** Files of the modules of the last load that succeeded or failed, and the configuration. */
  #watched(): ReadonlySet<string> {
    return new Set([this.#config, ...this.#modules.files]);
  }

  async #load(): Promise<ConfiguredApp> {
    const { host } = this.#context;
    const app = await loadApp(host, { config: this.#config }, { recovers: true });
    if (app === undefined) throw new UsageError({ reason: `${this.#config} is gone.` });
    return app;
  }

  async #serve(app: ConfiguredApp): Promise<ListeningServer> {
    const { options } = this.#context;
    const port = this.#served?.listening.port ?? options.port;
    const { listening } = await beginServing(
      { ...this.#context, options: port === undefined ? options : { ...options, port } },
      app,
    );
    this.#served = { app, listening };
    app.app.streams.observe(
      runLog({
        tell: (line) => this.#tell(line),
        answerWith: (requestId) =>
          [...ownName(), 'approve', requestId, '--server', listening.url].join(' '),
      }),
    );
    return listening;
  }

  async #reload(files: readonly string[]): Promise<void> {
    const { clock } = this.#context.host;
    const began = clock.monotonic();
    const before = this.#watched();
    this.#modules.renew();
    try {
      const app = await this.#load();
      const fits = await this.#checked(app);
      await this.#replace(app);
      const changed = files.map((file) => relative(this.#base, file)).join(', ');
      this.#tell(`reload ${changed} ${formatDuration(clock.monotonic() - began)} · ${fits.words}`);
      for (const { session, reason, code } of fits.misfits)
        this.#tell(`! ${endingOf(session)} cannot go on: ${plainLine(reason ?? code ?? '')}`);
      this.#files.watch(this.#watched());
    } catch (error) {
      const cause = causeOf(error);
      const place = cause instanceof Error ? placeOfThrown(cause, this.#config) : undefined;
      const where = place === undefined ? '' : `${place} `;
      const reason = plainLine(describeFailure(cause));
      this.#tell(`✗ ${where}${reason} The former code serves on.`);
      // A file that could not be reached this time is watched on.
      this.#files.watch(new Set([...before, ...this.#watched()]));
    }
  }

  /** Serves another app on the same port. The former one is served on when that fails. */
  async #replace(app: ConfiguredApp): Promise<void> {
    const former = this.#served;
    await former?.listening.close();
    try {
      await this.#serve(app);
    } catch (error) {
      await app.app.close().catch(() => undefined);
      if (former !== undefined) await this.#serve(former.app);
      throw error;
    }
    await former?.app.app.close().catch(() => undefined);
  }

  /** Holds the new code against the runs that wait, as `adjutant check` does. */
  async #checked(
    configured: ConfiguredApp,
  ): Promise<{ readonly words: string; readonly misfits: readonly SessionCheck[] }> {
    const { checkSessions } = await replayingFor(this.#context.host, configured);
    const { sessions } = await checkSessions(configured.app);
    const fitting = sessions.filter(({ verdict }) => verdict === 'goes_on').length;
    const misfits = sessions.filter(({ verdict }) => verdict === 'refused');
    const verb = fitting === 1 ? 'fits' : 'fit';
    const words =
      `${formatCount(fitting, 'waiting run')} ${verb} · ` +
      `${misfits.length} ${misfits.length === 1 ? 'mismatch' : 'mismatches'}`;
    return { words, misfits };
  }

  #tell(line: string): void {
    const { stdout, clock } = this.#context.host;
    const style = styleFor(stdout);
    stdout.write(`${style.dim(timeOf(clock.now()))} ${line}\n`);
  }
}

/** The error of the module itself, without the words about the file that was loaded. */
function causeOf(error: unknown): unknown {
  return error instanceof Error && error.cause instanceof Error ? error.cause : error;
}

function timeOf(epochMs: number): string {
  const date = new Date(epochMs);
  return [date.getHours(), date.getMinutes(), date.getSeconds()]
    .map((part) => String(part).padStart(2, '0'))
    .join(':');
}
