import { findJsonDefect, type JsonValue } from '../../../base/json.ts';
import { describeValue, isNonEmptyText } from '../../../base/options.ts';
import { checkStepOptions, refuseStep, type TestStep } from './steps.ts';

/** Options of a published event in a test. */
export interface PublishStepOptions {
  /** Part of the system that it comes from. @default the app */
  readonly source?: string;
  /** The same id again is the same event. @default a new one */
  readonly id?: string;
}

/**
 * Publishes an event from outside, as `app.publish` does, and does all that comes of it: triggers
 * fire, and their tasks begin. Where no run of the runnable is open, the one that begins is the run
 * of the test.
 * @param data of the event @default null
 */
export function publish(
  type: string,
  data: JsonValue = null,
  options: PublishStepOptions = {},
): TestStep {
  if (isNonEmptyText(type) !== undefined)
    refuseStep('publish()', `it takes the type of an event, not ${describeValue(type)}`);
  if (findJsonDefect(data) !== undefined) refuseStep('publish()', 'the data must be JSON');
  checkStepOptions('publish()', options, { source: isNonEmptyText, id: isNonEmptyText });
  return { kind: 'publish', event: { type, data, ...options } };
}

/**
 * Fires a trigger now, whatever it fires on, and does all that comes of it, as `publish` does.
 * @param trigger name of a trigger
 * @param options `key`: the same one again is the same firing
 */
export function fire(trigger: string, options: { readonly key?: string } = {}): TestStep {
  if (isNonEmptyText(trigger) !== undefined)
    refuseStep('fire()', `it takes the name of a trigger, not ${describeValue(trigger)}`);
  checkStepOptions('fire()', options, { key: isNonEmptyText });
  return { kind: 'fire', trigger, key: options.key };
}
