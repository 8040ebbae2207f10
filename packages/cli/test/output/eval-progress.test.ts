import type { EvalProgress, TrialReport } from 'adjutant/eval';
import { testClock } from 'adjutant/testing';
import { expect, test } from 'vitest';
import type { OutputStream } from '../../src/host/host.ts';
import { type EvalProgressOutput, evalProgressOutput } from '../../src/output/eval-progress.ts';
import { styleFor } from '../../src/output/style.ts';

const clear = '\r\x1b[2K';

function shown(
  isLive: boolean,
  columns = 80,
): {
  readonly output: EvalProgressOutput;
  readonly clock: ReturnType<typeof testClock>;
  readonly text: () => string;
} {
  let written = '';
  const stream = { columns, write: (text: string) => (written += text) } as unknown as OutputStream;
  const clock = testClock();
  const plain = (text: string): string => text;
  const style = {
    ...styleFor(stream),
    bold: plain,
    dim: plain,
    red: plain,
    green: plain,
    yellow: plain,
    cyan: plain,
  };
  const text = (): string => {
    const now = written;
    written = '';
    return now;
  };
  return { output: evalProgressOutput({ stream, clock, style, isLive }), clock, text };
}

const start: EvalProgress = {
  type: 'start',
  name: 'Refunds\x1b[2J',
  runId: 'r1',
  total: 40,
  variants: ['a', 'b'],
  cases: 10,
  trials: 2,
};

function ended(done: number, passed: number, recorded = false): EvalProgress {
  return {
    type: 'trial_end',
    variant: 'a',
    case: 'c',
    trial: {} as TrialReport,
    recorded,
    done,
    passed,
    total: 40,
  };
}

test('elsewhere than on a terminal there is a line for each tenth that is done', () => {
  const { output, text } = shown(false);
  output.show(start);
  expect(text()).toBe(
    'adjutant: Refunds\\u001b[2J, run r1: 10 cases × 2 trials × 2 variants = 40 trials\n',
  );
  for (let done = 1; done <= 40; done++) output.show(ended(done, done - 1));
  const lines = text().trimEnd().split('\n');
  expect(lines).toHaveLength(10);
  expect(lines[0]).toBe('adjutant: 4 of 40 trials, 3 passed');
  expect(lines[9]).toBe('adjutant: 40 of 40 trials, 39 passed');
  output.close();
  expect(text()).toBe('');
});

test(
  'on a terminal a bar says how much is done, and how long the rest takes by ' + 'what was run',
  async () => {
    const { output, clock, text } = shown(true, 100);
    output.show(start);
    await clock.advance(1_000);
    expect(text()).toBe(`${clear}${'░'.repeat(24)} 0/40 trials · 0 passed`);
    // Twenty were recorded before: they took no time, and say nothing of what the others take.
    for (let done = 1; done <= 20; done++) output.show(ended(done, done, true));
    output.show({ type: 'trial_start', variant: 'a', case: 'c', trial: 1, session: 's' });
    await clock.advance(1_000);
    expect(text()).toBe(`${clear}${'█'.repeat(12)}${'░'.repeat(12)} 20/40 trials · 20 passed`);
    for (let done = 21; done <= 24; done++) output.show(ended(done, 22));
    await clock.advance(6_000);
    // Drawn after 80 ms: four trials took 1,080, and 16 are left.
    expect(text()).toBe(
      `${clear}${'█'.repeat(14)}${'░'.repeat(10)} 24/40 trials · 22 passed · 2 failed · ` +
        'about 4.3 s left',
    );
    output.close();
    expect(text()).toBe(clear);
  },
);

test('many steps at once are drawn once, and nothing after the end', async () => {
  const { output, clock, text } = shown(true);
  output.show(start);
  for (let done = 1; done <= 40; done++) output.show(ended(done, done));
  await clock.advance(80);
  expect(text().split(clear)).toHaveLength(2);
  output.show(ended(40, 40));
  output.close();
  text();
  await clock.advance(1_000);
  expect(text()).toBe('');
});

test('a narrow terminal gets a line that fits', async () => {
  const { output, clock, text } = shown(true, 40);
  output.show(start);
  output.show(ended(7, 5));
  await clock.advance(100);
  expect(text()).toBe(`${clear}${'█'.repeat(4)}${'░'.repeat(20)} 7/40 trials`);
});
