import type { ScriptedModel } from 'adjutant/testing';

type Options = Parameters<ScriptedModel['doStream']>[0];
type Part =
  Awaited<ReturnType<ScriptedModel['doStream']>>['stream'] extends ReadableStream<infer One>
    ? One
    : never;

/** Parts of an answer that has said `text` and begun a call of a tool, and never ends. */
function partsOf(text: string): readonly Part[] {
  return [
    { type: 'stream-start', warnings: [] },
    { type: 'text-start', id: '1' },
    ...text.split(/(?<= )/).map((delta): Part => ({ type: 'text-delta', id: '1', delta })),
    { type: 'tool-call', toolCallId: 'c', toolName: 'work', input: '{}' },
    { type: 'tool-input-start', id: 'd', toolName: 'work' },
  ];
}

/**
 * A model that says a text in one of its calls and then hangs, and otherwise answers as another.
 * @param breaksOff tells for a prompt if this is the call that hangs; @default the first one
 */
export function brokenOff(
  text: string,
  rest: ScriptedModel,
  breaksOff: (prompt: Options['prompt']) => boolean = () => true,
) {
  const said = Promise.withResolvers<void>();
  const prompts: Options['prompt'][] = [];
  let hasBroken = false;
  const doStream: ScriptedModel['doStream'] = async (options) => {
    prompts.push(options.prompt);
    if (hasBroken || !breaksOff(options.prompt)) return rest.doStream(options);
    hasBroken = true;
    const left = [...partsOf(text)];
    const stream = new ReadableStream<Part>({
      pull: (controller) => {
        const part = left.shift();
        if (part !== undefined) return controller.enqueue(part);
        said.resolve();
        return new Promise<never>(() => undefined);
      },
    });
    return { stream };
  };
  return { model: { ...rest, doStream } as ScriptedModel, prompts, said: said.promise };
}
