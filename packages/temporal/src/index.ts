export { type TemporalEngine, type TemporalMetrics, temporalEngine } from './engine.ts';
export {
  InvalidTemporalOptionsError,
  TemporalNamespaceError,
  TemporalUnavailableError,
  TemporalWorkflowVersionError,
} from './errors.ts';
export { workflowVersion } from './names.ts';
export type { TemporalOptions } from './options.ts';
