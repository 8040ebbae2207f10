import { describe, expect, it } from 'vitest';
import type { LedgerEvent } from '../../../ledger/event-pages.ts';
import { activityOf, lastOf, recentDecisions, type Tail } from './tail.ts';

type Body = { readonly type: string } & Readonly<Record<string, unknown>>;

function tail(session: string, bodies: readonly Body[]): Tail {
  const events = bodies.map((body, i): LedgerEvent => ({ seq: i + 1, at: 1_000 + i, ...body }));
  return { session, title: `About ${session}`, events };
}

const run = { type: 'invocation_start', invocationId: 'run', kind: 'agent', name: 'clerk' };
const round = {
  ...{ type: 'model_start', invocationId: 'run', agent: 'clerk', round: 2 },
  model: 'openai:gpt-5-mini',
};

describe('the activity of a session', () => {
  it('is the model that answers', () => {
    const activity = activityOf(tail('a', [run, round]));
    expect(activity.words).toBe('round 2, gpt-5-mini answers');
    expect(activity.models).toEqual(['gpt-5-mini']);
    expect(activity.agents).toEqual(['clerk']);
    expect(activity.startedAt).toBe(1_000);
  });

  it('is the tool that runs, and the agent that it calls', () => {
    const call = { type: 'tool_call', callId: 'c1', name: 'webSearch' };
    expect(activityOf(tail('a', [run, call])).words).toBe('webSearch');
    const child = { ...run, invocationId: 'run/writer', parent: 'run', name: 'writer' };
    expect(activityOf(tail('a', [run, child])).agents).toEqual(['clerk', 'writer']);
  });

  it('is what was done last when nothing is open', () => {
    const ended = { type: 'model_end', invocationId: 'run', round: 2 };
    const result = {
      type: 'tool_result',
      callId: 'c1',
      name: 'mail',
      result: { status: 'success' },
    };
    expect(activityOf(tail('a', [round, ended])).words).toBe('round 2 answered');
    expect(activityOf(tail('a', [result])).words).toBe('mail success');
    expect(activityOf(tail('a', [])).words).toBe('');
  });

  it('has the reason of a failure, until another run begins', () => {
    const end = { type: 'invocation_end', invocationId: 'run', error: { message: 'no model' } };
    const failed = activityOf(tail('a', [run, round, end]));
    expect(failed).toMatchObject({ failure: 'no model', models: [], agents: [] });
    expect(activityOf(tail('a', [run, end, run])).failure).toBeUndefined();
  });

  it('reads events of types and shapes that the page does not know', () => {
    const odd = [{ type: 'later' }, { type: 'model_start' }, { type: 'tool_result', result: null }];
    expect(activityOf(tail('a', odd)).models).toEqual(['']);
  });
});

describe('the last decisions', () => {
  const decide = (at: number, decision: string) => ({
    ...{ type: 'decision', at, component: 'approval', decision, reasoning: 'its policy asks' },
  });

  it('are those of all sessions, the newest first', () => {
    const found = recentDecisions(
      [tail('a', [decide(5, 'ask')]), tail('b', [decide(9, 'allow')])],
      5,
    );
    expect(found.map(({ session, decision }) => [session, decision])).toEqual([
      ['b', 'allow'],
      ['a', 'ask'],
    ]);
    expect(found[1]).toMatchObject({ seq: 1, title: 'About a', reasoning: 'its policy asks' });
  });

  it('are at most as many as were asked for', () => {
    const many = Array.from({ length: 20 }, (_, i) => decide(i, String(i)));
    expect(recentDecisions([tail('a', many)], 3).map(({ at }) => at)).toEqual([19, 18, 17]);
  });
});

describe('the last event of a type', () => {
  it('has a time', () => {
    expect(lastOf(tail('a', [{ type: 'user' }, { type: 'user' }]), 'user')).toBe(1_001);
    expect(lastOf(tail('a', []), 'user')).toBeUndefined();
  });
});
