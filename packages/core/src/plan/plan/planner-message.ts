import type { JsonValue } from '../../base/json.ts';
import type { PlanRequest, SubtaskReport } from './plan-options.ts';

/** Longest result or answer that a message shows, in characters. */
const longestShown = 4_000;

const form = `Answer with JSON only: {"subtasks": [ … ]}. Each subtask is an object:
- id: 1 to 64 letters, digits, _ and -; unique
- description: the work, in words that make sense without the rest of the plan
- dependsOn: ids of the subtasks that must be completed before (leave out for none)
- worker or tool: the name of the one that does it; args: its arguments, an object
- expectedOutput: how a good result looks (may be left out)
- critical: true when its failure makes the rest useless (may be left out)
In args, {"$from": "<id>.output.<member>"} stands for a result of an earlier subtask.
Each subtask is one meaningful call or one coherent piece of work: join neighbours that are done by
the same tool, and do not make steps that do nothing by themselves. Subtasks that do not depend on
each other are done at the same time.`;

/** Text that a planner agent is asked with. */
export function plannerMessage(request: PlanRequest): string {
  const { goal, data, workers, tools, mostSubtasks, subtasks, reason, problems, refused } = request;
  const parts = [`Goal: ${goal}`];
  if (data !== undefined) parts.push(`Data: ${shown(data)}`);
  if (workers.length > 0) {
    const lines = workers.map(({ name, description = '' }) => `- ${name}: ${description}`);
    parts.push(`Workers:\n${lines.join('\n')}`);
  }
  if (tools.length > 0)
    parts.push(
      `Tools:\n${tools
        .map((tool) => `- ${tool.name}: ${tool.description} Arguments: ${shown(tool.inputSchema)}`)
        .join('\n')}`,
    );
  if (subtasks !== undefined)
    parts.push(`The plan so far:\n${subtasks.map(reportLine).join('\n')}`);
  if (reason !== undefined) parts.push(reason);
  parts.push(taskOf(request));
  parts.push(`${form}\nAt most ${mostSubtasks} subtasks.`);
  if (problems !== undefined)
    parts.push(
      `Your last answer cannot be carried out:\n${problems.map((one) => `- ${one}`).join('\n')}` +
        `\nIt was: ${shown(refused ?? null)}\nGive the whole plan again, with this put right.`,
    );
  return parts.join('\n\n');
}

function taskOf({ task }: PlanRequest): string {
  switch (task) {
    case 'plan':
      return 'Divide the goal into subtasks.';
    case 'replan':
      return (
        'Find another way to the goal. Give all subtasks that are still to be done. Completed ' +
        'ones stay, and others may depend on them; a subtask that you repeat word for word is ' +
        'not done again.'
      );
    case 'decompose':
      return (
        'The same subtask has failed in two plans: break it down into smaller steps, or go ' +
        'around it. Give all subtasks that are still to be done. Completed ones stay, and others ' +
        'may depend on them.'
      );
  }
}

function reportLine({ id, description, status, output, error }: SubtaskReport): string {
  const result = output === undefined ? '' : `: ${shown(output)}`;
  const failure = error === undefined ? '' : `: ${error}`;
  return `- ${id} (${status}) ${description}${result}${failure}`;
}

/** A value as JSON, cut to its longest length. */
export function shown(value: JsonValue): string {
  const text = typeof value === 'string' ? value : JSON.stringify(value);
  return text.length <= longestShown ? text : `${text.slice(0, longestShown)} [...truncated]`;
}
