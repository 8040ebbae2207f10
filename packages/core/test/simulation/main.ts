import { simulateSeed } from '../../src/testing/simulation/simulate-seed.ts';
import { usualRates } from '../../src/testing/simulation/faults.ts';
import { appOf, programsOf, runsOf } from './seed-programs.ts';
import { textOf } from './program.ts';

const from = Number(process.argv[2] ?? 1);
const to = Number(process.argv[3] ?? from);
for (let seed = from; seed <= to; seed++) {
  const { drawn, machines } = programsOf(seed);
  const t = performance.now();
  const options = { seed, hours: 10, machines, rates: usualRates, programs: runsOf(drawn), makeApp: appOf(drawn) };
  try {
    const o = await simulateSeed({ ...options, keepsStory: process.argv[4] === 'story' });
    const ms = performance.now() - t;
    if (process.argv[4] === 'story') console.log(o.story.join('\n'), '\n', drawn.map(textOf).join('\n'));
    console.log(seed, o.trace.slice(0, 8), machines, 'machines', o.steps, 'steps', o.events, 'events', o.faults.length, 'faults', ms.toFixed(0), 'ms', (o.hours * 3600e3 / ms).toFixed(0) + 'x', o.broken.slice(0, 3));
  } catch (e) { console.log(seed, 'CRASH', e); }
}
