import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import type { EvalReport } from 'adjutant/eval';
import { expect, onTestFinished, test } from 'vitest';
import { startChatServer } from '../packages/cli/test/chat-server.ts';
import { bench, fromSources, jsonLines } from '../packages/cli/test/run-cli.ts';
import { launchChromium, pictures, watchedPage } from './chromium.ts';
import { sums } from './fixtures/sums.ts';

const module = fileURLToPath(new URL('fixtures/sums.eval.ts', import.meta.url));

/** A model that is good with a tool. In its head it forgets to carry. */
function arithmetician(): ReturnType<typeof startChatServer> {
  return startChatServer(({ messages, tools = [] }) => {
    const [, a = 0, b = 0] =
      /What is (\d+) plus (\d+)/.exec(JSON.stringify(messages))?.map(Number) ?? [];
    const result = messages.find(({ role }) => role === 'tool');
    if (result !== undefined)
      return { text: `It is ${/"sum\W+(\d+)/.exec(JSON.stringify(result))?.[1]}.` };
    if (tools.length > 0) return { call: { name: 'add', args: { a, b } } };
    return { text: `It is ${(a % 10) + (b % 10) > 9 ? a + b - 10 : a + b}.` };
  });
}

/**
 * The place of a line in the report's own units, so that what the page shows is compared with what
 * the report says.
 */
function reportIn(stdout: string): EvalReport {
  return jsonLines(stdout).findLast(({ type }) => type === 'report')?.['report'] as EvalReport;
}

test('an eval of 36 cases with two variants is killed in the middle, goes on, and its report is ' +
  'opened in a browser', {
  timeout: 120_000,
}, async ({ skip }) => {
  const server = await arithmetician();
  const { start, run, folder } = bench();
  const options = {
    cwd: folder,
    env: { EVAL_MODEL: server.modelName, OPENAI_COMPATIBLE_API_KEY: 'none' },
  };
  server.hangFrom = 100;
  const killed = start(['eval', module, '--json'], { ...options, ...fromSources });
  await server.reached(100);
  killed.child.kill('SIGKILL');
  const before = jsonLines((await killed.finished).stdout).filter(
    ({ type }) => type === 'trial_end',
  ).length;
  expect(before).toBeGreaterThan(50);
  expect(before).toBeLessThan(100);

  server.hangFrom = undefined;
  const ended = await run(
    ['eval', module, '--continue', '--json', '--html', 'report.html'],
    options,
  );
  const report = reportIn(ended.stdout);
  expect(ended.stderr).toBe('');
  expect(report).toMatchObject({ total: 144, done: 144, passed: false });
  expect(
    jsonLines(ended.stdout).filter(({ recorded }) => recorded === true).length,
  ).toBeGreaterThanOrEqual(before);
  // Two calls with the tool, one without; at most three calls were under way when it was killed,
  // and are made again.
  expect(server.requests.length).toBeLessThanOrEqual(2 * 36 * 3 + 3);

  const browser = await launchChromium(skip);
  onTestFinished(() => browser.close());
  const { page, problems, requests } = await watchedPage(browser);
  await page.goto(pathToFileURL(join(folder, 'report.html')).href);
  expect(await page.getByRole('heading', { level: 1 }).textContent()).toBe(
    'Sums, with and without a tool',
  );
  const [head, tool] = report.variants.map(({ summary }) => summary);
  expect(await page.locator('.card .rate').allTextContents()).toEqual([
    expect.stringContaining(`${head?.passed} of 72 trials passed`),
    expect.stringContaining(`${tool?.passed} of 72 trials passed`),
  ]);
  expect([head?.passed, tool?.passed]).toEqual([36, 72]);
  expect(await page.locator('.case').count()).toBe(sums.length);
  const improved = report.comparisons[0]?.improved ?? [];
  await page.getByRole('button', { name: 'Improved' }).click();
  expect(await page.locator('.case:visible .case-id').allTextContents()).toEqual(improved);
  expect(improved).toHaveLength(18);

  await page.locator('.case:visible summary').first().click();
  const command =
    (await page.locator('.case:visible .trial[open] .session code').first().textContent()) ?? '';
  const shown = await run(command.split(' ').slice(1), options);
  expect(shown).toMatchObject({ code: 0, stdout: expect.stringContaining('quick agent') });
  expect({ problems, requests: requests.length }).toEqual({ problems: [], requests: 1 });
  await page.screenshot({ path: join(pictures(), 'eval-run.png'), fullPage: true });
  expect(readFileSync(join(folder, 'report.html'), 'utf8')).not.toContain(
    server.modelName.slice(server.modelName.indexOf('http')),
  );
});
