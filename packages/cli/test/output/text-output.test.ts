import { Writable } from 'node:stream';
import {
  type AgentOptions,
  agent,
  isDurable,
  type Model,
  type RunResult,
  runtime,
  ToolFailure,
  tool,
} from 'adjutant';
import { type ScriptedResponse, scriptedModel, testClock } from 'adjutant/testing';
import { afterEach, expect, test, vi } from 'vitest';
import type { OutputStream } from '../../src/host/host.ts';
import { TextOutput } from '../../src/output/text-output.ts';

/** A stream that keeps what is written, and is a terminal if wanted. */
function recordingStream(isTTY: boolean): OutputStream & { readonly text: () => string } {
  let written = '';
  const stream = new Writable({
    decodeStrings: false,
    write(chunk: string, _encoding, done) {
      written += chunk;
      done();
    },
  });
  return Object.assign(stream, { isTTY, columns: 60, text: () => written });
}

afterEach(() => vi.unstubAllEnvs());

/** Runs a script and shows it as the commands do. */
async function show(
  responses: readonly ScriptedResponse[],
  isLive: boolean,
  more: Partial<Pick<AgentOptions, 'model' | 'tools'>> = {},
): Promise<{ text: string; notices: string; result: RunResult }> {
  vi.stubEnv('FORCE_COLOR', undefined);
  vi.stubEnv('NO_COLOR', undefined);
  const weather = tool({
    name: 'weather',
    description: 'Weather of a city',
    schema: { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] },
    readOnly: true,
    execute: ({ args }) => ({ city: (args as { city: string }).city, sky: 'clear\x1b[2J' }),
  });
  const scripted = scriptedModel(responses);
  const model: Model = {
    kind: 'model',
    provider: 'scripted',
    modelId: 'm',
    settings: { retry: { initialDelayMs: 0 } },
    load: () => scripted,
  };
  const app = runtime({ app: 'test' });
  const session = await app.sessions.open({ id: 'shown' });
  const stream = recordingStream(isLive);
  const notices = recordingStream(isLive);
  const output = new TextOutput({
    stream,
    notices,
    clock: testClock(),
    isLive,
    resolve: session.resolve,
  });
  const run = app.run(agent({ name: 'a', model, tools: [weather], ...more }), {
    input: 'How is it?',
    session,
    onStream: (event) => {
      if (isDurable(event)) output.recorded(event);
      output.streamed(event);
    },
  });
  const result = await run;
  output.ended(result);
  output.close();
  return { text: stream.text(), notices: notices.text(), result };
}

const callWeather: ScriptedResponse = {
  text: 'Let me look.',
  toolCalls: [{ name: 'weather', args: { city: 'Rome' } }],
};

test('without a terminal: text, calls and text in their order, and no control codes', async () => {
  const { text } = await show(
    [callWeather, { chunks: ['It is ', 'clear.\x1b]0;x', '\x07'] }],
    false,
  );
  expect(text.replace(/\(\d+ ms\)/, '(1 ms)').replace(/· [\d.]+ m?s ·/, '· 1 ms ·')).toBe(
    [
      'Let me look.',
      '✓ weather {"city":"Rome"} (1 ms)',
      String.raw`  → city: "Rome", sky: "clear\u001b[2J"`,
      String.raw`It is clear.\u001b]0;x\u0007`,
      '2 rounds · 1 tool call · 20 input + 10 output tokens · 1 ms · session shown',
      '',
    ].join('\n'),
  );
});

test('on a terminal a spinner says what is going on, and is gone in the end', async () => {
  const { text } = await show([callWeather, { text: 'It is clear.' }], true);
  expect(text).toContain('thinking');
  expect(text).toContain('\x1b[2mweather {"city":"Rome"}\x1b[22m');
  const screen = text.split('\n').map((line) => line.slice(line.lastIndexOf('\x1b[2K') + 1));
  expect(screen.join('\n')).not.toMatch(/[⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏]/);
  expect(text).toContain('\x1b[32m✓\x1b[39m weather');
  expect(text.indexOf('Let me look.')).toBeLessThan(text.indexOf('✓'));
  expect(text.lastIndexOf('✓')).toBeLessThan(text.indexOf('It is clear.'));
});

test('an answer that is begun again is said to be', async () => {
  const { text, notices, result } = await show(
    [{ chunks: ['It is ra'], cut: true }, { text: 'It is clear.' }],
    false,
  );
  expect(result.status).toBe('completed');
  expect(text).toMatch(/^It is ra\n\(the model starts its answer again\)\n/);
  expect(text).toContain('\nIt is clear.\n');
  expect(text).not.toContain('!');
  expect(notices).toMatch(/^! .* Trying again\.\n$/);
});

test('a tool that fails is marked, with what it said', async () => {
  const { text } = await show(
    [{ toolCalls: [{ name: 'wether', args: {} }] }, { text: 'There is no such tool.' }],
    false,
  );
  expect(text).toMatch(/✗ wether.*\n {2}→ error_permanent: .*weather/);
});

test('what supervision does about failures is told as it happens', async () => {
  const schema = { type: 'object' as const };
  const failing = (errorType: string, more = {}) =>
    tool({
      name: 'radar',
      description: 'Looks',
      schema,
      readOnly: true,
      execute: () => {
        throw new ToolFailure('Down', { errorType });
      },
      ...more,
    });
  const almanac = tool({
    name: 'almanac',
    description: 'Looks it up',
    schema,
    readOnly: true,
    execute: () => 'rain',
  });
  const call = { toolCalls: [{ name: 'radar' }] };
  const calls = [call, call];
  const told = await show([call, { text: 'Rain.' }], false, {
    tools: [failing('http_403', { fallback: 'almanac' }), almanac],
  });
  expect(told.notices).toBe('! radar failed (http_403). Running almanac in its place.\n');
  expect(told.text).toMatch(/✓ radar.*\n {2}→ rain\n/);

  const looping = await show([...calls, ...calls, { text: 'Nothing.' }], false, {
    tools: [failing('http_410')],
  });
  expect(looping.notices).toBe('! Cut short: it asked again and again for what leads nowhere.\n');

  const spent = scriptedModel([], {
    defaultResponse: { error: Object.assign(new Error('Wrong key'), { statusCode: 401 }) },
    modelId: 'first',
  });
  const { notices } = await show([], false, {
    model: [spent, scriptedModel([{ text: 'Rain.' }], { modelId: 'second' })],
  });
  expect(notices).toMatch(
    /Wrong key\. Trying again\.\n! .*scripted:second is asked from now on\.\n$/,
  );
});
