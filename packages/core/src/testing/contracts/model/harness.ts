import type {
  LanguageModelV4,
  LanguageModelV4CallOptions,
  LanguageModelV4StreamPart,
} from '@ai-sdk/provider';
import { systemClock } from '../../../base/clock.ts';
import { toModel } from '../../../models/model.ts';
import { modelOf } from '../../../models/named-model.ts';
import { skipTest, type TestRunner } from '../../kit/test-runner.ts';
import { contractExpect, type Expect } from '../store/contract-expect.ts';
import type { MakeModel, ModelLeftOut, ModelPart, ModelScript } from './model-under-test.ts';

export interface ModelTest {
  readonly model: LanguageModelV4;
  /** Sets the answers to the next calls. */
  respond(...scripts: ModelScript[]): Promise<void>;
  /**
   * Calls the model and reads all that it streams. An error, thrown or streamed, is in the answer.
   * @param options
   * @default a question without tools
   * @throws Error when it hangs
   */
  call(options?: LanguageModelV4CallOptions, onPart?: (part: Part) => void): Promise<Answer>;
}

export interface ModelSuite {
  readonly describe: (name: string, define: () => void) => void;
  readonly expect: Expect;
  /** @param parts the test is skipped when one of them is left out */
  readonly test: (
    name: string,
    body: (test: ModelTest) => Promise<void>,
    ...parts: ModelPart[]
  ) => void;
}

/** Error that ends a test of a model whose answers cannot be set. */
class CannotRespondError extends Error {}

interface SuiteOptions {
  readonly leftOut: ModelLeftOut;
  /** Milliseconds after which a call counts as hanging. */
  readonly timeoutMs: number;
}

export function createModelSuite(
  { describe, test }: TestRunner,
  make: MakeModel,
  { leftOut, timeoutMs }: SuiteOptions,
): ModelSuite {
  const run = async (
    body: (test: ModelTest) => Promise<void>,
    skip: (reason: string) => void,
  ): Promise<void> => {
    const made = await make();
    const respond = async (...scripts: ModelScript[]): Promise<void> => {
      if (made.respond === undefined) throw new CannotRespondError();
      await made.respond(...scripts);
    };
    let ended: unknown;
    try {
      const model = await toModel(modelOf(made.model)).load();
      await body({
        model,
        respond,
        call: (options, onPart) => call(model, { options, onPart, timeoutMs }),
      });
    } catch (error) {
      ended = error;
    } finally {
      await made.cleanup?.();
    }
    if (ended instanceof CannotRespondError) skip('the model cannot be told what to answer');
    else if (ended !== undefined) throw ended;
  };
  const define: ModelSuite['test'] = (name, body, ...parts) => {
    test(name, async (...[context]) => {
      const part = parts.find((one) => leftOut[one] !== undefined);
      if (part !== undefined) skipTest(context, `${part}: ${leftOut[part]}`);
      else await run(body, (reason) => skipTest(context, reason));
    });
  };
  return {
    describe: (name, inner) => void describe(name, inner),
    expect: contractExpect,
    test: define,
  };
}

export type Part = LanguageModelV4StreamPart;

export const question: LanguageModelV4CallOptions = {
  prompt: [
    { role: 'system', content: 'Be brief.' },
    { role: 'user', content: [{ type: 'text', text: 'How is the weather?' }] },
  ],
};

export const weather = {
  type: 'function' as const,
  name: 'weather',
  description: 'The weather of a city',
  inputSchema: {
    type: 'object' as const,
    properties: { city: { type: 'string' as const } },
    required: ['city'],
  },
};

/** The outcome of a call: its parts so far, and its error. */
export interface Answer {
  readonly parts: readonly Part[];
  readonly error?: unknown;
}

interface Call {
  readonly options: LanguageModelV4CallOptions | undefined;
  readonly onPart: ((part: Part) => void) | undefined;
  /** Milliseconds after which a call counts as hanging. */
  readonly timeoutMs: number;
}

async function call(
  model: LanguageModelV4,
  { options = question, onPart, timeoutMs }: Call,
): Promise<Answer> {
  const parts: Part[] = [];
  const read = async (): Promise<void> => {
    const { stream } = await model.doStream(options);
    for await (const part of stream) {
      parts.push(part);
      onPart?.(part);
    }
  };
  let cancel: () => void = () => undefined;
  const hanging = new Promise<never>((_resolve, reject) => {
    const last = (): string => parts.at(-1)?.type ?? 'nothing';
    cancel = systemClock.setTimer(timeoutMs, () =>
      reject(
        new HangingError(
          `the call has not ended after ${timeoutMs} ms; the last that came: ${last()}`,
        ),
      ),
    );
  });
  try {
    await Promise.race([read(), hanging]);
  } catch (error) {
    if (error instanceof HangingError) throw error;
    return { parts, error };
  } finally {
    cancel();
  }
  const failed = parts.find((part) => part.type === 'error');
  return failed === undefined ? { parts } : { parts, error: failed.error };
}

class HangingError extends Error {}

/** Joins the text of all deltas of a kind. */
export function joined({ parts }: Answer, type: 'text-delta' | 'reasoning-delta'): string {
  return parts.flatMap((part) => (part.type === type ? [part.delta] : [])).join('');
}

export function typesOf({ parts }: Answer): readonly string[] {
  return parts.map(({ type }) => type);
}
