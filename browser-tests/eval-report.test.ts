import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { type EvalReport, evalReportHtml } from 'adjutant/eval';
import type { Browser, BrowserContextOptions } from 'playwright-core';
import { afterAll, expect, test, vi } from 'vitest';
import { hostileReport, sampleReport } from '../packages/core/test/eval/sample-report.ts';
import { launchChromium, pictures, type WatchedPage, watchedPage } from './chromium.ts';
import { faintTexts, overflow } from './page-checks.ts';

const folder = mkdtempSync(join(tmpdir(), 'adjutant-report-'));
const sample = sampleReport({ cases: 36, trials: 5 });
let browser: Browser | undefined;

// Browsers are slow to start where other tests run beside them.
vi.setConfig({ testTimeout: 120_000 });

afterAll(async () => {
  await browser?.close();
  rmSync(folder, { recursive: true, force: true });
});

/** A report as somebody opens it who got the file. */
async function opened(
  report: EvalReport,
  skip: (reason: string) => never,
  options: BrowserContextOptions = {},
): Promise<WatchedPage> {
  browser ??= await launchChromium(skip);
  const file = join(folder, `${report.total}.html`);
  writeFileSync(file, evalReportHtml(report));
  const watched = await watchedPage(browser, options);
  await watched.page.goto(pathToFileURL(file).href);
  return watched;
}

function shownCases({ page }: WatchedPage): Promise<string[]> {
  return page.locator('.case:visible .case-id').allTextContents();
}

function idsWith(has: (passed: number, trials: number) => boolean): string[] {
  const [first, second] = sample.variants;
  return (first?.cases ?? []).flatMap((one, index) => {
    const both = [one, second?.cases[index]].map((report) => report?.trials ?? []);
    return both.some((trials) => has(trials.filter(({ passed }) => passed).length, trials.length))
      ? [one.id]
      : [];
  });
}

test('filters, search and order show the cases that they name', async ({ skip }) => {
  const watched = await opened(sample, skip);
  const { page } = watched;
  const all = sample.variants[0]?.cases.map(({ id }) => id) ?? [];
  expect(await shownCases(watched)).toEqual(all);

  const flaky = idsWith((passed, trials) => passed > 0 && passed < trials);
  expect(flaky.length).toBeGreaterThan(5);
  await page.getByRole('button', { name: 'Flaky' }).click();
  expect(await shownCases(watched)).toEqual(flaky);
  expect(await page.getByRole('status').textContent()).toBe(`${flaky.length} of 36 cases`);
  expect(await page.getByRole('button', { pressed: true }).textContent()).toContain('Flaky');

  await page.getByRole('button', { name: 'Regressed' }).click();
  expect(await shownCases(watched)).toEqual(sample.comparisons[0]?.regressed);
  await page.getByRole('combobox', { name: 'With' }).selectOption('0');
  expect(await shownCases(watched)).toEqual([]);
  await page.getByRole('button', { name: 'Show all cases' }).click();
  expect(await shownCases(watched)).toEqual(all);

  await page.getByRole('searchbox', { name: 'Search' }).fill('REFUND-007');
  expect(await shownCases(watched)).toEqual(['refund-007']);
  await page.getByRole('searchbox', { name: 'Search' }).fill('');
  await page.getByRole('combobox', { name: 'Tag' }).selectOption('multi-turn');
  expect(await shownCases(watched)).toEqual(all.filter((_, index) => index % 4 === 0));
  await page.getByRole('combobox', { name: 'Tag' }).selectOption('');

  const rates = all.map(
    (id, index) =>
      [
        id,
        sample.variants.reduce((sum, { cases }) => sum + (cases[index]?.passRate ?? 0), 0),
        index,
      ] as const,
  );
  await page.getByRole('combobox', { name: 'Order' }).selectOption('worst');
  expect(await shownCases(watched)).toEqual(
    rates.toSorted((a, b) => Math.round((a[1] - b[1]) * 1e6) || a[2] - b[2]).map(([id]) => id),
  );
  expect(watched.problems).toEqual([]);
  expect(watched.requests).toHaveLength(1);
});

test(
  'a case is opened by keyboard and by a link, and shows its trials and the command for the ' +
    'session',
  async ({ skip }) => {
    const watched = await opened(sample, skip, {
      permissions: ['clipboard-read', 'clipboard-write'],
    });
    const { page } = watched;
    const regressed = sample.comparisons[0]?.regressed[0] ?? '';
    await page.getByRole('button', { name: 'Passed' }).click();
    await page.locator('.case-links a', { hasText: regressed }).click();
    const row = page.locator('.case', { has: page.locator('.case-id', { hasText: regressed }) });
    await row.locator('.trial[open]').first().waitFor();
    expect(await row.locator('.trial').count()).toBe(10);
    expect(await row.locator('.trial[open] .message.user').first().textContent()).toContain(
      'where is my order',
    );
    expect(await row.locator('.trial[open] .calls').first().textContent()).toContain(
      'findOrder({"orderId":',
    );
    const command = await row.locator('.trial[open] .session code').first().textContent();
    expect(command).toMatch(/^adjutant show eval\/evr_2f8c1d90\/\d\/\d+\/\d --tree$/);
    // The link has put the focus on the case.
    await page.keyboard.press('Enter');
    expect(await row.locator('.trial').first().isVisible()).toBe(false);
    await page.keyboard.press('Enter');
    expect(await row.locator('.trial').first().isVisible()).toBe(true);

    await row.getByRole('button', { name: 'Copy' }).first().click();
    await row.getByRole('button', { name: 'Copied' }).waitFor();
    expect(await watched.evaluate('navigator.clipboard.readText()')).toBe(command);
    expect(watched.problems).toEqual([]);
  },
);

test.for([
  ['light', 1280],
  ['dark', 1280],
  ['light', 320],
  ['dark', 320],
] as const)(
  'everything can be read: %s, %i pixels wide',
  async ([colorScheme, width], { skip }) => {
    const watched = await opened(sample, skip, { colorScheme, viewport: { width, height: 900 } });
    await watched.page.getByRole('button', { name: 'Open all' }).click();
    expect(await faintTexts(watched)).toEqual([]);
    expect(await overflow(watched)).toBe(0);
    expect(watched.problems).toEqual([]);
    await watched.page.getByRole('button', { name: 'Close all' }).click();
    await watched.page.screenshot({
      path: join(pictures(), `eval-report-${colorScheme}-${width}.png`),
      fullPage: true,
    });
  },
);

test('without JavaScript all but the filters is there', async ({ skip }) => {
  const watched = await opened(sample, skip, { javaScriptEnabled: false });
  const { page } = watched;
  expect(await page.getByRole('button', { name: 'Flaky' }).count()).toBe(0);
  expect(await shownCases(watched)).toHaveLength(36);
  await page.locator('.case summary').first().click();
  expect(await page.locator('.case').first().locator('.trial').first().isVisible()).toBe(true);
  expect(await page.locator('svg.drawing').count()).toBeGreaterThan(10);
});

test('what a report says is text, whatever it says', async ({ skip }) => {
  const watched = await opened(hostileReport(), skip, { viewport: { width: 320, height: 900 } });
  const { page, evaluate } = watched;
  await page.getByRole('button', { name: 'Open all' }).click();
  await evaluate('for (const details of document.querySelectorAll("details")) details.open = true');
  expect(
    await evaluate(
      '[window.hacked, document.scripts.length, document.images.length, ' +
        'document.querySelectorAll("iframe, object, form, base").length]',
    ),
  ).toEqual([undefined, 1, 0, 0]);
  expect(await overflow(watched)).toBe(0);
  expect(watched.problems).toEqual([]);
  expect(watched.requests).toHaveLength(1);
});

test('a thousand cases with five trials of two variants are one page that works', async ({
  skip,
}) => {
  const watched = await opened(sampleReport({ cases: 1_000, trials: 5 }), skip);
  const { page } = watched;
  expect(await page.locator('.case').count()).toBe(1_000);
  const note = await page.getByRole('button', { name: 'Failed' }).locator('.count').textContent();
  await page.getByRole('button', { name: 'Failed' }).click();
  expect(await shownCases(watched)).toHaveLength(Number(note));
  await page.locator('.case:visible summary').first().click();
  await page.locator('.case:visible .trial').first().waitFor();
  expect(watched.problems).toEqual([]);
});
