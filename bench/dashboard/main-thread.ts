import type { CDPSession } from 'playwright-core';

/** Event of Chromium's tracing: times in microseconds. */
interface TraceEvent {
  readonly name: string;
  readonly ph: string;
  readonly pid: number;
  readonly tid: number;
  readonly ts: number;
  readonly dur?: number;
  readonly args?: { readonly name?: string };
}

/** Work of the main thread of a page. */
export interface MainThread {
  /** Milliseconds of work in each frame. */
  readonly frames: readonly number[];
  /** Tasks of more than 50 ms. */
  readonly longTasks: number;
}

const frameUs = 1_000_000 / 60;
const longTaskUs = 50_000;

/** Traces a page while something is done on it. */
export async function traced(cdp: CDPSession, act: () => Promise<void>): Promise<MainThread> {
  const events: TraceEvent[] = [];
  cdp.on('Tracing.dataCollected', ({ value }) => {
    events.push(...(value as unknown as readonly TraceEvent[]));
  });
  await cdp.send('Tracing.start', {
    categories: 'toplevel,devtools.timeline,disabled-by-default-devtools.timeline,__metadata',
    transferMode: 'ReportEvents',
  } as never);
  await act();
  const complete = new Promise((resolve) => cdp.once('Tracing.tracingComplete', resolve));
  await cdp.send('Tracing.end');
  await complete;
  return workOf(events);
}

/** Tasks of the busiest main thread, cut into sixtieths of a second. */
function workOf(events: readonly TraceEvent[]): MainThread {
  const threads = new Set(
    events
      .filter(({ name, args }) => name === 'thread_name' && args?.name === 'CrRendererMain')
      .map(({ pid, tid }) => `${pid} ${tid}`),
  );
  const byThread = new Map<string, TraceEvent[]>();
  for (const event of events) {
    const thread = `${event.pid} ${event.tid}`;
    if (event.name !== 'RunTask' && event.name !== 'ThreadControllerImpl::RunTask') continue;
    if (!threads.has(thread) || event.dur === undefined) continue;
    byThread.set(thread, [...(byThread.get(thread) ?? []), event]);
  }
  const busiest = [...byThread.values()].sort((left, right) => sum(right) - sum(left))[0] ?? [];
  const start = Math.min(...busiest.map(({ ts }) => ts));
  const frames = new Map<number, number>();
  for (const { ts, dur = 0 } of busiest) {
    const frame = Math.floor((ts - start) / frameUs);
    frames.set(frame, (frames.get(frame) ?? 0) + dur / 1000);
  }
  return {
    frames: [...frames.values()].sort((left, right) => left - right),
    longTasks: busiest.filter(({ dur = 0 }) => dur > longTaskUs).length,
  };
}

function sum(events: readonly TraceEvent[]): number {
  return events.reduce((total, { dur = 0 }) => total + dur, 0);
}
