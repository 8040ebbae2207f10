import type { Engine } from '../../../engine/drive/engine.ts';
import type { Runtime } from '../../../runtime.ts';
import type { Runnable } from '../../../session/runnable.ts';

/** An engine to be tested, for apps of one name that no other test has. */
export interface EngineUnderTest {
  /** Makes the engine of one process; those of one test give work to the same app. */
  make(): Engine;
  /** Called at the end of the test, after all apps were closed. */
  cleanup(): Promise<void>;
}

/** @param app name of the app that the engines are for */
export type MakeEngine = (app: string) => Promise<EngineUnderTest>;

/** One test of the contract. */
export interface EngineTest {
  /** Makes a process of the app, whose engine has started. All have the same store. */
  process(...runnables: readonly Runnable[]): Promise<EngineProcess>;
  /** Makes a process that starts no engine: what it posts, no engine is told of. */
  silent(...runnables: readonly Runnable[]): Runtime;
}

export interface EngineProcess {
  readonly app: Runtime;
  readonly engine: Engine;
}

export type DefineEngineTest = (name: string, body: (test: EngineTest) => Promise<void>) => void;
