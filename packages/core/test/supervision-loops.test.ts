import { agent, explain, run, runtime, type SupervisionOptions } from 'adjutant';
import { testClock } from 'adjutant/testing';
import { describe, expect, test } from 'vitest';
import { blockedPage, counting, forbidden, loopDecisions, settledResults, stubbornModel } from './stubborn.ts';

describe('a page that answers 403 every time', () => {
  test('is fetched in every round where nobody watches', async () => {
    const { reader, entered } = blockedPage({ supervision: false, limits: { rounds: 25 } });
    const result = await run(reader(), { input: 'Summarise the page' });
    expect(entered).toHaveLength(25);
    expect(result).toMatchObject({ status: 'completed', stopReason: 'round_limit' });
  });

  test('is fetched twice by default, and the run ends with an answer', async () => {
    const { reader, entered } = blockedPage();
    const result = await run(reader(), { input: 'Summarise the page' });
    expect(entered.length).toBeLessThanOrEqual(2);
    expect(result).toMatchObject({ status: 'completed', stopReason: 'loop', output: 'I could not read the page.' });
    // Two rounds that were let through, two to find another way, and the answer.
    expect(result.rounds).toBe(5);
    const blocks = loopDecisions(result.session.events).filter(({ decision }) => decision === 'block');
    expect(blocks).toHaveLength(2);
    for (const { reasoning, alternatives } of blocks) {
      expect(reasoning).toMatch(/fetch_page was called for the 3rd time/);
      expect(alternatives?.length).toBeGreaterThan(0);
    }
    const vetoes = settledResults(result.session.events).filter(({ attempt }) => attempt === 0);
    expect(vetoes.map(({ result: { status, errorType } }) => [status, errorType])).toEqual(Array(2).fill(['error_blocked', 'loop_blocked']));
  });

  test('is no used up limit for people: what is told is that no tools may be called any more, and why', async () => {
    const { reader } = blockedPage();
    const { session } = await run(reader(), { input: 'Summarise the page' });
    const [told] = explain(session, { components: ['limits'] });
    expect(told).toMatchObject({
      what: 'reader may not call tools any more.',
      alternatives: ['fail'],
      why: expect.stringContaining('not made any more'),
    });
  });

  test('ends with an account of what was tried when the model has nothing to say', async () => {
    const { reader, entered } = blockedPage({}, '');
    const result = await run(reader(), { input: 'Summarise the page' });
    expect(entered.length).toBeLessThanOrEqual(2);
    expect(result).toMatchObject({ status: 'completed', stopReason: 'loop' });
    expect(result.output).toMatch(/fetch_page failed \(http_403\)/);
  });

  test('is fetched again in the next run, because a message may be reason to, and once only', async () => {
    const { reader, entered } = blockedPage();
    const app = runtime({ app: 'loops' });
    const session = await app.session();
    const same = reader();
    await app.run(same, { session, input: 'Summarise the page' });
    const before = entered.length;
    const again = await app.run(same, { session, input: 'Please try again' });
    expect(entered).toHaveLength(before + 1);
    expect(again).toMatchObject({ status: 'completed', stopReason: 'loop' });
  });

  test('is asked for several times in one round', async () => {
    const page = counting('fetch_page', forbidden);
    const same = { name: 'fetch_page', args: { url: 'a' } };
    const model = stubbornModel(() => [same, same, same, same]);
    const result = await run(agent({ name: 'reader', model, tools: [page.tool] }), { input: 'Go' });
    // Nothing is known of the calls of the first round when they are made.
    expect(page.entered.length).toBeLessThanOrEqual(4);
    expect(result).toMatchObject({ status: 'completed', stopReason: 'loop', output: 'I could not read the page.' });
  });

  test('does not keep a model from another page that heeds what it is told', async () => {
    const page = counting('fetch_page', (args) => ((args as { url: string }).url === 'b' ? 'The page' : forbidden()));
    const model = stubbornModel((round) => [{ name: 'fetch_page', args: { url: round < 3 ? 'a' : `b` } }]);
    const result = await run(agent({ name: 'reader', model, tools: [page.tool], limits: { rounds: 4 } }), { input: 'Go' });
    expect(page.entered.at(-1)).toEqual({ url: 'b' });
    expect(result.stopReason).toBe('round_limit');
  });
});

describe('a message that comes meanwhile', () => {
  /** Rounds in which the page was really asked for, when a message comes at some moment. */
  async function roundsOf(at: { readonly attempt?: number; readonly model?: number }): Promise<readonly number[]> {
    const rounds: number[] = [];
    const app = runtime({ app: 'loops' });
    const session = await app.session();
    const page = counting('fetch_page', (_args, times) => {
      if (times === at.attempt) session.addMessage('I have mended it');
      return forbidden();
    });
    const model = stubbornModel((round) => {
      if (round + 1 === at.model) session.addMessage('I have mended it');
      return [{ name: 'fetch_page', args: { url: 'a' } }];
    });
    const result = await app.run(agent({ name: 'reader', model, tools: [page.tool] }), { session, input: 'Go' });
    expect(result.stopReason).toBe('loop');
    for (const { callId, attempt } of settledResults(session.events)) if (attempt > 0) rounds.push(Number(/r(\d+)\.0$/.exec(callId)?.[1]));
    return rounds;
  }

  test('is reason for one more call by a model that has read it', async () => {
    expect(await roundsOf({})).toEqual([1, 2]);
    // The call of the second round was made before.
    expect(await roundsOf({ attempt: 2 })).toEqual([1, 2, 3]);
  });

  test('changes nothing about a call that the model makes without having read it', async () => {
    expect(await roundsOf({ model: 3 })).toEqual([1, 2, 4]);
  });
});

test('a run that is reopened may look again, because somebody outside wants it to', async () => {
  const { reader, entered } = blockedPage({ supervision: { loops: { onLoop: 'fail' } } });
  const made = reader();
  const app = runtime({ app: 'loops', runnables: [made] });
  const failed = await app.run(made, { session: 's', input: 'Go' });
  expect(failed).toMatchObject({ status: 'error', error: { code: 'loop_detected' } });
  expect(entered).toHaveLength(2);
  await app.reopen('s', { reason: 'The page is there now.' });
  const again = await app.resume('s');
  expect(entered).toHaveLength(3);
  expect(again).toMatchObject({ status: 'error', error: { code: 'loop_detected' } });
});

describe('calls that succeed and lead nowhere', () => {
  test('the third is warned of, the fifth is not made', async () => {
    const look = counting('look', () => 'nothing new');
    const model = stubbornModel(() => [{ name: 'look' }], 'Nothing is new.');
    const result = await run(agent({ name: 'looker', model, tools: [look.tool] }), { input: 'Go' });
    expect(look.entered).toHaveLength(4);
    expect(result).toMatchObject({ status: 'completed', stopReason: 'loop', output: 'Nothing is new.' });
    const decisions = loopDecisions(result.session.events);
    expect(decisions.map(({ decision }) => decision)).toEqual(['warn', 'warn', 'block', 'block']);
    for (const { reasoning, alternatives } of decisions) {
      expect(reasoning).toContain('look was called');
      expect(alternatives?.length).toBeGreaterThan(0);
    }
    // The warning stands in the result, where the model reads it.
    const third = settledResults(result.session.events)[2];
    expect(third?.notes?.join()).toContain('3rd call of look');
    expect(JSON.stringify(model.calls[3]?.prompt.at(-1))).toContain('3rd call of look');
  });

  test('two calls by turns', async () => {
    const up = counting('up', () => 'too high');
    const down = counting('down', () => 'too low');
    const model = stubbornModel((round) => [{ name: round % 2 ? 'down' : 'up' }]);
    const result = await run(agent({ name: 'tuner', model, tools: [up.tool, down.tool] }), { input: 'Go' });
    expect([up.entered.length, down.entered.length]).toEqual([4, 4]);
    expect(result).toMatchObject({ status: 'completed', stopReason: 'loop' });
    const blocks = loopDecisions(result.session.events).filter(({ decision }) => decision === 'block');
    expect(blocks.map(({ data }) => data?.['detector'])).toEqual(['ping_pong', 'ping_pong']);
  });

  test('polling with the same answer but for the time', async () => {
    const clock = testClock();
    const status = counting('status', () => {
      clock.advance(1_000);
      return { state: 'running', checkedAt: new Date(clock.now()).toISOString() };
    });
    const model = stubbornModel(() => [{ name: 'status' }]);
    const app = runtime({ app: 'loops', ports: { clock } });
    const result = await app.run(agent({ name: 'poller', model, tools: [status.tool] }), { input: 'Go' });
    expect(status.entered).toHaveLength(4);
    expect(result.stopReason).toBe('loop');
  });

  test('polling with an answer that changes is warned of at ten and ends at twenty', async () => {
    const status = counting('status', (_args, times) => ({ state: 'running', percent: times }));
    const model = stubbornModel(() => [{ name: 'status' }]);
    const result = await run(agent({ name: 'poller', model, tools: [status.tool] }), { input: 'Go' });
    expect(status.entered).toHaveLength(19);
    expect(result).toMatchObject({ status: 'completed', stopReason: 'loop' });
    const first = loopDecisions(result.session.events)[0];
    expect(first).toMatchObject({ decision: 'warn', data: { detector: 'poll', count: 10 } });
  });

  test('a tool that does not exist, with other arguments each time', async () => {
    const model = stubbornModel((round) => [{ name: 'imaginary', args: { round } }]);
    const look = counting('look', () => 'x');
    const result = await run(agent({ name: 'dreamer', model, tools: [look.tool] }), { input: 'Go' });
    expect(result).toMatchObject({ status: 'completed', stopReason: 'loop', output: 'I could not read the page.' });
    expect(look.entered).toEqual([]);
    expect(result.rounds).toBeLessThanOrEqual(7);
    expect(loopDecisions(result.session.events).some(({ decision }) => decision === 'block')).toBe(true);
  });

  test('arguments that do not fit, again and again', async () => {
    const look = counting('look', () => 'x', { schema: { type: 'object', properties: { page: { type: 'number' } }, required: ['page'] } });
    const model = stubbornModel(() => [{ name: 'look', args: { page: 'one' } }]);
    const result = await run(agent({ name: 'looker', model, tools: [look.tool] }), { input: 'Go' });
    expect(look.entered).toEqual([]);
    expect(result).toMatchObject({ status: 'completed', stopReason: 'loop' });
    expect(result.rounds).toBeLessThanOrEqual(6);
  });
});

describe('options', () => {
  const looking = (supervision?: SupervisionOptions, name = 'looker') => {
    const look = counting('look', () => 'nothing new');
    const model = stubbornModel(() => [{ name: 'look' }]);
    return { looker: agent({ name, model, tools: [look.tool], ...(supervision === undefined ? {} : { supervision }) }), entered: look.entered };
  };

  test('thresholds of the agent', async () => {
    const { looker, entered } = looking({ loops: { warnAt: 2, blockAt: 3 } });
    const result = await run(looker, { input: 'Go' });
    expect(entered).toHaveLength(2);
    expect(loopDecisions(result.session.events)[0]).toMatchObject({ decision: 'warn', data: { count: 2 } });
  });

  test('thresholds of the runtime, and the agent that knows better', async () => {
    const app = runtime({ app: 'loops', supervision: { loops: { warnAt: 2, blockAt: 2 } } });
    const shared = looking();
    await app.run(shared.looker, { input: 'Go' });
    expect(shared.entered).toHaveLength(1);
    const own = looking({ loops: { blockAt: 4 } }, 'own');
    const result = await app.run(own.looker, { input: 'Go' });
    expect(own.entered).toHaveLength(3);
    // What the agent does not say is what the runtime says.
    expect(loopDecisions(result.session.events)[0]).toMatchObject({ decision: 'warn', data: { count: 2 } });
  });

  test('a runtime that does not watch, and an agent that is watched all the same', async () => {
    const app = runtime({ app: 'loops', supervision: false });
    const shared = looking();
    const all = await app.run(shared.looker, { input: 'Go' });
    expect(shared.entered).toHaveLength(25);
    expect(loopDecisions(all.session.events)).toEqual([]);
    const own = looking({ loops: {} }, 'own');
    await app.run(own.looker, { input: 'Go' });
    expect(own.entered).toHaveLength(4);
  });

  test('onLoop: fail', async () => {
    const { looker, entered } = looking({ loops: { onLoop: 'fail' } });
    const result = await run(looker, { input: 'Go' });
    expect(result).toMatchObject({ status: 'error', stopReason: 'loop', error: { code: 'loop_detected' } });
    expect(entered).toHaveLength(4);
  });

  test('loops: false leaves the rest on', async () => {
    const { looker, entered } = looking({ loops: false });
    expect(await run(looker, { input: 'Go' })).toMatchObject({ stopReason: 'round_limit' });
    expect(entered).toHaveLength(25);
  });
});
