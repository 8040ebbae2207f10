export { type Clock, systemClock } from './base/clock.ts';
export { type Host, type ObjectReference, systemHost } from './base/host.ts';
export { type IdSource, systemIds } from './base/id.ts';
export { type Random, systemRandom } from './base/random.ts';
export { systemTurns, type Turns } from './base/turns.ts';
export { embeddedEngine } from './engine/drive/embedded-engine.ts';
export type {
  Advanced,
  AdvanceSessionOptions,
  Engine,
  EngineHealth,
  EnginePlace,
  EngineWork,
  TimeOptions,
  WakeOptions,
} from './engine/drive/engine.ts';
export { inputDataOf } from './engine/invoke/input-contract.ts';
export { sleepsUntil } from './ledger/folds/sleeps.ts';
export { isMessage, takenText } from './ledger/folds/taken-message.ts';
export { type ModelFacts, modelFacts } from './models/measures/model-facts.ts';
