import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { emptyFolder, keptEvals } from './kept-evals.ts';
import { office } from './office.ts';
import { opened, withChromium } from './opened.ts';
import { testStore } from './places.ts';

withChromium();

test('a report shows its failed cases, and a case leads to its session', async () => {
  const { app } = office(await testStore());
  const { folder, after } = await keptEvals(app);
  writeFileSync(join(folder, 'broken.json'), '{');
  const { page, problems } = await opened(app, { path: '/evals', serve: { evals: { folder } } });
  await page.getByText('it is no JSON').waitFor();
  await page.getByRole('link', { name: /Not passed.*version 2/ }).focus();
  await page.keyboard.press('Enter');
  await page.waitForURL(`**/evals/${after}`);
  const cases = page.getByRole('list', { name: 'Cases' }).getByRole('listitem');
  await expect.poll(() => cases.count()).toBe(4);
  await page.getByRole('button', { name: 'Failed', exact: true }).click();
  await expect.poll(() => cases.count()).toBe(2);
  await page.getByLabel('Text of cases').fill('NORWAY');
  await expect.poll(() => cases.count()).toBe(1);
  await cases.getByRole('button').focus();
  await page.keyboard.press('Enter');
  const drawer = page.getByRole('complementary', { name: 'Case' });
  await drawer.getByRole('region', { name: 'Output' }).getByText('I cannot tell.').waitFor();
  await drawer.getByRole('region', { name: 'Expected' }).getByText('Oslo').waitFor();
  await drawer.getByText(/does not contain "Oslo"/).waitFor();
  expect(new URL(page.url()).search).toBe('?outcome=failed&text=NORWAY&case=Norway&of=current');
  // The address alone leads to the same.
  await page.reload();
  await drawer.getByRole('link', { name: /^b-|^[a-z]+-/ }).click();
  await page.getByText('What is the capital of Norway?').first().waitFor();
  expect(problems).toEqual([]);
});

test('two reports are chosen and compared, cases that got worse first', async () => {
  const { app } = office(await testStore());
  const { folder, before, after } = await keptEvals(app);
  const { page, problems } = await opened(app, {
    path: `/evals/compare?a=${before}`,
    serve: { evals: { folder } },
  });
  const sides = page.locator('select');
  await expect.poll(() => sides.first().inputValue()).toContain(before);
  await sides.last().selectOption(JSON.stringify([after, 'current']));
  await page.getByRole('button', { name: 'Compare' }).last().click();
  const cases = page.getByRole('list', { name: 'Cases of both' }).getByRole('listitem');
  await expect.poll(() => cases.count()).toBe(3);
  const texts = await cases.allInnerTexts();
  expect(texts.map((text) => text.split('\n')[0])).toEqual(['Worse', 'Worse', 'Better']);
  expect(texts[0]).toMatch(/100 % → 0 %/);
  await cases.first().getByRole('button').click();
  const drawer = page.getByRole('complementary', { name: 'Compared case' });
  await drawer.getByRole('region', { name: 'Side A' }).getByText('It is Oslo.').waitFor();
  await drawer
    .getByRole('region', { name: 'Side B' })
    .getByText('I cannot tell.')
    .first()
    .waitFor();
  await page.keyboard.press('Escape');
  await drawer.waitFor({ state: 'hidden' });
  // The sessions of A are in another store: the server says so.
  expect(problems.filter((problem) => !problem.includes('404 (Not Found)'))).toEqual([]);
});

test('an empty folder says how a report is made; a missing report is told', async () => {
  const { app } = office(await testStore());
  const { folder } = emptyFolder();
  const { page, url } = await opened(app, { path: '/evals', serve: { evals: { folder } } });
  await page.getByText('No reports yet.').waitFor();
  await page.getByText('adjutant eval support.eval.ts').waitFor();
  await page.goto(`${url}/evals/nowhere`);
  await page.getByText('The report: not there, or not any more.').waitFor();
});

const turned = '\u202Egnp.exe\u2066';
const hostile = [
  '<script>globalThis.taken = true</script><img src=x onerror="globalThis.taken = true">',
  '<a href="javascript:globalThis.taken = true">click</a>[x](javascript:globalThis.taken=true)',
  `\u001b[31m\u001b]8;;https://evil.example\u0007${turned}\u0000\u200b`,
  'x'.repeat(40_000),
  '</bdi></div></main><style>*{display:none}</style>',
].join(' ');

test('hostile texts of a report do nothing, and do not break the layout', async () => {
  const { app } = office(await testStore());
  const { reports, folder, before } = await keptEvals(app);
  const real = await reports.read(before);
  const [variant] = real.variants;
  const [one] = variant?.cases ?? [];
  const [trial] = one?.trials ?? [];
  if (variant === undefined || one === undefined || trial === undefined) throw new TypeError();
  const texts = {
    user: hostile,
    assistant: hostile,
    toolCalls: [{ name: hostile, args: hostile }],
  };
  const scores = [{ scorer: hostile, score: 0, passed: false, threshold: 1, explanation: hostile }];
  const { id } = await reports.keep({
    ...real,
    name: hostile,
    runId: hostile,
    variants: [
      {
        ...variant,
        name: hostile,
        version: hostile,
        cases: [
          {
            ...one,
            ...{ id: turned, description: hostile, tags: [hostile], expect: hostile },
            trials: [{ ...trial, passed: false, session: hostile, turns: [texts], scores }],
          },
        ],
      },
    ],
  });
  const opening = { path: '/evals', serve: { evals: { folder } } };
  const { page, evaluate, url, requests } = await opened(app, opening);
  const drawn = [
    ['/evals', 'list', 'Reports of evals'],
    [`/evals/${id}?case=${encodeURIComponent(turned)}`, 'region', 'Expected'],
    [`/evals/compare?a=${before}&b=${id}`, 'list', 'Cases of both'],
  ] as const;
  for (const [path, role, name] of drawn) {
    await page.goto(`${url}${path}`);
    await page.getByRole(role, { name }).waitFor();
    expect(await evaluate('globalThis.taken')).toBe(undefined);
    const elements = 'main script, main style, main img, a[href^="javascript:"]';
    expect(await page.locator(elements).count()).toBe(0);
    const text = await evaluate<string>('document.body.innerText');
    for (const hidden of ['\u202E', '\u2066', '\u001b', '\u200b', '\u0000', '\u0007'])
      expect(text.includes(hidden)).toBe(false);
    expect(await evaluate<number>('document.documentElement.scrollWidth')).toBeLessThanOrEqual(
      1_280,
    );
  }
  for (const request of requests) expect(request.startsWith(url)).toBe(true);
});
