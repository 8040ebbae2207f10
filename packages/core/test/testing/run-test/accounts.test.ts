import { agent, parallel, step } from 'adjutant';
import {
  advanceTime,
  approve,
  crash,
  edit,
  expectPrompt,
  input,
  model,
  result,
  runTest,
  user,
} from 'adjutant/testing';
import { describe, expect, test } from 'vitest';
import { account, clerk, gist, real } from './real-tools.ts';

const call = (name: string, args: object = {}) => ({ toolCalls: [{ name, args: args as never }] });

describe('what a failing test says', () => {
  test('has the step, what the run was doing, what happened and what was to come', async () => {
    expect(
      await account([user('Hello'), model('Hi.'), model('Again.'), crash()]),
    ).toMatchInlineSnapshot(`
      "Step 3 of 4, model("Again."), needs an agent that asks its model.

      At that moment:
      - The run ended with the status completed and the output "Hi.".

      What has happened:
        step 1: user("Hello")
          1 user [run_1]: "Hello"
          2 invocation_start [run_1]: agent "clerk"
          3 model_start [run_1]: "clerk" asks openai:gpt-5, round 1
        step 2: model("Hi.")
          4 assistant [run_1]: "Hi."
          5 model_end [run_1]: completed
          6 invocation_end [run_1]: completed "Hi."
        step 3: model("Again.")

      Still to come:
        step 4: crash()"
    `);
  });

  test('a run that goes on behind the last step', async () => {
    expect(await gist([user('Hello')])).toMatchInlineSnapshot(`
      "The step is taken, but the run is not over.

      At that moment:
      - "clerk" asks its model, with this last message: {"role":"user","content":[{"type":"text","text":"Hello"}]}"
    `);
    expect(await gist([user('Look'), model(call('lookUp'))])).toMatchInlineSnapshot(`
      "All 2 steps are taken, but the run is not over.

      At that moment:
      - "clerk" asks its model, with this last message: {"role":"tool","content":[{"type":"tool-result","toolCallId":"call_1","toolName":"lookUp","output":{"type":"text","value":"found"}}]}"
    `);
  });

  test('a model answer where the run waits for somebody', async () => {
    expect(
      await gist([user('Pay'), model(call('pay', { cents: 5 })), model('Paid.')]),
    ).toMatchInlineSnapshot(`
      "Step 3 of 3, model("Paid."), needs an agent that asks its model.

      At that moment:
      - The run waits for somebody outside.
      - "clerk" waits for approval of pay({"cents":5}) (it expires in 1800000 ms)"
    `);
    expect(await gist([user('Ask'), model(call('ask')), approve()])).toMatchInlineSnapshot(`
      "Step 3 of 3, approve(), needs a call that waits and can be answered with 'approve'.

      At that moment:
      - The run waits for somebody outside.
      - "clerk" waits for input for ask({}) (it expires in 2592000000 ms)"
    `);
  });

  test('input, results and approvals that nobody waits for', async () => {
    expect(
      await gist([user('Hello'), input({ ask: { said: 'x' } }), model('Hi.')]),
    ).toMatchInlineSnapshot(`
      "Step 2 of 3, input({ ask: {"said":"x"} }), needs a call of ask that waits for input or for its result.

      At that moment:
      - "clerk" asks its model, with this last message: {"role":"user","content":[{"type":"text","text":"Hello"}]}"
    `);
    expect(await gist([user('Hello'), model('Hi.'), result({ lookUp: 1 })])).toMatchInlineSnapshot(`
      "Step 3 of 3, result({ lookUp: 1 }), needs a call of lookUp that is about to run.

      At that moment:
      - The run ended with the status completed and the output "Hi."."
    `);
    expect(
      await gist([user('Pay'), model(call('pay', { cents: 5 })), approve({ args: { cents: 6 } })]),
    ).toMatchInlineSnapshot(`
      "Step 3 of 3, approve({"args":{"cents":6}}), needs a call with {"cents":6} that waits and can be answered with 'approve'.

      At that moment:
      - The run waits for somebody outside.
      - "clerk" waits for approval of pay({"cents":5}) (it expires in 1800000 ms)"
    `);
  });

  test('steps that do not say which of several is meant', async () => {
    const both = parallel({
      name: 'both',
      runnables: [agent({ name: 'left', model: real }), agent({ name: 'right', model: real })],
    });
    expect(await gist([user('Go'), model('x')], both)).toMatchInlineSnapshot(`
      "Step 2 of 2, model("x"), must say whose model it is, as with { agent: 'left' }: "left" and "right" ask theirs.

      At that moment:
      - "left" asks its model, with this last message: {"role":"user","content":[{"type":"text","text":"Go"}]}
      - "right" asks its model, with this last message: {"role":"user","content":[{"type":"text","text":"Go"}]}"
    `);
    expect(await gist([user('Go'), model('x', { agent: 'middle' })], both)).toMatchInlineSnapshot(`
      "Step 2 of 2, model("x", {"agent":"middle"}), needs "middle" to ask its model.

      At that moment:
      - "left" asks its model, with this last message: {"role":"user","content":[{"type":"text","text":"Go"}]}
      - "right" asks its model, with this last message: {"role":"user","content":[{"type":"text","text":"Go"}]}"
    `);
    const two = { toolCalls: [1, 2].map((cents) => ({ name: 'pay', args: { cents } })) };
    expect(await gist([user('Pay'), model(two), approve()])).toMatchInlineSnapshot(`
      "Step 3 of 3, approve(), must say which call it is about, by \`tool\` or \`args\`: several wait:
      - "clerk" waits for approval of pay({"cents":1}) (it expires in 1800000 ms)
      - "clerk" waits for approval of pay({"cents":2}) (it expires in 1800000 ms).

      At that moment:
      - The run waits for somebody outside.
      - "clerk" waits for approval of pay({"cents":1}) (it expires in 1800000 ms)
      - "clerk" waits for approval of pay({"cents":2}) (it expires in 1800000 ms)"
    `);
  });

  test('data for a run that has begun', async () => {
    expect(await gist([user('Hello'), user('And?', { data: 1 })])).toContain(
      'has `data`, which only a run that begins takes',
    );
  });

  test('answers that are refused', async () => {
    const error = await runTest(clerk, [
      user('Pay'),
      model(call('pay', { cents: 5 })),
      edit({ pay: { cents: 'many' } }),
    ]).catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({
      code: 'test_step_failed',
      data: { step: 3, kind: 'answer' },
      cause: { code: 'input_mismatch' },
    });
    const refused = await gist([user('Ask'), model(call('ask')), input({ ask: { said: 5 } })]);
    expect(refused).toContain('failed: The answer to request');
    expect(refused).not.toContain('..');
  });

  test('whatever it is that a step holds', async () => {
    const cyclic: Record<string, unknown> = {};
    cyclic['self'] = cyclic;
    expect(
      await gist(
        [model({ error: new Error('no') })],
        agent({ name: 'none', model: real, hooks: { beforeAgent: () => 'Hi.' } }),
      ),
    ).toContain('model({"error":"Error: no"}), needs an agent');
    expect(await gist([user('Hello'), model('Hi.'), result({ pay: cyclic })])).toContain(
      'result({ pay: [object Object] }), needs a call of pay',
    );
    expect((await account([user('😀'.repeat(100))])).isWellFormed()).toBe(true);
  });

  test('time that has to pass', async () => {
    const busy = { error: Object.assign(new Error('Busy'), { statusCode: 503 }) };
    expect(await gist([user('Hello'), model(busy), model('Hi.')])).toMatchInlineSnapshot(`
      "Step 3 of 3, model("Hi."), needs an agent that asks its model.

      At that moment:
      - run_1 tries its model again in 500 ms of the test's clock: advanceTime(500)"
    `);
    expect(
      await gist([user('Hello'), model({ text: 'Hi.', delayMs: 2_000 }), advanceTime(500)]),
    ).toMatchInlineSnapshot(`
      "All 3 steps are taken, but the run is not over.

      At that moment:
      - the model of "clerk" answers in 1500 ms of the test's clock: advanceTime(1500)"
    `);
  });

  test('assertions about prompts, with what the runner needs to show the difference', async () => {
    const error = await runTest(clerk, [
      user('Hello'),
      expectPrompt((prompt) => expect(prompt.length).toBe(7)),
      model('Hi.'),
    ]).catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({
      code: 'test_step_failed',
      data: { step: 2 },
      expected: 7,
      actual: 1,
      cause: { name: 'AssertionError' },
    });
    expect(
      await gist([user('Hello'), model('Hi.'), expectPrompt(() => undefined)]),
    ).toMatchInlineSnapshot(`
      "Step 3 of 3, expectPrompt(…), needs an agent that asks its model.

      At that moment:
      - The run ended with the status completed and the output "Hi."."
    `);
  });

  test('runs that are stuck, which is found out and not waited for', async () => {
    expect(await gist([user('Hang'), model(call('hang')), model('Done.')])).toMatchInlineSnapshot(`
      "Step 3 of 3, model("Done."), needs an agent that asks its model.

      At that moment:
      - the tool hang (run_1/r1.0) is running, and nothing comes of it"
    `);
    const stuck = step({ name: 'stuck', execute: () => new Promise<never>(() => undefined) });
    expect(await gist([], stuck)).toMatchInlineSnapshot(`
      "All 0 steps are taken, but the run is not over.

      At that moment:
      - the step "stuck" (run_1) is running, and nothing comes of it"
    `);
    const hooked = agent({
      name: 'hooked',
      model: real,
      hooks: { beforeModel: () => new Promise<never>(() => undefined) },
    });
    expect(await gist([user('Hello'), model('Hi.')], hooked)).toMatchInlineSnapshot(`
      "Step 2 of 2, model("Hi."), needs an agent that asks its model.

      At that moment:
      - the agent "hooked" (run_1) is under way, and nothing comes of it"
    `);
  });

  test('runs that never come to rest', async () => {
    let isOver = false;
    const poll = step({
      name: 'poll',
      execute: async (ctx) => {
        for (let n = 0; !isOver; n++) {
          await new Promise((resolve) => setTimeout(resolve, 5));
          await ctx.effect(`look${n}`, () => n);
        }
      },
    });
    const error = await runTest(poll, [user('Go')], { patienceMs: 50 }).catch(
      (thrown: Error) => thrown,
    );
    isOver = true;
    expect(error).toMatchObject({
      code: 'test_step_failed',
      message: expect.stringContaining('but the run does not come to rest within 500 ms'),
    });
  });

  test('runs that cannot be carried out', async () => {
    const background = agent({ name: 'background', model: real });
    const front = step({
      name: 'front',
      execute: async (ctx) => void (await ctx.dispatch(background)),
    });
    expect(await gist([crash()], front)).toMatchInlineSnapshot(`
      "Step 1 of 1, crash(), but the run could not be carried out.

      At that moment:
      - The run could not be carried out: unknown_runnable: There is no runnable named "background" in this app (it has front). Register it: runtime({ runnables: [...] })."
    `);
  });
});

test(
  'a model that fails for good, and a run that was stopped, are outcomes ' + 'like others',
  async () => {
    const failed = await runTest(clerk, [
      user('Hello'),
      model({ error: Object.assign(new Error('No'), { statusCode: 400 }) }),
    ]);
    expect(failed).toMatchObject({
      status: 'error',
      result: { error: { code: 'model_invalid_request' } },
    });
  },
);
