import { scriptedModel } from 'adjutant/testing';

export function gate() {
  return Promise.withResolvers<void>();
}

/** A model that waits in its first call, and what it was sent in each. */
export function waiting(texts: readonly string[]) {
  const prompts: string[] = [];
  const begun = gate();
  const goOn = gate();
  const scripted = scriptedModel(texts.map((text) => ({ text })));
  const doStream: typeof scripted.doStream = async (options) => {
    prompts.push(JSON.stringify(options.prompt));
    begun.resolve();
    const aborted = new Promise<never>((_resolve, reject) => {
      options.abortSignal?.addEventListener('abort', () => reject(options.abortSignal?.reason));
    });
    if (prompts.length === 1) await Promise.race([goOn.promise, aborted]);
    return scripted.doStream(options);
  };
  const model = { ...scripted, doStream };
  return { model, prompts, begun: begun.promise, goOn: () => goOn.resolve() };
}
