import { accessSync, constants, mkdirSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type Browser, type BrowserContextOptions, chromium, type Page } from 'playwright-core';

/**
 * Pages are tested in the Chromium of the machine: playwright-core brings none, and what
 * distributions ship is what people have. It lies in a workspace of its own because pages of
 * several packages are tested with it, and no package needs a browser.
 */
const names = ['chromium', 'chromium-browser', 'google-chrome', 'google-chrome-stable'];
const elsewhere = [
  '/Applications/Google Chrome.app/Contents/MacOS/Google Chrome',
  '/Applications/Chromium.app/Contents/MacOS/Chromium',
];

/** The Chromium of this machine: what `CHROMIUM_PATH` names, else what is found. */
function chromiumPath(): string | undefined {
  const named = process.env['CHROMIUM_PATH'];
  if (named !== undefined && named !== '') return named;
  const folders = (process.env['PATH'] ?? '').split(delimiter).concat('/usr/bin');
  return [
    ...folders.flatMap((folder) => names.map((name) => join(folder, name))),
    ...elsewhere,
  ].find(isProgram);
}

function isProgram(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

/**
 * Starts Chromium. A test passes its own `skip`: a machine without Chromium skips it and says why,
 * but a build machine (`CI`) has to have one.
 * @throws Error in CI when there is none
 */
export async function launchChromium(skip: (reason: string) => never): Promise<Browser> {
  const executablePath = chromiumPath();
  if (executablePath === undefined) {
    const reason =
      'There is no Chromium on this machine: "apt-get install -y chromium", or set CHROMIUM_PATH.';
    if (process.env['CI'] !== undefined) throw new Error(reason);
    console.warn(`SKIPPED a test in a real browser. ${reason}`);
    skip(reason);
  }
  // Chromium refuses its sandbox to root.
  return chromium.launch({ executablePath, chromiumSandbox: process.getuid?.() !== 0 });
}

/** The folder for what the pages look like, for people. */
export function pictures(): string {
  const folder = fileURLToPath(new URL('../dist/browser-tests', import.meta.url));
  mkdirSync(folder, { recursive: true });
  return folder;
}

export interface WatchedPage {
  readonly page: Page;
  /**
   * Messages of the console, uncaught errors, requests that failed; what a page that is well does
   * not make.
   */
  readonly problems: string[];
  /** Addresses that were asked for. */
  readonly requests: string[];
  /**
   * Evaluates a script in the page. It is a text, because the types of this project know no
   * browser.
   */
  evaluate<Result>(expression: string): Promise<Result>;
}

/** A page in a context of its own, of which everything is noted that should not be. */
export async function watchedPage(
  browser: Browser,
  options: BrowserContextOptions = {},
): Promise<WatchedPage> {
  const context = await browser.newContext({ viewport: { width: 1280, height: 900 }, ...options });
  // Playwright would give each act 30 s, which a large page may need on a loaded machine.
  context.setDefaultTimeout(100_000);
  const page = await context.newPage();
  const problems: string[] = [];
  const requests: string[] = [];
  page.on('console', (message) => problems.push(`${message.type()}: ${message.text()}`));
  page.on('pageerror', (error) => problems.push(`error: ${error.message}`));
  page.on('requestfailed', (request) => problems.push(`failed: ${request.url()}`));
  page.on('request', (request) => requests.push(request.url()));
  return { page, problems, requests, evaluate: (expression) => page.evaluate(expression) };
}
