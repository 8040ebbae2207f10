import { join } from 'node:path';
import { type ListeningServer, type ServeOptions, serve } from '@adjutant/server';
import type { Runtime } from 'adjutant';
import type { Browser, BrowserContextOptions } from 'playwright-core';
import { beforeEach, onTestFinished } from 'vitest';
import { launchChromium, type WatchedPage, watchedPage } from '../chromium.ts';

/** The page as `npm run dashboard:build` makes it: tests never see its sources. */
const folder = join(import.meta.dirname, '../../packages/dashboard/dist');

/** Milliseconds for an act of a page, on a loaded machine too. */
const patienceMs = 30_000;

let browser: Browser | undefined;

/** One Chromium for all files of a worker: it ends with the process. Tests have contexts of it. */
export function withChromium(): void {
  beforeEach(async ({ skip }) => {
    if (browser?.isConnected() !== true) browser = await launchChromium((reason) => skip(reason));
  });
}

export interface Opened extends WatchedPage {
  readonly server: ListeningServer;
  readonly url: string;
}

export interface OpenOptions {
  readonly path?: string;
  readonly serve?: ServeOptions;
  readonly context?: BrowserContextOptions;
}

/** Serves an app with its dashboard, for the length of a test. */
export async function served(app: Runtime, options: ServeOptions = {}): Promise<ListeningServer> {
  const server = await serve(app, { port: 0, dashboard: { folder }, ...options });
  onTestFinished(async () => {
    await server.close();
    await app.close();
  });
  return server;
}

/** Opens a page of the dashboard in a browser of its own. */
export async function visit(
  { url }: Pick<ListeningServer, 'url'>,
  path: string,
  context: BrowserContextOptions = {},
): Promise<WatchedPage> {
  if (browser === undefined) throw new Error('Chromium is not there: call withChromium()');
  const watched = await watchedPage(browser, context);
  onTestFinished(() => watched.page.context().close());
  watched.page.setDefaultTimeout(patienceMs);
  forgetEnded(watched);
  await watched.page.goto(`${url}${path}`);
  return watched;
}

/**
 * A request that the page itself has ended is no problem: a stream that nobody follows any more, or
 * whatever was under way when the page was left.
 */
function forgetEnded({ page, problems }: WatchedPage): void {
  page.on('requestfailed', (request) => {
    if (request.failure()?.errorText !== 'net::ERR_ABORTED') return;
    const place = problems.lastIndexOf(`failed: ${request.url()}`);
    if (place !== -1) problems.splice(place, 1);
  });
}

/** Serves an app, and opens a page of its dashboard. */
export async function opened(app: Runtime, options: OpenOptions = {}): Promise<Opened> {
  const server = await served(app, options.serve);
  const watched = await visit(server, options.path ?? '/', options.context);
  return { ...watched, server, url: server.url };
}
