import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { fileURLToPath } from 'node:url';
import { apiKeys, serve } from '@adjutant/server';
import { agent, memoryStore, runtime } from 'adjutant';
import { scriptedModel } from 'adjutant/testing';
import { rolldown } from 'rolldown';
import { expect, onTestFinished, test } from 'vitest';
import { launchChromium, watchedPage } from './chromium.ts';

const words = Array.from({ length: 40 }, (_, index) => `word${index} `);

/** The client as one module for pages. */
async function bundledClient(): Promise<string> {
  const input = fileURLToPath(import.meta.resolve('@adjutant/server/client'));
  const bundle = await rolldown({ input, platform: 'browser' });
  const { output } = await bundle.generate({ format: 'esm' });
  await bundle.close();
  return output[0].code;
}

/** A page of an origin of its own. */
async function hostedPage(): Promise<string> {
  const client = await bundledClient();
  const site = createServer(({ url }, response) => {
    const isScript = url === '/client.js';
    response
      .writeHead(200, { 'content-type': isScript ? 'text/javascript' : 'text/html' })
      .end(isScript ? client : '<!doctype html><title>Shop</title><p>');
  }).listen(0, '127.0.0.1');
  await once(site, 'listening');
  onTestFinished(() => void site.close());
  return `http://127.0.0.1:${(site.address() as AddressInfo).port}`;
}

test('a page of another origin starts a run and misses nothing of it, also when the server is ' +
  'restarted meanwhile', {
  timeout: 60_000,
}, async ({ skip }) => {
  const browser = await launchChromium(skip);
  onTestFinished(() => browser.close());
  const origin = await hostedPage();
  const clerk = agent({
    name: 'clerk',
    model: scriptedModel(() => ({ chunks: words, chunkDelayMs: 25 })),
  });
  const app = runtime({ app: 'shop', store: memoryStore(), runnables: [clerk] });
  onTestFinished(() => app.close());
  const { credential } = await apiKeys(app).create({
    name: 'page',
    roles: ['operator'],
    user: 'ann',
  });
  const options = { auth: { keys: true }, cors: { origins: [origin] } };
  const first = await serve(app, { ...options, port: 0 });

  const watched = await watchedPage(browser);
  await watched.page.goto(origin);
  await watched.evaluate(`void (async () => {
    const { client, noText, streamedText } = await import('/client.js');
    const run = client({ url: '${first.url}', key: '${credential}', retry: { initialDelayMs: 20, maxDelayMs: 50 } }).runs.start({ agent: 'clerk', input: 'Hi' });
    const seen = [];
    let texts = noText;
    for await (const event of run) {
      texts = streamedText(texts, event);
      document.querySelector('p').textContent = [...texts.values()].at(-1)?.text ?? '';
      if (event.seq) seen.push(event);
    }
    const { session } = await run.accepted();
    window.outcome = { session, seen, run: await run };
  })().catch((error) => { window.outcome = { error: String(error) }; })`);
  await watched.page.getByText('word5').waitFor();
  await first.close();
  const second = await serve(app, { ...options, port: first.port });
  onTestFinished(() => second.close());
  await watched.page.waitForFunction('window.outcome !== undefined');

  const outcome = await watched.evaluate<{
    error?: string;
    session: string;
    seen: unknown[];
    run: { status: string; output: string };
  }>('window.outcome');
  expect(outcome.error).toBeUndefined();
  expect(outcome.run).toMatchObject({ status: 'completed', output: words.join('') });
  const ledger: unknown[] = [];
  for await (const event of app.sessions.events(outcome.session)) ledger.push(event);
  expect(outcome.seen).toEqual(ledger.slice(-outcome.seen.length));
  expect(await watched.page.locator('p').textContent()).toBe(words.join(''));
  // Only what a restart takes from a page: connections that are cut off or refused.
  expect(
    watched.problems.filter(
      (problem) =>
        !/^failed: |ERR_(CONNECTION_REFUSED|INCOMPLETE_CHUNKED_ENCODING|CONNECTION_RESET)/.test(
          problem,
        ),
    ),
  ).toEqual([]);
});
