/**
 * A process that evaluates: says each trial that has ended, and at last the report. Its arguments
 * are the file of the store and that of the calls.
 */
import { appendFileSync } from 'node:fs';
import { runtime } from 'adjutant';
import { evaluate, rubric, toolTrajectory } from 'adjutant/eval';
import { sqlite } from 'adjutant/sqlite';
import type { ScriptedModel } from 'adjutant/testing';
import { judge } from '../eval/judges.ts';
import { weather, weatherCase } from '../eval/weather.ts';

const [, , file = '', calls = ''] = process.argv;

/** Every model call is written down before it is made, and takes long enough to be killed in. */
function watched(model: ScriptedModel): ScriptedModel {
  return {
    ...model,
    doStream: async (options) => {
      appendFileSync(calls, `${model.modelId}\n`);
      await new Promise((resolve) => setTimeout(resolve, 3));
      return model.doStream(options);
    },
  };
}

const variants = ['one', 'two'].map((name) => {
  const world = weather({ instructions: `You are ${name}.` });
  const app = runtime({ app: name, store: sqlite(file), recover: 'manual' });
  return { name, app, runnable: Object.freeze({ ...world.agent, model: watched(world.model) }) };
});

const report = await evaluate({
  name: 'killed',
  dataset: Array.from({ length: 15 }, (_, i) => weatherCase(`City${i}`)),
  variants,
  scorers: [
    toolTrajectory(),
    rubric({ criteria: { kind: 'It is kind.' }, model: watched(judge()) }),
  ],
  concurrency: 4,
  continue: true,
  onProgress: (progress) => {
    if (progress.type === 'trial_end')
      process.stdout.write(
        `${progress.recorded ? 'recorded' : 'ran'} ${progress.variant} ${progress.case}\n`,
      );
  },
});
process.stdout.write(`${JSON.stringify(report)}\n`);
await Promise.all(variants.map(({ app }) => app.close()));
