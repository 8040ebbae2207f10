/** Tests in vitest: `npx vitest run examples/testing/bookings.test.ts`. */
// Usually in a setup file, once for all tests: see docs/guide/test-matchers.md.
import 'adjutant/testing/vitest';
import {
  advanceTime,
  approve,
  crash,
  edit,
  expectPrompt,
  input,
  ledgerStory,
  model,
  result,
  runTest,
  user,
} from 'adjutant/testing';
import { expect, test } from 'vitest';
import { desk } from './bookings.ts';

test('tool call with yield', async () => {
  const { session, status } = await runTest(desk, [
    user('Calculate 2 + 2'),
    model({ toolCalls: [{ name: 'calculate', args: { expr: '2+2' } }] }),
    input({ calculate: { answer: 4 } }), // for tools that wait for somebody
    model({ text: 'The answer is 4' }),
  ]);

  expect(status).toBe('completed');
  expect(session.events).toHaveToolCall('calculate', { expr: '2+2' });
  expect(session.events).toHaveAssistantText(/answer is 4/);
});

const asksToBook = [
  user('Monday, please'),
  model({ toolCalls: [{ name: 'bookAppointment', args: { date: '2024-01-15' } }] }),
];

test('books what the user confirms', async () => {
  const run = await runTest(desk, [
    ...asksToBook,
    input({ bookAppointment: { confirmed: true } }), // the user confirms
    result({ bookAppointment: { booked: true, bookingId: '123' } }), // what the service would give
    model('You are booked in.'),
  ]);

  expect(run).toHaveStatus('completed');
  expect(run).toHaveToolOrder(['bookAppointment'], { exact: true });
  expect(run).toHaveEvent({
    type: 'tool_result',
    name: 'bookAppointment',
    result: { status: 'success', content: { booked: true, bookingId: '123' } },
  });
});

test('books nothing that the user does not confirm', async () => {
  const { session } = await runTest(desk, [
    ...asksToBook,
    input({ bookAppointment: { confirmed: false } }), // `execute` is run, and does not call the service
    expectPrompt((prompt) => expect(JSON.stringify(prompt.at(-1))).toContain('"booked":false')),
    model('Then not.'),
  ]);

  expect(session).not.toHaveState('session', 'bookingId');
  expect(session).toMatchLedger(`
    user: Monday, please
    agent desk starts
      desk calls bookAppointment({ date: '2024-01-15' })
        bookAppointment waits for input
        bookAppointment is answered: { confirmed: false }
        bookAppointment gives { booked: false }
      desk waits for an answer
      desk goes on
      desk: Then not.
      desk ends
  `);
});

const asksToCancel = [
  user('Cancel it'),
  model({ toolCalls: [{ name: 'cancelAppointment', args: { bookingId: '132' } }] }),
];

test('cancels nothing until a clerk has allowed it', async () => {
  const run = await runTest(desk, asksToCancel, { state: { bookingId: '123' } });

  expect(run).toHaveStatus('yielded');
  expect(run.session).toHaveStatus('awaiting_input');
  expect(run.session).toHaveState('session', 'bookingId', '123');
});

test('cancels what the clerk makes of it, also after a crash', async () => {
  const run = await runTest(
    desk,
    [
      ...asksToCancel,
      crash(), // the process dies while the clerk thinks
      edit({ cancelAppointment: { bookingId: '123' } }, { by: 'role:clerk' }),
      model('It is cancelled.'),
    ],
    { state: { bookingId: '123' } },
  );

  expect(run).toHaveDecision({ component: 'request', decision: 'edit' });
  expect(run).toHaveEvent({ type: 'tool_result', editedArgs: { bookingId: '123' } });
  expect(run.session).toHaveState('session', 'bookingId', undefined);
});

test('a request that nobody answers within an hour expires', async () => {
  const run = await runTest(desk, [
    ...asksToCancel,
    advanceTime(3_600_000),
    model('Nobody has allowed it.'),
  ]);

  expect(run).toHaveEvent({
    type: 'tool_result',
    result: expect.objectContaining({ errorType: 'expired' }),
  });
});

test('tells its story', async () => {
  const { session } = await runTest(desk, [
    ...asksToCancel,
    approve({ by: 'role:clerk' }),
    model('It is cancelled.'),
  ]);

  // vitest writes this into the test when it is missing, and with `-u` when it has changed.
  expect(ledgerStory(session)).toMatchInlineSnapshot(`
    "user: Cancel it
    agent desk starts
      desk calls cancelAppointment({ bookingId: '132' })
        cancelAppointment waits for approval
        cancelAppointment is approved by role:clerk
        cancelAppointment gives { cancelled: '132' }
      desk waits for an answer
      desk goes on
      desk: It is cancelled.
      desk ends"
  `);
});
