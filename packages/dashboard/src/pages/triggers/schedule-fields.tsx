import { refusalOf } from '../../api/client.ts';
import { Field } from '../../components/form-dialog.tsx';
import { age, fullTime, moment } from '../../components/format.ts';
import { useLate } from '../../components/use-late.ts';
import { useNow } from '../../components/use-now.ts';
import { visible } from '../../components/visible-text.ts';
import styles from './trigger-drawer.module.css';
import { scheduleOf, type TriggerFields } from './trigger-form.ts';
import { usePreview } from './use-triggers.ts';

interface ScheduleFieldsProps {
  readonly fields: TriggerFields;
  readonly onChange: (changed: Partial<TriggerFields>) => void;
}

/** Fields of the cause that was chosen, with the firings that would follow from it. */
export function ScheduleFields({ fields, onChange }: ScheduleFieldsProps) {
  switch (fields.kind) {
    case 'cron':
      return (
        <>
          <Field label="Pattern" help="minute, hour, day, month, weekday">
            <input
              className="mono"
              spellCheck={false}
              value={fields.pattern}
              onChange={(event) => onChange({ pattern: event.target.value })}
            />
          </Field>
          <Field label="Time zone">
            <select
              value={fields.timeZone}
              onChange={(event) => onChange({ timeZone: event.target.value })}
            >
              {zonesWith(fields.timeZone).map((zone) => (
                <option key={zone}>{zone}</option>
              ))}
            </select>
          </Field>
          <Preview fields={fields} />
        </>
      );
    case 'every':
      return (
        <>
          <Every fields={fields} onChange={onChange} />
          <Preview fields={fields} />
        </>
      );
    case 'at':
      return (
        <>
          <Field label="When, in your time">
            <input
              type="datetime-local"
              value={fields.instant}
              onChange={(event) => onChange({ instant: event.target.value })}
            />
          </Field>
          <Preview fields={fields} />
        </>
      );
    default:
      return (
        <Field label="Type of events, or a pattern of types" help="mail.* fires on mail.received">
          <input
            className="mono"
            spellCheck={false}
            value={fields.eventPattern}
            onChange={(event) => onChange({ eventPattern: event.target.value })}
          />
        </Field>
      );
  }
}

function Every({ fields, onChange }: ScheduleFieldsProps) {
  return (
    <div className={styles['every']}>
      <Field label="Every">
        <input
          inputMode="decimal"
          value={fields.every}
          onChange={(event) => onChange({ every: event.target.value })}
        />
      </Field>
      <Field label="Unit">
        <select value={fields.unit} onChange={(event) => onChange({ unit: event.target.value })}>
          <option value="1000">seconds</option>
          <option value="60000">minutes</option>
          <option value="3600000">hours</option>
          <option value="86400000">days</option>
        </select>
      </Field>
    </div>
  );
}

function zonesWith(zone: string): readonly string[] {
  return [...new Set(['UTC', zone, ...Intl.supportedValuesOf('timeZone')])];
}

/** The next firings, as the server counts them; or why it would refuse the schedule. */
function Preview({ fields }: { readonly fields: TriggerFields }) {
  const now = useNow();
  const late = useLate(JSON.stringify(scheduleOf(fields)));
  const { data, error } = usePreview(late === undefined ? undefined : JSON.parse(late));
  if (error !== null)
    return (
      <p className={styles['refused']} role="alert">
        {visible(refusalOf(error)?.detail ?? error.message)}
      </p>
    );
  return (
    <div className={styles['preview']}>
      <span className="faint">Next firings</span>
      {data === undefined ? (
        <span className="faint">…</span>
      ) : data.length === 0 ? (
        <span>none any more</span>
      ) : (
        data.map((at) => (
          <span key={at} title={fullTime(at)}>
            {moment(at, now)} <span className="faint">in {age(at - now)}</span>
          </span>
        ))
      )}
    </div>
  );
}
