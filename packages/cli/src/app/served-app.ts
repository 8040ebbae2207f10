import type { Host } from '../host/host.ts';
import type { ConfigOptions } from '../modules/find-config.ts';
import { type ConfiguredApp, loadApp, shownName } from '../modules/load-module.ts';
import type { ServedApp } from '../output/serving.ts';
import { type AgentOptions, openServedApp } from './app.ts';
import { checkEngineOptions, chosenEngine, type EngineOptions } from './engine.ts';
import { refuseBuiltInFlags } from './project.ts';

export interface ServedOptions extends AgentOptions, ConfigOptions, EngineOptions {}

/** An app that works, and the module that it comes from, if it is the user's. */
export interface OpenedApp extends ServedApp {
  readonly configured: ConfiguredApp | undefined;
}

/**
 * Opens the user's app, or else that of the command line, to serve it or to work for it. Its engine
 * has started: the one that the options name, or its own.
 * @throws UsageError for options that belong to the agent of the command line; errors of the engine
 */
export async function openWorkingApp(host: Host, options: ServedOptions): Promise<OpenedApp> {
  checkEngineOptions(options);
  // An app whose engine is chosen here must not begin with its own.
  const configured = await loadApp(host, options, { recovers: options.engine === undefined });
  if (configured !== undefined) refuseBuiltInFlags(configured, options);
  const engine = await chosenEngine(host, options, configured);
  const opened =
    configured === undefined
      ? await openServedApp(host, options, engine)
      : { app: configured.app, store: `that of ${shownName(configured)}`, announce: nothing };
  try {
    await opened.app.recovery.start(engine);
  } catch (error) {
    await opened.app.close().catch(() => undefined);
    throw error;
  }
  return { ...opened, configured };
}

function nothing(): void {
  // The user's app needs no word about its model and its files.
}
