import { type AgentOptions, agent, type Runtime, runtime, tool } from 'adjutant';
import {
  type EnvironmentOptions,
  includeHistory,
  injectEnvironment,
  limitTools,
  promptOf,
} from 'adjutant/context';
import { replay } from 'adjutant/replay';
import { scriptedModel, testClock } from 'adjutant/testing';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';

const start = Date.UTC(2026, 10, 25, 6, 15, 30);
const minute = 60_000;

/** A shop whose tool takes five minutes of the test clock. */
function shop(environment: EnvironmentOptions | undefined, options: Partial<AgentOptions> = {}) {
  const clock = testClock(start);
  const find = tool({
    name: 'orders.find',
    description: 'Finds',
    schema: z.object({}),
    readOnly: true,
    execute: () => {
      clock.advance(5 * minute);
      return 'found';
    },
  });
  const model = scriptedModel((prompt) =>
    prompt.at(-1)?.role === 'user' ? { toolCalls: [{ name: 'orders.find' }] } : { text: 'Done.' },
  );
  const clerk = agent({
    name: 'clerk',
    model,
    tools: [find],
    instructions: 'You are a clerk.',
    context: [injectEnvironment(environment), includeHistory()],
    ...options,
  });
  const app = runtime({
    app: 'shop',
    runnables: [clerk],
    ports: { clock },
    stateSchema: { user: { timeZone: z.string() } },
  });
  /** The second message of each prompt. */
  const told = () => model.calls.map(({ prompt }) => String(prompt[1]?.content));
  return { app, clerk, clock, model, told };
}

describe('injectEnvironment', () => {
  test('tells time and tools behind the instructions, alike in all rounds of a turn', async () => {
    const { app, clerk, clock, model, told } = shop(undefined);
    const { session } = await app.run(clerk, 'Where is it?');
    clock.advance(60 * minute);
    await app.run(clerk, { session, input: 'And now?' });
    const at = (time: string): string =>
      `Current time: Wednesday 2026-11-25 ${time} (time zone of the user: UTC)\n` +
      'Tools that you can use: orders__find';
    expect(told()).toEqual([at('06:15'), at('06:15'), at('07:20'), at('07:20')]);
    expect(model.calls[0]?.prompt.map(({ role }) => role)).toEqual(['system', 'system', 'user']);
  });

  test('tells the time of the newest event with `time: round`', async () => {
    const { app, clerk, told } = shop({ time: 'round', capabilities: false });
    await app.run(clerk, 'Where is it?');
    expect(told()).toEqual([
      'Current time: Wednesday 2026-11-25 06:15 (time zone of the user: UTC)',
      'Current time: Wednesday 2026-11-25 06:20 (time zone of the user: UTC)',
    ]);
  });

  test.each([
    ['Europe/Berlin', 'Wednesday 2026-11-25 07:15', 'Europe/Berlin, UTC+01:00'],
    ['America/New_York', 'Wednesday 2026-11-25 01:15', 'America/New_York, UTC-05:00'],
    ['Asia/Kathmandu', 'Wednesday 2026-11-25 12:00', 'Asia/Kathmandu, UTC+05:45'],
    ['Pacific/Pago_Pago', 'Tuesday 2026-11-24 19:15', 'Pacific/Pago_Pago, UTC-11:00'],
    ['UTC', 'Wednesday 2026-11-25 06:15', 'UTC'],
  ])('tells the time in %s', async (timeZone, time, zone) => {
    const { app, clerk, told } = shop({ timeZone, capabilities: false });
    await app.run(clerk, 'Hi');
    expect(told()[0]).toBe(`Current time: ${time} (time zone of the user: ${zone})`);
  });

  test('reads the zone from the state, and takes UTC for a missing or wrong one', async () => {
    const { app, clerk, told } = shop({
      timeZone: ({ state }) => state['user']?.['timeZone'],
      capabilities: false,
    });
    const session = await app.sessions.open({ id: 's', userId: 'ann' });
    for (const zone of [undefined, 'Asia/Tokyo', 'Nowhere/Town']) {
      if (zone !== undefined) session.state.user.timeZone = zone;
      await app.run(clerk, { session, input: 'Hi' });
    }
    const zones = told().map((text) => /user: ([^,)]+)/.exec(text)?.[1]);
    expect(zones.filter((_, at) => at % 2 === 0)).toEqual(['UTC', 'Asia/Tokyo', 'UTC']);
  });

  test('lists capabilities', async () => {
    const { app, clerk, told } = shop({ time: false, capabilities: ['Find orders', 'Send mail'] });
    await app.run(clerk, 'Hi');
    expect(told()[0]).toBe('What you can do:\n- Find orders\n- Send mail');
  });

  test('lists what a function makes of the prompt', async () => {
    const { app, clerk, told } = shop({
      time: false,
      capabilities: ({ tools, round }) => [`${tools.length} tools in round ${round}`],
    });
    await app.run(clerk, 'Hi');
    expect(told()[0]).toBe('What you can do:\n- 1 tools in round 1');
  });

  test('lists the tools that a renderer before it has left, and nothing without any', async () => {
    const { app, clerk, model } = shop(undefined, {
      context: [
        limitTools([]),
        injectEnvironment({ time: false }),
        injectEnvironment({ time: false, capabilities: false }),
        includeHistory(),
      ],
    });
    await app.run(clerk, 'Hi');
    expect(model.calls[0]?.prompt.map(({ role }) => role)).toEqual(['system', 'user']);
  });

  test.each<EnvironmentOptions>([
    { timeZone: 'Europe/Berlin' },
    { time: 'round', timeZone: ({ state }) => state['user']?.['timeZone'] },
  ])('gives the recorded prompt at a replay, whatever the time is (%#)', async (environment) => {
    const { app, clerk, model } = shop(environment);
    const session = await app.sessions.open({ id: 's', userId: 'ann' });
    session.state.user.timeZone = 'Asia/Tokyo';
    await app.run(clerk, { session, input: 'Where is it?' });
    const prompts = session.events.flatMap((event) =>
      event.type === 'model_start' ? [promptOf(session, event.seq).prompt] : [],
    );
    expect(prompts).toEqual(model.calls.map(({ prompt }) => prompt));
    const later = shop(environment);
    later.clock.advance(1_000 * minute);
    const { divergence, events } = await replay(session, later.app as unknown as Runtime);
    expect(divergence).toBeUndefined();
    expect(events).toBe(session.events.length);
  });

  test.each([
    [
      { timeZone: 'Berlin' },
      "`timeZone` must be the name of a time zone such as 'Europe/Berlin', or a function that " +
        'reads it from the state, not "Berlin"',
    ],
    [{ time: 'now' }, "`time` must be 'turn', 'round' or false, not \"now\""],
    [{ timezone: 'UTC' }, 'there is no option `timezone` (did you mean `timeZone`?)'],
    [
      { capabilities: [1] },
      "`capabilities` must be 'tools', a list of strings, a function that gives one, or false, " +
        'not a list',
    ],
  ])('refuses %j', (options, told) => {
    expect(() => injectEnvironment(options as EnvironmentOptions)).toThrow(
      `injectEnvironment() cannot be set up: ${told}.`,
    );
  });
});
