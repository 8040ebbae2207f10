import { randomFromSeed } from '../../../../base/random.ts';
import { codeOf, notes, readTexts, ttl, Writer } from '../harness.ts';
import type { Suite } from '../suite.ts';

const writerSteps = ['claim 0', 'claim 1', 'write 0', 'write 1'] as const;

/** Promise of the epoch: only the writer that claimed last can append. */
export function fencingContract({ describe, expect, test }: Suite): void {
  describe('fencing', () => {
    test('a writer that wakes up after another claim writes nothing', async ({ ledgers }) => {
      const zombie = await Writer.claim(ledgers, 's', 'zombie');
      await zombie.write(['before']);
      const next = await Writer.claim(ledgers, 's', 'next');
      expect(await codeOf(zombie.write(['late']))).toBe('ledger_conflict');
      await next.write(['after']);
      expect(await codeOf(zombie.write(['later']))).toBe('ledger_conflict');
      expect(await readTexts(ledgers, 's')).toEqual(['before', 'after']);
    });

    test('of two writers at one head exactly one succeeds, whatever the interleaving', async ({
      ledgers,
    }) => {
      for (let run = 0; run < 40; run++) {
        const steps = randomSteps(`race ${run}`);
        const confirmed = await raceWriters(ledgers, `race ${run}`, steps);
        expect(await readTexts(ledgers, `race ${run}`), steps.join(', ')).toEqual(confirmed);
      }
    });
  });
}

function randomSteps(seed: string): readonly string[] {
  const length = Math.floor(randomFromSeed(`${seed} length`) * 30);
  return Array.from(
    { length },
    (_, i) =>
      writerSteps[Math.floor(randomFromSeed(`${seed} ${i}`) * writerSteps.length)] as string,
  );
}

/**
 * Lets two writers act as given, with all steps sent at once. Returns the texts whose append was
 * confirmed.
 */
async function raceWriters(
  ledgers: Parameters<typeof readTexts>[0],
  session: string,
  steps: readonly string[],
): Promise<readonly string[]> {
  await ledgers.claim(session, 'first', { ttlMs: ttl });
  const heads = [
    { seq: 0, epoch: 1 },
    { seq: 0, epoch: 1 },
  ];
  let epoch = 1;
  const confirmed: { text: string; seq: number }[] = [];
  const sent = steps.map(async (step, i) => {
    const head = heads[Number(step.at(-1))];
    if (head === undefined) return;
    if (step.startsWith('claim')) {
      head.epoch = ++epoch;
      await ledgers.claim(session, step, { ttlMs: ttl, force: true });
      return;
    }
    const text = `${step} ${i}`;
    const at = { ...head };
    head.seq += 1;
    if (
      (await codeOf(ledgers.append(session, at, { events: notes(at.seq, [text]) }))) === 'resolved'
    )
      confirmed.push({ text, seq: at.seq });
  });
  await Promise.all(sent);
  return confirmed.sort((left, right) => left.seq - right.seq).map(({ text }) => text);
}
