import { agent, rehearsal, runtime, tool } from 'adjutant';
import { expect, test } from 'vitest';
import { endingOf, runLog } from './run-log.ts';

test('a run is told by its message, rounds and end; hostile text is written out', async () => {
  const lines: string[] = [];
  const say = tool({
    name: 'say',
    description: 'Says',
    schema: { type: 'object' },
    readOnly: true,
    execute: () => 'said',
  });
  const clerk = agent({ name: 'clerk', model: rehearsal(), tools: [say] });
  const app = runtime({ app: 'shop', runnables: [clerk] });
  app.streams.observe(
    runLog({ tell: (line) => lines.push(line), answerWith: (id) => `approve ${id}` }),
  );
  const session = await app.sessions.open({ id: 'first' });
  await app.run(clerk, { session, input: 'Use say {"text":"\u202Ered"}' });
  expect(lines[0]).toMatch(/^first clerk "Use say /);
  expect(lines[0]).not.toContain('\u202E');
  expect(lines[1]).toMatch(/^first r1 ✓ say \d+ ms$/);
  expect(lines[2]).toMatch(/^first ✓ clerk completed · 2 rounds · .* tok · /);
  expect(lines).toHaveLength(3);
  await app.close();
});

test('the id of a session is shown by its ending', () => {
  expect(endingOf('session_adhxhppdkdrqw7kq2a')).toBe('…w7kq2a');
  expect(endingOf('first')).toBe('first');
});
