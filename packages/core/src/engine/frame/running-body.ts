import { AsyncLocalStorage } from 'node:async_hooks';

/** A body whose code runs. */
interface RunningBody {
  readonly app: string;
  readonly path: string;
  /** True when it has ended, or its run was released: code that it has left behind is free. */
  isOver: boolean;
}

/** The body that the code belongs to. It serves refusals alone: a context may leak. */
export const runningBody = new AsyncLocalStorage<RunningBody | undefined>();

/** Path of the body of an app that the caller belongs to; `undefined` outside of bodies. */
export function bodyAround(app: string): string | undefined {
  const body = runningBody.getStore();
  return body === undefined || body.isOver || body.app !== app ? undefined : body.path;
}
