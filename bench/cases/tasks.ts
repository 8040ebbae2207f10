import type { Benchmark } from '../row.ts';
import { choosing } from '../tasks/choosing.ts';
import { plainRuns } from '../tasks/plain-runs.ts';
import { submitting } from '../tasks/submitting.ts';
import { working } from '../tasks/working.ts';

const plans: string[] = [];

/** Choosing and claiming one of many tasks that wait. */
export const choosingTasks: Benchmark = {
  name: 'choosing-tasks',
  notes: plans,
  async run(settings) {
    plans.length = 0;
    return choosing(settings, plans);
  },
};

/** Tasks on their way in, and worked on by other processes. */
export const submittedTasks: Benchmark = {
  name: 'submitted-tasks',
  notes: ['Tasks of peers are jobs of an empty function; ours has a ledger and a listed row each.'],
  async run(settings) {
    return [...(await submitting(settings)), ...(await working(settings))];
  },
};

/** Runs that are no tasks, in an app with a queue. */
export const plainRunsBesideTasks: Benchmark = { name: 'plain-runs', run: plainRuns };
