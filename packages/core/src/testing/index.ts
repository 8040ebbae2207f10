export { type CrashingStore, crashingStore, takingOver } from './crash/crashing-store.ts';
export { allowRealModels, areRealModelsForbidden, type ForbidRealModelsOptions, forbidRealModels } from './real-model-switch.ts';
export {
  ScriptExhaustedError,
  type ScriptedModel,
  type ScriptedModelOptions,
  type ScriptedResponse,
  type ScriptedResponses,
  type ScriptedTurn,
  ScriptUnusedError,
  scriptedModel,
} from './scripted-model.ts';
export { type MakeStore, type StoreUnderTest, storeContract } from './store-contract.ts';
export { type TestClock, testClock } from './test-clock.ts';
