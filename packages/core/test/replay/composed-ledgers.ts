import { agent, loop, parallel, type Runnable, sequence, step, tool } from 'adjutant';
import { includeHistory, injectSystemMessage } from 'adjutant/context';
import { roundModel } from 'adjutant/testing';
import { z } from 'zod';
import { calls } from './agent-ledgers.ts';
import type { KeptLedger } from './recording.ts';
import { asking, repaired, speaker } from './waiting-ledgers.ts';

const weekMs = 7 * 86_400_000;
const cents = z.object({ cents: z.int() });

const paying = (edit: string | undefined) => {
  const most = edit === 'a lower threshold of approval' ? 10 : 1_000;
  const approval = {
    when: ({ args }: { args: { cents: number } }) => args.cents > most,
    expiresInMs: weekMs,
  };
  return tool({
    name: 'pay',
    description: 'Pays',
    schema: cents,
    recovery: 'report',
    ...(edit === 'no approval any more'
      ? {}
      : { approval: edit === 'approval of every call' ? { expiresInMs: weekMs } : approval }),
    execute: ({ args }) => ({ paid: args.cents }),
  });
};

const approvals: KeptLedger = {
  name: 'approvals',
  holds: 'approvals: one given, one edited, one refused, across restarts',
  define: (edit) => ({
    runnable: agent({
      name: 'payer',
      model: roundModel([
        calls(['pay', { cents: 500 }]),
        calls(['pay', { cents: 2_000 }], ['pay', { cents: 3_000 }], ['pay', { cents: 4_000 }]),
        { text: 'Paid.' },
      ]),
      tools: [paying(edit)],
    }),
  }),
  record: async (recording) => {
    await recording.run('Pay them');
    const session = await recording.goOn();
    return recording.answer(
      session,
      { decision: 'approve' },
      { decision: 'edit', input: { cents: 1_500 } },
      { decision: 'reject', reason: 'too much' },
    );
  },
  edits: {
    'approval of every call': {
      seq: 6,
      path: 'run',
      kind: 'control_flow',
      subject:
        'Attempt 1 of run/r1.0 is recorded, and the question about pay (approval, ' +
        'run/r1.0) came instead',
    },
    'a lower threshold of approval': {
      seq: 6,
      path: 'run',
      kind: 'control_flow',
      subject:
        'Attempt 1 of run/r1.0 is recorded, and the question about pay (approval, ' +
        'run/r1.0) came instead',
    },
    'no approval any more': {
      seq: 13,
      path: 'run',
      kind: 'control_flow',
      subject:
        'The question about pay (approval, run/r2.0) is recorded, and attempt 1 of ' +
        'run/r2.0 came instead',
    },
  },
};

function branches(edit: string | undefined): readonly Runnable[] {
  const all = [speaker('left'), speaker('middle'), speaker('right')];
  return edit === 'a branch less' ? all.slice(0, 2) : all;
}

const branching: KeptLedger = {
  name: 'branching',
  holds: 'parallel branches and a merge',
  define: (edit) => ({
    runnable: sequence({
      name: 'all',
      runnables: [
        parallel({
          name: 'both',
          runnables: branches(edit),
          merge: ({ branches: done }) => ({
            lengths: done.length,
            ...(edit === 'another merge' ? { merged: true } : {}),
          }),
        }),
        speaker('after'),
      ],
    }),
  }),
  record: (recording) => recording.run('Go'),
  edits: {
    'another merge': {
      seq: 22,
      path: 'run/both',
      kind: 'state',
      subject: 'A change of the session state (lengths) differs in changes[1]',
    },
    'a branch less': {
      seq: 6,
      path: 'run/both/right',
      kind: 'control_flow',
      subject: 'The start of the agent "right" is recorded, and it does not come',
    },
  },
};

const crashedBranches: KeptLedger = {
  name: 'crashed-branches',
  holds: 'a crash while three branches are under way',
  define: (edit) => ({
    runnable: parallel({
      name: 'both',
      runnables: [
        speaker('left'),
        sequence({
          name: 'line',
          runnables: [
            speaker('one'),
            ...(edit === 'a runnable inserted in a branch' ? [speaker('between')] : []),
            speaker('two'),
          ],
        }),
        speaker('right'),
      ],
    }),
  }),
  record: async (recording) => {
    await recording.crashAt(
      'Go',
      (event) => event.type === 'invocation_end' && event.invocationId === 'run/line/one',
    );
    return recording.goOn();
  },
  edits: {
    'a runnable inserted in a branch': {
      seq: 22,
      path: 'run/line/two',
      kind: 'control_flow',
      subject:
        'The start of the agent "two" is recorded, and it does not come; the start of the ' +
        'agent "between" came, which is not recorded',
    },
  },
};

function writing(name: string, value: (before: number) => number): Runnable {
  return step({
    name,
    execute: (ctx) => {
      ctx.state['total'] = value((ctx.state['total'] as number | undefined) ?? 0);
    },
  });
}

const steps: KeptLedger = {
  name: 'steps',
  holds: 'steps that write state and ask for recorded effects',
  define: (edit) => {
    const first = writing('first', () => (edit === 'a step that writes something else' ? 2 : 1));
    const priced = step({
      name: 'priced',
      execute: async (ctx) => {
        const price = await ctx.effect(edit === 'another effect' ? 'cost' : 'price', () => 40, {
          recovery: 'rerun',
        });
        ctx.state['total'] = ((ctx.state['total'] as number | undefined) ?? 0) + price;
      },
    });
    const last = writing('last', (before) => before * 2);
    const order: Readonly<Record<string, readonly Runnable[]>> = {
      'a step removed': [first, last],
      'a step inserted': [first, writing('extra', (before) => before + 1), priced, last],
      'two steps in another order': [priced, first, last],
    };
    return {
      runnable: sequence({ name: 'line', runnables: order[edit ?? ''] ?? [first, priced, last] }),
    };
  },
  record: (recording) => recording.run('Go'),
  edits: {
    'a step that writes something else': {
      seq: 4,
      path: 'run/first',
      kind: 'state',
      subject: 'A change of the session state (total) differs in changes[0].newValue',
    },
    'a step removed': {
      seq: 6,
      path: 'run/priced',
      kind: 'control_flow',
      subject:
        'The start of the step "priced" is recorded, and the start of the step "last" came instead',
    },
    'a step inserted': {
      seq: 6,
      path: 'run/extra',
      kind: 'control_flow',
      subject:
        'The start of the step "extra" is not recorded; what is recorded there is the ' +
        'start of the step "priced"',
    },
    'two steps in another order': {
      seq: 3,
      path: 'run/first',
      kind: 'control_flow',
      subject:
        'The start of the step "first" is recorded, and the start of the step "priced" ' +
        'came instead',
    },
    'another effect': {
      seq: 7,
      path: 'run/priced',
      kind: 'control_flow',
      subject:
        'Attempt 1 of run/priced/cost is not recorded; what is recorded there is attempt 1 ' +
        'of run/priced/price',
    },
  },
};

const forked: KeptLedger = {
  name: 'forked',
  holds: 'a fork from the middle of another session',
  define: (edit) => ({
    runnable: sequence({
      name: 'line',
      runnables: [
        speaker('one'),
        agent({
          name: 'two',
          model: roundModel([calls(['pay', { cents: 1 }]), { text: 'two is done' }]),
          tools: [paying(undefined)],
          ...(edit === 'a changed prompt after the fork'
            ? { context: [injectSystemMessage('You are two.'), includeHistory()] }
            : {}),
        }),
      ],
    }),
  }),
  record: async (recording) => {
    const session = await recording.run('Go');
    const at =
      session.events.find((event) => event.type === 'invocation_start' && event.name === 'two')
        ?.seq ?? 0;
    await recording.app.sessions.fork(session.id, { at, id: 'the-fork' });
    return recording.goOn('the-fork');
  },
  edits: {
    'a changed prompt after the fork': {
      seq: 13,
      path: 'run/two',
      kind: 'prompt',
      subject: 'In model call 1 of two: there is 1 system message, and there were 0',
    },
  },
};

const editedFork: KeptLedger = {
  name: 'edited-fork',
  holds: 'a fork that was made with another state, other instructions and another message',
  define: (edit) => ({
    runnable: agent({
      name: 'two',
      model: roundModel([calls(['pay', { cents: 1 }]), { text: 'two is done' }]),
      tools: [paying(undefined)],
      instructions: edit === 'other instructions' ? 'Stop.' : 'Go on.',
    }),
  }),
  record: async (recording) => {
    const session = await recording.run('Go');
    const at = (session.events.findLast(({ type }) => type === 'model_start')?.seq ?? 0) - 1;
    await recording.app.sessions.fork(session.id, {
      at,
      id: 'the-fork',
      edit: {
        state: [{ key: 'mood', value: 'good' }],
        prompt: { instructions: 'Go on, and well.', message: 'Go further' },
      },
    });
    return recording.goOn('the-fork');
  },
  edits: {
    'other instructions': {
      seq: 3,
      path: 'run',
      kind: 'prompt',
      subject: 'In model call 1 of two: the system prompt changed',
    },
  },
};

const dispatching: KeptLedger = {
  name: 'dispatching',
  holds: 'children that a step calls, spawns and dispatches, and a loop',
  define: (edit) => {
    const [near, far, beside] = [speaker('near'), speaker('far'), speaker('beside')] as const;
    const send = step({
      name: 'send',
      execute: async (ctx) => {
        const handle = ctx.spawn(beside, { message: 'come' });
        ctx.dispatch(far, { message: edit === 'another input of a child' ? 'stay' : 'go' });
        await ctx.call(near, { message: 'here' });
        await handle.wait();
      },
    });
    const rounds = loop({
      name: 'rounds',
      runnable: speaker('round'),
      maxIterations: edit === 'a changed limit of iterations' ? 1 : 2,
    });
    return {
      runnable: sequence({ name: 'all', runnables: [send, rounds] }),
      options: { runnables: [near, far, beside] },
    };
  },
  record: (recording) => recording.run('Go'),
  edits: {
    'another input of a child': {
      seq: 5,
      path: 'run/send/far#db9dcd28e3bb70dc7e03',
      kind: 'arguments',
      subject: 'The agent "far" is started with another input',
    },
    'a changed limit of iterations': {
      seq: 30,
      path: 'run/rounds/#2',
      kind: 'control_flow',
      subject: 'The start of the agent "round" is recorded, and it does not come',
    },
  },
};

export const composedLedgers: readonly KeptLedger[] = [
  approvals,
  branching,
  crashedBranches,
  steps,
  forked,
  editedFork,
  dispatching,
  asking,
  repaired,
];
