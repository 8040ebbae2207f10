export { type CrashingStore, crashingStore, takingOver } from './crash/crashing-store.ts';
export {
  ScriptExhaustedError,
  type ScriptedModel,
  type ScriptedModelOptions,
  type ScriptedResponse,
  type ScriptedResponses,
  scriptedModel,
} from './scripted-model.ts';
export { type MakeStore, type StoreUnderTest, storeContract } from './store-contract.ts';
export { type TestClock, testClock } from './test-clock.ts';
