import type { IdSource } from '../../base/id.ts';
import type { Runnable } from '../../session/runnable.ts';
import { type RunOptions, type RuntimeLimits, resolveRunLimits } from '../frame/run-options.ts';
import type { RunRequest } from './execute-run.ts';

/** Milliseconds of active time that a run may take. */
const defaultTimeoutMs = 600_000;

/** What the options of a run ask for, with what its runtime adds. */
export function runRequest(
  runnable: Runnable | undefined,
  options: RunOptions,
  app: { readonly ids: IdSource; readonly limits?: RuntimeLimits | undefined },
): RunRequest {
  const { limits: own = {} } = options;
  const { ids, limits: shared = {} } = app;
  return {
    runnable,
    input: options.input,
    data: options.data,
    runId: options.runId ?? `run_${ids.next()}`,
    isNamed: options.runId !== undefined,
    timeout: options.timeout ?? shared.timeout ?? defaultTimeoutMs,
    limits: resolveRunLimits(own, shared),
    signal: options.signal,
    onStep: options.onStep,
    permissions: options.permissions,
  };
}
