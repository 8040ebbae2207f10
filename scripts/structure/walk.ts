import { Session } from 'node:inspector/promises';
import { fileURLToPath } from 'node:url';

/**
 * Source files of core that `app.run(agent, 'hi')` passes: those of which a function is called
 * between the call and its result.
 */
export async function filesPassedByRun(sourceFolder: string): Promise<readonly string[]> {
  const { agent, runtime } = await import('adjutant');
  const { scriptedModel } = await import('adjutant/testing');
  const greeter = agent({ name: 'greeter', model: scriptedModel(() => ({ text: 'Hello.' })) });
  const app = runtime({ app: 'structure', runnables: [greeter], recover: 'manual' });
  const inspector = new Session();
  inspector.connect();
  await inspector.post('Profiler.enable');
  await inspector.post('Profiler.startPreciseCoverage', { callCount: true, detailed: false });
  await app.run(greeter, 'hi');
  const { result } = await inspector.post('Profiler.takePreciseCoverage');
  inspector.disconnect();
  await app.close();
  const passed = result.filter(
    ({ url, functions }) => url.startsWith('file:') && functions.some(isCalled),
  );
  return passed
    .map(({ url }) => fileURLToPath(url))
    .filter((path) => path.startsWith(sourceFolder) && !path.includes('/testing/'))
    .sort();
}

/** The function without a name that spans the whole file is the module itself. */
function isCalled({
  functionName,
  ranges,
}: {
  readonly functionName: string;
  readonly ranges: readonly { readonly startOffset: number; readonly count: number }[];
}): boolean {
  const [whole] = ranges;
  return (
    whole !== undefined && whole.count > 0 && !(functionName === '' && whole.startOffset === 0)
  );
}
