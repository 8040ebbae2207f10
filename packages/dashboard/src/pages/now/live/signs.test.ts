import type { ServerSession, ServerTask, ServerTrigger } from '@adjutant/server/client';
import { describe, expect, it } from 'vitest';
import type { Reading } from './reading.ts';
import { failureMs, glowMs, signsOf } from './signs.ts';

const now = 1_000_000;
const nothing: Reading = {
  ...{ running: [], waiting: [], failed: [], latest: undefined, tails: [], tasks: [] },
  ...{ triggers: [], agents: [], requests: 0 },
};

function session(id: string, status: ServerSession['status'], agent: string): ServerSession {
  return { id, status, agent, seq: 1, createdAt: now, updatedAt: now };
}

function task(id: string, state: ServerTask['state'], agent: string): ServerTask {
  return {
    ...{ id, state, agent, session: `task-${id}`, name: `Task ${id}`, priority: 'normal' },
    ...{ queue: 'default', requester: 'system', submittedAt: now, attempts: 0, roundsCompleted: 0 },
  };
}

function decided(component: string, at: number): Reading['tails'][number] {
  const event = { seq: 1, type: 'decision', at, component, decision: 'retry', reasoning: '' };
  return { session: 's', title: 's', events: [event] };
}

describe('signs of components', () => {
  it('are none where nothing happens', () => {
    const signs = signsOf(nothing, now);
    expect(signs.components.size).toBe(0);
    expect(signs.agents.size).toBe(0);
  });

  it('show a decision for a moment', () => {
    const reading = { ...nothing, tails: [decided('error_router', now - 1)] };
    expect(signsOf(reading, now).components.get('dragon')).toEqual({
      ...{ state: 'working', note: 'retry', session: 's' },
    });
    expect(signsOf(reading, now + glowMs).components.size).toBe(0);
  });

  it('have no place for a component that nobody knows', () => {
    expect(signsOf({ ...nothing, tails: [decided('own_rule', now)] }, now).components.size).toBe(0);
  });

  it('count sessions, queued tasks and open requests', () => {
    const { components } = signsOf(
      {
        ...nothing,
        running: [session('a', 'active', 'clerk')],
        tasks: [task('1', 'queued', 'clerk'), task('2', 'queued', 'clerk')],
        requests: 3,
      },
      now,
    );
    expect(components.get('golem')?.note).toBe('1 session');
    expect(components.get('clockwork')?.note).toBe('2 queued');
    expect(components.get('sphinx')).toEqual({ state: 'yielding', note: '3 open' });
  });

  it('name the next firing of a trigger, and the one that works', () => {
    const trigger = { name: 'hourly', nextAt: now + 60_000 } as ServerTrigger;
    const quiet = signsOf({ ...nothing, triggers: [trigger] }, now).components.get('hydra');
    expect(quiet).toMatchObject({ state: 'idle', note: expect.stringMatching(/^next \d\d:\d\d$/) });
    const open = { task: 't', session: 's', instant: now };
    const fires = signsOf({ ...nothing, triggers: [{ ...trigger, open }] }, now);
    expect(fires.components.get('hydra')).toEqual({
      ...{ state: 'working', note: 'hourly', session: 's' },
    });
  });

  it('say that a person is waited for, but not of sessions that sleep', () => {
    const waiting = [session('a', 'sleeping', 'clerk')];
    expect(signsOf({ ...nothing, waiting }, now).components.has('owl')).toBe(false);
    const asking = [...waiting, session('b', 'awaiting_input', 'mail')];
    expect(signsOf({ ...nothing, waiting: asking }, now).components.get('owl')).toEqual({
      ...{ state: 'yielding', note: 'for a person', session: 'b' },
    });
  });
});

describe('signs of agents', () => {
  it('put work before failures, and failures before waits', () => {
    const { agents } = signsOf(
      {
        ...nothing,
        running: [session('a', 'active', 'clerk')],
        failed: [session('b', 'error', 'clerk'), session('c', 'error', 'code')],
        waiting: [session('d', 'awaiting_input', 'code'), session('e', 'sleeping', 'mail')],
      },
      now,
    );
    expect(agents.get('clerk')).toEqual({ state: 'working', session: 'a' });
    expect(agents.get('code')).toEqual({ state: 'error', session: 'c' });
    expect(agents.get('mail')).toEqual({ state: 'yielding', note: 'sleeps', session: 'e' });
  });

  it('forget a failure after a while', () => {
    const failed = [session('b', 'error', 'clerk')];
    expect(signsOf({ ...nothing, failed }, now + failureMs).agents.size).toBe(0);
  });

  it('show the task that an agent works on', () => {
    const { agents } = signsOf({ ...nothing, tasks: [task('1', 'running', 'files')] }, now);
    expect(agents.get('files')).toEqual({
      ...{ state: 'working', note: 'Task 1', session: 'task-1' },
    });
  });
});
