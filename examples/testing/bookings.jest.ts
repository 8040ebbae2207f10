/**
 * The same in jest: `node --experimental-vm-modules node_modules/jest/bin/jest.js --config
 * examples/testing/jest.config.json`.
 */
import { expect, test } from '@jest/globals';
// Usually in a file that `setupFilesAfterEnv` names.
import 'adjutant/testing/jest';
import { input, model, result, runTest, user } from 'adjutant/testing';
import { desk } from './bookings.ts';

test('tool call with yield', async () => {
  const { session, status } = await runTest(desk, [
    user('Calculate 2 + 2'),
    model({ toolCalls: [{ name: 'calculate', args: { expr: '2+2' } }] }),
    input({ calculate: { answer: 4 } }),
    model({ text: 'The answer is 4' }),
  ]);

  expect(status).toBe('completed');
  expect(session.events).toHaveToolCall('calculate', { expr: '2+2' });
  expect(session.events).toHaveAssistantText(/answer is 4/);
});

test('books what the user confirms', async () => {
  const run = await runTest(desk, [
    user('Monday, please'),
    model({ toolCalls: [{ name: 'bookAppointment', args: { date: '2024-01-15' } }] }),
    input({ bookAppointment: { confirmed: true } }),
    result({ bookAppointment: { booked: true, bookingId: '123' } }),
    model('You are booked in.'),
  ]);

  expect(run).toHaveStatus('completed');
  expect(run).toHaveEvent({
    type: 'tool_result',
    result: expect.objectContaining({ status: 'success' }),
  });
  expect(run.session).not.toHaveState('session', 'bookingId'); // `execute` did not run
});
