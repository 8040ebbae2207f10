import { join } from 'node:path';
import { agent, memoryStore, runtime, tool, toolResult } from 'adjutant';
import { roundModel } from 'adjutant/testing';
import { expect, onTestFinished, test } from 'vitest';
import { z } from 'zod';
import { launchChromium, pictures } from './chromium.ts';
import { isReady, openChat, say, shown } from './fixtures/served-chat.ts';

const bars: Readonly<Record<number, number[]>> = { 2024: [3, 5], 2025: [3, 5, 8] };

/** A clerk who looks up sales, and shows them as a chart; its page says which locale it is in. */
function salesApp() {
  const seen: Readonly<Record<number, PromiseWithResolvers<void>>> = {
    2024: Promise.withResolvers(),
    2025: Promise.withResolvers(),
  };
  const sales = tool({
    name: 'sales',
    description: 'Looks up the sales of a year',
    schema: z.object({ year: z.number() }),
    execute: async (ctx) => {
      const { year } = ctx.args;
      ctx.progress({ type: 'data-loading', data: { year } });
      // Transient parts reach those who are there while the call is under way.
      await seen[year]?.promise;
      const parts = [
        { type: 'data-chart', id: 'sales', data: { bars: bars[year] ?? [] } },
        { type: 'data-year', data: year },
      ];
      return toolResult.success('12 months', {
        metadata: { ui: { parts, metadata: { sources: [`erp ${year}`] } } },
      });
    },
  });
  const model = roundModel([
    { toolCalls: [{ name: 'sales', args: { year: 2024 } }] },
    { toolCalls: [{ name: 'sales', args: { year: 2025 } }] },
    { text: 'Here they are.' },
    { text: 'You are welcome.' },
  ]);
  const input = z.object({ locale: z.enum(['de', 'fr']) });
  const clerk = agent({ name: 'clerk', model, tools: [sales], input });
  const app = runtime({ app: 'shop', store: memoryStore(), runnables: [clerk] });
  return { app, model, see: (year: number) => seen[year]?.resolve() };
}

test('a page shows data parts and metadata of the app, and sends fields of its own', {
  timeout: 120_000,
}, async ({ skip }) => {
  const browser = await launchChromium(skip);
  onTestFinished(() => browser.close());
  const { app, model, see } = salesApp();
  const { watched } = await openChat(browser, app, 'chat-3');
  const { page } = watched;
  await isReady(watched);

  // Another field than the schema of the app takes is a refusal, and no run begins.
  const locale = page.getByLabel('Locale');
  await locale.fill('english');
  await say(watched, 'Show me the sales');
  const refusal = page.getByRole('alert');
  await refusal.waitFor();
  expect(await refusal.textContent()).toContain('locale');
  expect((await app.sessions.list()).sessions).toEqual([]);
  expect(model.calls).toEqual([]);

  await locale.fill('de');
  await say(watched, 'Show me the sales of both years');
  await page.getByText('Loading 2024').waitFor();
  await page.screenshot({ path: join(pictures(), 'use-chat-loading.png'), fullPage: true });
  see(2024);
  await page.getByText('Loading 2025').waitFor();
  see(2025);
  await page.getByText('Here they are.').waitFor();
  await isReady(watched);
  expect(await page.getByRole('alert').count()).toBe(0);
  expect(JSON.stringify(model.calls[0]?.prompt)).toContain('locale');
  expect(await page.locator('small').allTextContents()).toEqual(['Loading 2024', 'Loading 2025']);
  await page.screenshot({ path: join(pictures(), 'use-chat-parts.png'), fullPage: true });

  const call = (year: number) => `tool-sales {"year":${year}} output-available "12 months"`;
  // A part of the same type and id has taken the place of the earlier one.
  const answer = [
    `${call(2024)} | data-chart {"bars":[3,5,8]} | data-year 2024`,
    `${call(2025)} | data-year 2025 | Here they are. | Sources: erp 2025`,
  ].join(' | ');
  expect((await shown(watched)).at(-1)).toBe(answer);

  await page.reload();
  await page.getByText('Here they are.').waitFor();
  await isReady(watched);
  expect(await shown(watched)).toEqual(['Show me the sales of both years', answer]);
  // Transient parts are for those who were there.
  expect(await page.locator('small').count()).toBe(0);

  await locale.fill('fr');
  await say(watched, 'Thanks');
  await page.getByText('You are welcome.').waitFor();
  expect((await shown(watched)).slice(1)).toEqual([answer, 'Thanks', 'You are welcome.']);
});
