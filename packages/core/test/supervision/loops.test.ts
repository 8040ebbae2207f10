import {
  type AgentOptions,
  agent,
  type JsonValue,
  openai,
  runtime,
  type Session,
  type SupervisionOptions,
} from 'adjutant';
import { model, roundModel, runTest, type TestStep, testClock, user } from 'adjutant/testing';
import { explain } from 'adjutant/views';
import { describe, expect, test } from 'vitest';
import { countedTool, forbidden } from '../counted-tool.ts';

type Calls = readonly { readonly name: string; readonly args?: JsonValue }[];

const asks = (...toolCalls: Calls): TestStep => model({ toolCalls });
/**
 * The same in each of so many rounds, or what a function makes of the number of the round, from 0.
 */
const rounds = (count: number, calls: Calls | ((round: number) => Calls)): TestStep[] =>
  Array.from({ length: count }, (_, round) =>
    asks(...(typeof calls === 'function' ? calls(round) : calls)),
  );
const gives = 'I could not read the page.';
const page = { name: 'fetch_page', args: { url: 'https://page.example' } };
const decisionsOf = (run: Pick<Session, 'events'>) =>
  explain(run.events, { components: ['loop_detector'] });
const settledResults = ({ events }: Pick<Session, 'events'>) =>
  events.filter((event) => event.type === 'tool_result').filter(({ settled }) => settled);

/** A page that answers 403 every time, and an agent that reads it. */
function blockedPage(options: Partial<AgentOptions> = {}) {
  const { tool, entered } = countedTool('fetch_page', forbidden);
  return {
    reader: agent({ name: 'reader', model: openai('gpt-5'), tools: [tool], ...options }),
    entered,
  };
}

describe('a page that answers 403 every time', () => {
  test('is fetched in every round where nobody watches', async () => {
    const { reader, entered } = blockedPage({ supervision: false, limits: { rounds: 25 } });
    const { result } = await runTest(reader, [
      user('Summarise the page'),
      ...rounds(25, [page]),
      model(gives),
    ]);
    expect(entered).toHaveLength(25);
    expect(result).toMatchObject({ status: 'completed', stopReason: 'round_limit' });
  });

  test('is fetched twice by default, and the run ends with an answer', async () => {
    const { reader, entered } = blockedPage();
    // Two rounds that are let through, two to find another way, and the answer.
    const run = await runTest(reader, [
      user('Summarise the page'),
      ...rounds(4, [page]),
      model(gives),
    ]);
    expect(entered).toHaveLength(2);
    expect(run.result).toMatchObject({
      status: 'completed',
      stopReason: 'loop',
      output: gives,
      rounds: 5,
    });
    expect(run.calls.at(-1)?.options.toolChoice).toEqual({ type: 'none' });
    const blocks = decisionsOf(run).filter(({ decision }) => decision === 'block');
    expect(blocks).toHaveLength(2);
    for (const { why, alternatives } of blocks) {
      expect(why).toMatch(/fetch_page was called for the 3rd time/);
      expect(alternatives.length).toBeGreaterThan(0);
    }
    const vetoes = settledResults(run).filter(({ attempt }) => attempt === 0);
    expect(vetoes.map(({ result: { status, errorType } }) => [status, errorType])).toEqual(
      Array(2).fill(['error_blocked', 'loop_blocked']),
    );
  });

  test(
    'is no used up limit for people: what is told is that no tools may be called any more, ' +
      'and why',
    async () => {
      const { session } = await runTest(blockedPage().reader, [
        user('Summarise the page'),
        ...rounds(4, [page]),
        model(gives),
      ]);
      const [told] = explain(session, { components: ['limits'] });
      expect(told).toMatchObject({
        what: 'reader may not call tools any more.',
        alternatives: ['fail'],
        why: expect.stringContaining('not made any more'),
      });
    },
  );

  test('ends with an account of what was tried when the model has nothing to say', async () => {
    const { reader, entered } = blockedPage();
    const { result } = await runTest(reader, [
      user('Summarise the page'),
      ...rounds(4, [page]),
      model(''),
    ]);
    expect(entered).toHaveLength(2);
    expect(result).toMatchObject({ status: 'completed', stopReason: 'loop' });
    expect(result.output).toMatch(/fetch_page failed \(http_403\)/);
  });

  test(
    'is fetched again in the next run, because a message may be reason to, and ' + 'once only',
    async () => {
      const { reader, entered } = blockedPage();
      const first = [user('Summarise the page'), ...rounds(4, [page]), model(gives)];
      const { results } = await runTest(reader, [
        ...first,
        user('Please try again'),
        ...rounds(3, [page]),
        model(gives),
      ]);
      expect(entered).toHaveLength(3);
      expect(results).toMatchObject([
        { stopReason: 'loop' },
        { status: 'completed', stopReason: 'loop' },
      ]);
    },
  );

  test('is asked for several times in one round', async () => {
    const { reader, entered } = blockedPage();
    const { result } = await runTest(reader, [
      user('Go'),
      ...rounds(3, [page, page, page, page]),
      model(gives),
    ]);
    // Nothing is known of the calls of the first round when they are made.
    expect(entered).toHaveLength(4);
    expect(result).toMatchObject({ status: 'completed', stopReason: 'loop', output: gives });
  });

  test('does not keep a model from another page that heeds what it is told', async () => {
    const { tool, entered } = countedTool('fetch_page', (args) =>
      (args as { url: string }).url === 'b' ? 'The page' : forbidden(),
    );
    const reader = agent({
      name: 'reader',
      model: openai('gpt-5'),
      tools: [tool],
      limits: { rounds: 4 },
    });
    const script = rounds(4, (round) => [
      { name: 'fetch_page', args: { url: round < 3 ? 'a' : 'b' } },
    ]);
    const { result } = await runTest(reader, [user('Go'), ...script, model(gives)]);
    expect(entered.at(-1)).toEqual({ url: 'b' });
    expect(result.stopReason).toBe('round_limit');
  });
});

describe('a message that comes meanwhile', () => {
  /** Rounds in which the page was really asked for. */
  async function roundsOf(
    steps: readonly TestStep[],
    inAttempt?: number,
  ): Promise<readonly number[]> {
    let session: Session | undefined;
    const { tool } = countedTool('fetch_page', (_args, times) => {
      if (times === inAttempt) session?.addMessage('I have mended it');
      return forbidden();
    });
    const reader = agent({ name: 'reader', model: openai('gpt-5'), tools: [tool] });
    const run = await runTest(reader, [user('Go'), ...steps, model(gives)], {
      prepare: (made) => {
        session = made;
      },
    });
    expect(run.result.stopReason).toBe('loop');
    return settledResults(run).flatMap(({ callId, attempt }) =>
      attempt > 0 ? [Number(/r(\d+)\.0$/.exec(callId)?.[1])] : [],
    );
  }

  test('is reason for one more call by a model that has read it', async () => {
    expect(await roundsOf(rounds(4, [page]))).toEqual([1, 2]);
    // The call of the second round was made before.
    expect(await roundsOf(rounds(5, [page]), 2)).toEqual([1, 2, 3]);
  });

  test('changes nothing about a call that the model makes without having read it', async () => {
    expect(
      await roundsOf([...rounds(2, [page]), user('I have mended it'), ...rounds(4, [page])]),
    ).toEqual([1, 2, 4]);
  });
});

test('a run that is reopened may look again, because somebody outside wants it to', async () => {
  const { tool, entered } = countedTool('fetch_page', forbidden);
  const made = agent({
    name: 'reader',
    model: roundModel([{ toolCalls: [page] }]),
    tools: [tool],
    supervision: { loops: { onLoop: 'fail' } },
  });
  const app = runtime({ app: 'loops', runnables: [made] });
  const failed = await app.run(made, { session: 's', input: 'Go' });
  expect(failed).toMatchObject({ status: 'error', error: { code: 'loop_detected' } });
  expect(entered).toHaveLength(2);
  await app.sessions.reopen('s', { reason: 'The page is there now.' });
  const again = await app.resume('s');
  expect(entered).toHaveLength(3);
  expect(again).toMatchObject({ status: 'error', error: { code: 'loop_detected' } });
});

describe('calls that succeed and lead nowhere', () => {
  const worker = (...tools: readonly ReturnType<typeof countedTool>[]) =>
    agent({ name: 'worker', model: openai('gpt-5'), tools: tools.map(({ tool }) => tool) });

  test('the third is warned of, the fifth is not made', async () => {
    const look = countedTool('look', () => 'nothing new');
    const run = await runTest(worker(look), [
      user('Go'),
      ...rounds(6, [{ name: 'look' }]),
      model('Nothing is new.'),
    ]);
    expect(look.entered).toHaveLength(4);
    expect(run.result).toMatchObject({
      status: 'completed',
      stopReason: 'loop',
      output: 'Nothing is new.',
    });
    const decisions = decisionsOf(run);
    expect(decisions.map(({ decision }) => decision)).toEqual(['warn', 'warn', 'block', 'block']);
    for (const { why, alternatives } of decisions) {
      expect(why).toContain('look was called');
      expect(alternatives.length).toBeGreaterThan(0);
    }
    // The warning stands in the result, where the model reads it.
    const third = settledResults(run)[2];
    expect(third?.notes?.join()).toContain('3rd call of look');
    expect(JSON.stringify(run.prompts[3]?.at(-1))).toContain('3rd call of look');
  });

  test('two calls by turns', async () => {
    const up = countedTool('up', () => 'too high');
    const down = countedTool('down', () => 'too low');
    const script = rounds(10, (round) => [{ name: round % 2 ? 'down' : 'up' }]);
    const run = await runTest(worker(up, down), [user('Go'), ...script, model('done')]);
    expect([up.entered.length, down.entered.length]).toEqual([4, 4]);
    expect(run.result).toMatchObject({ status: 'completed', stopReason: 'loop' });
    const blocks = decisionsOf(run).filter(({ decision }) => decision === 'block');
    expect(blocks.map(({ data }) => data?.['detector'])).toEqual(['ping_pong', 'ping_pong']);
  });

  test('polling with the same answer but for the time', async () => {
    const clock = testClock();
    const status = countedTool('status', () => {
      clock.advance(1_000);
      return { state: 'running', checkedAt: new Date(clock.now()).toISOString() };
    });
    const { result } = await runTest(
      worker(status),
      [user('Go'), ...rounds(6, [{ name: 'status' }]), model('done')],
      { clock },
    );
    expect(status.entered).toHaveLength(4);
    expect(result.stopReason).toBe('loop');
  });

  test('polling with an answer that changes is warned of at ten and ends at twenty', async () => {
    const status = countedTool('status', (_args, times) => ({ state: 'running', percent: times }));
    const run = await runTest(worker(status), [
      user('Go'),
      ...rounds(21, [{ name: 'status' }]),
      model('done'),
    ]);
    expect(status.entered).toHaveLength(19);
    expect(run.result).toMatchObject({ status: 'completed', stopReason: 'loop' });
    expect(decisionsOf(run)[0]).toMatchObject({
      decision: 'warn',
      data: { detector: 'poll', count: 10 },
    });
  });

  test('a tool that does not exist, with other arguments each time', async () => {
    const look = countedTool('look', () => 'x');
    const script = rounds(4, (round) => [{ name: 'imaginary', args: { round } }]);
    const run = await runTest(worker(look), [user('Go'), ...script, model(gives)]);
    expect(run.result).toMatchObject({ status: 'completed', stopReason: 'loop', output: gives });
    expect(look.entered).toEqual([]);
    expect(run).toHaveDecision({ component: 'loop_detector', decision: 'block' });
  });

  test('arguments that do not fit, again and again', async () => {
    const look = countedTool('look', () => 'x', {
      schema: { type: 'object', properties: { page: { type: 'number' } }, required: ['page'] },
    });
    const { result } = await runTest(worker(look), [
      user('Go'),
      ...rounds(4, [{ name: 'look', args: { page: 'one' } }]),
      model(gives),
    ]);
    expect(look.entered).toEqual([]);
    expect(result).toMatchObject({ status: 'completed', stopReason: 'loop' });
  });
});

describe('options', () => {
  const look = [{ name: 'look' }];
  const looking = (supervision?: SupervisionOptions) => {
    const { tool, entered } = countedTool('look', () => 'nothing new');
    return {
      looker: agent({
        name: 'looker',
        model: openai('gpt-5'),
        tools: [tool],
        ...(supervision === undefined ? {} : { supervision }),
      }),
      entered,
    };
  };

  test('thresholds of the agent', async () => {
    const { looker, entered } = looking({ loops: { warnAt: 2, blockAt: 3 } });
    const run = await runTest(looker, [user('Go'), ...rounds(4, look), model('done')]);
    expect(entered).toHaveLength(2);
    expect(decisionsOf(run)[0]).toMatchObject({ decision: 'warn', data: { count: 2 } });
  });

  test('thresholds of the runtime, and the agent that knows better', async () => {
    const options = { runtime: { supervision: { loops: { warnAt: 2, blockAt: 2 } } } };
    const shared = looking();
    await runTest(shared.looker, [user('Go'), ...rounds(3, look), model('done')], options);
    expect(shared.entered).toHaveLength(1);
    const own = looking({ loops: { blockAt: 4 } });
    const run = await runTest(own.looker, [user('Go'), ...rounds(5, look), model('done')], options);
    expect(own.entered).toHaveLength(3);
    // Options that the agent leaves out are those of the runtime.
    expect(decisionsOf(run)[0]).toMatchObject({ decision: 'warn', data: { count: 2 } });
  });

  test('a runtime that does not watch, and an agent that is watched all the same', async () => {
    const options = { runtime: { supervision: false as const } };
    const shared = looking();
    const all = await runTest(
      shared.looker,
      [user('Go'), ...rounds(25, look), model('done')],
      options,
    );
    expect(shared.entered).toHaveLength(25);
    expect(all).not.toHaveDecision({ component: 'loop_detector' });
    const own = looking({ loops: {} });
    await runTest(own.looker, [user('Go'), ...rounds(6, look), model('done')], options);
    expect(own.entered).toHaveLength(4);
  });

  test('onLoop: fail', async () => {
    const { looker, entered } = looking({ loops: { onLoop: 'fail' } });
    const { result } = await runTest(looker, [user('Go'), ...rounds(6, look)]);
    expect(result).toMatchObject({
      status: 'error',
      stopReason: 'loop',
      error: { code: 'loop_detected' },
    });
    expect(entered).toHaveLength(4);
  });

  test('loops: false leaves the rest on', async () => {
    const { looker, entered } = looking({ loops: false });
    const { result } = await runTest(looker, [user('Go'), ...rounds(25, look), model('done')]);
    expect(result.stopReason).toBe('round_limit');
    expect(entered).toHaveLength(25);
  });
});
