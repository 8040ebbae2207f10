import { agent, type Event, type JsonValue, run, runtime, type Tool, tool } from 'adjutant';
import { type ScriptedResponse, scriptedModel, testClock } from 'adjutant/testing';
import { z } from 'zod';
import { of } from './events-of.ts';

const quiet = z.object({});

export const settled = (events: readonly Event[]) =>
  of(events, 'tool_result').filter((event) => event.settled);

/** Runs an agent that calls a tool once, on the system's clock. */
export async function callOnce(work: Tool, tools: readonly Tool[] = [work], args: JsonValue = {}) {
  const model = scriptedModel([{ toolCalls: [{ name: work.name, args }] }, { text: 'done' }]);
  const { session, status } = await run(agent({ name: 'a', model, tools }), 'Go');
  return { session, status, model };
}

/** An agent that calls a tool in its first round, on a clock that stands still. */
export async function start(work: Tool, more: readonly ScriptedResponse[] = [{ text: 'done' }]) {
  const clock = testClock();
  const app = runtime({ app: 'effects', ports: { clock } });
  const session = await app.sessions.open();
  const model = scriptedModel([{ toolCalls: [{ name: work.name }] }, ...more]);
  const running = app.run(agent({ name: 'a', model, tools: [work] }), {
    input: 'Go',
    session,
    runId: 'run',
  });
  return { clock, app, session, model, running };
}

export type Ctx = Parameters<Tool['execute']>[0];

export function work(options: Partial<Tool>): Tool {
  return tool({ name: 'work', description: 'Works', schema: quiet, ...options } as Parameters<
    typeof tool
  >[0]);
}

export const http = (status: number) => Object.assign(new Error(`HTTP ${status}`), { status });

export const retry = {
  attempts: 3,
  initialDelayMs: 1,
  maxDelayMs: 1,
  multiplier: 1,
  jitter: false,
};
