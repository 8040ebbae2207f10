import { AdjutantError } from 'adjutant';

/** Error of an option of `temporalEngine` that is wrong. */
export class InvalidTemporalOptionsError extends AdjutantError<'invalid_temporal_options'> {
  constructor(data: { reason: string }) {
    super('invalid_temporal_options', `temporalEngine cannot be made: ${data.reason}.`, data);
  }
}

/** Error of a start without a Temporal server. */
export class TemporalUnavailableError extends AdjutantError<'temporal_unavailable'> {
  constructor(data: { address: string; reason: string }, options?: ErrorOptions) {
    super(
      'temporal_unavailable',
      `No Temporal server answers at ${data.address} (${data.reason}). Start it, or name another ` +
        'one with --temporal-address or the option `address`. What is due waits in the store.',
      data,
      options,
    );
  }
}

/** Error of a namespace that the server does not have. */
export class TemporalNamespaceError extends AdjutantError<'temporal_namespace_not_found'> {
  constructor(data: { address: string; namespace: string }, options?: ErrorOptions) {
    super(
      'temporal_namespace_not_found',
      `The Temporal server at ${data.address} has no namespace "${data.namespace}". Make it with ` +
        `\`temporal operator namespace create --namespace ${data.namespace}\`, or name another ` +
        'one with --temporal-namespace or the option `namespace`.',
      data,
      options,
    );
  }
}

/** Error of an app whose workflows in Temporal are those of a later version. */
export class TemporalWorkflowVersionError extends AdjutantError<'temporal_workflow_version'> {
  constructor(data: { app: string; found: number; known: number }) {
    super(
      'temporal_workflow_version',
      `The workflows of the app "${data.app}" in Temporal have version ${data.found}, and this ` +
        `@adjutant/temporal knows none after ${data.known}. Update @adjutant/temporal in this ` +
        'process.',
      data,
    );
  }
}
