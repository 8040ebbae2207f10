import type { Runnable } from '../session/runnable.ts';
import type { Tool } from './tool.ts';

/** Member of a tool that calls a runnable. Copies of the tool have it too. */
const calledRunnable = Symbol('calledRunnable');

/** Returns the tool with the note that all it does is to call a runnable. */
export function callingTool(tool: Tool, runnable: Runnable): Tool {
  return Object.freeze({ ...tool, [calledRunnable]: runnable });
}

/** Returns the runnable that a tool calls; `undefined` for tools that do something of their own. */
export function runnableOf(tool: Tool): Runnable | undefined {
  return (tool as Tool & { readonly [calledRunnable]?: Runnable })[calledRunnable];
}
