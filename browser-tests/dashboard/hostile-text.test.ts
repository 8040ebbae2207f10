import { agent, runtime, tool } from 'adjutant';
import { roundModel } from 'adjutant/testing';
import { triggers } from 'adjutant/triggers';
import { expect, test } from 'vitest';
import { z } from 'zod';
import { pictures } from '../chromium.ts';
import { opened, withChromium } from './opened.ts';
import { testStore } from './places.ts';

withChromium();

const escapes = '\u001b[31m\u001b]8;;https://evil.example\u0007';
const turned = '\u202Egnp.exe\u2066';
/** Texts that would do something in a page that believes them. */
const hostile = [
  '<script>globalThis.taken = true</script>',
  '<img src=x onerror="globalThis.taken = true">',
  '<a href="javascript:globalThis.taken = true">click</a>',
  '[click](javascript:globalThis.taken=true) ![x](https://evil.example/p.png)',
  `${escapes}red${turned}`,
  '\u0000\u0007\u200b\u2028\ufeff',
  'x'.repeat(40_000),
  '</bdi></div></main><style>*{display:none}</style>',
].join(' ');

async function hostileApp() {
  const look = tool({
    name: 'look',
    description: 'Looks',
    schema: z.object({ at: z.string() }),
    execute: (ctx) => {
      ctx.state[`key ${turned}`] = hostile;
      return { content: hostile };
    },
  });
  const pay = tool({
    name: 'pay',
    description: 'Pays',
    schema: z.object({ to: z.string() }),
    approval: { summary: () => `Pay ${hostile}`.slice(0, 500) },
    execute: () => 'paid',
  });
  const clerk = agent({
    name: 'clerk',
    instructions: hostile,
    tools: [look, pay],
    model: roundModel([
      { thoughts: hostile, text: hostile, toolCalls: [{ name: 'look', args: { at: hostile } }] },
      { toolCalls: [{ name: 'pay', args: { to: hostile } }] },
      { text: hostile },
    ]),
  });
  const app = runtime({
    app: 'office',
    store: await testStore(),
    runnables: [clerk],
    triggers: triggers([]),
  });
  await app.run(clerk, { session: `s ${turned}`, input: hostile });
  return app;
}

/** Every page on which the texts are shown. */
const paths = [
  `/sessions/${encodeURIComponent(`s ${turned}`)}`,
  `/sessions/${encodeURIComponent(`s ${turned}`)}?at=12&panel=prompt`,
  '/sessions',
  '/approvals',
  '/now',
  '/tasks',
] as const;

test.each(paths)('hostile texts do nothing on %s, and do not break its layout', async (path) => {
  const app = await hostileApp();
  const { page, problems, requests, evaluate, url } = await opened(app, { path });
  await page.getByRole('navigation', { name: 'Pages' }).waitFor();
  await expect.poll(() => page.locator('[aria-label^="Reading"]').count()).toBe(0);
  await expect
    .poll(() => evaluate<number>('document.getElementById("main").innerText.length'))
    .toBeGreaterThan(20);
  expect(await evaluate('globalThis.taken')).toBe(undefined);
  // Nothing of them became an element.
  expect(
    await evaluate('document.querySelectorAll("main script, main style, main img").length'),
  ).toBe(0);
  expect(await evaluate('document.querySelectorAll(\'a[href^="javascript:"]\').length')).toBe(0);
  // Characters that hide or turn text are shown as signs.
  const text = await evaluate<string>('document.body.innerText');
  for (const hidden of ['\u202E', '\u2066', '\u001b', '\u200b', '\u0000', '\u0007'])
    expect(text.includes(hidden)).toBe(false);
  expect(await evaluate<number>('document.documentElement.scrollWidth')).toBeLessThanOrEqual(1_280);
  for (const request of requests) expect(request.startsWith(url)).toBe(true);
  expect(problems).toEqual([]);
});

test('fields show what is hidden in their text', async () => {
  const app = await hostileApp();
  const { page } = await opened(app, { path: '/approvals' });
  const form = page.getByRole('region', { name: 'Arguments' });
  // The field holds the text itself; how it reads stands below it.
  expect(await form.getByLabel('to', { exact: true }).inputValue()).toContain(turned);
  await form.getByRole('alert').getByText('⟨U+202E⟩gnp.exe⟨U+2066⟩').waitFor();
  await page.screenshot({ path: `${pictures()}/approval-hidden-characters.png` });
  await page.getByText('clerk asks in').getByRole('link').click();
  await page.getByRole('button', { name: /^Fork/ }).first().click();
  await page.getByRole('radio', { name: /Edit the state/ }).check();
  const state = page.getByLabel('State of the session at this event, as JSON');
  const json = await state.inputValue();
  expect(json).toContain('key \\u202Egnp.exe\\u2066');
  expect(Object.keys(JSON.parse(json) as object)).toContain(`key ${turned}`);
  await state.fill(`{"note": "${turned}"}`);
  await page.getByRole('dialog').getByText('⟨U+202E⟩gnp.exe⟨U+2066⟩').waitFor();
});

test('a hostile title is the title of the page, as text', async () => {
  const app = await hostileApp();
  const { page } = await opened(app, { path: paths[0] });
  await page.getByRole('slider', { name: 'Ledger' }).waitFor();
  await expect.poll(() => page.title()).toContain('<script>');
  const title = await page.title();
  expect(title.length).toBeLessThan(200);
  // The picture of the timeline is drawn with it, and saved under a plain name.
  const download = page.waitForEvent('download');
  await page.getByRole('button', { name: 'Save a picture of the timeline' }).click();
  expect((await download).suggestedFilename()).toBe('s-gnp.exe-timeline.png');
  await (await download).saveAs(`${pictures()}/timeline-picture-hostile.png`);
});
