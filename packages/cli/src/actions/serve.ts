import type { ListeningServer, serve as Serve, ServerOptions } from '@adjutant/server';
import { isAdjutantError, type Runtime } from 'adjutant';
import { defined } from 'adjutant/text';
import { openWorkingApp, type ServedOptions } from '../app/served-app.ts';
import { buildInBackground, cloneDashboard } from '../dashboard/clone.ts';
import { openPage } from '../dashboard/open-page.ts';
import { exitCodes, UsageError } from '../failure.ts';
import type { Host } from '../host/host.ts';
import type { Interruption } from '../host/interruption.ts';
import { ownCommand } from '../host/own-name.ts';
import { evalsFolder } from '../modules/evals-folder.ts';
import { type ConfiguredApp, InvalidConfigError } from '../modules/load-module.ts';
import { jsonLine } from '../output/json-output.ts';
import { notice } from '../output/notice.ts';
import { type ServedApp, servingLines } from '../output/serving.ts';
import { styleFor } from '../output/style.ts';

export interface ServeCommandOptions extends ServedOptions {
  readonly port?: number;
  readonly hostname?: string;
  readonly open?: boolean;
  readonly dashboard?: boolean;
  readonly json?: boolean;
}

export interface ServeContext {
  readonly host: Host;
  readonly interruption: Interruption;
  readonly options: ServeCommandOptions;
}

/**
 * `adjutant serve`: serves the user's app, or else the agent of the command line, over HTTP. It
 * runs until a signal ends it.
 */
export async function serveApp(context: ServeContext): Promise<number> {
  const { host, options } = context;
  const { configured, ...opened } = await openWorkingApp(host, options);
  try {
    return await listenUntilStopped(
      context,
      opened,
      configured === undefined ? {} : serverOptionsIn(configured),
    );
  } finally {
    await opened.app.close().catch(() => undefined);
  }
}

/** Options of the server that the module exports. @throws InvalidConfigError */
function serverOptionsIn({ file, exports }: ConfiguredApp): ServerOptions {
  const own =
    exports['server'] ??
    (exports['default'] as { readonly server?: unknown } | undefined)?.server ??
    {};
  if (typeof own === 'object') return own as ServerOptions;
  throw new InvalidConfigError({
    file,
    reason:
      'exports a `server` that is not an object with options: export const server = { ' +
      'auth: { keys: true } };',
  });
}

/** Serves the user's app with the options of its configuration. */
export function beginServing(context: ServeContext, configured: ConfiguredApp): Promise<Begun> {
  return begin(context, configured.app, serverOptionsIn(configured));
}

/** A server that has begun to listen. */
interface Begun {
  readonly listening: ListeningServer;
  /** True when callers need no key. */
  readonly isOpen: boolean;
}

async function begin(
  { host, options }: ServeContext,
  app: Runtime,
  own: ServerOptions,
): Promise<Begun> {
  const { apiKeys, serve } = await import('@adjutant/server');
  const hasKeys = (await apiKeys(app).list()).length > 0;
  const auth = own.auth ?? (hasKeys ? { keys: true } : undefined);
  const { port, hostname } = options;
  const serving = auth === undefined ? suggestingKeys(serve) : serve;
  const evals = own.evals ?? { folder: evalsFolder(host, options) };
  const listening = await serving(app, { ...own, evals, ...defined({ auth, port, hostname }) });
  return { listening, isOpen: auth === undefined };
}

async function listenUntilStopped(
  context: ServeContext,
  served: ServedApp,
  own: ServerOptions,
): Promise<number> {
  const { host, interruption, options } = context;
  const clone = cloneDashboard(host);
  const dashboard =
    options.dashboard === false ? false : (own.dashboard ?? (clone && { folder: clone.folder }));
  const { listening, isOpen } = await begin(context, served.app, {
    ...own,
    ...defined({ dashboard }),
  });
  served.announce();
  const isQuiet = options.json === true;
  say(host, listening, served, { isOpen, json: isQuiet });
  const isOwn = clone !== undefined && dashboard !== false && dashboard?.folder === clone.folder;
  const endBuild = isOwn ? buildInBackground(host, clone, { isQuiet }) : undefined;
  if (options.open === true) showPage(host, listening);
  await interruption.during(...untilStopped());
  endBuild?.();
  if (options.json !== true)
    notice(host, 'Ending. Requests under way have ten seconds; a second signal ends it at once.');
  await listening.close({ closeApp: true });
  if (options.json !== true)
    notice(host, 'Ended. Runs that are open go on when it is served again.');
  return exitCodes.ok;
}

function showPage(host: Host, { page }: ListeningServer): void {
  if (page === undefined) notice(host, 'There is no page to open: no dashboard is served.');
  else openPage(host, page);
}

/** Returns a `serve` whose error about missing authentication also suggests an API key. */
function suggestingKeys(serve: typeof Serve): typeof Serve {
  return async (app, options) => {
    try {
      return await serve(app, options);
    } catch (error) {
      if (!isAdjutantError(error, 'invalid_server') || options?.hostname === undefined) throw error;
      throw new UsageError({
        reason:
          `${error.message} A key is enough: ` +
          ownCommand('keys create --name <what for> --role operator'),
      });
    }
  };
}

/** Returns a function that a signal calls, and work that waits for that call. */
export function untilStopped(): [stop: () => void, work: () => Promise<void>] {
  const { promise, resolve } = Promise.withResolvers<void>();
  return [resolve, () => promise];
}

function say(
  host: Host,
  { url, page }: ListeningServer,
  served: ServedApp,
  { isOpen, json }: { isOpen: boolean; json: boolean },
): void {
  const { app } = served;
  if (!app.recovery.isAutomatic)
    notice(
      host,
      `The app "${app.app}" does not look for runs that stopped (recover: 'manual'): they ` +
        'go on only when somebody resumes them.',
    );
  const record = {
    ...{ type: 'serving', url, ...defined({ page }), app: app.app },
    ...{ auth: !isOpen, deltas: app.streams.reach },
  };
  host.stdout.write(
    json
      ? jsonLine(record)
      : `${servingLines(styleFor(host.stdout), served, { url, page, isOpen }).join('\n')}\n`,
  );
}
