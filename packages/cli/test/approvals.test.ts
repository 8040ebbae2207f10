import { describe, expect, test } from 'vitest';
import { startChatServer } from './chat-server.ts';
import { type Bench, bench, jsonLines } from './run-cli.ts';

const waiting = 3;

/** A run that waits for leave to calculate. Gives the id of its request. */
async function startWaiting(
  { run }: Bench,
  session = 'sum',
  goal = 'What is 12 * 12?',
): Promise<string> {
  const { code, stdout } = await run([
    '--json',
    '--ask-before',
    'calculate',
    '--session',
    session,
    goal,
  ]);
  const last = jsonLines(stdout).at(-1) as {
    type: string;
    status: string;
    pendingCalls: { requestId: string }[];
  };
  expect({ code, last }).toMatchObject({
    code: waiting,
    last: { type: 'result', status: 'yielded', awaitingInput: false },
  });
  return last.pendingCalls[0]?.requestId as string;
}

async function eventsOf({ run }: Bench, session: string): Promise<Record<string, unknown>[]> {
  return jsonLines((await run(['show', session, '--events', '--json'])).stdout);
}

describe('a run that waits for approval', () => {
  test(
    'says for what and how to answer, here and in show, and goes on when it is approved from ' +
      'another terminal',
    async () => {
      const place = bench();
      const { run } = place;
      const asked = await run([
        '--ask-before',
        'calculate',
        '--session',
        'sum',
        '--model',
        'rehearsal',
        'What is 12 * 12?',
      ]);
      expect(asked.code).toBe(waiting);
      const [{ requestId }] = jsonLines((await run(['approvals', '--json'])).stdout) as [
        { requestId: string },
      ];
      const shown = await run(['show', 'sum']);
      for (const [stdout, options] of [
        [asked.stdout, ' --model rehearsal'],
        [shown.stdout, ''],
      ] as const) {
        expect(stdout).toMatch(
          /^\? asks for approval: calculate\(\{"expression":"12 \* 12"\}\), until \d{4}-\d\d-\d\d \d\d:\d\d:\d\d$/m,
        );
        expect(stdout).toContain(`  adjutant approve ${requestId}${options}\n`);
        expect(stdout).toContain(
          `  adjutant edit ${requestId} '{"expression":"12 * 12"}'${options}\n`,
        );
        expect(stdout).toContain(`  adjutant reject ${requestId}${options}\n`);
      }
      expect(shown.stdout).toContain('sum · awaiting input');
      expect((await run(['approvals'])).stdout).toMatch(
        new RegExp(
          `^${requestId} +sum +approval +\\S+ \\S+ +approve, edit, reject +calculate`,
          'm',
        ),
      );

      const approved = await run([
        'approve',
        requestId,
        '--by',
        'ann',
        '--reason',
        'It is harmless',
      ]);
      expect(approved.stdout).toMatch(
        /^Approved: calculate.*\n✓ calculate \{"expression":"12 \* 12"\} .*\n.*144\n/,
      );
      expect(approved.stdout).toContain('12 * 12 = 144.');
      expect(approved.code).toBe(0);
      expect((await run(['approvals'])).stdout).toBe('Nothing waits for an answer.\n');
      const answer = (await eventsOf(place, 'sum')).find(({ type }) => type === 'tool_input');
      expect(answer).toMatchObject({
        by: 'user:ann',
        decision: 'approve',
        requestId,
        reason: 'It is harmless',
      });
    },
  );

  test('does not make the call when it is rejected', async () => {
    const place = bench();
    const requestId = await startWaiting(place);
    const rejected = await place.run(['reject', requestId, '--reason', 'Not today', '--json']);
    expect(jsonLines(rejected.stdout)[0]).toEqual({
      type: 'answered',
      requestId,
      decision: 'reject',
      session: 'sum',
      name: 'calculate',
    });
    expect(jsonLines(rejected.stdout).at(-1)).toMatchObject({
      type: 'result',
      status: 'completed',
    });
    expect(rejected.code).toBe(0);
    const events = await eventsOf(place, 'sum');
    expect(events.filter(({ type }) => type === 'tool_attempt')).toEqual([]);
    expect(JSON.stringify(events.find(({ type }) => type === 'tool_result'))).toContain(
      'Not today',
    );
  });

  test('makes the call with the arguments that were given instead', async () => {
    const place = bench();
    const requestId = await startWaiting(place);
    const unfit = await place.run(['edit', requestId, '{"formula":"1 + 1"}']);
    expect(unfit.stderr).toMatch(/^adjutant: The answer to request .* is not taken: .*expression/);
    expect(unfit.code).toBe(2);
    const edited = await place.run(['edit', requestId, '{"expression":"10 * 12"}']);
    expect(edited.stdout).toMatch(/^✓ calculate \{"expression":"10 \* 12"\} .*\n.*result: 120$/m);
    expect(edited.code).toBe(0);
  });

  test('is only answered with --no-continue, and goes on by resume', async () => {
    const place = bench();
    const requestId = await startWaiting(place);
    const posted = await place.run(['approve', requestId, '--no-continue']);
    expect(posted).toMatchObject({
      code: 0,
      stdout: 'Approved: calculate({"expression":"12 * 12"})\n',
    });
    expect(posted.stderr).toContain('The run goes on with: adjutant resume sum');
    expect((await place.run(['show', 'sum'])).stdout).toContain(
      'answered; it goes on with: adjutant resume sum',
    );
    expect((await place.run(['resume', 'sum'])).stdout).toContain('12 * 12 = 144.');
  });

  test('asks again for the next call, also of another process that continues it', async () => {
    const place = bench();
    const server = await startChatServer(({ messages }) => {
      const done = messages
        .slice(messages.findLastIndex(({ role }) => role === 'user'))
        .filter(({ role }) => role === 'tool').length;
      return done < 2
        ? { call: { name: 'calculate', args: { expression: `${done} + 1` } } }
        : { text: 'Counted.' };
    });
    const options = ['--model', server.modelName];
    const first = await place.run([
      '--ask-before',
      'all',
      '--session',
      'count',
      'Count',
      ...options,
    ]);
    expect(first.code).toBe(waiting);
    const approve = async () => {
      const [request] = jsonLines((await place.run(['approvals', '--json'])).stdout);
      return place.run(['approve', request?.['requestId'] as string, ...options]);
    };
    expect(await approve()).toMatchObject({
      code: waiting,
      stdout: expect.stringContaining('? asks for approval: calculate({"expression":"1 + 1"})'),
    });
    expect(await approve()).toMatchObject({ code: 0, stdout: expect.stringContaining('Counted.') });
    // From now on it does not.
    const trusted = await place.run([
      '--ask-before',
      'none',
      '--session',
      'count',
      'What is it now?',
      ...options,
    ]);
    expect(trusted).toMatchObject({
      code: 0,
      stdout: expect.stringMatching(/^✓ calculate(.*\n)*✓ calculate(.*\n)*Counted\./),
    });
  });

  test('asks no more for calls that are always allowed', async () => {
    const place = bench();
    const server = await startChatServer(({ messages }) => {
      const done = messages.filter(({ role }) => role === 'tool').length;
      return done < 2
        ? { call: { name: 'calculate', args: { expression: `${done} + 1` } } }
        : { text: 'Counted.' };
    });
    const options = ['--model', server.modelName];
    const named = ['--ask-before', 'all', '--session', 'count'];
    expect((await place.run([...named, 'Count', ...options])).code).toBe(waiting);
    const [request] = jsonLines((await place.run(['approvals', '--json'])).stdout);
    const id = request?.['requestId'] as string;
    const wrong = await place.run(['approve', id, '--always', 'never', ...options]);
    expect(wrong).toMatchObject({ code: 2, stderr: expect.stringContaining('below:<folder>') });
    const pathless = await place.run(['approve', id, '--always', 'below:src/', ...options]);
    expect(pathless).toMatchObject({ code: 2, stderr: expect.stringContaining('no argument') });
    const approved = await place.run(['approve', id, '--always', 'tool', ...options]);
    expect(approved).toMatchObject({ code: 0, stdout: expect.stringContaining('Counted.') });
    expect((await place.run(['explain', 'count'])).stdout).toContain('was not asked about');
  });

  test('can be cancelled, and asks nothing any more', async () => {
    const place = bench();
    const requestId = await startWaiting(place);
    const cancelled = await place.run(['cancel', 'sum', '--reason', 'Not needed']);
    expect(cancelled).toEqual(
      expect.objectContaining({
        code: 0,
        stdout: 'The run of session "sum" is cancelled.\n',
        stderr: '',
      }),
    );
    expect((await place.run(['approvals'])).stdout).toBe('Nothing waits for an answer.\n');
    const events = await eventsOf(place, 'sum');
    expect(events.filter(({ type }) => type === 'cancel')).toMatchObject([
      { by: 'user', reason: 'Not needed' },
    ]);
    expect(events.at(-1)).toMatchObject({ type: 'invocation_end', status: 'cancelled' });
    const late = await place.run(['approve', requestId]);
    expect(late).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('can no longer be answered'),
    });
    expect(await place.run(['cancel', 'sum'])).toMatchObject({
      code: 2,
      stderr: 'adjutant: Session "sum" has no run to cancel.\n',
    });
  });

  test('is answered in a chat by /approve and /reject', async () => {
    const place = bench();
    const input = [
      'What is 6 * 7?',
      '/approve',
      '/approve',
      'What is 5 * 5?',
      '/reject Too easy',
    ].join('\n');
    const { stdout, stderr, code } = await place.run(
      ['chat', '--session', 'talk', '--ask-before', 'calculate'],
      { input },
    );
    expect(stdout).toMatch(
      /asks for approval: calculate\(\{"expression":"6 \* 7"\}\)(.*\n)*6 \* 7 = 42\.(.*\n)*\? asks for approval: .*"5 \* 5"/,
    );
    expect(stderr).toContain('adjutant: Nothing waits for that.');
    expect(stdout).not.toContain('5 * 5 = 25');
    expect(code).toBe(0);
  });
});

describe('an answer is refused', () => {
  test('to what does not exist, is answered already, or cannot be answered so', async () => {
    const place = bench();
    const { run } = place;
    const requestId = await startWaiting(place);
    const refusals: [string[], string][] = [
      [
        ['approve', 'req_unknown'],
        'There is no request "req_unknown". adjutant approvals lists those that wait',
      ],
      [['reject', 'req_unknown', '--no-continue'], 'There is no request "req_unknown".'],
      [['edit', requestId, '{"expression": 1 + 1}'], 'What was given is not JSON'],
      [['edit', requestId, '{"expression": 2}'], '$.expression must be a string'],
      [
        ['answer', requestId, '{"text":"yes"}'],
        "cannot be answered with 'answer'. Choose one of 'approve', 'edit', 'reject'.",
      ],
      [['answer', requestId, '--decision', 'perhaps'], 'Allowed choices are'],
      [['edit', requestId], "missing required argument 'arguments'"],
      [['approve', requestId, '--model', 'opnai:gpt-5'], 'Did you mean "openai:gpt-5"?'],
      [['approve', requestId, '--app', 'shop'], 'There is no request'],
    ];
    for (const [args, message] of refusals) {
      const { code, stderr, stdout } = await run(args);
      expect({ args, code, stdout, stderr }).toEqual({
        args,
        code: 2,
        stdout: '',
        stderr: expect.stringContaining(message),
      });
    }
    // Nothing of that has answered it.
    expect((await run(['approve', requestId])).code).toBe(0);
    const twice = await run(['approve', requestId]);
    expect(twice).toMatchObject({
      code: 2,
      stdout: '',
      stderr: expect.stringContaining('can no longer be answered: it was approved by user'),
    });
  });

  test('when there is no store yet', async () => {
    const { run } = bench();
    expect(await run(['approve', 'req_1'])).toMatchObject({
      code: 2,
      stderr: 'adjutant: There are no sessions yet.\n',
    });
    expect(await run(['approvals'])).toMatchObject({
      code: 0,
      stdout: 'Nothing waits for an answer.\n',
    });
    expect(await run(['run', '--ask-before', 'sing', 'Say hello'])).toMatchObject({
      code: 2,
      stderr: expect.stringContaining(
        '--ask-before sing: there is no such tool. There are readFile,',
      ),
    });
  });
});
